"""Who owns an error: a sender, a target, the store. Each row with the real program."""

import json
import os
import resource
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from support.listeners import Listen, Running
from support.listening import (
    OK,
    PATH,
    SECRET,
    Received,
    RunningListener,
    TargetServer,
    delivery,
    event,
    listening,
    plan_for,
    read_answer,
    status,
    talk,
)
from support.running import Sandbox
from support.suite.patience import patient
from svc.clock import SystemClock
from svc.listen.inbox.interfaces import Inbox
from svc.listen.inbox.sqlite import QuickInbox
from svc.paths import Paths

OWN = {"SVC_WEBHOOK_SECRET": SECRET}
WAYS: Final = ("close", "reset", "half", "answer")
_MOMENTS: Final = (0.0, 0.0, 0.0003, 0.001, 0.003)  # before, during and after the commit
_RESET: Final = struct.pack("ii", 1, 0)


def hang_up(port: int, sent: bytes, way: str, after: float) -> None:
    """Sends some bytes and leaves so many seconds later, without having read anything.

    `half` closes its own direction first; `answer` leaves with the answer unread in its buffer,
    which the system makes a reset.
    """
    with socket.create_connection(("127.0.0.1", port), 60) as peer, suppress(OSError):
        peer.sendall(sent)
        if after:
            time.sleep(after)
        if way == "reset":
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        elif way == "half":
            peer.shutdown(socket.SHUT_WR)
        elif way == "answer":
            peer.settimeout(0.01)
            peer.recv(1)


