"""What commands and pages read of the inbox, and what a replay changes there."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from support.clocks import ManualClock
from support.listening import NOW, arrival, attempt, event
from svc.listen.http.connection import TargetReply
from svc.listen.inbox.history import InboxFilter, InboxHistory, InboxScope, SearchFilter
from svc.listen.inbox.interfaces import Batch, TargetRest
from svc.listen.inbox.ledger import State
from svc.listen.inbox.listeners import load_remembered
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.names import Listening
from svc.state import Database

A, B, ELSEWHERE = "http://localhost:1", "http://localhost:2", "http://localhost:3"
LISTENING: Final = Listening("http://s", "default", "test", "local", ("*",))
AT_TARGET: Final = {
    State.NEW: "pending",
    State.WAITS: "waiting",
    State.LATER: "pending",
    State.LEFT: "pending",
    State.DONE: "forwarded",
    State.FAILED: "failed",
    State.RETURNED: "returned",
    State.RESET: "reset",
}
OPEN: Final = [*AT_TARGET][:4]


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path / "s" / "state.db", clock=ManualClock(NOW)) as opened:
        yield opened


@pytest.fixture
def inbox(state: Database) -> SqliteInbox:
    return begun(state, LISTENING)


@pytest.fixture
def history(state: Database) -> InboxHistory:
    return InboxHistory(state, InboxScope("default", "test", "http://s"))


def begun(state: Database, listening: Listening) -> SqliteInbox:
    scope = load_remembered(state, listening.scope(0), listening, lambda: "/x").scope
    inbox = SqliteInbox(state, scope)
    inbox.begin([A, B], ordered=False, anew=True)
    return inbox


def keep(inbox: SqliteInbox, *targets: str, number: int = 1, **more: Any) -> None:
    inbox.store(Batch([arrival(event(number, **more), b"", NOW + number, targets=targets)]))


def put(state: Database, url: str, which: State, event: int = 1) -> None:
    """Leaves an event at a target in a state, whatever led to it."""
    there = "target = (SELECT id FROM targets WHERE url = ?) AND event = ?"
    state.rows(f"UPDATE ledger SET state = ? WHERE {there}", (which, url, event))


def test_state_of_an_event_is_that_of_the_target_that_has_come_least_far(
    state: Database, inbox: SqliteInbox, history: InboxHistory
) -> None:
    """Where all have ended, the worst; each is listed, found and searched for under the same name."""
    keep(inbox, A, B)
    for first, at_first in AT_TARGET.items():
        for second, at_second in AT_TARGET.items():
            put(state, A, first)
            put(state, B, second)
            assert [(one.url, one.state, one.is_open) for one in history.at_targets(1)] == [
                (A, at_first, first in OPEN),
                (B, at_second, second in OPEN),
            ]
            is_open = first in OPEN or second in OPEN
            expected = "pending" if is_open else AT_TARGET[max(first, second)]
            [entry] = history.entries(InboxFilter())
            assert (entry.state, entry.targets) == (expected, ())
            named = {*AT_TARGET.values(), "kept", "withheld"}
            found = {name for name in named if history.search(SearchFilter(state=name), 9).entries}
            assert found == {expected}
            failed = State.FAILED in (first, second)
            assert [bool(one) for one in asked(history)] == [failed, is_open]


def asked(history: InboxHistory) -> list[list[int]]:
    """The events that have failed somewhere, and those that are open somewhere."""
    filters = InboxFilter(failed=True), InboxFilter(pending=True)
    return [[one.seq for one in history.entries(each)] for each in filters]


@pytest.mark.parametrize(("outcome", "name"), [("unrouted", "kept"), ("withheld", "withheld")])
def test_event_without_a_target_is_named_by_why(
    inbox: SqliteInbox, history: InboxHistory, outcome: str, name: str
) -> None:
    inbox.store(Batch([arrival(event(), outcome=outcome)]))
    [entry] = history.entries(InboxFilter())
    assert (entry.state, entry.attempts, entry.target) == (name, 0, None)
    assert [one.id for one in history.search(SearchFilter(state=name), 9).entries] == ["evt_1"]
    assert history.at_targets(1) == []


def test_what_an_open_event_waits_for_is_said(inbox: SqliteInbox, history: InboxHistory) -> None:
    """Why its target rests, else what its last attempt came to, and when the next one is."""
    keep(inbox, A, B)
    inbox.store(Batch(rests=[TargetRest(A, NOW, "refused")]))
    later = attempt(1, B, "later", next_at=NOW + 9.0, error="no answer in time", status=None)
    inbox.store(Batch(attempts=[later]))
    first, second = history.at_targets(1)
    assert (first.error, first.next_at, first.attempts, first.status) == ("refused", None, 0, None)
    assert (second.error, second.next_at, second.attempts) == ("no answer in time", NOW + 9, 1)
    inbox.store(Batch(attempts=[attempt(1, A), attempt(1, B, "failed", number=2)]))
    first, second = history.at_targets(1)
    assert (first.error, first.attempts, first.status) == (None, 1, 200)
    assert (second.error, second.next_at, second.attempts, second.status) == (None, None, 2, 500)
    [entry] = history.entries(InboxFilter())
    assert (entry.attempts, entry.copies) == (3, 0)
    shown = [(row["url"], row["attempt"], row["status"]) for row in history.forwards(entry)]
    assert sorted(shown, key=str) == [(A, 1, 200), (B, 1, None), (B, 2, 500)]


def reply(status: int | None, sent: int = 1) -> TargetReply:
    return TargetReply(7.0, status, b"said", sent=sent, error=None if status else "no answer")


@pytest.mark.parametrize(
    ("before", "url", "status", "taken", "pending", "after"),
    [
        *((one, A, 200, False, False, State.DONE) for one in AT_TARGET),
        *((one, A, 500, True, False, one) for one in (State.NEW, State.LATER, State.RESET)),
        (State.FAILED, A, 500, False, False, State.FAILED),
        (State.FAILED, ELSEWHERE, 204, True, False, State.DONE),
        (State.FAILED, ELSEWHERE, 204, False, False, State.FAILED),
        *((one, ELSEWHERE, 200, True, False, one) for one in OPEN),
        *((one, ELSEWHERE, 200, True, True, State.DONE) for one in OPEN),
        *((one, ELSEWHERE, 200, False, True, one) for one in OPEN),
        *((one, ELSEWHERE, 200, True, True, one) for one in (State.RETURNED, State.RESET)),
    ],
)
def test_replay_that_is_taken_closes_what_it_makes_good(
    state: Database,
    inbox: SqliteInbox,
    history: InboxHistory,
    before: State,
    url: str,
    status: int,
    taken: bool,
    pending: bool,
    after: State,
) -> None:
    """At its own target always; elsewhere what failed, and with --pending what is open."""
    keep(inbox, A)
    put(state, A, before)
    history.begin_replay(1, url)
    history.note_replays(1, [(url, NOW, reply(status))], taken=taken, pending=pending)
    if after is State.DONE:  # a listener that gives it up says nothing against that
        inbox.store(Batch(attempts=[attempt(1, A, "failed")]))
    assert [row["state"] for row in state.rows("SELECT state FROM ledger")] == [after]


def test_each_replay_is_an_attempt_of_its_own(inbox: SqliteInbox, history: InboxHistory) -> None:
    """It is numbered by its target, and shown behind what the listener tried."""
    keep(inbox, A)
    inbox.store(Batch(attempts=[attempt(1, A, "failed", started_at=NOW - 9.0)]))
    for at, (url, status) in enumerate([(A, 500), (ELSEWHERE, None), (A, 202)]):
        history.begin_replay(1, url)
        history.note_replays(1, [(url, NOW + at, reply(status))], taken=False)
    entry = history.find("evt_1")
    assert entry is not None
    assert (entry.attempts, entry.status, entry.target, entry.state) == (4, 202, A, "forwarded")
    rows = history.forwards(entry)
    shown = [(row["url"], row["attempt"], row["replay"], row["status"]) for row in rows]
    assert shown == [(A, 1, 0, 500), (A, 1, 1, 500), (ELSEWHERE, 1, 1, None), (A, 2, 1, 202)]
    assert [row["reply"] for row in rows] == [b"", b"said", b"said", b"said"]
    assert [row["error"] for row in rows] == [None, None, "no answer", None]
    tried = [(row["url"], row["forwarded"], row["taken"]) for row in history.targets_tried(entry)]
    assert tried == [(A, 1, 1), (ELSEWHERE, 0, 0)]
    [there] = history.at_targets(1)
    assert (there.attempts, there.status) == (3, 202)


def test_replay_says_how_often_a_target_may_have_had_an_event(
    inbox: SqliteInbox, history: InboxHistory
) -> None:
    """R124: what was never sent does not count; one that is not the listener's counts its replays."""
    keep(inbox, A)
    for url, sent, before in [(A, 0, 0), (A, 1, 0), (A, 2, 1), (A, 1, 2)]:
        assert history.begin_replay(1, url) == before
        history.note_replays(1, [(url, NOW, reply(None, sent))], taken=False)
    for before in (0, 1):
        assert history.begin_replay(1, ELSEWHERE) == before
        history.note_replays(1, [(ELSEWHERE, NOW, reply(None, 0))], taken=False)


