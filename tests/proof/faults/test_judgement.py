"""Ways to a wrong payment that a second question has closed, each as somebody met it.

Promises R113 to R119: a request is sent or skipped by one judgement, whoever asks it.
"""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from proof.faults.bench import UserMachine
from proof.faults.ledger import Fault
from proof.faults.operations import command
from proof.faults.test_fault_matrix import closed, refusal, says
from support.on_terminal import OpenTerminal
from support.running import Result

ELSEWHERE = "sk_test_rolled7account5wxyz"
TESTS = Path(__file__).parents[2]


def refund_row(number: int, **more: Any) -> dict[str, Any]:
    note = {"note": f"mark-{number}"}
    return {"payment": f"pay_{number}", "amount": 5000, "metadata": note, **more}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(machine: UserMachine, path: Path, *more: str, **how: Any) -> Result:
    return machine.run("batch", "refunds.create", str(path), "-o", "json", *more, **how)


def lines(path: Path, label: str = "") -> list[dict[str, Any]]:
    name = f"{path.name}.{label}.results.ndjson" if label else f"{path.name}.results.ndjson"
    return [json.loads(line) for line in path.with_name(name).read_text().splitlines()]


def age(machine: UserMachine, hours: float) -> None:
    """Time passes for everything that the journal has."""
    with closing(sqlite3.connect(machine.state / "state.db")) as database, database:
        database.execute(
            "UPDATE requests SET first_sent_at = first_sent_at - ?, settled_at = settled_at - ?",
            (hours * 3600, hours * 3600),
        )


def age_results(path: Path, hours: int) -> None:
    """Time passes for a results file."""
    name = path.with_name(f"{path.name}.results.ndjson")
    found = lines(path)
    for line in found:
        day, clock = line["first_sent"].split("T")
        line["first_sent"] = f"{day[:8]}{int(day[8:]) - hours // 24:02}T{clock}"
    name.write_text("".join(json.dumps(line) + "\n" for line in found))


def wait_a_minute(path: Path, sent: str) -> None:
    """Time passes for the lines of a results file that say this time."""
    name = path.with_name(f"{path.name}.results.ndjson")
    before = f"{datetime.fromisoformat(sent) - timedelta(minutes=1):%Y-%m-%dT%H:%M:%SZ}"
    name.write_text(name.read_text().replace(sent, before))


def busy(machine: UserMachine, mark: int, times: int = 4) -> None:
    limited = says(429, refusal("rate_limited", "rate_limit_error"))
    machine.ledger.spoil(*[Fault(limited)] * times, mark=f"mark-{mark}")


