"""A file that was done is corrected in a copy under another name (promise R115)."""

import json
from pathlib import Path

import pytest

from support.running import Sandbox, Svc

HEAD = (
    "amount,currency,source_currency,destination[country],destination[account_holder_name],"
    "destination[iban],reference"
)
ANA, BERTA = "DE89370400440532013000", "DE02120300000000202051"


def payouts(path: Path, *rows: tuple[str, str, str], more: str = "") -> str:
    """A file of payouts of 100.00 EUR: name, account, reference; `more` is a column of metadata."""
    head = HEAD + (",metadata[by]" if more else "")
    lines = [f"10000,EUR,USD,DE,{name},{iban},{said}" for name, iban, said in rows]
    path.write_text("\n".join([head, *(f"{line},{more}" if more else line for line in lines)]))
    return str(path)


def paid(svc: Svc) -> int:
    return len(svc.ok("payouts", "list")["data"])


@pytest.fixture
def run(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> str:
    """Two payouts that were carried out; gives the file."""
    sandbox.control("POST", "/balances", {"currency": "USD", "amount": 10_000_000})
    first = payouts(tmp_path / "a.csv", ("Ana", ANA, "SAL-1"), ("Berta", BERTA, "SAL-2"))
    assert svc.ok("batch", "payouts.create", first)["done"] == 2
    return first


@pytest.mark.effect_of("batch", "--edited")
def test_a_corrected_row_in_another_file_is_not_paid_again(
    svc: Svc, run: str, tmp_path: Path
) -> None:
    """It stops, names both rows, and sends the row once somebody has said so."""
    batch = ("batch", "payouts.create", payouts(tmp_path / "b.csv", ("Anna", ANA, "SAL-1")))
    for more in ((), ("--dry-run",)):
        stopped = svc(*batch, *more)
        assert (stopped.code, stopped.error["code"]) == (6, "row_edited")
    made = json.loads(Path(f"{run}.results.ndjson").read_text().splitlines()[0])["id"]
    said = stopped.error["message"]
    assert all(one in said for one in ("Line 2", f"row 1 of the batch {run}", "3000", made))
    assert "--edited" in said
    assert paid(svc) == 2
    assert svc.ok(*batch, "--edited")["done"] == 1
    assert paid(svc) == 3


def test_a_copy_with_new_references_or_a_column_is_not_paid_again(
    svc: Svc, run: str, tmp_path: Path
) -> None:
    rows = ("Ana", ANA, "PAY-1"), ("Berta", BERTA, "PAY-2")
    copy = payouts(tmp_path / "b.csv", *rows)
    assert svc("batch", "payouts.create", copy).error["code"] == "row_edited"
    rows = ("Ana", ANA, "SAL-1"), ("Berta", BERTA, "SAL-2")
    copy = payouts(tmp_path / "c.csv", *rows, more="hr")
    assert svc("batch", "payouts.create", copy).error["code"] == "row_edited"
    assert svc.ok("batch", "payouts.create", copy, "--run", "bonus")["done"] == 2


def test_tomorrows_file_and_a_second_invoice_are_ordinary(
    svc: Svc, run: str, tmp_path: Path
) -> None:
    """Another reference on the same account is another payment; so is the file of another day.

    And so is the same number of another currency.
    """
    pounds = payouts(tmp_path / "d.csv", ("Ana", ANA, "SAL-1"), more="x")
    Path(pounds).write_text(Path(pounds).read_text().replace("EUR", "GBP"))
    assert svc.ok("batch", "payouts.create", pounds)["done"] == 1
    more = payouts(tmp_path / "b.csv", ("Ana", ANA, "INV-9"))
    assert svc.ok("batch", "payouts.create", more)["done"] == 1
    svc.ok("sandbox", "advance", "13h")
    rows = ("Ana", ANA, "SAL-3"), ("Berta", BERTA, "SAL-4")
    assert svc.ok("batch", "payouts.create", payouts(tmp_path / "c.csv", *rows))["done"] == 2
