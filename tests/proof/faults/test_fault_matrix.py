"""The fault matrix for requests that change something, through the real program as a process.

After every fault: carried out at most once, the right exit code, no traceback, no key anywhere, and
a journal that says what is known. What is left unresolved is resumed and ends in one effect.
"""

import itertools
import json
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from proof.faults.bench import UserMachine
from proof.faults.ledger import Fault, Ledger, Spoil, http
from proof.faults.operations import OPERATIONS, command
from support.forks.program import Forking
from support.servers.misbehaving import ScriptedServer

MARK = "mark-1"
WORKERS = 3


def closed(sock: socket.socket, reply: bytes) -> bool:
    """The connection ends without a byte."""
    return False


def reset(sock: socket.socket, reply: bytes) -> bool:
    """The connection is reset without a byte."""
    return ScriptedServer.reset_now(sock)


def cut(sock: socket.socket, reply: bytes) -> bool:
    """The answer ends in the middle of its body."""
    sock.sendall(reply[:-9])
    return False


def dripping(sock: socket.socket, reply: bytes) -> bool:
    """The answer comes a byte at a time and never ends."""
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        sock.sendall(b" ")
        time.sleep(0.05)


def says(status: int, body: Any = None, **headers: str) -> Spoil:
    """Another answer than the right one."""
    payload = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    def spoil(sock: socket.socket, reply: bytes) -> bool:
        sock.sendall(http(status, payload, named))
        return True

    return spoil


def refusal(code: str, kind: str = "invalid_request_error") -> dict[str, str]:
    return {"type": kind, "code": code, "message": f"Refused: {code}."}


class MatrixRow(NamedTuple):
    """One row of the matrix.

    Attributes:
        name: what comes before a colon is its kind.
        faults: what the first attempts meet; after them all goes well.
        state: of the journal's row afterwards.
        sent: how many attempts reached the service.
    """

    name: str
    faults: tuple[Fault, ...]
    code: int
    state: str
    sent: int
    options: tuple[str, ...] = ()


def before(spoil: Spoil, times: int = 1) -> tuple[Fault, ...]:
    return (Fault(spoil),) * times


def after(spoil: Spoil, times: int = 1) -> tuple[Fault, ...]:
    return (Fault(spoil, carried_out=True),) * times


LIMITED = refusal("rate_limit", "rate_limit_error")
FAILED = refusal("internal_error", "api_error")
BOMB = {f"X-{n}": "y" * 100 for n in range(10_000)}
HOSTILE = b"\x1b]0;owned\x07[/foo] \x1b[31m" + b"x" * 2_000_000
ROWS = (
    MatrixRow("reset before", before(reset), 0, "done", 2),
    MatrixRow("carried out, then dropped", after(closed), 0, "done", 2),
    MatrixRow("dropped for ever", after(closed, 4), 7, "unknown", 4),
    MatrixRow("cut in the body", after(cut), 0, "done", 2),
    MatrixRow("cut in the body for ever", after(cut, 4), 7, "unknown", 4),
    MatrixRow("no object: empty", after(says(200, b""), 4), 7, "unknown", 4),
    MatrixRow("no object: a page", after(says(200, b"<html>ok</html>"), 4), 7, "unknown", 4),
    MatrixRow("no object: a list", after(says(200, b"[]"), 4), 7, "unknown", 4),
    MatrixRow("another object once", after(says(200, {"id": "x", "object": "y"})), 0, "done", 2),
    MatrixRow("no object: no id", after(says(200, {"object": "order"}), 4), 7, "unknown", 4),
    MatrixRow("drip", after(dripping), 7, "unknown", 1, ("--max-time", "2")),
    MatrixRow("429 once", before(says(429, LIMITED, Retry_After="2")), 0, "done", 2),
    MatrixRow("429 for an hour", before(says(429, LIMITED, Retry_After="3600")), 8, "refused", 1),
    *(
        MatrixRow(f"429, {text}", before(says(429, LIMITED, Retry_After=text)), 0, "done", 2)
        for text in ("-5", "abc", "1000000000000", "Wed, 21 Oct 2015 07:28:00 GMT")
    ),
    MatrixRow("429 for ever", before(says(429, LIMITED), 4), 8, "refused", 4),
    MatrixRow("500 once", after(says(500, FAILED)), 0, "done", 2),
    MatrixRow("502, 503, 504", sum(((Fault(says(s)),) for s in (502, 503, 504)), ()), 0, "done", 4),
    MatrixRow("500 for ever", after(says(500, FAILED), 4), 7, "unknown", 4),
    MatrixRow("500 stored", after(says(500, FAILED, Idempotent_Replayed="true")), 7, "unknown", 1),
    MatrixRow("in progress", before(says(409, refusal("idempotency_key_in_use"))), 0, "done", 2),
    *(
        MatrixRow(f"key reused: {s}", before(says(s, refusal("x", "idempotency_error"))), 6, "refused", 1)
        for s in (400, 409, 422)
    ),
    MatrixRow("401", before(says(401, refusal("api_key_invalid"))), 4, "refused", 1),
    MatrixRow("403", before(says(403, refusal("permission_denied"))), 4, "refused", 1),
    MatrixRow("404", before(says(404, refusal("resource_missing"))), 5, "refused", 1),
    MatrixRow("402", before(says(402, refusal("card_declined"))), 3, "refused", 1),
    MatrixRow("401 after a drop", (*after(closed), *before(says(401))), 7, "unknown", 2),
    MatrixRow("a hostile page", before(says(400, HOSTILE)), 7, "unknown", 1),
    MatrixRow("header bomb", after(says(200, **BOMB), 4), 7, "unknown", 4),
    MatrixRow("moved", after(says(307, Location="http://evil.example/x")), 7, "unknown", 1),
)  # fmt: skip

