"""One truth for every POST: who begins it, and what answers it, does not matter (R91 to R95)."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proof.faults.bench import UserMachine
from proof.faults.ledger import Fault, http
from support.running import Result

MARK = ("-d", "metadata[note]=mark-500")
REFUND = ("refunds", "create", "--payment", "pay_X1", "--amount", "500", *MARK)
TYPED = ("refunds", "create", *MARK, "-d", "amount:=500", "-d", "payment=pay_X1")
POSTED = ("post", "/v1/refunds", "--form", "-d", "amount=500", "-d", "payment=pay_X1", *MARK)
SHARED = ("refunds", "create", "--payment", "pay_X1", "--amount", "139")
NOTED = ("-d", "metadata[note]=mark-139")
QUICK = ("--max-time", "3", "-o", "json")
TO_SOMEBODY = (
    *("--currency", "EUR", "--country", "DE", "--account-holder-name", "Person 1"),
    *("--iban", "DE89370400440532013000"),
)
ONE_AT_A_TIME = ("--concurrency", "1")


def cut(sock: socket.socket, reply: bytes) -> bool:
    """Carried out, and no answer."""
    return False


def says(status: int, body: Any, kind: str = "application/json") -> Callable[..., bool]:
    """Another answer than the service's own."""
    data = http(status, json.dumps(body).encode(), {"Content-Type": kind})

    def spoil(sock: socket.socket, reply: bytes) -> bool:
        sock.sendall(data)
        return True

    return spoil


def goes_through(sock: socket.socket, reply: bytes) -> bool:
    """Nothing goes wrong."""
    sock.sendall(reply)
    return True


LOST = Fault(cut, carried_out=True)


def listed(folder: Path, *rows: dict[str, Any], name: str = "list.ndjson") -> str:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def refund(amount: int, payment: str = "pay_X1") -> dict[str, Any]:
    return {"amount": amount, "payment": payment, "metadata": {"note": f"mark-{amount}"}}


def effects(machine: UserMachine) -> int:
    return len(machine.ledger._answers)


def outcomes(path: str) -> list[str]:
    lines = Path(f"{path}.results.ndjson").read_text().splitlines()
    return [json.loads(line)["outcome"] for line in lines]


# --- who begins it -----------------------------------------------------------------------------


@pytest.mark.parametrize("second", [REFUND, TYPED, POSTED], ids=["typed", "fields", "form"])
def test_the_same_single_command_stops_however_it_is_spelled(
    machine: UserMachine, second: tuple[str, ...]
) -> None:
    """R91: order of the fields, options or `-d`, JSON or a form: one effect, exit 6."""
    machine.ledger.spoil(*(LOST,) * 4)
    first = machine.run(*REFUND, *QUICK)
    machine.ledger.spoil()
    again = machine.run(*second, *QUICK)
    assert (first.code, again.code, effects(machine)) == (7, 6, 1)
    assert again.error["request"] == first.error["request"]
    assert machine.run("requests", "resume", first.error["request"]).code == 0
    assert effects(machine) == 1


def test_a_single_command_that_a_list_has_begun_stops(machine: UserMachine, tmp_path: Path) -> None:
    """R91, the other way round; another profile with the same key, and localhost, are no way out."""
    machine.ledger.spoil(*(LOST,) * 4)
    path = listed(tmp_path, refund(500))
    first = machine.run("batch", "refunds.create", path, *QUICK)
    machine.ledger.spoil()
    assert (first.code, outcomes(path), effects(machine)) == (9, ["unknown"], 1)
    assert machine.run(*REFUND, *QUICK).code == 6
    elsewhere = {"SVC_BASE_URL": machine.ledger.url.replace("127.0.0.1", "localhost")}
    with machine.start(*REFUND, *QUICK, env=elsewhere) as process:
        assert machine.ended(process).code == 6
    made = machine.run("profiles", "create", "shop", "--base-url", machine.ledger.url)
    assert made.code == 0, made.err
    assert machine.run(*REFUND, *QUICK, "--profile", "shop").code == 6
    assert effects(machine) == 1
    resumed = machine.run("batch", "refunds.create", path, *QUICK, "--profile", "default")
    assert (resumed.code, effects(machine)) == (0, 1)


