"""A field more or less is one statement: tried on a copy of the program (R134)."""

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

import svc

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


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the program, to be edited."""
    source = Path(svc.__file__).parent
    copytree(source, tmp_path / "src/svc", ignore=ignore_patterns("__pycache__"))
    return tmp_path / "src/svc"


def python(tree: Path, *words: str) -> str:
    """What Python prints with the copy as the program."""
    home = tree.parents[1]
    env = {name: text for name, text in os.environ.items() if not name.startswith("SVC_")}
    env |= {"PYTHONPATH": str(tree.parent), "HOME": str(home), "SVC_API_KEY": "sk_test_sandbox"}
    env |= {"SVC_BASE_URL": "http://127.0.0.1:9", "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, *words], cwd=home, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def edited(path: Path, before: str, more: str = "", without: str = "") -> None:
    """Puts a statement before a line of a file, or takes one away that begins with it."""
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1
    if without:
        start = text.index(before)
        end = text.index(without, start) + len(without)
        path.write_text(text[:start] + text[end:], encoding="utf-8")
    else:
        path.write_text(text.replace(before, more + before), encoding="utf-8")


@pytest.mark.slow(seconds=15)
@pytest.mark.limit(120)
def test_a_new_field_is_one_statement(tree: Path) -> None:
    """`shipping_method` on orders: a choice of three, given on create, answered, a column."""
    edited(tree / "service/orders.py", '        Field("methods",', SHIPPING_METHOD)
    help_text = python(tree, "-m", "svc", "orders", "create", "--help")
    assert "--shipping-method METHOD" in help_text
    assert "One of standard, express, pickup." in help_text
    file = tree.parents[1] / "orders.csv"
    file.write_text(f"{HEAD},shipping_method\n{ROW},express\n", encoding="utf-8")
    checked = python(tree, "-m", "svc", "batch", "orders.create", str(file), "--dry-run")
    assert '"valid": 1' in checked or '"rows": 1' in checked, checked
    kept, refused, shown = json.loads(python(tree, "-c", ANSWERED))
    assert kept == "express"
    assert refused == ["parameter_invalid_value", "shipping_method"]
    assert {"type": "string", "enum": ["standard", "express", "pickup"]} in shown["anyOf"]
    columns, labels = python(tree, "-c", PRINTED, "order").splitlines()
    assert "shipping_method" in columns.split()
    assert "Method" in labels
    commands = python(tree, "-m", "svc", "commands", "-o", "json")
    assert '"--shipping-method"' in commands
    folder = tree.parents[1] / "completions"
    folder.mkdir()
    python(tree, "-m", "svc.cli.commands.tree", str(folder))
    assert all("shipping-method" in each.read_text() for each in folder.iterdir())
    assert "pickup" in (folder / "svc.bash").read_text()


@pytest.mark.slow(seconds=8)
@pytest.mark.limit(120)
def test_a_field_less_is_one_statement(tree: Path) -> None:
    """`reason` of refunds: gone from options, rows, the sandbox, its document, CSV and screens."""
    edited(
        tree / "service/refunds.py", '        Field(\n            "reason",', without="        ),\n"
    )
    assert "--reason" not in python(tree, "-m", "svc", "refunds", "create", "--help")
    columns, labels = python(tree, "-c", PRINTED, "refund").splitlines()
    assert "reason" not in columns.split()
    assert "Reason" not in labels
    gone = (
        "from svc.sandbox.openapi.document import document\n"
        "from svc.sandbox.resources import refunds\n"
        "print([field.name for field in refunds.OPERATIONS[0].fields])\n"
        "print(*document()['components']['schemas']['Refund']['properties'])\n"
    )
    taken, answered = python(tree, "-c", gone).splitlines()
    assert "'reason'" not in taken
    assert "reason" not in answered.split()
    assert "refund_reason" not in python(tree, "-m", "svc", "commands", "-o", "json")