OPERATION_NAMES = tuple(OPERATIONS)


def diagonal() -> list[Any]:
    """The first of each kind of row with one operation; each operation meets some of them."""
    firsts = {row.name.split(":")[0]: row for row in reversed(ROWS)}
    pairs = zip(reversed(firsts.values()), itertools.cycle(OPERATION_NAMES), strict=False)
    return [pytest.param(*pair, id=f"{pair[0].name}-{pair[1]}") for pair in pairs]


def rows_of(operation: str) -> list[MatrixRow]:
    """Every row that can happen to an operation.

    Of a path that nobody knows nobody knows either what it should answer with.
    """
    open_ended = (
        ("no object: a list", "no object: no id", "no object: empty", "another object once")
        if operation == "raw"
        else ()
    )
    return [row for row in ROWS if row.name not in open_ended]


def check_alone(folder: Path, forking: Forking, operation: str, row: MatrixRow) -> None:
    """The same on a machine and with a service of its own."""
    home = folder / re.sub(r"\W", "-", row.name)
    home.mkdir(mode=0o700)
    with closing_ledger() as ledger:
        check(UserMachine(home, ledger, forking), row, operation)


@contextmanager
def closing_ledger() -> Iterator[Ledger]:
    ledger = Ledger()
    try:
        yield ledger
    finally:
        ledger.stop()


def check(machine: UserMachine, row: MatrixRow, operation: str) -> None:
    machine.ledger.spoil(*row.faults)
    result = machine.run(*command(operation, MARK), *row.options, "-o", "json")
    assert result.code == row.code, (result.err, machine.ledger.posts)
    (kept,) = machine.rows()
    assert (kept["state"], len(machine.ledger.posts)) == (row.state, row.sent)
    keys = {post.key for post in machine.ledger.posts}
    bodies = {post.body for post in machine.ledger.posts}
    assert (len(keys), len(bodies)) == (1, 1)  # R1: every attempt says the same
    if row.code != 0:
        assert_named(result, kept)
    if row.code == 7:
        assert_resumed(machine, kept)
    assert machine.ledger.effects[MARK] == (1 if row.code in (0, 7) else 0)


def assert_named(result: Any, kept: dict[str, Any]) -> None:
    """The envelope names the request, whatever went wrong (R10)."""
    error = result.error
    assert error["request"] == kept["id"]
    assert error["idempotency_key"] == kept["idempotency_key"]
    assert error["outcome"] == kept["state"]
    assert "\x1b" not in result.err
    if error["outcome"] == "unknown":
        assert f"svc requests resume {kept['id']}" in error["message"]
        assert "failed" not in error["message"].replace("failed to", "")


