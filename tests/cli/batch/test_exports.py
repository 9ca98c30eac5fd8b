"""Exports: whole or said to be cut short, in constant memory, and taken back by `batch` (R18, R64)."""

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks.growth.batch import write_rows
from benchmarks.growth.measuring import SVC, environment, run_command
from support.batches import made, orders_file
from support.running import Sandbox, Svc
from support.servers.memory import measure_memory, serving_orders

HOSTILE = (
    *("=1+1", "+49 30 1", "-5", "@SUM(A1)", "'=x", "''@", "\tx", "x\ry", "a,b", 'say "hi"'),
    *("two\nlines", " padded ", "\x1b]0;x\x07", "\u202eevil", r"\u{1b}", "日本語 🧥", "a=b", "-"),
)
# Names that a merchant may give: at most 40 characters of any kind (assumptions: Conventions).
ODD_KEYS = ("a[b]", "a][b", "0", "]", "[", "x:=", "=1+1", "a,b", "\x1b]0;x\x07", " padded ", "a.b")
# What an order is made of, as it is answered.
MADE_OF = (
    *("amount", "currency", "settlement_currency", "shipping", "items", "capture_method"),
    "metadata",
)


def hostile_orders() -> list[dict[str, Any]]:
    return [
        {
            "amount": 100 + number,
            "currency": "EUR",
            "shipping": {"country": "DE", "postal_code": text, "name": text},
            "items": [
                {"name": text, "hs_code": "6203.39", "quantity": 1, "unit_amount": 5},
                {"name": "Hat", "quantity": number + 1, "unit_amount": 0},
            ][: 1 + number % 2],
            "capture_method": ("automatic", "manual")[number % 2],
            "metadata": {"note": text, "n": str(number), **dict.fromkeys(ODD_KEYS, text)},
        }
        for number, text in enumerate(HOSTILE)
    ]


@pytest.mark.parametrize(
    ("form", "more"),
    [("csv", ()), pytest.param("csv", ("--raw-csv",), marks=pytest.mark.slow), ("ndjson", ())],
)
def test_an_export_is_taken_back_exactly(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, form: str, more: tuple[str, ...]
) -> None:
    """R64: orders with hostile texts, exported and created again, are the same orders."""
    rows = "\n".join(json.dumps(order) for order in hostile_orders())
    argv = ("batch", "orders.create", "-", "--results", str(tmp_path / "r"))
    assert svc.ok(*argv, "--strict-order", stdin=rows)["done"] == len(HOSTILE)
    first = made(svc)
    assert [order["metadata"]["note"] for order in first] == list(HOSTILE)

    export = svc("orders", "list", "--all", "-o", form, *more)
    assert export.code == 0, export.err
    path = tmp_path / f"export.{form}"
    path.write_bytes(export.out.encode())
    sandbox.control("POST", "/reset", {})
    summary = svc.ok("batch", "orders.create", str(path), *more, "--strict-order")
    assert summary["done"] == len(HOSTILE)
    again = made(svc)[::-1]  # an export has the newest first
    assert [pick(order) for order in again] == [pick(order) for order in first]


def pick(order: dict[str, Any]) -> dict[str, Any]:
    return {name: order[name] for name in MADE_OF}