@pytest.mark.effect_of("batch", "--skip-done")
def test_a_row_that_was_done_by_hand_since_is_not_sent(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R115, line 1: 429 four times, then `svc refunds create`, then the batch again."""
    path = write(tmp_path / "r.ndjson", refund_row(1), refund_row(2))
    busy(machine, 2)
    assert run(machine, path).code == 9
    by_hand = ("refunds", "create", "--payment", "pay_2", "--amount", "5000")
    assert machine.run(*by_hand, "-d", "metadata[note]=mark-2").code == 0
    again = run(machine, path)
    assert (again.code, again.json["skipped"], again.json["not_sent"]) == (9, 1, 1)
    (problem,) = again.json["problems"]
    assert problem["code"] == "done_by_hand"
    assert "--skip-done" in problem["message"]
    assert machine.ledger.effects == {"mark-1": 1, "mark-2": 1}
    adopted = run(machine, path, "--skip-done")
    assert (adopted.code, adopted.json["skipped"]) == (0, 2)
    assert run(machine, path).json["skipped"] == 2  # it is kept


def test_what_was_done_by_hand_in_other_words_is_not_sent(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R115: nobody types the metadata; the row is left out and told, the others are sent.

    A label is in the script of each month, and says nothing of it.
    """
    by_hand = ("refunds", "create", "--payment", "pay_2", "--amount", "5000")
    assert machine.run(*by_hand).code == 0
    path = write(tmp_path / "r.ndjson", refund_row(1), refund_row(2))
    labelled = run(machine, path, "--run", "2026-11")
    assert labelled.json["problems"][0]["code"] == "row_edited"
    assert machine.ledger.sent("mark-2") == []
    path = write(tmp_path / "s.ndjson", refund_row(3), refund_row(2))
    held = run(machine, path)
    assert (held.code, held.json["done"], held.json["not_sent"]) == (9, 1, 1)
    (problem,) = held.json["problems"]
    assert (problem["row"], problem["code"]) == (2, "row_edited")
    assert "pay_2" in problem["message"]
    assert machine.ledger.sent("mark-2") == []
    check = run(machine, path, "--dry-run")
    assert (check.json["to_send"], check.json["edited"]) == (0, 1)
    assert run(machine, path, "--edited").json["done"] == 1
    assert len(machine.ledger.sent("mark-2")) == 1


def test_an_unknown_row_that_was_done_by_hand_without_the_journal_is_not_sent(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R115: the state is lost, so that no single command is stopped by what the batch has begun."""
    path = write(tmp_path / "r.ndjson", refund_row(1), refund_row(2))
    machine.ledger.spoil(*[Fault(closed)] * 4, mark="mark-2")
    assert run(machine, path).json["unknown"] == 1
    shutil.rmtree(machine.state)
    wait_a_minute(path, lines(path)[1]["first_sent"])
    by_hand = ("refunds", "create", "--payment", "pay_2", "--amount", "5000")
    assert machine.run(*by_hand, "-d", "metadata[note]=mark-2").code == 0
    for _ in range(2):  # the first of them takes the row into the journal
        stopped = run(machine, path)
        assert (stopped.code, stopped.json["skipped"], stopped.json["not_sent"]) == (9, 1, 1)
        assert stopped.json["problems"][0]["code"] == "done_by_hand"
    adopted = run(machine, path, "--skip-done")
    assert (adopted.code, adopted.json["skipped"]) == (0, 2), adopted.err
    (left,) = machine.run("requests", "list", "--unresolved", "-o", "json").json
    assert run(machine, path).error["request"] == left["id"]  # it may have been done as well
    resumed = machine.run("requests", "resume", left["id"], "-o", "json")
    assert (resumed.code, resumed.error["code"]) == (6, "request_unresolved")
    assert "might be done a second time" in resumed.error["message"]
    assert f"then svc requests forget {left['id']}" in resumed.error["message"]
    assert machine.run("requests", "forget", left["id"], "--yes").code == 0
    assert run(machine, path).json["skipped"] == 2
    assert machine.ledger.effects == {"mark-1": 1, "mark-2": 1}


@pytest.mark.parametrize("label", [(), ("--run", "w47")], ids=["unnamed", "label"])
def test_what_a_single_command_has_done_is_told_to_other_machines(
    machine: UserMachine, tmp_path: Path, label: tuple[str, ...]
) -> None:
    """R116: by the results file, before somebody has said `--skip-done` and afterwards."""
    path = write(tmp_path / "r.ndjson", refund_row(1), refund_row(2))
    busy(machine, 2)
    assert run(machine, path, *label).code == 9
    by_hand = ("refunds", "create", "--payment", "pay_2", "--amount", "5000")
    assert machine.run(*by_hand, "-d", "metadata[note]=mark-2").code == 0
    assert run(machine, path, *label).json["not_sent"] == 1
    shutil.move(machine.state, tmp_path / "first")
    elsewhere = run(machine, path, *label)
    assert (elsewhere.code, elsewhere.json["skipped"], elsewhere.json["not_sent"]) == (9, 1, 1)
    assert elsewhere.json["problems"][0]["code"] == "done_by_hand"
    for state in (None, "second", "first", "third"):  # adopted there, at home, and known to others
        if state == "first":
            shutil.rmtree(machine.state)
            shutil.move(tmp_path / state, machine.state)
        elif state:
            shutil.rmtree(machine.state)
        adopted = run(machine, path, *label, "--skip-done")
        assert (adopted.code, adopted.json["skipped"]) == (0, 2)
        assert all(line["id"] for line in lines(path, *label[1:]))
    assert machine.ledger.effects == {"mark-1": 1, "mark-2": 1}


def test_an_edited_row_whose_outcome_is_unknown_goes_on_under_its_key(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R115: the same command again is what it is told to give."""
    path = write(tmp_path / "r.ndjson", refund_row(1, inv="a"))
    options = ("--row-id", "inv")
    assert run(machine, path, *options).code == 0
    write(path, {**refund_row(2, inv="a"), "payment": "pay_1", "amount": 4000})
    machine.ledger.spoil(*[Fault(closed, carried_out=True)] * 4, mark="mark-2")
    unknown = run(machine, path, *options, "--edited")
    assert (unknown.code, unknown.json["unknown"]) == (9, 1)
    assert run(machine, path, *options).json["done"] == 1
    assert run(machine, path, *options, "--edited").json["skipped"] == 1
    assert machine.ledger.effects == {"mark-1": 1, "mark-2": 1}


@pytest.mark.parametrize(
    "other", [refusal("endpoint_unknown"), b"<html>Not found</html>"], ids=["routing", "HTML"]
)
def test_no_other_404_makes_it_another_account(
    machine: UserMachine, tmp_path: Path, other: Any
) -> None:
    """R118, line 2: after a roll the duplicate guard stands, single and batch.

    What was made before is what the other key is asked for.
    """
    assert machine.run(*command("refund", "mark-2")).code == 0
    machine.ledger.spoil(*[Fault(closed, carried_out=True)] * 4, mark="mark-1")
    one = (*command("refund", "mark-1"), "-o", "json", "--max-time", "2")
    assert machine.run(*one).code == 7
    machine.ledger.spoil(*[Fault(says(404, other))] * 4)
    as_other = {"SVC_API_KEY": ELSEWHERE}
    refused = machine.run(*one, env=as_other)
    assert (refused.code, refused.error["code"]) == (6, "request_unresolved")
    path = write(
        tmp_path / "r.ndjson",
        {"payment": "pay_1", "amount": 4999, "metadata": {"note": "mark-1"}},
    )
    batch = run(machine, path, env=as_other)
    assert (batch.code, batch.error["code"]) == (6, "request_unresolved")
    asked = [post.path for post in machine.ledger.posts if post.method == "GET"]
    assert asked == ["/v1/refunds/rf_1"] * 2
    assert machine.ledger.effects["mark-1"] == 1


def test_a_bad_row_does_not_keep_next_months_payments_back(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R115, line 4: 30 days later nothing is skipped in silence, whole or not."""
    bad = {**refund_row(3), "amount": 0}
    path = write(tmp_path / "r.ndjson", refund_row(1), refund_row(2), bad)
    assert run(machine, path).code == 9
    age(machine, 30 * 24)
    month = run(machine, path)
    assert (month.code, month.error["code"], month.error["param"]) == (6, "list_done", "--continue")
    write(path, refund_row(1), refund_row(2), refund_row(3))
    assert run(machine, path).code == 6
    assert "--run 20" in run(machine, path).error["message"]
    rest = run(machine, path, "--continue")
    assert (rest.code, rest.json["done"], rest.json["skipped"]) == (0, 1, 2)


@pytest.mark.effect_of("batch", "--edited")
@pytest.mark.parametrize("change", [{"metadata": {"note": "mark-2", "by": "x"}}, {"amount": 4000}])
def test_a_done_row_that_was_edited_is_not_paid_again(
    machine: UserMachine, tmp_path: Path, change: dict[str, Any]
) -> None:
    """R115, line 5: a column of metadata is added, or a typing error is corrected."""
    path = write(tmp_path / "r.ndjson", refund_row(1), refund_row(2))
    assert run(machine, path).code == 0
    edited = {**refund_row(2), **change, "metadata": {"note": "mark-20", "by": "x"}}
    write(path, refund_row(1), edited)
    stopped = run(machine, path)
    assert (stopped.code, stopped.error["code"], stopped.error["param"]) == (
        6,
        "row_edited",
        "--edited",
    )
    assert "Line 2" in stopped.error["message"]
    # What pays nobody twice is said first, and needs no option (promise R120).
    assert 0 < stopped.error["message"].find("put it back") < stopped.error["message"].find("--")
    assert machine.ledger.effects["mark-20"] == 0
    assert run(machine, path, "--edited").json["done"] == 1


def test_the_results_file_keeps_rows_from_being_paid_again(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R116, line 6: the state is lost, and more than a day has passed."""
    path = write(tmp_path / "r.ndjson", refund_row(1), refund_row(2))
    assert run(machine, path).code == 0
    ids = [line["id"] for line in lines(path)]
    shutil.rmtree(machine.state)
    young = run(machine, path)
    assert (young.code, young.json["skipped"]) == (0, 2)
    assert [post.method for post in machine.ledger.posts[2:]] == ["GET", "GET"]
    assert [line["id"] for line in lines(path)] == ids
    shutil.rmtree(machine.state)
    age_results(path, 48)
    old = run(machine, path)
    assert (old.code, old.error["code"]) == (6, "list_done")
    assert [line["id"] for line in lines(path)] == ids
    missing = Fault(says(404, refusal("resource_missing", "not_found_error")))
    for faults, code in (((missing,), "list_done"), ((missing, missing), "other_account")):
        machine.ledger.spoil(*faults)  # one that is missing beside one that is there proves nothing
        other = run(machine, path)
        assert (other.code, other.error["code"]) == (6, code)
    assert machine.ledger.effects == {"mark-1": 1, "mark-2": 1}


def test_a_replay_is_told_as_done_before(machine: UserMachine, tmp_path: Path) -> None:
    """R117, line 16: the state and the results are gone; within 24 hours the service replays."""
    path = write(tmp_path / "r.ndjson", refund_row(1))
    assert run(machine, path, "--import", "night").code == 0
    shutil.rmtree(machine.state)
    path.with_name("r.ndjson.results.ndjson").unlink()
    machine.ledger.twist(created="2026-01-01T00:00:00Z")
    again = run(machine, path, "--import", "night")
    assert (again.code, again.json["done"], again.json["replayed"]) == (0, 1, 1)
    assert again.json["totals"] == []
    assert [(line["replayed"], line["outcome"]) for line in lines(path)] == [(True, "done")]


def test_every_machine_makes_the_same_keys(machine: UserMachine, tmp_path: Path) -> None:
    """R114, line 7: another machine, another profile, another folder; the same name and label."""
    argv = ("--import", "salaries", "--run", "2026-11")
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        path = write(tmp_path / folder / f"{folder}.ndjson", refund_row(1), refund_row(2))
        shutil.rmtree(machine.state, ignore_errors=True)
        assert run(machine, path, *argv).code == 0
    keys = [post.key for post in machine.ledger.posts if post.method == "POST"]
    assert (len(keys), len(set(keys))) == (4, 2)


def forget(machine: UserMachine, path: Path) -> None:
    """Another machine has neither the state database nor the results file."""
    shutil.rmtree(machine.state)
    path.with_name(f"{path.name}.results.ndjson").unlink()


ANOTHER = {"amount": 6000}, {"metadata": {"note": "mark-1", "invoice": "7", "by": "x"}}


@pytest.mark.parametrize("change", ANOTHER, ids=["amount", "metadata"])
def test_a_named_row_that_another_machine_has_done_otherwise_is_not_paid_again(
    machine: UserMachine, tmp_path: Path, change: dict[str, Any]
) -> None:
    """R114, R115: `--row-id`, corrected on a machine that knows of nothing: its key is the id's."""
    named = {"metadata": {"note": "mark-1", "invoice": "7"}}
    argv = ("--import", "night", "--row-id", "metadata[invoice]")
    path = write(tmp_path / "r.ndjson", refund_row(1, **named))
    assert run(machine, path, *argv).code == 0
    forget(machine, path)
    write(path, refund_row(1, **{**named, **change}))
    for told in (run(machine, path, *argv), run(machine, path, *argv)):
        assert (told.code, told.json["unknown"], told.json["refused"]) == (9, 1, 0)
        (problem,) = told.json["problems"]
        assert problem["code"] == "idempotency_key_reused"
        assert "with other values" in problem["message"]
    assert (len(machine.ledger.sent("mark-1")), machine.ledger.effects["mark-1"]) == (2, 1)
    (row,) = machine.rows()
    machine.run("requests", "forget", row["id"], "--yes")
    write(path, refund_row(1, **named))
    assert run(machine, path, *argv).json["replayed"] == 1


def test_another_spelling_is_not_paid_again_by_another_machine(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R114, R115: what a person calls the same has one key, on every machine."""

    def row(name: str) -> dict[str, Any]:
        bank = {"country": "DE", "iban": "DE89370400440532013000", "account_holder_name": name}
        more = {"metadata": {"note": "mark-1"}}
        return {"amount": 5000, "currency": "EUR", "destination": bank, **more}

    argv = ("batch", "payouts.create", str(tmp_path / "r.ndjson"), "--import", "pay", "-o", "json")
    path = write(tmp_path / "r.ndjson", row("Müller AG"))
    assert machine.run(*argv).code == 0
    forget(machine, path)
    write(path, row("MÜLLER  AG"))
    told = machine.run(*argv)
    assert (told.code, told.json["unknown"]) == (9, 1)
    assert machine.ledger.effects["mark-1"] == 1


def test_a_named_row_that_was_changed_since_is_told(machine: UserMachine, tmp_path: Path) -> None:
    """R115: neither skipped without a word nor sent; put back it is skipped, or `--edited`."""
    named = {"metadata": {"note": "mark-1", "invoice": "7"}}
    argv = ("--row-id", "metadata[invoice]")
    path = write(tmp_path / "r.ndjson", refund_row(1, **named))
    assert run(machine, path, *argv).code == 0
    write(path, {**refund_row(1, **named), "amount": 6000})
    for state in (machine.state, None):
        check = run(machine, path, *argv, "--dry-run")
        assert (check.code, check.json["changed"], check.json["to_send"]) == (0, 1, 0)
        told = run(machine, path, *argv)
        assert (told.code, told.json["changed"], told.json["skipped"]) == (9, 1, 0)
        (problem,) = told.json["problems"]
        assert (problem["code"], problem["outcome"]) == ("row_changed", "done")
        assert "rf_1" in problem["message"]
        assert "--edited" in problem["message"]
        if state:
            shutil.rmtree(state)  # the results file knows it too
    write(path, refund_row(1, **named))
    assert run(machine, path, *argv).json["skipped"] == 1
    write(path, {**refund_row(1, **named), "amount": 6000})
    machine.ledger.effects.clear()  # the second one is meant
    assert run(machine, path, *argv, "--edited").json["done"] == 1
    assert run(machine, path, *argv).json["skipped"] == 1


def test_a_named_row_that_was_refused_and_corrected_has_its_next_key(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R113, R114: its first key is sent first, for a service that keeps no refusal."""
    argv = ("--row-id", "metadata[invoice]")
    row = refund_row(1, metadata={"note": "mark-1", "invoice": "7"})
    path = write(tmp_path / "r.ndjson", row)
    no = refusal("payment_not_refundable")
    machine.ledger.spoil(Fault(says(400, no)), mark="mark-1")
    assert run(machine, path, *argv).json["refused"] == 1
    write(path, {**row, "amount": 6000})
    other = refusal("idempotency_key_reused", "idempotency_error")
    machine.ledger.spoil(Fault(says(400, other)), mark="mark-1")
    assert run(machine, path, *argv).code == 0
    keys = [post.key for post in machine.ledger.sent("mark-1")]
    assert (keys[0] == keys[1], keys[1] == keys[2], len(keys)) == (True, False, 3)
    assert run(machine, path, *argv).json["skipped"] == 1


def test_a_conflict_of_keys_uses_no_key_up(machine: UserMachine, tmp_path: Path) -> None:
    """R113, R114: also where it is a replayed answer, and whatever key the row has of its own."""
    path = write(tmp_path / "r.ndjson", refund_row(1), refund_row(2, idempotency_key="mine-2"))
    other = refusal("idempotency_key_reused", "idempotency_error")
    replayed = says(400, other, Idempotent_Replayed="true")
    for mark in ("mark-1", "mark-2"):
        machine.ledger.spoil(Fault(replayed), mark=mark)
    assert run(machine, path).json["unknown"] == 2
    assert run(machine, path).json["unknown"] == 2
    assert [len(machine.ledger.sent(mark)) for mark in ("mark-1", "mark-2")] == [1, 1]
    # Another key of the row's own says that it is another request.
    write(path, refund_row(1), refund_row(2, idempotency_key="mine-3"))
    assert run(machine, path).json["done"] == 1


def test_what_a_results_file_told_outlives_it(machine: UserMachine, tmp_path: Path) -> None:
    """R116: another machine keeps in its journal what the file says, at its own time."""
    path = write(tmp_path / "r.ndjson", refund_row(1), refund_row(2), refund_row(3))
    machine.ledger.spoil(*[Fault(closed, carried_out=True)] * 4, mark="mark-2")
    assert run(machine, path, "--max-time", "2").json["unknown"] == 1
    shutil.rmtree(machine.state)
    write(path, refund_row(1), refund_row(2))  # the third is gone
    assert run(machine, path).json["skipped"] == 1
    path.with_name("r.ndjson.results.ndjson").unlink()
    write(path, refund_row(1), refund_row(2), refund_row(3))
    assert run(machine, path).json["skipped"] == 3
    assert machine.ledger.effects == {"mark-1": 1, "mark-2": 1, "mark-3": 1}
    age(machine, 30 * 24)
    assert run(machine, path).error["code"] == "list_done"


def test_an_edited_row_is_known_by_the_results_file_too(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R115, R116: on a machine that has that file alone."""
    path = write(tmp_path / "r.ndjson", refund_row(1), refund_row(2))
    assert run(machine, path).code == 0
    shutil.rmtree(machine.state)
    write(path, refund_row(1), {**refund_row(2), "amount": 6000})
    stopped = run(machine, path)
    assert (stopped.code, stopped.error["code"]) == (6, "row_edited")


def test_an_edited_order_stands_in_its_place(machine: UserMachine, tmp_path: Path) -> None:
    """R115: an order is about nothing that is named; a row added, or a new file, is none."""

    def order(number: int, **more: Any) -> dict[str, Any]:
        item = {"name": "Jacket", "quantity": 1, "unit_amount": 100}
        ship = {"country": "DE", "name": f"N{number}"}
        note = {"note": f"mark-{number}"}
        known = {"amount": 100, "currency": "EUR", "shipping": ship, "items": [item]}
        return {**known, "metadata": note, **more}

    def batch(*more: str) -> Result:
        return machine.run("batch", "orders.create", str(path), "-o", "json", *more)

    path = write(tmp_path / "o.ndjson", order(1), order(2), order(3))
    assert batch().code == 0
    changed = order(2, metadata={"note": "mark-22"})
    write(path, order(1), changed, order(3), order(4))
    stopped = batch()
    assert (stopped.code, stopped.error["code"]) == (6, "row_edited")
    assert "Line 2" in stopped.error["message"]
    assert batch("--edited").json["done"] == 2
    write(path, order(3), order(4), order(5))  # the oldest are taken out, a new one is added
    assert batch().json["done"] == 1
    write(path, order(6), order(7), order(8))  # another day's file under the same name
    assert batch().json["done"] == 3


def test_a_currency_of_the_file_is_compared_before_the_row_is_sent(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R119, line 8: JPY for a payment in EUR: nothing is refunded."""
    machine.ledger.twist(currency="EUR")
    path = tmp_path / "r.csv"
    path.write_text("payment,amount,currency,metadata[note]\npay_1,5000,JPY,mark-1\n")
    check = run(machine, path, "--dry-run")
    assert check.json["totals"] == [{"currency": "JPY", "amount": 5000, "rows": 1}]
    wrong = run(machine, path)
    assert (wrong.code, wrong.json["problems"][0]["code"]) == (9, "currency_mismatch")
    assert "Correct the rows (r.csv.results.ndjson says why)" in wrong.err
    assert machine.ledger.effects["mark-1"] == 0
    path.write_text("payment,amount,currency,metadata[note]\npay_1,5000,EUR,mark-1\n")
    right = run(machine, path)
    assert right.code == 0, right.out


def test_what_an_answer_spells_otherwise_is_told_with_its_row(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R117, R119: another name, and a status that nobody has documented: done, and told."""
    bank = {"country": "DE", "iban": "DE89370400440532013000", "account_holder_name": "Ann"}
    row = {"amount": 500, "currency": "EUR", "destination": bank}
    path = write(tmp_path / "p.ndjson", {**row, "metadata": {"note": "mark-1"}})
    answered = {"country": "DE", "account_holder_name": "Bob", "last4": "3000"}
    machine.ledger.twist(destination=answered, status="parked")
    argv = ("batch", "payouts.create", str(path), "-o")
    done = machine.run(*argv, "json")
    assert (done.code, done.json["done"], done.json["warned"]) == (0, 1, 1)
    (line,), (warning,) = lines(path), done.json["warnings"]
    assert (warning["line"], warning["id"]) == (1, line["id"])
    assert warning["messages"] == line["warnings"]
    assert line["warnings"] == [
        "account_holder_name is 'Bob' in the answer and 'Ann' in the request",
        "the status 'parked' is not documented",
    ]
    forget(machine, path)
    assert "Warning: line 1 (po_" in machine.run(*argv, "human").err


@pytest.mark.parametrize("status", [408, 409, 425, 499])
def test_a_gateways_4xx_after_the_effect_is_unknown(machine: UserMachine, status: int) -> None:
    """R113, line 9: typed again, it is the same request with the same key."""
    html = b"<html>Request timeout</html>"
    machine.ledger.spoil(*[Fault(says(status, html), carried_out=True)] * 4, mark="mark-1")
    one = (*command("refund", "mark-1"), "-o", "json")
    first = machine.run(*one)
    assert (first.code, first.error["outcome"]) == (7, "unknown")
    machine.ledger.spoil(mark="mark-1")
    assert machine.run(*one).code == 6
    assert machine.run("requests", "resume", first.error["request"]).code == 0


@pytest.mark.parametrize("status", [403, 404, 405, 413])
def test_a_gateways_refusal_keeps_the_key(
    machine: UserMachine, tmp_path: Path, status: int
) -> None:
    """R113, line 9: a row that a gateway turned away sends the same key in the next run."""
    html = b"<html>No</html>"
    machine.ledger.spoil(Fault(says(status, html), carried_out=True), mark="mark-1")
    path = write(tmp_path / "r.ndjson", refund_row(1))
    assert run(machine, path).code in (4, 9, 3, 5)
    assert run(machine, path).code == 0
    keys = {post.key for post in machine.ledger.sent("mark-1")}
    assert (len(keys), machine.ledger.effects["mark-1"]) == (1, 1)


def test_a_row_is_not_corrected_for_a_gateway(machine: UserMachine, tmp_path: Path) -> None:
    """R115: nothing is wrong with a row that a gateway turned away, and it may have been done."""
    machine.ledger.spoil(Fault(says(404, b"<html>No</html>"), carried_out=True), mark="mark-1")
    path = write(tmp_path / "r.ndjson", refund_row(1))
    refused = run(machine, path)
    assert (refused.code, refused.json["problems"][0]["code"]) == (9, "refused_by_gateway")
    assert "before you correct any: svc batch" in refused.error["message"]
    write(path, refund_row(1, reason="duplicate"))
    stopped = run(machine, path)
    assert (stopped.code, stopped.error["code"]) == (6, "row_edited")
    write(path, refund_row(1))
    assert run(machine, path).json["done"] == 1
    assert machine.ledger.effects["mark-1"] == 1


@pytest.mark.effect_of("batch", "--retry-failed")
def test_an_object_that_failed_is_not_done(machine: UserMachine, tmp_path: Path) -> None:
    """R117, line 10: exit 9; the next run leaves it, `--retry-failed` sends the next key."""
    path = write(tmp_path / "r.ndjson", refund_row(1))
    machine.ledger.twist(status="failed", failure_reason="declined")
    failed = run(machine, path)
    assert (failed.code, failed.json["failed"], failed.json["done"]) == (9, 1, 0)
    assert failed.error["outcome"] is None  # it was carried out
    assert "--retry-failed" in failed.error["message"].rstrip(".").split()
    (line,) = lines(path)
    assert (line["outcome"], line["status"], line["failure_reason"]) == (
        "failed",
        "failed",
        "declined",
    )
    left = run(machine, path)
    assert (left.code, left.json["failed"]) == (9, 1)
    assert "--retry-failed" in left.json["problems"][0]["message"]
    assert len(machine.ledger.sent("mark-1")) == 1


def test_what_has_succeeded_since_is_done_and_not_sent_again(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R117: `--retry-failed` reads the object; the row is done, with its id, and stays so."""
    path = write(tmp_path / "r.ndjson", refund_row(1))
    machine.ledger.twist(status="failed")
    assert run(machine, path).code == 9
    machine.ledger.twist()  # its status is pending now
    retried = machine.run("batch", "refunds.create", str(path), "--retry-failed", "-o", "human")
    assert (retried.code, "rf_1 had failed, and is pending since" in retried.err) == (0, True)
    for more in ((), ("--retry-failed",)):
        assert run(machine, path, *more).json["skipped"] == 1
        (line,) = lines(path)
        assert (line["outcome"], line["id"], line["status"]) == ("done", "rf_1", "pending")
    assert len(machine.ledger.sent("mark-1")) == 1


def test_rows_that_ask_for_the_same_are_named(machine: UserMachine, tmp_path: Path) -> None:
    """Line 26: in the dry run, with their lines and the largest row."""
    path = write(tmp_path / "r.ndjson", refund_row(1), refund_row(2), refund_row(1), refund_row(1))
    check = run(machine, path, "--dry-run")
    assert check.json["equal"] == [{"rows": 3, "lines": [1, 3, 4]}]
    said = machine.run("batch", "refunds.create", str(path), "--dry-run", "-o", "human").err
    assert "3 rows ask for the same: the lines 1, 3, 4" in said


def test_a_live_batch_needs_a_name_that_another_run_knows(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R114: from a pipe, or on a machine without a journal: exit 2 with the line to type.

    A check before it, as CI makes one, records nothing that a second run would know.
    """
    path = write(tmp_path / "r.ndjson", refund_row(1))
    env = {"SVC_API_KEY": "sk_live_canary7Qx2Lw9Zp4", "SVC_BASE_URL": "https://api.example.com"}
    assert run(machine, path, "--live", "--dry-run", env=env).code == 0
    nameless = run(machine, path, "--live", "--yes", env=env)
    assert (nameless.code, nameless.error["code"], nameless.error["param"]) == (
        2,
        "batch_nameless",
        "--import",
    )
    assert "--import NAME" in nameless.error["message"]


def test_a_live_batch_says_what_is_left_of_each_payment(
    machine: UserMachine, tmp_path: Path, open_terminal: OpenTerminal
) -> None:
    """Line 14: the sum with its currency; a whole refund is what is left after the others'.

    Of a payment in EUR no USD is left, whatever its row says, which is not sent.
    """
    machine.ledger.twist(currency="EUR", amount_captured=15708, amount_refunded=10000)
    path = tmp_path / "r.csv"
    path.write_text("payment,amount,currency\npay_1,,USD\npay_2,1000,\npay_2,,EUR\n")
    argv = ("batch", "refunds.create", str(path), "--live", "--import", "r", "--blank-means-all")
    env = {**machine.env, "SVC_API_KEY": "sk_live_sandbox", "TERM": "dumb"}
    with open_terminal(*argv, **env) as asked:
        assert asked.answer("[y/N] ", "n\n") == 2, asked.seen
    assert "114.16 EUR (3 rows)" in asked.seen
    assert "whose currency" not in asked.seen
    assert "without an amount" not in asked.seen
    assert "The largest: 57.08 EUR in line 2" in asked.seen
    assert not [post for post in machine.ledger.posts if post.method == "POST"]


# Each sentence of what the README promises of a batch, and the test that holds it.
SENTENCES = {
    "**On one machine**, run the same command again": "process/test_batch_exactly_once.py::"
    "test_three_kills_and_dropped_answers_make_exactly_as_many_orders",
    "A row that a person has done by hand": "proof/faults/test_judgement.py::"
    "test_a_row_that_was_done_by_hand_since_is_not_sent",
    "Rows that were done 12 hours ago": "proof/faults/test_judgement.py::"
    "test_a_bad_row_does_not_keep_next_months_payments_back",
    "A done row that was changed": "proof/faults/test_judgement.py::"
    "test_a_named_row_that_was_changed_since_is_told",
    "**On two machines**": "proof/faults/test_judgement.py::test_every_machine_makes_the_same_keys",
    "A row that was corrected meanwhile": "proof/faults/test_judgement.py::"
    "test_a_named_row_that_another_machine_has_done_otherwise_is_not_paid_again",
    "The results file beside the rows": "proof/faults/test_judgement.py::"
    "test_the_results_file_keeps_rows_from_being_paid_again",
    "**After 24 hours**": "proof/faults/test_turned_clock.py::"
    "test_a_list_of_rows_that_are_all_too_old_is_not_told_to_run_again",
    "The hours are counted by": "cli/requests/test_answers.py::test_a_key_is_as_old_as_the_service_says",
}


# The same of `svc help batch`, whose three paragraphs say it too.
HELP = {
    "a row that was done is skipped": "unit/delivery/test_plan.py::"
    "test_done_rows_are_skipped_wherever_they_stand",
    "A row whose outcome is unknown": "process/test_batch_exactly_once.py::"
    "test_three_kills_and_dropped_answers_make_exactly_as_many_orders",
    "A row that a single command": SENTENCES["A row that a person has done by hand"],
    "Rows that were done 12 hours ago": SENTENCES["Rows that were done 12 hours ago"],
    "A done row that was changed": SENTENCES["A done row that was changed"],
    "with --import NAME all": SENTENCES["**On two machines**"],
    "There a corrected row": SENTENCES["A row that was corrected meanwhile"],
    "A machine that knows nothing": SENTENCES["The results file beside the rows"],
    "Live rows from a pipe": "proof/faults/test_judgement.py::"
    "test_a_live_batch_needs_a_name_that_another_run_knows",
    "a row whose outcome is unknown is not sent any more": SENTENCES["**After 24 hours**"],
    "The hours count by": SENTENCES["The hours are counted by"],
    "What another account has done": "proof/faults/test_one_way.py::"
    "test_done_rows_are_not_skipped_for_another_account",
}


def test_each_sentence_that_is_promised_of_a_batch_has_its_test(machine: UserMachine) -> None:
    readme = (TESTS.parent / "README.md").read_text()
    told = readme.partition("What is promised:")[2].partition("###")[0]
    items = [line[2:] for line in told.splitlines() if line.startswith("- ")]
    assert_each_is_held(items, SENTENCES)
    help_page = machine.run("help", "batch").out
    paragraphs = [" ".join(each.split()) for each in help_page.split("\n\n")]
    heads = ("On one machine: ", "On two machines: ", "After 24 hours: ")
    held = [each[len(head) :] for head in heads for each in paragraphs if each.startswith(head)]
    assert len(held) == len(heads)
    assert_each_is_held(held, HELP)
    assert "svc help batch says what is promised" in " ".join(
        machine.run("help", "money").out.split()
    )


def assert_each_is_held(told: list[str], tests: dict[str, str]) -> None:
    """Each sentence, in its order, begins as it is said here, and the test is there."""
    sentences = [one for each in told for one in re.split(r"(?<=\.) (?=[A-Z])", each)]
    assert len(sentences) == len(tests)
    for sentence, (begins, where) in zip(sentences, tests.items(), strict=True):
        assert sentence.startswith(begins)
        file, _, name = where.partition("::")
        assert f"def {name}(" in (TESTS / file).read_text()
