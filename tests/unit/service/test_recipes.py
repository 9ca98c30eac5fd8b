"""A field more or less is one statement: tried on a copy of the program (R134)."""

import json
from pathlib import Path

import pytest

from support.running import BUILD
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
from svc.sandbox.parameters.described import build_stored
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.resources import orders, refunds
create = orders.OPERATIONS[0]
given = {**create.example, "shipping_method": "express"}
tables.refuse_unknown(create.fields, given)
clean = tables.check(create.fields, given, {})
kept = build_stored(orders.RESOURCE, clean, settlement_currency="USD")["shipping_method"]
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
    copy.python(str(BUILD / "completions.py"), str(folder))
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


HOLD = """\
        Action(
            "hold",
            "Hold an order back.",
            "ord_3kPq0aVb7cXd9eYf1gZh2iWj",
            step="/hold",
            many=True,
        ),
"""
HELD = """

def hold(tx: Transaction, order: Doc, params: Params) -> Doc:
    order["metadata"] = {"held": "yes"}
    tx.save(order)
    return order


"""
CALLED = """
import json, sys
from svc.cli.main import main
from svc.sandbox.process import launch
from svc.clock import SystemClock
import os
from pathlib import Path
from svc.sandbox.options import LaunchOptions
folder = os.environ["HOME"] + "/state"
options = LaunchOptions(state_dir=folder, fixture="demo")
record = launch.start(options, os.environ, SystemClock())
os.environ["SVC_BASE_URL"] = record.url
try:
    for line in sys.argv[1:]:
        assert main(line.split()) == 0, line
finally:
    launch.stop(Path(folder), record, SystemClock())
"""
ORDER = "ord_3kPq0aVb7cXd9eYf1gZh2iWj"


@pytest.mark.slow(seconds=6)
@pytest.mark.limit(120)
def test_a_new_verb_is_two_files(tmp_path: Path) -> None:
    """`orders hold`: an action in the description, what happens in the sandbox."""
    copy = Copy(tmp_path)
    first = '        Action(\n            "list",\n            "List orders'
    copy.replace("service/orders.py", first, HOLD + first)
    rules = "sandbox/resources/orders.py"
    made = "OPERATIONS: Final = operation.operations("
    copy.replace(rules, made, HELD.lstrip() + made)
    text = (copy.tree / rules).read_text(encoding="utf-8")
    (copy.tree / rules).write_text(text.replace("create=create", "hold=hold, create=create"))
    assert "Hold an order back." in copy.svc("orders hold --help")
    assert "orders.hold" in copy.svc("batch --help")
    answered = copy.python("-c", CALLED, f"orders hold {ORDER} -o json", "orders list -o id")
    assert '"held": "yes"' in answered
    assert "/v1/orders/{id}/hold" in copy.python("-c", SHOWN)


SHOWN = """
from svc.sandbox.openapi.document import document
print(*document()["paths"], *document()["webhooks"])
"""


@pytest.mark.slow(seconds=5)
@pytest.mark.limit(120)
def test_a_new_event_is_two_files(tmp_path: Path) -> None:
    """`refund.confirmed`: its name among the facts, and where it happens in the sandbox."""
    copy = Copy(tmp_path)
    copy.replace(
        "service/facts.py",
        '    "refund.failed",\n',
        '    "refund.failed",\n    "refund.confirmed",\n',
    )
    happens = '    tx.emit("refund.succeeded", refund)\n'
    told = happens.replace("succeeded", "confirmed")
    copy.replace("sandbox/resources/refunds.py", happens, happens + told)
    assert "refund.confirmed" in copy.python("-c", SHOWN)
    assert "refund.confirmed" in copy.svc("help webhooks")
    told = copy.python("-c", CALLED, "sandbox trigger refund.confirmed -o json --query type")
    assert '"refund.confirmed"' in told


NOUN = '''\
"""Notes: what is remembered of an order (not in the specification)."""

from typing import Final

from svc.service.model import (
    CREATED, LIVEMODE, TEXT, Action, Field, Resource, build_id_field, collection, identifier
)

RESOURCE: Final = Resource(
    "note",
    "Note",
    "Notes",
    path=collection("notes"),
    fields=(
        build_id_field("note"),
        Field("order", identifier("order"), "The order, ord_...", "--order ID", "create list",
              required=True, example="ord_3kPq0aVb7cXd9eYf1gZh2iWj", label="Order", column=(20, 1)),
        Field("text", TEXT, "What is remembered.", "--text TEXT", "create",
              required=True, example="Ring twice", label="Text", column=(30, 2)),
        CREATED,
        LIVEMODE,
    ),
    actions=(
        Action("create", "Write a note.", "--order ord_3kPq0aVb7cXd9eYf1gZh2iWj --text Twice"),
        Action("retrieve", "Retrieve a note.", "nt_3kPq0aVb7cXd9eYf1gZh2iWj"),
        Action("list", "List notes, newest first.", "--order ord_3kPq0aVb7cXd9eYf1gZh2iWj"),
    ),
)
'''
RULES = '''\
"""Notes: kept as they are given."""

from typing import Final

from svc.sandbox.parameters.described import build_stored
from svc.sandbox.parameters.tables import Params
from svc.sandbox.resources import operation
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction
from svc.service.notes import RESOURCE


def create(tx: Transaction, params: Params) -> Doc:
    """Keeps a note of an order that there is."""
    operation.find_named(tx, "order", params["order"], "order")
    note = tx.new(RESOURCE.name, build_stored(RESOURCE, params))
    tx.add(note)
    return note


OPERATIONS: Final = operation.operations(RESOURCE, create=create)
'''


@pytest.mark.slow(seconds=8)
@pytest.mark.limit(120)
def test_a_new_noun_is_one_file_and_its_rules(tmp_path: Path) -> None:
    """`notes`: its file, its line in the index of nouns, and its rules in the sandbox."""
    copy = Copy(tmp_path)
    (copy.tree / "service/notes.py").write_text(NOUN, encoding="utf-8")
    (copy.tree / "sandbox/resources/notes.py").write_text(RULES, encoding="utf-8")
    last = '    "dispute": NounFacts('
    copy.replace("service/facts.py", last, '    "note": NounFacts("nt_", "Write notes."),\n' + last)
    assert "Write notes." in copy.svc("--help")
    assert "--text" in copy.svc("notes create --help")
    said = copy.python(
        "-c",
        CALLED,
        f"notes create --order {ORDER} --text Twice -o json",
        f"notes list --order {ORDER} -o csv",
    )
    assert '"text": "Twice"' in said
    assert "id,order,text,created" in said
    assert "/v1/notes/{id}" in copy.python("-c", SHOWN)
    assert '"notes create"' in copy.svc("commands -o json")