def test_lists_that_share_rows_give_each_effect_once(machine: UserMachine, tmp_path: Path) -> None:
    """R92: the second list begins while the first one has only reserved what they share."""
    machine.ledger.spoil(Fault(machine.ledger.gate.hold))
    rows = [refund(100 + number) for number in range(40)]
    first = listed(tmp_path, *rows, name="a.ndjson")
    second = listed(tmp_path, *rows[20:], name="b.ndjson")
    argv = ("batch", "refunds.create", first, *ONE_AT_A_TIME, "-o", "json")
    with machine.start(*argv, shorten_timeout=1) as process:
        while not machine.ledger.posts:
            pass
        stopped = machine.run("batch", "refunds.create", second, *QUICK)
        single = machine.run(*SHARED, *NOTED, *QUICK)
        machine.ledger.gate.open()
        assert machine.ended(process).code == 0
    assert (stopped.code, stopped.error["code"]) == (6, "rows_in_flight")
    assert "a.ndjson" in stopped.error["message"]
    assert (single.code, single.error["code"]) == (6, "request_in_flight")
    assert effects(machine) == 40
    late = machine.run("batch", "refunds.create", second, *QUICK)
    assert (late.code, late.error["code"]) == (6, "rows_repeated")
    assert effects(machine) == 40


# --- what answers it ---------------------------------------------------------------------------


@pytest.mark.parametrize("made", ["rf_1", "rf_77"], ids=["row 1's", "nobody's"])
def test_an_answer_about_another_object_settles_nothing(
    machine: UserMachine, tmp_path: Path, made: str
) -> None:
    """R93: row 2 is not carried out and another payment's refund is its answer: unknown, a stop."""
    other = {"id": made, "object": "refund", "amount": 100, "payment": "pay_0"}
    ours = Fault(goes_through, carried_out=True)
    machine.ledger.spoil(ours, *(Fault(says(200, other)),) * 4)
    path = listed(tmp_path, *(refund(100 + n, f"pay_{n}") for n in range(3)))
    first = machine.run("batch", "refunds.create", path, *ONE_AT_A_TIME, *QUICK)
    assert (first.code, outcomes(path)) == (9, ["done", "unknown", "not_sent"])
    again = machine.run("batch", "refunds.create", path, *ONE_AT_A_TIME, *QUICK)
    assert (again.code, outcomes(path), effects(machine)) == (0, ["done"] * 3, 3)


def payout(number: int, iban: str) -> dict[str, Any]:
    to = {"country": "DE", "account_holder_name": f"Person {number}", "iban": iban}
    note = {"note": f"mark-{number}"}
    return {"amount": 1000, "currency": "EUR", "destination": to, "metadata": note}


def test_one_stored_answer_pays_nobody_twice(machine: UserMachine, tmp_path: Path) -> None:
    """R93: a proxy gives the first answer to every POST; an id counts for one key only."""
    stored = {"id": "po_1", "object": "payout", "amount": 1000, "currency": "EUR"}
    machine.ledger.spoil(*(Fault(says(200, stored)),) * 300)
    rows = [payout(number, f"DE8937040044053201{number:04}") for number in range(30)]
    path = listed(tmp_path, *rows)
    result = machine.run("batch", "payouts.create", path, *ONE_AT_A_TIME, *QUICK)
    found = outcomes(path)
    assert (result.code, found.count("done"), found.count("unknown")) == (9, 1, 1)
    single = ("payouts", "create", "--amount", "5", *TO_SOMEBODY)
    alone = machine.run(*single, *QUICK)
    assert (alone.code, alone.error["code"]) == (7, "reply_not_ours")


def test_one_stored_payment_captures_one_order(machine: UserMachine, tmp_path: Path) -> None:
    """R93: a payment that names no order is of one order; the order itself may be asked twice."""
    stored = {"id": "pay_1", "object": "payment", "amount_captured": 500}
    machine.ledger.spoil(*(Fault(says(200, stored)),) * 300)
    path = listed(tmp_path, *({"id": f"ord_{n}", "amount": 500} for n in range(3)))
    result = machine.run("batch", "orders.capture", path, *ONE_AT_A_TIME, *QUICK)
    assert (result.code, outcomes(path)) == (9, ["done", "unknown", "not_sent"])
    again = machine.run("orders", "capture", "ord_0", "--amount", "500", *QUICK)
    other = machine.run("orders", "capture", "ord_9", "--amount", "500", *QUICK)
    assert again.code == 0
    assert (other.code, other.error["code"]) == (7, "reply_not_ours")


