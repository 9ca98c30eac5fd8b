"""Faults below HTTP, through the real program: names, connections, certificates, lost time."""

import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from proof.faults.bench import UserMachine
from proof.faults.ledger import Fault, http
from proof.faults.operations import command
from support.running import Result
from support.servers.certificates import Authority, TlsServer
from support.suite.patience import patient

MARK = "mark-1"
PAYOUT = (*command("payout", MARK), "-o", "json")
FAST = 40  # seconds of the program in one of ours


@contextmanager
def full_house() -> Iterator[int]:
    """A port whose queue is full, so that a connection to it hangs for ever."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        time.sleep(0.05)
        yield listener.getsockname()[1]


def attempts(result: Result) -> list[float]:
    """Milliseconds of each attempt, as `--verbose` tells them."""
    found = re.findall(r"attempt (\d+) .* (\d+) ms", result.err)
    assert [int(number) for number, _ in found] == list(range(1, len(found) + 1))
    return [float(spent) for _, spent in found]


def assert_not_sent(machine: UserMachine, result: Result, tries: int) -> None:
    assert (result.code, result.error["outcome"]) == (8, "not_sent"), result.err
    assert len(attempts(result)) == tries
    (row,) = machine.rows()
    assert (row["state"], result.error["request"]) == ("not_sent", row["id"])
    assert machine.unresolved() == []


def test_host_that_nobody_knows(machine: UserMachine) -> None:
    """Four attempts, exit 8, not carried out."""
    env = {"SVC_BASE_URL": "https://api.example.com"}
    result = machine.run(*PAYOUT, "--verbose", env=env, no_names=True)
    assert_not_sent(machine, result, 4)
    assert "could not be resolved" in result.error["message"]


def test_connection_that_hangs(machine: UserMachine) -> None:
    """Four attempts within the deadline of a minute, exit 8, not carried out."""
    with full_house() as port:
        env = {"SVC_BASE_URL": f"http://127.0.0.1:{port}"}
        result = machine.run(*PAYOUT, "--verbose", env=env, fast=FAST)
    assert_not_sent(machine, result, 4)
    assert all(9_000 < spent < patient(20_000) for spent in attempts(result))


@pytest.mark.parametrize(
    ("host", "options", "bundled"),
    [
        ("localhost", {"expired": True}, True),
        ("localhost", {}, False),
        ("localhost", {"self_signed": True}, True),
        ("other.example", {}, True),
    ],
    ids=["expired", "unknown authority", "self-signed", "wrong host"],
)
def test_certificate_that_is_not_valid(
    machine: UserMachine, tmp_path: Path, host: str, options: dict[str, bool], bundled: bool
) -> None:
    """R27: one attempt, exit 8, and not a byte of the request."""
    authority = Authority(tmp_path)
    server = TlsServer(authority.issue(host, **options))
    try:
        env = {"SVC_BASE_URL": f"https://localhost:{server.port}"}
        trust = ("--ca-bundle", str(authority.file)) if bundled else ()
        result = machine.run(*PAYOUT, "--verbose", *trust, env=env)
        assert_not_sent(machine, result, 1)
        assert (server.connections, server.requests) == (1, [])
        assert "certificate" in result.error["message"]
    finally:
        server.stop()


@pytest.mark.slow
def test_answer_that_does_not_come_within_a_minute(machine: UserMachine) -> None:
    """R9: cut after the 60 s that are the default; exit 7, and then resumed."""
    machine.ledger.spoil(Fault(machine.ledger.gate.hold, carried_out=True))
    result = machine.run(*PAYOUT, "--verbose", fast=FAST)
    assert (result.code, result.error["outcome"]) == (7, "unknown")
    (spent,) = attempts(result)
    assert 59_000 < spent < patient(70_000)  # a second is 25 ms here
    assert machine.run("requests", "resume", result.error["request"]).code == 0
    assert machine.ledger.effects[MARK] == 1


@pytest.mark.parametrize("carried_out", [False, True])
def test_machine_that_sleeps_ten_minutes_goes_on(machine: UserMachine, carried_out: bool) -> None:
    """The key is young enough, so the attempts go on."""
    machine.ledger.spoil(Fault(busy_now, carried_out))
    assert machine.run(*PAYOUT, asleep=600).code == 0
    assert len(machine.ledger.posts) == 2
    assert machine.ledger.effects[MARK] == 1


def test_machine_that_sleeps_a_day_sends_nothing_more(machine: UserMachine) -> None:
    """R4: the service may have forgotten the key; exit 7, and where to look."""
    machine.ledger.spoil(Fault(busy_now, carried_out=True))
    result = machine.run(*PAYOUT, asleep=24 * 3600)
    assert (result.code, result.error["outcome"]) == (7, "unknown")
    assert "svc payouts list --all" in result.error["message"]
    assert len(machine.ledger.posts) == 1


def busy_now(sock: socket.socket, reply: bytes) -> bool:
    """Fails without saying when to come again."""
    sock.sendall(http(503, b"{}"))
    return True
