"""kill -9 while payments are written: whatever was acknowledged is there, whole (R82, F79)."""

import subprocess
import sys
from pathlib import Path

import pytest

from svc.sandbox.store.sqlite import Store

CHILD = Path(__file__).with_name("writing_child.py")
KILLS = 5
ACKNOWLEDGED = 40  # lines to read before the kill; the kill itself falls anywhere after


def write_and_kill(path: Path, run: int) -> list[str]:
    """Lets a child write, kills it in the middle, returns what it acknowledged until its end."""
    command = [sys.executable, str(CHILD), str(path), str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        keys = [child.stdout.readline() for _ in range(ACKNOWLEDGED + 7 * run)]
        child.kill()
        keys += child.stdout.readlines()
    assert child.returncode == -9
    return [key.strip() for key in keys if key.endswith("\n")]


@pytest.mark.slow
def test_killed_sandbox_keeps_every_acknowledged_call_whole(tmp_path: Path) -> None:
    """Five kills on one file: object, event, delivery, job, balance and result stand together."""
    path = tmp_path / "sandbox.db"
    acknowledged: set[str] = set()
    for run in range(KILLS):
        acknowledged |= set(write_and_kill(path, run))
        store = Store.open(str(path))
        try:
            check(store, acknowledged)
        finally:
            store.close()
    assert len(acknowledged) >= KILLS * ACKNOWLEDGED


def check(store: Store, acknowledged: set[str]) -> None:
    assert store.one("PRAGMA integrity_check") == ("ok",)
    results = {
        row[0]: row[1].decode().split() for row in store.all("SELECT key, body FROM results")
    }
    assert acknowledged <= set(results)
    payments = {row[0] for row in store.all("SELECT id FROM docs WHERE kind = 'payment'")}
    events = {row[0] for row in store.all("SELECT id FROM events")}
    attempts = {row[0] for row in store.all("SELECT event FROM deliveries")}
    jobs = {row[0] for row in store.all("SELECT subject FROM jobs WHERE name = 'later'")}
    assert payments == jobs == {payment for payment, _ in results.values()}
    assert events == attempts == {event for _, event in results.values()}
    assert store.one("SELECT amount FROM balances") == (len(results),)
    # Every attempt that is owed has its job, and every job its attempt.
    owed = {row[0] for row in store.all("SELECT id FROM deliveries WHERE status = 'pending'")}
    planned = {row[0] for row in store.all("SELECT subject FROM jobs WHERE name LIKE '%attempt'")}
    assert owed == planned