@pytest.mark.effect_of("svc", "--raw-csv")
def test_no_cell_of_an_export_is_a_formula(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """R64: what a spreadsheet would run has a quote before it; --raw-csv leaves it."""
    rows = "\n".join(json.dumps(order) for order in hostile_orders())
    svc.ok("batch", "orders.create", "-", "--results", str(tmp_path / "r"), stdin=rows)
    text = svc("orders", "list", "--all", "-o", "csv").out
    cells = [cell for line in csv.reader(io.StringIO(text, newline="")) for cell in line]
    assert {cell[1] for cell in cells if cell.startswith("'")} >= set("=+-@")
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert "\x1b" not in text
    raw = svc("orders", "list", "--all", "-o", "csv", "--raw-csv").out
    assert ",=1+1," in raw


def turned_away(after: int) -> dict[str, Any]:
    """A rule that turns a page away for longer than anybody waits."""
    effect = {"status": 429, "retry_after": 3600}
    return {"match": {"method": "GET"}, "skip": after, "times": 1, "effect": effect}


def test_an_export_that_ends_early_says_so_and_goes_on(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R18: exit 9, never 0; the last id is named, and what follows it is the rest."""
    svc.ok("batch", "orders.create", str(orders_file(tmp_path, range(250))))
    whole = svc("orders", "list", "--all", "-o", "ndjson").out
    assert len(whole.splitlines()) == 250
    sandbox.control("POST", "/faults", turned_away(after=2))
    cut = svc("orders", "list", "--all", "-o", "ndjson")
    assert (cut.code, len(cut.out.splitlines())) == (9, 200)
    last = json.loads(cut.out.splitlines()[-1])["id"]
    assert f"continue with --starting-after {last}" in cut.error["message"]
    rest = svc("orders", "list", "--all", "-o", "ndjson", "--starting-after", last)
    assert rest.code == 0
    assert cut.out + rest.out == whole


@pytest.mark.parametrize("form", ["json", "csv"])
def test_an_export_that_ends_early_prints_what_it_has(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, form: str
) -> None:
    """R18: in every format; half a JSON array does not read as a whole one."""
    svc.ok("batch", "orders.create", str(orders_file(tmp_path, range(130))))
    sandbox.control("POST", "/faults", turned_away(after=1))
    cut = svc("orders", "list", "--all", "-o", form)
    assert cut.code == 9
    assert cut.out.count("ord_") >= 100
    if form == "json":
        with pytest.raises(json.JSONDecodeError):
            json.loads(cut.out)


@pytest.mark.effect_of("svc", "--max")
@pytest.mark.parametrize(("most", "found"), [(101, 101), (500, 120)])
def test_max_is_a_maximum(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, most: int, found: int
) -> None:
    svc.ok("batch", "orders.create", str(orders_file(tmp_path, range(120))))
    result = svc("orders", "list", "--max", str(most), "-o", "id")
    assert (result.code, len(result.out.split())) == (0, found)


# --- memory -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form", ["ndjson", *(pytest.param(form, marks=pytest.mark.slow) for form in ("csv", "json"))]
)
@pytest.mark.slow
def test_an_export_takes_the_same_memory_whatever_its_length(form: str) -> None:
    """`list --all` in constant memory: 13 MB more of objects, 6 MB more at most.

    The ids of the last 10,000 objects are remembered, to find those that come twice (R18).
    """
    with serving_orders(1_500) as url:
        _, small = measure_memory(url, "orders", "list", "--all", "-o", form)
    with serving_orders(15_000) as url:
        result, large = measure_memory(url, "orders", "list", "--all", "-o", form)
    assert result.out.count("ord_") >= 15_000
    assert large - small < 6 * 1024


@pytest.mark.parametrize("extra", [(), ("--all",)])
def test_an_empty_export_has_its_head_and_is_a_batch_of_no_rows(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, extra: tuple[str, ...]
) -> None:
    """A nightly job on a day without orders: the columns are those of every other day."""
    empty = svc("orders", "list", *extra, "-o", "csv")
    assert (empty.code, empty.out.count("\n")) == (0, 1), empty.err
    svc.ok("batch", "orders.create", str(orders_file(tmp_path, range(1))))
    assert svc("orders", "list", *extra, "-o", "csv").out.startswith(empty.out.rstrip("\r\n"))
    nothing = "[?amount==`1`]" if extra else "data[?amount==`1`]"
    assert svc("orders", "list", *extra, "-o", "csv", "--query", nothing).out == ""

    path = tmp_path / "held.csv"
    path.write_text(empty.out, encoding="utf-8", newline="")
    for words in (("--dry-run",), ()):
        done = svc("batch", "orders.capture", str(path), *words, "-o", "human")
        assert done.code == 0, done.err
        assert "orders.capture: 0 rows" in done.err


@pytest.mark.effect_of("batch", "--decimals")
@pytest.mark.effect_of("svc", "--decimals")
def test_decimals_go_out_and_come_back(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """Each with its currency's own number of places; neither form is taken for the other (R98)."""
    item = "name=J,quantity=1,unit_amount=100"
    for amount, currency in (("12900", "EUR"), ("1234567", "JPY"), ("12345", "KWD")):
        order = ("--amount", amount, "--currency", currency, "--country", "DE", "--item", item)
        svc.ok("orders", "create", *order)
    fields = "amount,currency,shipping.country,items[0].name,items[0].quantity,items[0].unit_amount"
    export = ("orders", "list", "--all", "-o", "csv", "--fields", fields)
    decimals, minor = tmp_path / "decimals.csv", tmp_path / "minor.csv"
    decimals.write_text(svc(*export, "--decimals").out)
    minor.write_text(svc(*export).out)
    cells = [line.split(",") for line in decimals.read_text().splitlines()[1:]]
    assert [(row[0], row[1], row[-1]) for row in cells] == [
        ("12.345", "KWD", "0.100"),
        ("1234567", "JPY", "100"),
        ("129.00", "EUR", "1.00"),
    ]
    for file, option in ((decimals, ()), (minor, ("--decimals",))):
        refused = svc("batch", "orders.create", str(file), "--dry-run", *option)
        assert (refused.code, refused.json["invalid"]) == (9, 2), refused
    before = svc.ok("orders", "list", "--all")
    decimals.write_text(decimals.read_text().replace(",J,", ",K,"))  # others than were made
    assert svc("batch", "orders.create", str(decimals), "--decimals", "--yes").code == 0
    made_of = [(one["amount"], one["currency"]) for one in svc.ok("orders", "list", "--all")]
    assert sorted(made_of) == sorted((one["amount"], one["currency"]) for one in [*before, *before])
    bare = tmp_path / "bare.csv"
    bare.write_text("payment,amount\npay_1,129.00\n")
    refused = svc("batch", "refunds.create", str(bare), "--decimals", "--dry-run")
    assert (refused.code, refused.error["code"]) == (2, "column_missing")


def test_what_a_file_needs_is_told_once(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """Amounts in euros name the option that reads them, and orders how their payments are found."""
    file = tmp_path / "refunds.csv"

    def check(*rows: str, decimals: bool = False) -> list[str]:
        file.write_text("\n".join(rows))
        words = ("--dry-run", "-o", "human", *(("--decimals",) if decimals else ()))
        return svc("batch", "refunds.create", str(file), *words).err.splitlines()

    bare, beside = "payment,amount", "payment,amount,currency"
    said = check(bare, "pay_1,49.99", "pay_2,49.99")
    assert said[0].startswith("lines 2 to 3: amount '49.99' is not a whole number")
    assert said[-1].endswith("to read amounts with decimals: --decimals, with a column currency")
    said = check(beside, "pay_1,49.99,EUR", "pay_2,5,EUR", decimals=True)
    assert said[0] == "line 3: amount '5' has not the 2 decimals of EUR"
    assert said[-1].endswith("or run without --dry-run to send the others")
    said = check(beside, 'pay_1,"49,99",EUR', decimals=True)
    assert said[0].endswith("has not the 2 decimals of EUR; write 49.99")
    assert said[-1] == "  Next: Correct them"  # there are no others to send
    said = check("order,amount", "ord_1,4999")
    assert said[1:2] == ["line 2: payment is missing"]
    assert "svc payments list --all -o csv --query '[].{order: order, payment: id}'" in said[-1]
    assert check(beside, "pay_1,49.99,EUR", decimals=True)[0].startswith("refunds.create: 1 row")


@pytest.mark.slow(seconds=6)
def test_a_check_of_many_rows_stays_small(tmp_path: Path) -> None:
    """Rows lie on the disk: ten times as many take a few bytes of memory each."""
    taken = []
    for size in (2_000, 20_000):
        path = tmp_path / f"{size}.csv"
        write_rows(path, size)
        env = {**environment(tmp_path, 9), "TMPDIR": str(tmp_path), "HOME": os.environ["HOME"]}
        spent = run_command([SVC, "batch", "orders.create", str(path), "--dry-run"], env)
        taken.append(spent.megabytes)
    assert taken[1] - taken[0] < 8
