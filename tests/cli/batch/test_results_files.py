"""What earlier results, and those of a copied file, keep from being paid again (promises R115, R116)."""

import json
import os
import shlex
from collections.abc import Callable
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


def lose_state() -> None:
    for file in Path(os.environ["SVC_STATE_DIR"]).glob("state.db*"):
        file.unlink()


def paid(svc: Svc) -> int:
    return len(svc.ok("payouts", "list")["data"])


def turn(results: Path, change: Callable[[str], str]) -> None:
    """Changes when the rows of a results file were sent."""
    lines = map(json.loads, results.read_text().splitlines())
    told = [{**line, "first_sent": change(line["first_sent"])} for line in lines]
    results.write_text("".join(json.dumps(line) + "\n" for line in told))


def turn_unknown(results: Path) -> None:
    """The run was killed before its answers came."""
    lines = map(json.loads, results.read_text().splitlines())
    told = [{**line, "outcome": "unknown", "id": None} for line in lines]
    results.write_text("".join(json.dumps(line) + "\n" for line in told))


def cut(results: Path) -> None:
    """A kill or a full disk leaves half of the last line."""
    text = results.read_text().rstrip("\n")
    results.write_text(text[: -len(text.splitlines()[-1]) // 2])


@pytest.fixture
def file(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> Path:
    """A file of two payouts that were carried out; its results are beside it."""
    sandbox.control("POST", "/balances", {"currency": "USD", "amount": 10_000_000})
    folder = tmp_path / "here"
    folder.mkdir()
    path = payouts(folder / "p.csv", ("Ana", ANA, "SAL-1"), ("Berta", BERTA, "SAL-2"))
    assert svc.ok("batch", "payouts.create", path)["done"] == 2
    return Path(path)


def test_what_was_tried_in_test_mode_is_sent_in_live_mode(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R116: one file, tried and then sent: neither results say anything of the other mode."""
    path = tmp_path / "o.csv"
    path.write_text(
        "amount,currency,shipping[country],items[0][name],items[0][quantity],items[0][unit_amount]\n"
        "500,EUR,US,Jacket,1,500\n"
    )
    batch, live = ("batch", "orders.create", str(path)), {"SVC_API_KEY": "sk_live_sandbox"}
    assert svc.ok(*batch)["done"] == 1
    stopped = svc(*batch, "--live", "--yes", env=live)
    assert (stopped.code, stopped.error["code"]) == (10, "results_exist")
    assert "--import" not in stopped.error["message"]
    said = shlex.split(stopped.error["message"].partition("another file: svc ")[2].rstrip("."))
    assert said[-1] == f"{path}.live.results.ndjson"
    for found in ("done", "skipped"):
        sent = svc(*said, env=live)
        assert (sent.code, sent.json[found]) == (0, 1), sent.err
    assert svc.ok(*batch)["skipped"] == 1


@pytest.mark.parametrize("label", ["", "2026-11"])
def test_a_results_file_that_was_moved_is_read_by_its_batch(
    svc: Svc, file: Path, tmp_path: Path, label: str
) -> None:
    """The hint names the batch and the line to type; it never says to throw the file away."""
    more = ("--run", label, "--again") if label else ()
    assert svc.ok("batch", "payouts.create", str(file), *more)["rows"] == 2
    count = paid(svc)
    moved = file.parent.rename(tmp_path / "there") / file.name
    batch = ("batch", "payouts.create", str(moved))
    stopped = svc(*batch, *more)
    assert (stopped.code, stopped.error["code"]) == (10, "results_exist")
    assert "--force" not in stopped.error["message"]
    said = stopped.error["message"].partition("skipped: svc ")[2].partition("; if not")[0]
    for is_lost in (False, True):
        if is_lost:
            lose_state()
        assert svc.ok(*shlex.split(said))["skipped"] == 2
    other = svc(*shlex.split(said), "--run", "2026-12")
    assert (other.code, other.error["param"]) == (2, "--run")
    assert paid(svc) == count


@pytest.mark.effect_of("batch", "--force")
def test_what_is_overwritten_is_read_all_the_same(svc: Svc, file: Path, tmp_path: Path) -> None:
    """Moved, the state lost, and `--force`: its rows were done by another batch."""
    moved = file.parent.rename(tmp_path / "there") / file.name
    results = moved.with_name("p.csv.results.ndjson")
    lose_state()
    batch = ("batch", "payouts.create", str(moved), "--force")
    stopped = svc(*batch)
    assert (stopped.code, stopped.error["code"]) == (6, "rows_repeated")
    turn_unknown(results)
    unknown = svc(*batch)
    assert (unknown.code, unknown.error["code"]) == (6, "request_unresolved")
    for one in (stopped, unknown):
        assert f"--import {json.loads(results.read_text().splitlines()[0])['import']}" in one.err
    assert paid(svc) == 2


def test_a_missing_folder_is_named(svc: Svc, file: Path, tmp_path: Path) -> None:
    missing = tmp_path / "no where"
    for more in ((), ("--dry-run",)):
        told = svc("batch", "payouts.create", str(file), "--results", str(missing / "r"), *more)
        assert (told.code, told.error["param"]) == (10, "--results")
        assert f"The folder {missing} of the results file is missing" in told.error["message"]
        assert f"mkdir -p '{missing}'" in told.error["message"]
        assert "Free some space" not in told.error["message"]
    assert "Nothing was sent." in told.error["message"]


def test_lines_from_the_future_decide_nothing(svc: Svc, file: Path) -> None:
    """A line dated a year ahead would be young for a year; ten minutes are a clock's difference."""
    results = file.with_name("p.csv.results.ndjson")
    turn(results, lambda at: f"{int(at[:4]) + 1}{at[4:]}")
    batch = ("batch", "payouts.create", str(file))
    assert svc.ok(*batch, "--dry-run")["skipped"] == 2  # the journal knows better
    lose_state()
    told = svc(*batch)
    assert (told.code, told.error["code"]) == (6, "results_future")
    assert paid(svc) == 2


def test_a_line_that_was_cut_off_is_no_row_to_be_sent_with_a_forgotten_key(
    svc: Svc, file: Path
) -> None:
    """Within 23 hours the row's own key keeps it from a second effect; after that it stops."""
    results = file.with_name("p.csv.results.ndjson")
    whole = results.read_text()
    turn(results, lambda at: f"{int(at[:4]) - 1}{at[4:]}")
    cut(results)
    lose_state()
    batch = ("batch", "payouts.create", str(file), "--continue")
    told = svc(*batch)
    assert (told.code, told.error["code"]) == (6, "results_damaged")
    results.write_text(whole)
    cut(results)
    again = svc.ok(*batch)
    assert (again["skipped"], again["done"], again["replayed"], paid(svc)) == (1, 1, 1, 2)
    results.write_text(whole[:200])  # of the only line
    lose_state()
    told = svc(*batch)
    assert (told.code, told.error["code"]) == (6, "results_damaged")


@pytest.mark.effect_of("batch", "--edited")
def test_a_corrected_row_in_another_file_is_not_paid_again(
    svc: Svc, file: Path, tmp_path: Path
) -> None:
    """It stops, names both rows, and sends the row once somebody has said so."""
    batch = ("batch", "payouts.create", payouts(tmp_path / "b.csv", ("Anna", ANA, "SAL-1")))
    for more in ((), ("--dry-run",)):
        stopped = svc(*batch, *more)
        assert (stopped.code, stopped.error["code"]) == (6, "row_edited")
    made = json.loads(Path(f"{file}.results.ndjson").read_text().splitlines()[0])["id"]
    said = stopped.error["message"]
    assert all(one in said for one in ("Line 2", f"row 1 of the batch {file}", "3000", made))
    assert "--edited" in said
    assert paid(svc) == 2
    assert svc.ok(*batch, "--edited")["done"] == 1
    assert paid(svc) == 3


def test_a_copy_with_new_references_or_a_column_is_not_paid_again(
    svc: Svc, file: Path, tmp_path: Path
) -> None:
    rows = ("Ana", ANA, "PAY-1"), ("Berta", BERTA, "PAY-2")
    copy = payouts(tmp_path / "b.csv", *rows)
    assert svc("batch", "payouts.create", copy).error["code"] == "row_edited"
    rows = ("Ana", ANA, "SAL-1"), ("Berta", BERTA, "SAL-2")
    copy = payouts(tmp_path / "c.csv", *rows, more="hr")
    assert svc("batch", "payouts.create", copy).error["code"] == "row_edited"
    assert svc.ok("batch", "payouts.create", copy, "--run", "bonus")["done"] == 2


def test_tomorrows_file_and_a_second_invoice_are_ordinary(
    svc: Svc, file: Path, tmp_path: Path
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