def assert_resumed(machine: UserMachine, kept: dict[str, Any]) -> None:
    """R3: what is unresolved ends in one effect, with the key and the bytes of the first time."""
    resumed = machine.run("requests", "resume", kept["id"], "-o", "json")
    assert resumed.code == 0, resumed.err
    first, last = machine.ledger.posts[0], machine.ledger.posts[-1]
    assert (first.path, first.key, first.body) == (last.path, last.key, last.body)
    assert machine.rows()[0]["state"] == "done"


@pytest.mark.parametrize(("row", "operation"), diagonal())
def test_fault_is_met_as_the_matrix_says(
    machine: UserMachine, row: MatrixRow, operation: str
) -> None:
    """Each row of the matrix, with one operation."""
    check(machine, row, operation)


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize("operation", OPERATION_NAMES)
def test_every_operation_meets_every_fault(
    tmp_path: Path, forking: Forking, operation: str
) -> None:
    """The whole matrix, 404 cases, a few at a time: many of them wait."""
    rows = rows_of(operation)
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(partial(check_alone, tmp_path, forking, operation), rows))


def test_matrix_counts_what_it_says() -> None:
    """So that no row gets lost."""
    assert sum(len(rows_of(operation)) for operation in OPERATION_NAMES) == 404


@pytest.mark.parametrize(
    "twist", [{"livemode": True}, {"amount": 4998}, {"currency": "USD"}], ids=str
)
def test_contradicting_answer_is_shown_with_both_values(
    machine: UserMachine, twist: dict[str, Any]
) -> None:
    """R15, R93: exit 1, both values, what was made is shown; unresolved, for it may be another's."""
    machine.ledger.twist(**twist)
    options = ("-d", "currency=EUR", "-o", "json")
    result = machine.run(*command("refund", MARK), *options)
    assert (result.code, result.out) == (1, "")
    error = result.error
    said = {"livemode": ("live", "test"), "amount": ("4998", "4999"), "currency": ("USD", "EUR")}
    assert all(word in error["message"] for word in said[next(iter(twist))])
    (kept,) = machine.rows()
    assert (kept["state"], kept["error_code"]) == ("unknown", "reply_contradiction")
    assert "rf_1" in error["message"]
    assert (error["request"], error["outcome"]) == (kept["id"], "unknown")
    assert f"svc requests resume {kept['id']}" in error["message"]


@pytest.mark.parametrize("operation", ["create", "payout"])
def test_nobody_listens(machine: UserMachine, operation: str) -> None:
    """Four attempts, exit 8, not sent; the same command sends the same key again (R113)."""
    machine.ledger.stop()
    for _ in range(2):
        result = machine.run(*command(operation, MARK), "-o", "json")
        assert (result.code, result.error["outcome"]) == (8, "not_sent")
        assert result.error["request"] == machine.rows()[-1]["id"]
    assert [(row["state"], row["sendings"]) for row in machine.rows()] == [("not_sent", 2)]
    assert machine.unresolved() == []


@pytest.mark.parametrize("limit", ["-n 16", "-v 300000"])
def test_few_resources_end_in_a_clean_error_or_in_none(machine: UserMachine, limit: str) -> None:
    """16 descriptors, 300 MB: it works, or it says in one line why not."""
    wrap = ("bash", "-c", f'ulimit {limit}; exec "$@"', "bash")
    result = machine.run(*command("refund", MARK), wrap=wrap)
    assert result.code in (0, 8, 10), result.err
    assert machine.ledger.effects[MARK] == (1 if result.code == 0 else 0)


def test_bare_environment_is_enough(machine: UserMachine) -> None:
    """LANG=C, no TERM, 20 columns: a refund works, and what is shown is ASCII."""
    machine.ledger.twist(reason="Zurück")
    env = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "TERM": "", "COLUMNS": "20"}
    result = machine.run(*command("refund", MARK), "-o", "human", env=env)
    assert result.code == 0, result.err
    assert result.out.isascii()