def test_events_are_found_by_what_is_known_of_them(
    state: Database, inbox: SqliteInbox, history: InboxHistory
) -> None:
    """By id and object; by type, time and payload, the newest first unless asked otherwise."""
    kinds = ["order.paid", "payout.paid", "order.cancelled"]
    for number, kind in enumerate(kinds, 1):
        about = {"object": {"id": f"ord_{number % 2}"}}
        keep(inbox, A, number=number, type=kind, data=about)
    assert [one.id for one in history.about(["ord_1"])] == ["evt_1", "evt_3"]
    assert [one.id for one in history.about(["ord_0", "ord_1"])] == ["evt_1", "evt_2", "evt_3"]
    assert history.find("evt_9") is None
    assert [history.find_received_behind(seq) for seq in (0, 2, 3, 4)] == [
        *(NOW + 1, NOW + 2, NOW + 3, None)
    ]
    for wanted, expected in [
        (InboxFilter(), [3, 2, 1]),
        (InboxFilter(glob="order.*"), [3, 1]),
        (InboxFilter(since=NOW + 2.0), [3, 2]),
        (InboxFilter(meets=lambda body: b"payout" in body), [2]),
        (InboxFilter(failed=True), []),
        (InboxFilter(pending=True, glob="payout.paid", since=NOW + 2.0), [2]),
    ]:
        assert [one.seq for one in history.entries(wanted)] == expected
        reverse = history.entries(wanted, oldest_first=True)
        assert [one.seq for one in reverse] == expected[::-1]
    others = InboxHistory(state, InboxScope("other", "test", None))
    assert [*others.entries(InboxFilter())] == []


def test_events_that_wait_at_another_address_of_the_service_are_found(
    state: Database, history: InboxHistory
) -> None:
    """A sandbox that was started again on another port; the latest of those that have any."""
    assert history.find_origin_waiting() is None
    for number, origin in enumerate(["http://s", "http://t", "http://u", "http://v"], 1):
        inbox = begun(state, replace(LISTENING, origin=origin))
        keep(inbox, A, number=number)
        if origin == "http://v":
            inbox.store(Batch(attempts=[attempt(number, A)]))
    assert history.find_origin_waiting() == "http://u"
