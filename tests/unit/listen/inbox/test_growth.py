"""What a million events ask of the inbox: no query reads all of them, no change holds it for long."""

import asyncio
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from support.clocks import ManualClock
from support.listening import NOW, arrival, attempt, ended, event
from svc.listen.http.connection import TargetReply
from svc.listen.inbox import ledger, listeners, runs
from svc.listen.inbox.commit import InboxWriter
from svc.listen.inbox.forgetting import forget_all_forwarded, forget_failed
from svc.listen.inbox.history import InboxFilter, InboxHistory, InboxScope
from svc.listen.inbox.interfaces import Batch, InboundEvent
from svc.listen.inbox.listeners import (
    archive_before_reset,
    count_pending,
    list_known,
    list_waiting,
    load_remembered,
)
from svc.listen.inbox.received import copies
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.inspector.history import DeliveryList, ListFilter
from svc.listen.names import Listening
from svc.state import Database

A, B = "http://a", "http://b"
LISTENING: Final = Listening("http://s", "default", "test", "local", ("*",))
SCOPE: Final = LISTENING.scope(0)
WHOSE: Final = InboxScope("default", "test", "http://s")
# What is read whole: what is open, which goes; and the page that was read before.
GROWING: Final = re.compile(
    r"SCAN (inbox|payloads|ledger|forwards|event_ids|[a-z]|older|failed|others)\b(?!.* ledger_open)"
    r"|SEARCH \w+ USING PRIMARY KEY \(target=\?\)"
)
# A state and a text may stand in any row: such a search goes some thousand rows at a time.
SMALL: Final = ("SCAN l ", "SCAN t ")


class TracedDatabase(Database):
    """A state database that remembers what was asked of it, with its values."""

    def __init__(self, connection: sqlite3.Connection, *more: Any) -> None:
        super().__init__(connection, *more)
        self.asked: set[str] = set()
        connection.set_trace_callback(self.asked.add)

    def plans(self) -> Iterator[tuple[str, str]]:
        """Each step of the plan of each statement."""
        for statement in sorted(self.asked):
            if statement.lstrip().startswith(("SELECT", "WITH", "UPDATE", "DELETE", "INSERT")):
                for row in self.rows(f"EXPLAIN QUERY PLAN {statement}"):
                    yield statement, row["detail"]


@pytest.fixture
def state(tmp_path: Path) -> Iterator[TracedDatabase]:
    with TracedDatabase.open(tmp_path / "s" / "state.db", clock=ManualClock(NOW)) as opened:
        yield opened


@pytest.fixture
def inbox(state: Database) -> SqliteInbox:
    load_remembered(state, SCOPE, LISTENING, lambda: "/x")
    return SqliteInbox(state, SCOPE, listed_at_once=4)


def inbound(
    number: int, *targets: str, ordered: bool = False, about: int | None = None
) -> InboundEvent:
    body = event(number, data={"object": {"id": f"ord_{about or number}"}})
    return arrival(body, at=NOW + number, targets=targets, ordered=ordered)


@pytest.mark.smoke  # each SQLite has plans of its own
def test_no_query_reads_what_is_kept(state: TracedDatabase, inbox: SqliteInbox) -> None:
    """Each question and change of a listener and of the commands goes by an index."""
    inbox.begin([A, B], ordered=True, anew=True)
    for n in range(1, 13):
        inbox.store(Batch([inbound(n, A, B, ordered=True, about=n % 4)]))
    inbox.store(Batch(attempts=[*ended([1], "failed"), *ended([2]), attempt(3, verdict="later")]))
    inbox.store(Batch([inbound(2, A)], well=[A]))
    for target in (A, B):
        inbox.due(target, 0, 256), inbox.again(target, NOW, 256), inbox.count([target])
    inbox.count([A, B]), inbox.count_failed([1, 2]), inbox.leave(B)
    inbox.adopt(lambda _: [A], [A])
    inbox.begin([A], ordered=False, anew=True)
    claim = load_remembered(state, SCOPE, LISTENING, lambda: "/x")
    (
        count_pending(state, claim),
        list_known(state, LISTENING),
        list_waiting(state, WHOSE),
    )
    found = DeliveryList(state, WHOSE, ManualClock(NOW))
    for wanted in (InboxFilter(), InboxFilter(failed=True, pending=True, since=NOW)):
        for oldest_first in (True, False):
            [*found.entries(wanted, oldest_first=oldest_first)]
    entry = found.find("evt_1")
    assert entry is not None
    found.at_targets(1), found.forwards(entry), found.targets_tried(entry), found.content(entry)
    found.note_replays(1, [(A, NOW, TargetReply(1.0, 200))], taken=True, pending=True)
    found.page(ListFilter(before=5), []), [*copies(state, "http://s", "default", "test", NOW)]
    forget_failed(state, WHOSE, NOW + 1000, ManualClock(NOW))
    forget_all_forwarded(state, ManualClock(NOW + 40 * 86400))
    archive_before_reset(state, claim)
    inbox.hand_back()
    assert len(state.asked) > 60
    wrong = [
        f"{step}\n{statement}"
        for statement, step in state.plans()
        if GROWING.search(step) and not step.startswith(SMALL)
    ]
    assert wrong == []


