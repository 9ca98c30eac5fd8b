"""`svc batch` as a process: operations, checks, summaries, results, live mode."""

import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.batches import (
    CARD,
    HEAD,
    ended,
    made,
    order_line,
    orders_file,
    outcomes_of,
    refs,
    results_of,
)
from support.on_terminal import OpenTerminal
from support.orders import ORDER
from support.running import Result, Sandbox, Svc
from svc.delivery.journal.batches import BatchTable


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def paid(svc: Svc, sandbox: Sandbox, count: int, **more: Any) -> list[Any]:
    """Payments of so many orders."""
    rows = [json.dumps({**ORDER, **more, "metadata": {"n": str(n)}}) for n in range(count)]
    name = str(Path(os.environ["HOME"]) / "paid.ndjson")
    svc.ok("batch", "orders.create", "-", "--results", name, "--again", stdin="\n".join(rows))
    found = []
    for order in made(svc):
        # The client secret is told once, on creation; the sandbox's own list of keys has no need.
        body = {"client_secret": secret_of(sandbox, order["id"]), "card": CARD}
        found.append(
            sandbox.control("POST", "/checkout/pay", body, key="pk_test_sandbox")["payment"]
        )
    return found


def unpaid(svc: Svc, folder: Path) -> str:
    """The id of an order that can be updated."""
    path = write(folder / "o.ndjson", json.dumps(ORDER))
    svc.ok("batch", "orders.create", str(path))
    return str(made(svc)[0]["id"])


def secret_of(sandbox: Sandbox, order: str) -> str:
    """The client secret of an order, which no answer but the first one shows."""
    document = sandbox.control("GET", "/export")
    text = json.dumps(document)
    at = text.index(f"{order}_secret_")
    return text[at : text.index('"', at)].rstrip("\\")


