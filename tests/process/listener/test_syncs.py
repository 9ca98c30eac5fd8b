"""What the system is asked for, in which order: no 200 and no forward before a sync of the disk."""

import os
import re
import shutil
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.kills.killable import end, spawn
from support.listening import TargetServer, delivery, event, status, talk

SENDERS = 4
EACH = 15
CALLS = "pwrite64,fdatasync,fsync,sendto,openat"
CALL = re.compile(r"^[0-9]+ +(\w+)\((.*)")
SYNCED = re.compile(r"^[0-9]+ +<\.\.\. f(?:data)?sync resumed>.*= 0$")
EVENT = re.compile(r"evt_[0-9]+")

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


@dataclass
class Replay:
    """The calls of a listener, one after the other: what is on the disk when something leaves."""

    written: set[str] = field(default_factory=set)
    syncing: set[str] = field(default_factory=set)
    synced: set[str] = field(default_factory=set)
    answered: int = 0
    forwarded: int = 0
    made: bool = False
    folder: bool = False

    def follow(self, lines: list[str]) -> None:
        for line in lines:
            if (call := CALL.match(line)) is not None:
                self._called(call[1], call[2])
            elif SYNCED.match(line):
                self.synced |= self.syncing

    def _called(self, name: str, rest: str) -> None:
        file = rest.partition(">")[0]
        if name == "sendto":
            self._sent(rest)
        elif name == "pwrite64" and file.endswith("state.db-wal"):
            self.written |= set(EVENT.findall(rest))
        elif name != "pwrite64" and file.endswith("state.db-wal"):
            self.syncing = set(self.written)
            self.synced |= self.syncing if rest.endswith("= 0") else set()
        elif name == "openat" and "state.db-wal" in rest and not self.made:
            self.made, self.folder = True, False
        elif name == "fsync" and file.endswith("/state"):
            self.folder = True

    def _sent(self, rest: str) -> None:
        if "HTTP/1.1 200" in rest:
            self.answered += 1
            assert len(self.synced) >= self.answered, rest[:200]
        elif '"POST /' in rest:
            self.forwarded += 1
            assert set(EVENT.findall(rest)) <= self.synced, rest[:200]


def traced(tmp_path: Path) -> list[str]:
    """Lets a listener take events from several senders; gives the calls that it made, in order."""
    trace = tmp_path / "trace"
    under = ["strace", "-f", "-y", "-s", "6000", "-e", f"trace={CALLS}", "-o", str(trace)]
    answers: list[int] = []
    with TargetServer() as target:
        process, port = spawn(tmp_path / "state" / "state.db", target.port, under=under)

        def send(first: int) -> None:
            for number in range(first, first + EACH):
                answer = talk(port, delivery(event(number), now=int(time.time())), seconds=30)
                answers.append(status(answer))

        try:
            senders = [
                threading.Thread(target=send, args=(n * 100,)) for n in range(1, SENDERS + 1)
            ]
            for sender in senders:
                sender.start()
            for sender in senders:
                sender.join()
            while len(target.received) < SENDERS * EACH:
                time.sleep(0.01)
        finally:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
            for child in children.split():  # who is watched lives on without its watcher
                os.kill(int(child), signal.SIGKILL)
            end(process)
    assert answers == [200] * (SENDERS * EACH)
    return trace.read_text(errors="replace").splitlines()


@pytest.mark.limit(120)
def test_answers_and_forwards_follow_the_sync_of_their_group(tmp_path: Path) -> None:
    """R50, R51: at each 200 so many events are on the disk, and each event before its forward.

    A kill cannot show that a sync is missing: what was written outlives the process.
    """
    replay = Replay()
    replay.follow(traced(tmp_path))
    assert (replay.answered, replay.forwarded) == (SENDERS * EACH, SENDERS * EACH)
    assert replay.folder, "the names of the files were not synced"