def test_pending_events_are_found_among_few_and_among_many(
    state: Database, inbox: SqliteInbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked for is the same, whichever way is the shorter one; each event stands once."""
    inbox.begin([A, B], ordered=False, anew=True)
    inbox.store(Batch([inbound(n, A, B) for n in range(1, 8)]))
    inbox.store(Batch(attempts=[attempt(n, A) for n in (1, 2, 3)]))
    inbox.store(Batch(attempts=[attempt(n, B) for n in (1, 2)]))
    inbox.store(Batch(attempts=[attempt(n, A, "failed") for n in (4, 5)]))
    inbox.store(Batch(attempts=[attempt(n, B, "failed") for n in (3, 4)]))
    history = InboxHistory(state, WHOSE)

    def seqs(
        *, failed: bool = False, pending: bool = False, oldest_first: bool = False
    ) -> list[int]:
        wanted = InboxFilter(failed=failed, pending=pending)
        found = history.entries(wanted, oldest_first=oldest_first)
        return [one.seq for one in found]

    for few in (5_000, 0):
        monkeypatch.setattr("svc.listen.inbox.history._FEW", few)
        for page in (200, 2):
            monkeypatch.setattr("svc.listen.inbox.history._PAGE", page)
            assert seqs(failed=True) == [5, 4, 3]
            assert seqs(pending=True) == [7, 6, 5]
            assert seqs(pending=True, failed=True) == [7, 6, 5, 4, 3]
            assert seqs(pending=True, failed=True, oldest_first=True) == [3, 4, 5, 6, 7]
            assert seqs(oldest_first=True) == [*range(1, 8)]


async def test_a_target_that_is_well_again_gets_its_events_in_pieces(
    state: Database, inbox: SqliteInbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an hour of 503 no delivery waits until all that ailed is due; in the end all of it is."""
    monkeypatch.setattr(ledger, "PIECE_ROWS", 3)
    inbox.begin([A], ordered=False, anew=True)
    inbox.store(Batch([inbound(n, A) for n in range(1, 9)]))
    later = [attempt(n, verdict="later", next_at=NOW + 99, ailing=True) for n in range(1, 9)]
    inbox.store(Batch(attempts=later))
    first = Batch(well=[A])
    inbox.store(first)
    assert (first.hastening, first.freed) == ([A], {A})
    assert len(inbox.again(A, NOW, 256).items) == 3
    writer = InboxWriter(inbox)
    writer.well(A)
    async with asyncio.timeout(60):
        while not writer.idle:  # noqa: ASYNC110  what it waits for has no event
            await asyncio.sleep(0.001)
    await writer.close()
    assert len(inbox.again(A, NOW, 256).items) == 8


@pytest.mark.parametrize("piece", [1, 1000])
def test_turns_are_found_again_after_an_adoption(
    state: Database, inbox: SqliteInbox, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    """What waited for its turn in an ordered run is sent by a plain one, whatever came between."""
    monkeypatch.setattr(runs, "PIECE_ROWS", piece)
    inbox.begin([A], ordered=True, anew=True)
    inbox.store(Batch([inbound(n, A, ordered=True, about=1) for n in (1, 2, 3)]))
    assert [one.seq for one in inbox.due(A, 0, 256)] == [1]
    inbox.adopt(lambda _: [A], [A])
    inbox.begin([A], ordered=True, anew=True)
    assert [one.seq for one in inbox.due(A, 0, 256)] == [1]
    inbox.adopt(lambda _: [A], [A])
    inbox.begin([A], ordered=False, anew=True)
    sent = [*inbox.due(A, 0, 256), *inbox.again(A, NOW, 256).items]
    assert [one.seq for one in sent] == [1, 2, 3]


def test_a_reset_that_was_cut_off_is_ended_by_the_next_start(
    state: Database, inbox: SqliteInbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R50: of a sandbox that was reset nothing is taken for a copy, however the move was ended."""
    monkeypatch.setattr(listeners, "PIECE_ROWS", 2)
    claim = load_remembered(state, SCOPE, LISTENING, lambda: "/x")
    inbox.begin([A], ordered=False, anew=True)
    inbox.store(Batch([inbound(n, A) for n in range(1, 6)]))
    wrote = state.write
    left = [3]  # the name, what is open, and the first piece

    def dies() -> object:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return wrote()

    monkeypatch.setattr(state, "write", dies)
    with pytest.raises(KeyboardInterrupt):
        archive_before_reset(state, claim)
    monkeypatch.setattr(state, "write", wrote)
    [row] = state.rows("SELECT COUNT(*) AS n FROM inbox WHERE listener = 1")
    assert row["n"] == 3
    archive_before_reset(state, claim)
    again = SqliteInbox(state, SCOPE)
    assert [one.duplicate for one in again.store(Batch([inbound(n, A) for n in range(1, 6)]))] == [  # type: ignore[union-attr]
        False
    ] * 5