def hang_up_often(port: int, requests: Sequence[bytes], times: int) -> None:
    """Hangs up so many times: whole requests and their beginnings in turn, in all ways."""
    for number in range(times):
        request = requests[number % len(requests)]
        end = len(request) if number // 4 % 2 else 1 + number * 7 % len(request)
        moment = _MOMENTS[number // 8 % len(_MOMENTS)]
        hang_up(port, request[:end], WAYS[number % 4], moment)


def request(running: Running, number: int) -> tuple[int, bytes]:
    """Gives the listener's port, and a delivery that it takes."""
    url = urlsplit(running.wait("ready")[0]["url"])
    sent = delivery(event(number), now=int(time.time()))
    return url.port or 0, sent.replace(PATH.encode(), url.path.encode(), 1)


def told_on_stderr(folder: Path) -> str:
    [text] = [each.read_text() for each in folder.glob("listen-*.err")]
    return text


def is_served(running: Running, numbers: range) -> None:
    for number in numbers:
        port, sent = request(running, number)
        assert status(talk(port, sent)) == 200


@pytest.mark.parametrize("ack", [pytest.param("received", marks=pytest.mark.slow), "forwarded"])
def test_senders_that_hang_up_end_nothing_and_cost_no_lane(
    ack: str, sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """R121: 200 senders leave at every byte and moment; what comes after them is forwarded."""

    def slow(_: Received) -> bytes:
        time.sleep(0.005)  # so that those who wait for the target's answer have left before it
        return OK

    with (
        TargetServer(slow) as target,
        listen(tmp_path, "--forward-to", str(target.port), "--ack", ack, env=OWN) as running,
    ):
        requests = [request(running, number)[1] for number in range(1, 40)]
        hang_up_often(request(running, 1)[0], requests, 200)
        is_served(running, range(100, 116))  # twice as many as there are lanes
        assert running.end(signal.SIGTERM) == 143
    assert {f"evt_{number}" for number in range(100, 116)} <= set(target.ids)
    assert running.wait("summary")[0]["pending"] == 0
    assert [one for one in running.records if one["record"] == "bug"] == []
    assert told_on_stderr(tmp_path).count("Traceback") == 0


class SlowlySynced(RunningListener):
    """A listener on a disk whose syncs take 3 ms, so that groups are committed on the thread."""

    def make_inbox(self) -> Inbox:
        def sync(_: int) -> None:
            time.sleep(0.003)

        return QuickInbox(self.open_state, "test", self._clock, sync=sync)


@contextmanager
def running_on(disk: str, folder: Path, port: int) -> Iterator[RunningListener]:
    if disk == "quick":
        with listening(folder, port, clock=SystemClock()) as listener:
            yield listener
        return
    listener = SlowlySynced(folder / "state" / "state.db", plan_for(port), SystemClock())
    listener.start()
    try:
        yield listener
    finally:
        listener.stop()


def leave_often(disk: str, folder: Path, times: int) -> None:
    with TargetServer() as target, running_on(disk, folder, target.port) as listener:
        now = int(time.time())
        requests = [delivery(event(number), now=now) for number in range(1, 50)]
        hang_up_often(listener.port, requests, times)
        for number in range(100, 110):
            assert status(talk(listener.port, delivery(event(number), now=now))) == 200
        listener.until(lambda: {f"evt_{number}" for number in range(100, 110)} <= set(target.ids))
        assert listener.bugs == []


@pytest.mark.slow(seconds=8)
@pytest.mark.parametrize("disk", ["quick", "slow"])
def test_a_thousand_senders_hang_up(disk: str, tmp_path: Path) -> None:
    """R121: on the loop's path and on the thread's; ten thousand with `SVC_TEST_LONG=1`."""
    leave_often(disk, tmp_path, 10_000 if os.environ.get("SVC_TEST_LONG") == "1" else 1_000)


def replace_file(state: Path) -> None:
    state.unlink()
    with closing(sqlite3.connect(state)) as other:
        other.execute("CREATE TABLE something (name TEXT)")


def delete_log(state: Path) -> None:
    state.with_name("state.db-wal").unlink()


LOSSES: Final[dict[str, Callable[[Path], None]]] = {
    "deleted": Path.unlink,
    "replaced": replace_file,
    "log": delete_log,
}


@pytest.mark.parametrize("how", LOSSES)
def test_a_store_that_is_gone_ends_the_listener(
    how: str, sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """R121: exit 10 within a second, without a delivery, and what was kept is saved and named."""
    state = Paths(os.environ).state_file
    with TargetServer() as target:
        target_port = str(target.port)
        with listen(tmp_path, "--forward-to", target_port, env=OWN) as running:
            is_served(running, range(1, 21))
            LOSSES[how](state)
            started = time.monotonic()
            assert running.process.wait() == 10
            assert time.monotonic() - started < patient(1)
    error = json.loads(told_on_stderr(tmp_path).splitlines()[-1])["error"]
    assert error["code"] == "state_replaced"
    assert "20 events of this run" in error["message"]
    [saved] = state.parent.glob("state.db.saved-*")
    assert str(saved) in error["message"]
    assert ("state.db.before" in error["message"]) == (how != "deleted")
    with closing(sqlite3.connect(saved)) as copy:
        assert copy.execute("SELECT COUNT(*) FROM inbox").fetchone() == (20,)


def test_no_answer_of_200_leaves_for_an_event_in_a_deleted_file(
    sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """R121: senders go on while the file goes; whatever was answered 200 is in the saved copy."""
    state = Paths(os.environ).state_file
    answered = []
    with listen(tmp_path, env=OWN) as running:
        for number in range(1, 100):
            if number == 30:
                state.unlink()
            with suppress(OSError):
                port, sent = request(running, number)
                with socket.create_connection(("127.0.0.1", port), 60) as peer:
                    peer.sendall(sent)
                    if status(read_answer(peer)) == 200:
                        answered.append(number)
            if running.process.poll() is not None:
                break
        assert running.process.wait() == 10
    assert answered == list(range(1, 30))
    [saved] = state.parent.glob("state.db.saved-*")
    with closing(sqlite3.connect(saved)) as copy:
        kept = {row[0] for row in copy.execute("SELECT event_id FROM inbox")}
    assert {f"evt_{number}" for number in answered} <= kept


def test_a_damaged_store_ends_the_listener(
    sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """R121, R67: a page is damaged: 503, exit 10, and the file that was set aside is named."""
    state = Paths(os.environ).state_file
    with listen(tmp_path, env=OWN) as running:
        is_served(running, range(1, 21))
        with closing(sqlite3.connect(state)) as other:
            version = other.execute("PRAGMA user_version").fetchone()[0]
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            with state.open("r+b") as file:
                file.seek(4096)
                file.write(b"\xff" * (state.stat().st_size - 4096))
            other.execute(f"PRAGMA user_version = {version}")  # the listener reads pages anew
            other.commit()
        port, sent = request(running, 30)
        started = time.monotonic()
        assert status(talk(port, sent)) in (0, 503)
        assert running.process.wait() == 10
        assert time.monotonic() - started < patient(1)
    error = json.loads(told_on_stderr(tmp_path).splitlines()[-1])["error"]
    assert error["code"] == "state_damaged"
    assert "moved to state.db.corrupt-1" in error["message"]
    assert "20 events of this run" in error["message"]


def test_a_full_disk_is_told_once_and_when_it_is_over(
    sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """R121, R68: 503 to senders, one record, tried again with each delivery; then 200 and one more."""
    numbers = iter(range(1, 1000))
    with listen(tmp_path, "--print", "none", env=OWN) as running:

        def send() -> int:
            port, _ = request(running, 0)
            path = urlsplit(running.wait("ready")[0]["url"]).path.encode()
            sent = delivery(event(next(numbers), note="x" * 8000), now=int(time.time()))
            return status(talk(port, sent.replace(PATH.encode(), path, 1)))

        pid = running.process.pid
        before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (128 * 1024, before[1]))
        while send() == 200:
            pass
        assert [send() for _ in range(5)] == [503] * 5
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
        assert send() == 200
        states = [one["state"] for one in running.wait("store", 2)]
        assert running.end(signal.SIGTERM) == 143
    assert states == ["down", "up"]


BUGGY = """
import sys
from svc.listen.ingest import Ingest
from svc.cli.main import main

def take(*_):
    raise KeyError("a bug")

Ingest.take = take
sys.exit(main())
"""


def test_a_bug_ends_one_connection_and_a_hundred_of_them_the_listener(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """R121: a line of each doubling while it lives; the hundredth in a minute is exit 1."""
    out = tmp_path / "listen-1.ndjson"
    argv = [sys.executable, "-c", BUGGY, "events", "listen", "-o", "ndjson"]
    with out.open("wb") as stdout, (tmp_path / "listen-1.err").open("wb") as stderr:
        process = subprocess.Popen(argv, stdout=stdout, stderr=stderr, env={**os.environ, **OWN})
    try:
        running = Running(process, out)
        running.wait("ready")
        for number in range(1, 100):
            assert talk(*request(running, number)) == b""
        assert process.poll() is None
        assert [one["count"] for one in running.wait("bug", 7)] == [1, 2, 4, 8, 16, 32, 64]
        assert talk(*request(running, 100)) == b""
        assert process.wait() == 1
    finally:
        process.kill()
        process.wait()
    assert json.loads(told_on_stderr(tmp_path).splitlines()[-1])["error"]["code"] == "KeyError"