def test_a_stored_answer_of_an_earlier_command_does_no_row(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R93: what a single command has made is on record, so no row of a list has made it as well."""
    stored = {"id": "po_1", "object": "payout", "amount": 1000, "currency": "EUR"}
    machine.ledger.spoil(*(Fault(says(200, stored)),) * 300)
    single = ("payouts", "create", "--amount", "1000", *TO_SOMEBODY)
    assert machine.run(*single, *QUICK).code == 0
    path = listed(tmp_path, *(payout(n, f"DE8937040044053201{n:04}") for n in range(2)))
    result = machine.run("batch", "payouts.create", path, *ONE_AT_A_TIME, *QUICK)
    assert (result.code, outcomes(path)[0]) == (9, "unknown")
    assert "done" not in outcomes(path)
    assert [row["state"] for row in machine.rows()][:2] == ["done", "unknown"]


def test_a_payout_that_went_to_another_account_is_not_ours(machine: UserMachine) -> None:
    """R93: exit 7 with what the answer names, unresolved, and resumed to one effect."""
    to = {"country": "DE", "account_holder_name": "Person 1", "last4": "9999"}
    other = {"id": "po_9", "object": "payout", "amount": 500, "currency": "EUR", "destination": to}
    machine.ledger.spoil(*(Fault(says(200, other)),) * 4)
    result = machine.run("payouts", "create", "--amount", "500", *TO_SOMEBODY, *QUICK)
    assert (result.code, result.error["code"]) == (7, "reply_not_ours")
    assert "destination is last4 9999" in result.error["message"]
    machine.ledger.spoil()
    assert machine.run("requests", "resume", result.error["request"]).code == 0
    assert effects(machine) == 1


def test_an_answer_that_comes_twice_is_not_the_next_ones(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R93: late answers on a kept connection: each row has the object that it has made."""

    def again(sock: socket.socket, reply: bytes) -> bool:
        sock.sendall(http(200, next(iter(machine.ledger._answers.values()))))
        sock.sendall(reply)
        return True

    own = Fault(goes_through, carried_out=True)
    machine.ledger.spoil(own, Fault(again, carried_out=True))
    path = listed(tmp_path, *(payout(number, "DE89370400440532013000") for number in range(4)))
    assert machine.run("batch", "payouts.create", path, *ONE_AT_A_TIME, *QUICK).code == 0
    lines = Path(f"{path}.results.ndjson").read_text().splitlines()
    assert sorted(json.loads(line)["id"] for line in lines) == ["po_1", "po_2", "po_3", "po_4"]
    assert len(machine.ledger.posts) == 5  # one came again, on a connection of its own


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (404, {"type": "about:blank", "title": "Not Found"}, "application/problem+json"),
        (404, {"type": "invalid_request_error", "code": "route_not_found"}, "application/json"),
        (400, {"error": {"code": "UPSTREAM_CLOSED"}}, "application/json"),
        (409, {"type": "idempotency_error", "code": "idempotency_key_reused"}, "application/json"),
    ],
    ids=["problem", "route", "gateway", "reused"],
)
def test_only_the_service_itself_refuses_what_may_have_been_done(
    machine: UserMachine, status: int, body: dict[str, Any], kind: str
) -> None:
    """R94: attempt 1 is carried out and lost, attempt 2 meets somebody else: 7, one effect."""
    machine.ledger.spoil(LOST, Fault(says(status, body, kind)))
    result = machine.run(*REFUND, *QUICK)
    assert (result.code, result.error["outcome"]) == (7, "unknown")
    assert machine.run(*REFUND, *QUICK).code == 6
    assert machine.run("requests", "resume", result.error["request"]).code == 0
    assert effects(machine) == 1


def test_what_was_made_with_another_amount_is_not_settled(machine: UserMachine) -> None:
    """R15, R93: exit 1 with both; the same command stops; resumed: 1 again, or settled."""
    other = {"id": "rf_77", "object": "refund", "payment": "pay_X1", "amount": 900}
    machine.ledger.spoil(Fault(says(200, other)))
    first = machine.run(*REFUND, *QUICK)
    assert (first.code, first.error["outcome"]) == (1, "unknown")
    assert all(word in first.error["message"] for word in ("900", "500", "rf_77"))
    assert machine.run(*REFUND, *QUICK).code == 6
    resume = ("requests", "resume", first.error["request"], *QUICK)
    machine.ledger.spoil(Fault(says(200, other)))
    assert machine.run(*resume).code == 1
    assert machine.unresolved() == [first.error["request"]]
    settled = machine.run(*resume)
    assert (settled.code, settled.json["id"], effects(machine)) == (0, "rf_1", 1)
    assert len({post.key for post in machine.ledger.posts if post.method == "POST"}) == 1


