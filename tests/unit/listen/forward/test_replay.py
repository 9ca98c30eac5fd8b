"""One event sent again a thousand times: what that may cost, and what is known when it ends early."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from support.clocks import ManualClock
from support.listening import NOW, SECRET, TargetServer, arrival, event
from support.running import Svc
from svc.listen.inbox.history import InboxFilter, InboxHistory, InboxScope
from svc.listen.inbox.interfaces import Batch
from svc.listen.inbox.sqlite import SqliteInbox
from svc.state import Database

ORIGIN: Final = "http://127.0.0.1:9"
REPLAY: Final = (sys.executable, "-m", "svc", "events", "replay", "evt_1", "-o", "ndjson")


@pytest.fixture
def kept(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """The state database with one event in its inbox, and the secret of its endpoint."""
    monkeypatch.setenv("SVC_BASE_URL", ORIGIN)
    clock = ManualClock(NOW)
    with Database.open(isolated / "state" / "state.db", clock=clock) as state:
        taken = arrival(event(1), b"Content-Type: application/json\r\n")
        SqliteInbox(state, "one").store(Batch([taken]))
        with state.write() as tx:
            tx.execute(
                "UPDATE listeners SET origin = ?, profile = 'default', mode = 'test',"
                " endpoint_id = 'we_1'",
                (ORIGIN,),
            )
            tx.execute(
                "INSERT INTO endpoints VALUES (?, 'default', 'test', 'u', '', 'we_1', ?, ?)",
                (ORIGIN, SECRET, NOW),
            )
        yield state


def attempts(state: Database) -> list[int]:
    rows = state.rows("SELECT attempt FROM forwards WHERE replay ORDER BY started_at, attempt")
    return [row["attempt"] for row in rows]


def test_a_job_opens_the_state_database_once(kept: Database) -> None:
    """100 sends with 40 descriptors: none is kept open for a send."""

    def few_descriptors() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

    with TargetServer() as target:
        done = subprocess.run(
            [*REPLAY, "--times", "100", "--forward-to", str(target.port)],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=few_descriptors,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 100
    assert attempts(kept) == list(range(1, 101))


def test_what_was_sent_is_noted_when_a_signal_ends_the_rest(kept: Database) -> None:
    """Ctrl-C in a replay: each send that was printed is in the inbox, and at most one more.

    All lines are read by one reader: `communicate` does not see what `readline` has read ahead.
    """
    with TargetServer() as target:
        process = subprocess.Popen(
            [*REPLAY, "--times", "1000", "--forward-to", str(target.port)],
            stdout=subprocess.PIPE,
            env=dict(os.environ),
            text=True,
        )
        assert process.stdout is not None
        first = [json.loads(process.stdout.readline()) for _ in range(20)]
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        process.stdout.close()
        process.wait()
    assert process.returncode == 130
    printed = len(first) + len(rest.splitlines())
    assert printed < 1000
    assert printed <= len(attempts(kept)) <= printed + 1
    assert len(target.received) <= len(attempts(kept)) + 1


def test_the_inbox_costs_no_more_for_an_event_that_was_replayed_often(isolated: Path) -> None:
    """What a listing does grows with the attempts behind what is shown, and not with their square."""

    def steps(replays: int) -> int:
        path, clock = isolated / str(replays) / "state.db", ManualClock(NOW)
        with Database.open(path, clock=clock) as state:
            SqliteInbox(state, "one").store(Batch([arrival(event(1))]))
            with state.write() as tx:
                tx.execute("UPDATE listeners SET profile = 'p', mode = 'test'")
                tx.many(
                    "INSERT INTO forwards VALUES (1, 'u', 1, ?, ?, 1, ?, NULL, x'', 0)",
                    [(n, n, 200 + n) for n in range(1, replays + 1)],
                )
            counted = [0]

            def count() -> None:
                counted[0] += 1

            state._connection.set_progress_handler(count, 100)
            archive = InboxHistory(state, InboxScope("p", "test", None))
            [entry] = archive.entries(InboxFilter())
            found = archive.find("evt_1")
            state._connection.set_progress_handler(None, 0)
        assert entry == found
        assert (entry.attempts, entry.status) == (replays, 200 + replays)
        return counted[0]

    assert steps(2000) < 15 * steps(200)


def test_replays_of_one_event_are_numbered_for_each_target(kept: Database, svc: Svc) -> None:
    """A second job goes on where the first ended; another target begins at one."""
    with TargetServer() as one, TargetServer() as other:
        for target, times in ((one, 2), (other, 1), (one, 2)):
            where = ("--times", str(times), "--forward-to", str(target.port))
            assert svc("events", "replay", "evt_1", *where).code == 0
    rows = kept.rows("SELECT target, attempt FROM forwards ORDER BY started_at")
    assert [row["attempt"] for row in rows] == [1, 2, 1, 3, 4]