def test_what_failed_since_is_sent_once_more_and_pays_no_other_row(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R117: a refund fails days later; an equal row that is added then is not skipped for it."""
    (payment,) = paid(svc, sandbox, 1)
    row = f"{payment['id']},100"
    path = write(tmp_path / "r.csv", "payment,amount", row)
    batch = ("batch", "refunds.create", str(path))
    assert svc.ok(*batch)["done"] == 1
    (first,) = svc.ok("refunds", "list")["data"]
    svc.ok("sandbox", "fail", first["id"])
    assert svc.ok(*batch)["skipped"] == 1  # nobody has looked
    assert svc.ok(*batch, "--retry-failed")["done"] == 1
    assert svc.ok(*batch, "--retry-failed")["skipped"] == 1
    write(path, "payment,amount", row, row)
    added = svc(*batch)
    assert (added.code, added.json["skipped"], added.json["failed"]) == (9, 1, 1)
    assert svc.ok(*batch, "--retry-failed")["done"] == 1
    assert len(svc.ok("refunds", "list")["data"]) == 3


def test_an_update_that_a_later_one_has_changed_is_not_told_as_done(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R115: set to A, to B, and to A again, by the file or by hand: never exit 0 with B."""
    order = unpaid(svc, tmp_path)
    path = tmp_path / "u.csv"
    batch = ("batch", "orders.update", str(path))

    def set_by(name: str) -> Result:
        write(path, "id,metadata[who]", f"{order},{name}")
        return svc(*batch)

    def who() -> str:
        return str(svc.ok("get", order)["metadata"]["who"])

    assert [set_by(name).code for name in "AB"] == [0, 0]
    held = set_by("A")
    (problem,) = held.json["problems"]
    assert (held.code, held.json["changed"], held.json["skipped"]) == (9, 1, 0)
    assert (problem["code"], who()) == ("row_overtaken", "B")
    assert svc.ok(*batch, "--dry-run")["changed"] == 1
    assert svc.ok(*batch, "--skip-done")["skipped"] == 1
    assert svc.ok(*batch, "--edited")["done"] == 1
    assert (who(), svc.ok(*batch)["skipped"]) == ("A", 1)
    assert [set_by("B").code, svc(*batch, "--edited").code] == [9, 0]
    # By hand: another field is no contradiction, and the value of the row put back is none.
    svc.ok("orders", "update", order, "--metadata", "more=1")
    assert svc.ok(*batch)["skipped"] == 1
    svc.ok("orders", "update", order, "--metadata", "who=C")
    assert (svc(*batch).code, who()) == (9, "C")
    svc.ok("orders", "update", order, "--metadata", "who=B")
    assert svc.ok(*batch)["skipped"] == 1


@pytest.mark.parametrize("more", [(), ("--skip-done", "--edited")], ids=["plain", "permitted"])
def test_an_update_of_unknown_outcome_does_not_undo_a_later_one(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, more: tuple[str, ...]
) -> None:
    """R115: as `svc requests resume` refuses to send it, whatever is permitted."""
    order = unpaid(svc, tmp_path)
    path = write(tmp_path / "u.csv", "id,metadata[who]", f"{order},A")
    batch = ("batch", "orders.update", str(path), "--max-time", "1")
    cut = {"match": {"method": "POST"}, "effect": {"connection": "close"}, "times": 4}
    sandbox.control("POST", "/faults", cut)
    assert svc(*batch).code == 9
    sandbox.control("DELETE", "/faults")
    svc.ok("orders", "update", order, "--metadata", "who=B")
    held = svc(*batch, *more)
    (problem,) = held.json["problems"]
    assert (held.code, problem["code"], problem["outcome"]) == (9, "request_unresolved", "unknown")
    assert f"svc orders retrieve {order}" in problem["message"]
    assert svc.ok("get", order)["metadata"]["who"] == "B"


def test_a_query_that_fails_says_what_became_of_the_rows(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R120: a row that was refused is not told as carried out; the ids are in the results file."""
    path = write(tmp_path / "r.csv", "payment,amount", "pay_1,100")
    batch = ("batch", "refunds.create", str(path), "--query", "length(rows)")
    checked = svc(*batch, "--dry-run")
    assert (checked.code, checked.error["outcome"]) == (10, None)
    assert "carried out" not in checked.err
    ended = svc(*batch)
    assert (ended.code, ended.error["outcome"]) == (10, None)
    assert "refunds.create: 1 row: 1 refused." in ended.error["message"]
    assert f"{path}.results.ndjson" in ended.error["message"]


# --- the operations -----------------------------------------------------------------------------


@pytest.mark.effect_of("batch", "--ignore-column", "--row-id")
@pytest.mark.parametrize("more", [(), ("--ignore-column", "invoice")], ids=["named", "ignored"])
def test_a_column_names_the_rows(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, more: tuple[str, ...]
) -> None:
    """R115: what `--row-id` names is paid once, corrected or not; the column itself is not sent."""
    (payment,) = paid(svc, sandbox, 1)
    head = "payment,amount,invoice"
    path = write(tmp_path / "r.csv", head, f"{payment['id']},100,a", f"{payment['id']},200,b")
    batch = ("batch", "refunds.create", str(path), "--row-id", "invoice", *more)
    assert svc.ok(*batch)["done"] == 2
    write(path, head, f"{payment['id']},100,a", f"{payment['id']},250,b")
    again = svc(*batch)
    told = again.json
    assert (again.code, told["done"], told["skipped"], told["changed"]) == (9, 0, 1, 1)
    assert told["problems"][0]["code"] == "row_changed"
    assert sorted(one["amount"] for one in svc.ok("refunds", "list")["data"]) == [100, 200]


def test_a_refund_run_from_csv(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """The recipe: payment, amount, reason; totals by currency; a line a row."""
    payments = paid(svc, sandbox, 3)
    lines = [f"{payment['id']},{100 * n},duplicate" for n, payment in enumerate(payments, 1)]
    path = write(tmp_path / "refunds.csv", "payment,amount,reason", *lines)
    check = svc.ok("batch", "refunds.create", str(path), "--dry-run")
    assert (check["to_send"], check["without_amount"], check["totals"]) == (3, 0, [])
    assert check["without_currency"] == 3
    said = svc("batch", "refunds.create", str(path), "--dry-run", "-o", "human").err
    assert "To send: 3 rows whose currency is not in the file\n" in said
    bare = write(tmp_path / "bare.csv", "payment,reason", f"{payments[0]['id']},duplicate")
    said = svc("batch", "refunds.create", str(bare), "--dry-run", "-o", "human").err
    assert "To send: 1 row without an amount\n" in said
    check = svc.ok("batch", "refunds.create", str(bare), "--dry-run")
    assert (check["without_amount"], check["without_currency"]) == (1, 0)
    summary = svc.ok("batch", "refunds.create", str(path))
    assert (summary["done"], summary["results"]) == (3, f"{path}.results.ndjson")
    assert summary["totals"] == [{"currency": "EUR", "amount": 600, "rows": 3}]
    refunded = {line["id"]: line["row"] for line in results_of(path)}
    for refund in svc.ok("refunds", "list")["data"]:
        row = refunded[refund["id"]]
        assert (refund["amount"], refund["payment"]) == (100 * row, payments[row - 1]["id"])
        assert refund["reason"] == "duplicate"


def test_orders_are_updated_captured_and_cancelled_by_id(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """Rows that change something have a column `id`."""
    svc.ok("batch", "orders.create", str(orders_file(tmp_path, range(2))))
    ids = [order["id"] for order in made(svc)]
    path = write(tmp_path / "u.csv", "id,amount,metadata[ref]", f"{ids[0]},5000,B", f"{ids[1]},,C")
    summary = svc.ok("batch", "orders.update", str(path), "--blank-means-all")
    assert summary["totals"] == [{"currency": "EUR", "amount": 17900, "rows": 2}]
    assert [(one["amount"], one["metadata"]["ref"]) for one in made(svc)] == [
        (5000, "B"),
        (12900, "C"),
    ]
    path = write(tmp_path / "c.csv", "id,cancellation_reason", f"{ids[0]},duplicate", f"{ids[1]},")
    svc.ok("batch", "orders.cancel", str(path))
    assert [one["cancellation_reason"] for one in made(svc)] == ["duplicate", None]


def test_an_edited_export_updates_its_orders(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """R64: export, change a cell in a spreadsheet, run it: nothing else is changed."""
    svc.ok("batch", "orders.create", str(orders_file(tmp_path, range(3))))
    before = made(svc)
    export = svc("orders", "list", "--all", "-o", "csv").out
    path = tmp_path / "edited.csv"
    path.write_text(export.replace("EUR,USD", "EUR,GBP"))
    assert svc.ok("batch", "orders.update", str(path))["done"] == 3
    changed = {"settlement_currency": "GBP", "landed_cost": None}
    after = [{**order, "landed_cost": None} for order in made(svc)]
    assert after == [{**order, **changed} for order in before]


def test_held_orders_are_captured_from_an_export(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """The example of --help: ids alone capture all."""
    paid(svc, sandbox, 2, capture_method="manual")
    path = tmp_path / "held.csv"
    ids = svc("orders", "list", "--status", "authorized", "--all", "-o", "csv", "--fields", "id")
    path.write_text(ids.out)
    summary = svc.ok("batch", "orders.capture", str(path))
    assert summary["totals"] == [{"currency": "EUR", "amount": 2 * 15708, "rows": 2}]
    assert {order["status"] for order in made(svc)} == {"paid"}


def test_an_order_that_was_captured_by_hand_counts_with_skip_done(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R115: the service refuses to capture it again, and another run would never be whole."""
    paid(svc, sandbox, 2, capture_method="manual")
    ids = [order["id"] for order in made(svc)]
    path = write(tmp_path / "c.csv", "id,amount", *(f"{one},4000" for one in ids))
    svc.ok("orders", "capture", ids[0], "--amount", "4000")
    refused = svc("batch", "orders.capture", str(path))
    assert (refused.code, refused.json["done"], refused.json["refused"]) == (9, 1, 1)
    assert svc.ok("batch", "orders.capture", str(path), "--skip-done")["skipped"] == 2
    assert svc.ok("batch", "orders.capture", str(path))["skipped"] == 2


# --- checking -----------------------------------------------------------------------------------


def test_a_dry_run_checks_every_row_and_sends_nothing(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It needs no key, writes no results, and ends as the run would: exit 9 with a bad row."""
    monkeypatch.delenv("SVC_API_KEY")
    lines = [order_line(1), order_line(2, "0"), order_line(3), "1,JPY,JP,,Hat,1,1,B"]
    path = write(tmp_path / "o.csv", HEAD, *lines)
    result = svc("batch", "orders.create", str(path), "--dry-run")
    assert result.code == 9
    assert result.json["totals"] == [
        {"currency": "EUR", "amount": 25800, "rows": 2},
        {"currency": "JPY", "amount": 1, "rows": 1},
    ]
    counts = {name: result.json[name] for name in ("rows", "to_send", "skipped", "invalid")}
    assert counts == {"rows": 4, "to_send": 3, "skipped": 0, "invalid": 1}
    assert [(one["line"], one["param"]) for one in result.json["problems"]] == [(3, "amount")]
    assert sorted(one.name for one in tmp_path.iterdir() if one.is_file()) == ["o.csv"]
    assert sandbox.control("GET", "/requests")["data"] == []
    human = svc("batch", "orders.create", str(path), "--dry-run", "-o", "human").err
    assert "orders.create: 4 rows: 3 to send, 1 invalid. Nothing was sent.\n" in human


@pytest.mark.effect_of("batch", "--dry-run")
@pytest.mark.effect_of("svc", "--dry-run")
def test_a_dry_run_says_what_would_be_skipped(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    svc.ok("batch", "orders.create", str(orders_file(tmp_path, range(4))))
    check = svc.ok("batch", "orders.create", str(orders_file(tmp_path, range(6))), "--dry-run")
    assert (check["to_send"], check["skipped"]) == (2, 4)


def test_a_key_that_another_request_has_used_sends_nothing(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R10, R12: such a row is told as not sent, and has its outcome once its key is corrected."""
    (payment,) = paid(svc, sandbox, 1)
    refund = ("refunds", "create", "--payment", payment["id"], "--amount")
    assert svc(*refund, "5", "--idempotency-key", "k-1").code == 0
    path = write(tmp_path / "r.csv", "payment,amount,idempotency_key", f"{payment['id']},7,k-1")
    stopped = svc("batch", "refunds.create", str(path))
    assert (stopped.code, stopped.json["not_sent"], stopped.json["unknown"]) == (9, 1, 0)
    assert stopped.error["message"].endswith("then run this again.")
    assert outcomes_of(path) == ["not_sent"]
    write(path, "payment,amount,idempotency_key", f"{payment['id']},7,k-2")
    assert svc.ok("batch", "refunds.create", str(path))["done"] == 1


def test_a_key_of_last_month_is_spent_and_nothing_is_unknown(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R10, R96: the rows are told as not sent, and the file can be run again once it is right."""
    (payment,) = paid(svc, sandbox, 1)
    path = write(tmp_path / "r.csv", "payment,amount,idempotency_key", f"{payment['id']},7,k-1")
    batch = ("batch", "refunds.create", str(path))
    assert svc.ok(*batch)["done"] == 1
    with (
        closing(sqlite3.connect(Path(os.environ["SVC_STATE_DIR"]) / "state.db")) as database,
        database,
    ):
        database.execute("UPDATE requests SET first_sent_at = first_sent_at - 90000")
    for _ in range(2):
        stopped = svc(*batch, "--run", "next", "--again")
        assert (stopped.code, stopped.json["not_sent"], stopped.json["unknown"]) == (9, 1, 0)
        assert stopped.json["problems"][0]["code"] == "idempotency_key_too_old"
        assert stopped.error["message"].endswith("then run this again.")
    write(path, "payment,amount,idempotency_key", f"{payment['id']},7,k-2")
    assert svc.ok(*batch, "--run", "next", "--again")["done"] == 1


def test_a_row_that_holds_the_key_is_refused(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """R28, R45: nothing of it reaches the journal."""
    line = order_line(2).replace("Linen", "sk_test_sandbox")
    path = str(write(tmp_path / "o.csv", HEAD, order_line(1), line, order_line(3)))
    for more in ((), ("--dry-run",)):
        result = svc("batch", "orders.create", path, *more)
        assert (result.code, result.error["code"]) == (4, "secret_in_request")
        assert result.error["message"].startswith("Line 3 holds a secret.")
    assert svc.ok("requests", "list") == []


# --- what it says -------------------------------------------------------------------------------


def test_a_row_that_lacks_the_amount_which_others_have_moves_nothing(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R132: a program that leaves out what is empty would refund the whole payment.

    A file whose rows all lack it means what is left of each, and so does one with the option.
    """
    whole, part = {"payment": "pay_1"}, {"payment": "pay_2", "amount": 102}
    for rows in ([whole, part], [part, whole]):
        file = str(write(tmp_path / "r.ndjson", *map(json.dumps, rows)))
        mixed = svc("batch", "refunds.create", file)
        assert (mixed.code, mixed.error["code"], mixed.error["outcome"]) == (
            2,
            "amount_blank",
            "not_sent",
        )
        assert f"Line {rows.index(whole) + 1} has no amount" in mixed.error["message"]
        assert svc.ok("batch", "refunds.create", file, "--dry-run", "--blank-means-all")
    assert svc("sandbox", "requests", "--method", "POST", "--verify", "0").code == 0
    alone = str(write(tmp_path / "w.ndjson", json.dumps(whole)))
    assert svc.ok("batch", "refunds.create", alone, "--dry-run")
    ids = [{"id": "ord_1", "amount": 1}, {"id": "ord_2"}]
    file = str(write(tmp_path / "c.ndjson", *map(json.dumps, ids)))
    assert svc("batch", "orders.capture", file, "--dry-run").error["code"] == "amount_blank"


def test_quiet_leaves_errors_only(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """R75."""
    path = orders_file(tmp_path, range(2))
    result = svc("batch", "orders.create", str(path), "-o", "human", "-q")
    assert (result.code, result.out, result.err) == (0, "", "")


def test_a_row_that_was_run_to_the_end_says_so(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    path = orders_file(tmp_path, range(3))
    svc.ok("batch", "orders.create", str(path))
    result = svc("batch", "orders.create", str(path), "-o", "human")
    assert result.code == 0
    assert "3 rows: 3 skipped\n" in result.err
    # R120: a line to type would do everything a second time.
    assert result.err.splitlines()[-1] == "Every row was done before."
    assert len(made(svc)) == 3


def test_fields_that_are_not_sent_are_named(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """To a person, before anything is sent."""
    path = write(tmp_path / "o.csv", f"{HEAD},status,id", f"{order_line(1)},paid,ord_1")
    result = svc("batch", "orders.create", str(path), "-o", "human")
    first = "Not sent, for orders.create does not take them: id, status"
    assert result.err.splitlines()[0] == first
    check = svc.ok("batch", "orders.create", str(path), "--dry-run")
    assert check["left_out"] == ["id", "status"]


def test_what_is_wrong_comes_in_the_order_of_the_file(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """Also where a row is refused here before the service has refused an earlier one."""
    lines = [f"pay_{n},{'x' if n % 3 == 2 else 100}" for n in range(30)]
    path = write(tmp_path / "r.csv", "payment,amount", *lines)
    result = svc("batch", "refunds.create", str(path))
    assert [one["line"] for one in result.json["problems"]] == list(range(2, 22))
    assert (result.json["refused"], result.json["invalid"]) == (20, 10)


def test_verbose_tells_of_every_attempt(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """One line an attempt, without anything secret."""
    path = orders_file(tmp_path, range(5))
    result = svc("batch", "orders.create", str(path), "-v")
    assert result.err.count("POST /v1/orders  attempt 1  200") == 5
    assert "sk_test" not in result.err


def test_when_the_summary_cannot_be_written_it_says_what_was_done(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R77: a full stdout is exit 10, a closed pipe 141; the ids are in the results file."""
    path = orders_file(tmp_path, range(3))
    command = [sys.executable, "-m", "svc", "batch", "orders.create", str(path), "-o", "json"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, env=os.environ, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 10
    assert "3 rows were done" in done.stderr
    assert str(path) in done.stderr
    assert outcomes_of(path) == ["done"] * 3
    piped = subprocess.run(
        ["bash", "-c", '"$@" | true; exit "${PIPESTATUS[0]}"', "-", *command],
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert piped.returncode in (0, 141)
    assert "Traceback" not in piped.stderr


@pytest.mark.parametrize("form", ["json", "human"])
def test_a_signal_behind_the_last_row_takes_no_summary_away(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """R78: what was done is said although there was nothing left to stop."""
    path = orders_file(tmp_path, range(3))
    monkeypatch.setattr(
        BatchTable, "compact_expired_batch", lambda _: signal.raise_signal(signal.SIGTERM)
    )
    result = svc("batch", "orders.create", str(path), "-o", form)
    assert result.code == 143
    if form == "json":
        assert result.json["done"] == 3
    else:
        assert "orders.create: 3 rows: 3 done" in result.err
        assert "To go on" not in result.err
    assert outcomes_of(path) == ["done"] * 3


# --- results, names, pace -----------------------------------------------------------------------


@pytest.mark.effect_of("batch", "--force")
def test_an_existing_file_is_not_overwritten(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """R65: exit 10, the old file intact, nothing sent."""
    path = orders_file(tmp_path, range(2))
    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    argv = ("batch", "orders.create", str(path), "--results", str(precious))
    for more in ((), ("--dry-run",)):
        result = svc(*argv, *more)
        assert (result.code, result.error["code"]) == (10, "results_exist")
    assert precious.read_text() == "precious"
    assert sandbox.control("GET", "/requests")["data"] == []
    svc.ok(*argv, "--force")
    assert len(precious.read_text().splitlines()) == 2
    own = svc("batch", "orders.create", str(path), "--results", str(path), "--force")
    assert (own.code, path.read_text().startswith(HEAD)) == (2, True)


def test_a_batch_is_the_same_for_every_profile_of_an_account(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R114: neither profile nor machine is in a key; what one of them has done the other skips."""
    path = orders_file(tmp_path, range(2))
    svc.ok("batch", "orders.create", str(path))
    svc.ok("profiles", "create", "shop", "--base-url", sandbox.url)
    svc.ok("profiles", "use", "shop")
    again = svc("batch", "orders.create", str(path), "--strict-order", "-o", "human")
    assert (again.code, "2 skipped" in again.err) == (0, True)
    assert len(sandbox.control("GET", "/requests")["data"]) == 2


def test_forgetting_a_row_says_that_it_will_be_sent_again(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R16: the journal is what keeps a row from being sent twice."""
    svc.ok("batch", "orders.create", str(orders_file(tmp_path, range(2))))
    newest = svc.ok("requests", "list")[0]
    gone = svc("requests", "forget", newest["id"], "--quiet")
    assert gone.code == 0
    assert f"row {gone.json['row']} of a batch" in gone.err
    assert "take the row out of the file" in gone.err


@pytest.mark.effect_of("batch", "--results")
def test_rows_come_from_a_pipe(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """`-` is NDJSON; the same rows piped in again are the same list."""
    rows = "\n".join(json.dumps({**ORDER, "metadata": {"ref": str(n)}}) for n in range(3))
    argv = ("batch", "orders.create", "-", "--results", str(tmp_path / "r.ndjson"))
    assert svc.ok(*argv, stdin=rows)["done"] == 3
    assert svc.ok(*argv, stdin=rows)["skipped"] == 3
    assert refs(svc) == ["0", "1", "2"]


def test_a_file_of_any_name(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """Bytes that are no UTF-8, control characters and quotes are names like others."""
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/o'\xff\x1b[31m.csv"))
    path.write_bytes(orders_file(tmp_path, range(2)).read_bytes())
    first = svc("batch", "orders.create", str(path), "-o", "human")
    assert first.code == 0, first.err
    assert "\x1b" not in first.err
    assert svc.ok("batch", "orders.create", str(path))["skipped"] == 2


@pytest.mark.effect_of("batch", "--again", "--import", "--run")
def test_a_name_makes_a_list_of_its_own(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """`--run 2026-12 --again`: the same file once a month, each month once."""
    path = orders_file(tmp_path, range(2))
    for month, count in (("2026-11", 2), ("2026-11", 2), ("2026-12", 4), ("2026-12", 4)):
        more = ("--import", "orders", "--run", month, "--again")
        svc.ok("batch", "orders.create", str(path), *more)
        assert len(made(svc)) == count


@pytest.mark.effect_of("batch", "--rate")
@pytest.mark.slow
def test_the_rate_is_kept(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    path = orders_file(tmp_path, range(31))
    process = svc.begin("batch", "orders.create", str(path), "--rate", "30", "-o", "json")
    assert ended(process).code == 0
    times = [one["created"] for one in sandbox.control("GET", "/requests?limit=100")["data"]]
    assert len(set(times)) >= 2


# --- live mode ----------------------------------------------------------------------------------


def live(svc: Svc, path: Path, *more: str) -> Result:
    key = {"SVC_API_KEY": "sk_live_sandbox"}
    return svc("batch", "orders.create", str(path), "--live", "--import", "o", *more, env=key)


@pytest.mark.effect_of("svc", "--yes")
def test_live_mode_needs_yes_where_nobody_can_be_asked(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R19: exit 2 with the totals by currency, nothing sent; --yes goes ahead."""
    lines = [order_line(1), order_line(2), "500,JPY,JP,,Hat,1,500,B"]
    path = write(tmp_path / "o.csv", HEAD, *lines)
    refused = live(svc, path)
    assert refused.code == 2
    said = refused.error["message"]
    assert "create 3 orders (258.00 EUR (2 rows), 500 JPY (1 row)); The largest: " in said
    assert "--yes" in said
    assert sandbox.control("GET", "/requests")["data"] == []
    done = live(svc, path, "--yes")
    assert (done.code, done.json["done"]) == (0, 3)
    assert made(svc) == []  # test mode has none of them


def test_again_is_not_repeated_by_a_repeated_command_line(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R115: in live mode, as for a single command; the hint says how it is done a third time."""
    path = orders_file(tmp_path, [1])
    for _ in range(2):  # the first does what was never done
        done = live(svc, path, "--yes", "--again", "--run", "first")
    assert (done.code, done.json["skipped"]) == (0, 1)
    assert live(svc, path, "--yes", "--again").json["done"] == 1
    stopped = live(svc, path, "--yes", "--again")
    assert (stopped.code, stopped.error["code"]) == (6, "list_done")
    said = shlex.split(stopped.error["message"].partition("time: svc ")[2].rstrip("."))
    third = svc(*said, env={"SVC_API_KEY": "sk_live_sandbox"})
    assert (third.code, third.json["done"]) == (0, 1), third.err


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2)])
def test_live_mode_asks_a_person(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, open_terminal: OpenTerminal, answer: str, code: int
) -> None:
    """R19: on a terminal it shows what moves and takes yes for an answer."""
    path = orders_file(tmp_path, range(2))
    with Path(os.devnull).open("wb") as out:
        asked = open_terminal(
            *("batch", "orders.create", str(path), "--live", "--import", "orders"),
            out=out.fileno(),
            SVC_API_KEY="sk_live_sandbox",
            TERM="dumb",
        )
    with asked:
        assert asked.answer("[y/N] ", f"{answer}\n") == code
    assert "create 2 orders (258.00 EUR (2 rows))\n" in asked.seen
    assert "\n  live mode, profile default" in asked.seen


def test_rows_from_a_pipe_are_refused_where_the_results_have_no_place(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """A process substitution is read once: what happened is said, and that nothing was sent."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused = svc("batch", "refunds.create", str(pipe))
    assert (refused.code, refused.error["code"]) == (2, "results_nameless")
    assert "cannot be read twice" in refused.error["message"]
    assert "Nothing was sent." in refused.error["message"]
    assert sandbox.control("GET", "/requests")["data"] == []


def test_a_closed_standard_input_is_no_empty_file(sandbox: Sandbox, tmp_path: Path) -> None:
    words = shlex.join([sys.executable, "-m", "svc", "batch", "refunds.create", "-"])
    line = f"{words} --results {shlex.quote(str(tmp_path / 'r.ndjson'))} <&-"
    env = {**os.environ, "SVC_BASE_URL": sandbox.url, "SVC_API_KEY": "sk_test_sandbox"}
    done = subprocess.run(["sh", "-c", line], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "Standard input is closed. Nothing was sent." in done.stderr


def test_rows_that_find_no_room_were_not_sent(sandbox: Sandbox, tmp_path: Path) -> None:
    """A disk that is full where rows are kept is told with what it means for the money."""
    note = "x" * 1000
    row = json.dumps({"payment": "pay_1", "amount": 5, "metadata": {"note": note}})
    (tmp_path / "rows.ndjson").write_text(f"{row}\n" * 5000)
    words = shlex.join([sys.executable, "-m", "svc", "batch", "refunds.create", "-", "-o", "json"])
    line = f"ulimit -f 4096; cat rows.ndjson | {words} --results r.ndjson --yes"
    env = {**os.environ, "SVC_BASE_URL": sandbox.url, "SVC_API_KEY": "sk_test_sandbox"}
    done = subprocess.run(
        ["sh", "-c", line], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 10, done.stderr
    error = json.loads(done.stderr)["error"]
    assert "Nothing was sent. Free some space there" in error["message"]
    assert error["outcome"] == "not_sent"
    assert sandbox.control("GET", "/requests")["data"] == []