def test_a_row_made_with_another_amount_goes_again_under_its_key(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R15, R93: the list ends with 1; the next run leaves the row in doubt alone, and says so."""
    other = {"id": "rf_77", "object": "refund", "payment": "pay_X1", "amount": 900}
    path = listed(tmp_path, refund(500), refund(501))
    argv = ("batch", "refunds.create", path, *ONE_AT_A_TIME, *QUICK)
    machine.ledger.spoil(Fault(says(200, other)), mark="mark-500")
    stopped = machine.run(*argv)
    assert (stopped.code, outcomes(path)) == (1, ["unknown", "not_sent"])
    assert all(word in stopped.error["message"] for word in ("900", "500", "rf_77"))
    assert "Run the same command again" in stopped.error["message"]
    machine.ledger.spoil(Fault(says(200, other)), mark="mark-500")
    again = machine.run(*argv)
    assert (again.code, outcomes(path)) == (9, ["unknown", "done"])
    (problem,) = again.json["problems"]
    assert all(word in problem["message"] for word in ("900", "500", "rf_77"))
    assert machine.run(*argv).code == 0
    assert (outcomes(path), effects(machine)) == (["done"] * 2, 2)
    assert len({post.key for post in machine.ledger.sent("mark-500")}) == 1


def test_a_changed_object_that_differs_is_said_again_by_every_run(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R15: its id stood in the path, so it is done; the list goes on, and never ends with 0."""
    rows = [
        {"id": f"ord_{n}", "amount": 100 + n, "metadata": {"note": f"mark-{n}"}} for n in (1, 2)
    ]
    other = {"id": "ord_1", "object": "order", "amount": 900}
    path = listed(tmp_path, *rows)
    argv = ("batch", "orders.update", path, *ONE_AT_A_TIME, *QUICK)
    machine.ledger.spoil(Fault(says(200, other)), mark="mark-1")
    first = machine.run(*argv)
    assert (first.code, outcomes(path)) == (1, ["done", "not_sent"])
    for _ in range(2):
        again = machine.run(*argv)
        assert again.code == 1
        assert all(word in again.error["message"] for word in ("900", "101", "ord_1"))
        lines = Path(f"{path}.results.ndjson").read_text().splitlines()
        assert json.loads(lines[0])["error"]["code"] == "reply_contradiction"
        assert outcomes(path) == ["done", "done"]
    assert [post.mark for post in machine.ledger.posts] == ["mark-1", "mark-2"]
    told = machine.run(*argv[:-1], "human")
    assert "line 1: done: " in told.err
    assert "Every row was done before" not in told.err


# --- whose it is -------------------------------------------------------------------------------


def run_with(machine: UserMachine, key: str, *argv: str) -> Result:
    with machine.start(*argv, env={"SVC_API_KEY": key}) as process:
        return machine.ended(process)


@pytest.mark.parametrize(
    "answer",
    [
        {"type": "invalid_request_error", "code": "resource_missing"},
        {"type": "about:blank", "title": "Not Found"},
    ],
    ids=["another", "not known"],
)
def test_done_rows_are_not_skipped_for_another_account(
    machine: UserMachine, tmp_path: Path, answer: dict[str, Any]
) -> None:
    """R95: with a key that nothing shows to be of the first account: exit 6, nothing skipped."""
    path = listed(tmp_path, refund(500), refund(501))
    assert machine.run("batch", "refunds.create", path, *QUICK).code == 0
    machine.ledger.spoil(*(Fault(says(404, answer)),) * 9)
    other = run_with(machine, "sk_test_anotherAccount42", "batch", "refunds.create", path, *QUICK)
    assert (other.code, other.error["code"]) == (6, "other_account")
    machine.ledger.spoil()
    rolled = run_with(machine, "sk_test_rolledKeyOfThis7", "batch", "refunds.create", path, *QUICK)
    assert (rolled.code, rolled.json["skipped"], effects(machine)) == (0, 2, 2)
