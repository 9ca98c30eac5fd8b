"""A person at a terminal: it is closed, or Ctrl-C is pressed twice (promises R77, R78)."""

import os
import pty
import signal
import sys
import time
from pathlib import Path

import pytest

from proof.faults.bench import Process, UserMachine
from proof.faults.ledger import Fault
from proof.faults.operations import command
from proof.faults.test_sharing import wait_for_posts
from support.batches import orders_file, refs
from support.running import Sandbox, Svc
from support.suite.patience import WAIT_SECONDS, patient

MARK = "mark-1"


def test_terminal_that_is_closed_leaves_the_request_resumable(machine: UserMachine) -> None:
    """R78: exit 129 within a second, no traceback, and a resume ends in one refund."""
    machine.ledger.spoil(Fault(machine.ledger.gate.hold, carried_out=True))
    child, terminal = pty.fork()
    if child == 0:
        os.execve(
            sys.executable,
            [sys.executable, "-m", "svc", *command("refund", MARK)],
            {**machine.env, "TERM": "xterm"},
        )
    wait_for_posts(machine, 1)
    begun = time.monotonic()
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    assert time.monotonic() - begun < patient(1)
    assert os.waitstatus_to_exitcode(status) == 129
    (request,) = machine.unresolved()
    assert machine.run("requests", "resume", request).code == 0
    assert machine.ledger.effects[MARK] == 1
    assert not (machine.state / "reports").exists()


@pytest.mark.slow
def test_second_signal_ends_it_at_once(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """R78: whatever the first one has begun; the list is brought to its end by the next run."""
    path = orders_file(tmp_path, range(40))
    slow = {"match": {"path": "/v1/orders"}, "times": 99, "effect": {"delay_ms": 900}}
    sandbox.control("POST", "/faults", slow)
    process = svc.begin("batch", "orders.create", str(path))
    wait_for_workers(process)
    process.send_signal(signal.SIGINT)
    wait_for_answer(process, signal.SIGINT)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert time.monotonic() - begun < patient(1)
    assert process.returncode == -signal.SIGINT
    sandbox.control("DELETE", "/faults")
    assert svc.ok("batch", "orders.create", str(path))["unknown"] == 0
    assert refs(svc) == sorted(f"A-{number}" for number in range(40))


def wait_for_workers(process: Process) -> None:
    """Waits until a batch has threads, and then sends."""
    deadline = time.monotonic() + WAIT_SECONDS
    while len(list(Path(f"/proc/{process.pid}/task").iterdir())) < 9:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    time.sleep(0.2)


def wait_for_answer(process: Process, number: int) -> None:
    """Waits until a program has begun to answer a signal; two that come before that are one."""
    deadline = time.monotonic() + WAIT_SECONDS
    while is_caught(process, number):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)


def is_caught(process: Process, number: int) -> bool:
    """Whether a signal has a handler in a program, by what the kernel says of it."""
    said = Path(f"/proc/{process.pid}/status").read_text()
    (mask,) = (line.split()[1] for line in said.splitlines() if line.startswith("SigCgt"))
    return bool(int(mask, 16) >> (number - 1) & 1)
