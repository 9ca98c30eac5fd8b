"""A field more or less is one statement: tried on a copy of the program (R134)."""

import json
from pathlib import Path

import pytest

from unit.service.copies import Copy

SHIPPING_METHOD = """\
        Field(
            "shipping_method",
            choice("standard", "express", "pickup"),
            "One of {words}.",
            "--shipping-method METHOD",
            "create",
            nullable=True,
            label="Method",
            column=(22, 0),
        ),
"""
HEAD = "amount,currency,shipping[country],items[0][name],items[0][quantity],items[0][unit_amount]"
ROW = "100,EUR,DE,Coat,1,100"
# What stands in the copy for the sandbox over HTTP: its own checks, its answer, what it stores.
ANSWERED = """
import json
from svc.sandbox.openapi.document import document
from svc.sandbox.parameters import tables
from svc.sandbox.parameters.bodies import DecodedInput
from svc.sandbox.parameters.described import stored
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.resources import orders, refunds
create = orders.OPERATIONS[0]
given = {**create.example, "shipping_method": "express"}
tables.refuse_unknown(create.fields, given)
clean = tables.check(create.fields, given, {})
kept = stored(orders.RESOURCE, clean, settlement_currency="USD")["shipping_method"]
try:
    tables.check(create.fields, {**given, "shipping_method": "fly"}, {})
except Problem as problem:
    refused = [problem.code, problem.param]
shown = document()["components"]["schemas"]["Order"]["properties"]["shipping_method"]
print(json.dumps([kept, refused, shown]))
"""
PRINTED = """
import sys
from svc.render.csv_format import columns_of
from svc.render.views.service import view_of_noun
print(*("".join(path) for path in columns_of(sys.argv[1])))
print(*(column.label for column in view_of_noun(sys.argv[1]).columns))
"""


@pytest.mark.slow(seconds=15)
@pytest.mark.limit(120)
def test_a_new_field_is_one_statement(tmp_path: Path) -> None:
    """`shipping_method` on orders: a choice of three, given on create, answered, a column."""
    copy = Copy(tmp_path)
    before = '        Field("methods",'
    copy.replace("service/orders.py", before, SHIPPING_METHOD + before)
    help_text = copy.svc("orders create --help")
    assert "--shipping-method METHOD" in help_text
    assert "One of standard, express, pickup." in help_text
    file = tmp_path / "orders.csv"
    file.write_text(f"{HEAD},shipping_method\n{ROW},express\n", encoding="utf-8")
    checked = copy.svc(f"batch orders.create {file} --dry-run")
    assert '"valid": 1' in checked or '"rows": 1' in checked, checked
    kept, refused, shown = json.loads(copy.python("-c", ANSWERED))
    assert kept == "express"
    assert refused == ["parameter_invalid_value", "shipping_method"]
    assert {"type": "string", "enum": ["standard", "express", "pickup"]} in shown["anyOf"]
    columns, labels = copy.python("-c", PRINTED, "order").splitlines()
    assert "shipping_method" in columns.split()
    assert "Method" in labels
    assert '"--shipping-method"' in copy.svc("commands -o json")
    folder = tmp_path / "completions"
    folder.mkdir()
    copy.python("-m", "svc.cli.commands.tree", str(folder))
    assert all("shipping-method" in each.read_text() for each in folder.iterdir())
    assert "pickup" in (folder / "svc.bash").read_text()


@pytest.mark.slow(seconds=8)
@pytest.mark.limit(120)
def test_a_field_less_is_one_statement(tmp_path: Path) -> None:
    """`reason` of refunds: gone from options, rows, the sandbox, its document, CSV and screens."""
    copy = Copy(tmp_path)
    copy.remove("service/refunds.py", '        Field(\n            "reason",', "        ),\n")
    assert "--reason" not in copy.svc("refunds create --help")
    columns, labels = copy.python("-c", PRINTED, "refund").splitlines()
    assert "reason" not in columns.split()
    assert "Reason" not in labels
    gone = (
        "from svc.sandbox.openapi.document import document\n"
        "from svc.sandbox.resources import refunds\n"
        "print([field.name for field in refunds.OPERATIONS[0].fields])\n"
        "print(*document()['components']['schemas']['Refund']['properties'])\n"
    )
    taken, answered = copy.python("-c", gone).splitlines()
    assert "'reason'" not in taken
    assert "reason" not in answered.split()
    assert "refund_reason" not in copy.svc("commands -o json")
