"""What one run of a listener leaves to the next, what is forgotten, and what others read of it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from support.clocks import ManualClock
from support.listening import NOW, arrival, attempt, event
from svc.listen.inbox import forgetting
from svc.listen.inbox.forgetting import forget_all_forwarded, forget_failed
from svc.listen.inbox.history import InboxScope
from svc.listen.inbox.interfaces import Batch, Position
from svc.listen.inbox.listeners import (
    KnownListener,
    Waiting,
    count_pending,
    find_last_endpoint,
    forget,
    list_known,
    list_waiting,
    load_remembered,
    remember,
    remember_address,
)
from svc.listen.inbox.received import ReceivedEvents, copies
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.names import Listening, name_reader
from svc.state import Database

A, B = "http://localhost:1", "http://localhost:2"
LISTENING: Final = Listening("http://s", "default", "test", "local", ("*",))
WHOSE: Final = InboxScope("default", "test", "http://s")
MONTH: Final = 30 * 86_400


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path / "s" / "state.db", clock=ManualClock(NOW)) as opened:
        yield opened


def begun(state: Database, listening: Listening = LISTENING, number: int = 0) -> SqliteInbox:
    scope = listening.scope(number)
    inbox = SqliteInbox(state, load_remembered(state, scope, listening, lambda: "/x").scope)
    inbox.begin([A, B], ordered=False, anew=True)
    return inbox


def keep(inbox: SqliteInbox, number: int, at: float, *targets: str, **more: Any) -> None:
    inbox.store(Batch([arrival(event(number), b"", at, targets=targets, **more)]))


def left(state: Database) -> list[str]:
    return [row["event_id"] for row in state.rows("SELECT event_id FROM inbox ORDER BY seq")]


def test_next_run_has_what_the_last_one_had(state: Database) -> None:
    """Its path and port, its endpoint and targets, how far it had read a log, and what waits."""
    inbox, scope = begun(state), LISTENING.scope(0)
    claim = load_remembered(state, scope, LISTENING, lambda: "/y")
    assert (claim.scope, claim.port, claim.path, claim.beside) == (scope, None, "/x", False)
    assert list_known(state, LISTENING) == {
        scope: KnownListener(None, "", False, None, "/x", False)
    }
    remember(state, claim, 4242, "we_1", [A])
    assert load_remembered(state, scope, LISTENING, lambda: "/y").port == 4242
    used = KnownListener("we_1", f'["{A}"]', False, None, "/x", True)
    assert list_known(state, LISTENING) == {scope: used}
    assert list_waiting(state, WHOSE) == []
    keep(inbox, 1, NOW, A, B)
    keep(inbox, 2, NOW, B)
    assert count_pending(state, claim) == {A: 1, B: 2}
    assert list_waiting(state, WHOSE) == [Waiting(scope, 4242, (A,), 2)]
    assert list_waiting(state, replace(WHOSE, origin="http://t")) == []
    remember_address(state, claim, "nats://log")
    inbox.begin_at(Position(7, "evt_7"))
    at = Position(7, "evt_7")
    reader = used._replace(waiting=True, position=at, address="nats://log")
    assert list_known(state, LISTENING) == {scope: reader}
    forget(state, [scope])
    assert list_known(state, LISTENING) == {scope: reader._replace(targets="", in_use=False)}


def test_endpoint_of_a_listener_is_that_of_its_targets(state: Database) -> None:
    """Else that of the first of its kind."""
    assert find_last_endpoint(state, LISTENING, [A]) is None
    for number, target in enumerate([A, B]):
        scope = LISTENING.scope(number)
        claim = load_remembered(state, scope, LISTENING, lambda: "/x")
        remember(state, claim, 1, f"we_{number}", [target])
    found = [find_last_endpoint(state, LISTENING, targets) for targets in ([A], [B], [A, B])]
    assert found == ["we_0", "we_1", "we_0"]
    assert find_last_endpoint(state, replace(LISTENING, mode="live"), [A]) is None


def test_what_was_forwarded_is_forgotten_after_a_month(state: Database) -> None:
    """R50, R125: to the second; what failed or is open stays, however old it is."""
    inbox = begun(state)
    for number, age in enumerate([MONTH + 1, MONTH + 1, MONTH + 1, MONTH + 1, MONTH], 1):
        keep(inbox, number, NOW - age, A)
    done = [attempt(number, A) for number in (1, 4, 5)]
    inbox.store(Batch(attempts=[*done, attempt(2, A, "failed")]))
    clock = ManualClock(NOW)
    assert forget_all_forwarded(state, clock) == 2
    assert left(state) == ["evt_2", "evt_3", "evt_5"]
    assert sum(clock.slept) > 0  # in which others get the database
    assert forget_all_forwarded(state, ManualClock(NOW)) == 0


def test_what_failed_is_forgotten_when_it_is_asked_for(
    state: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R125: from before a moment, in pieces, but for what another target is still to get."""
    monkeypatch.setattr(forgetting, "_AT_ONCE", 2)
    inbox = begun(state)
    for number in range(1, 9):
        keep(inbox, number, NOW + number, *((A, B) if number in (2, 3) else (A,)))
    failed = [attempt(number, A, "failed") for number in (1, 2, 3, 4, 5, 7, 8)]
    inbox.store(Batch(attempts=[*failed, attempt(3, B), attempt(6, A)]))
    other = begun(state, replace(LISTENING, profile="other"))
    keep(other, 9, NOW, A)
    other.store(Batch(attempts=[attempt(9, A, "failed")]))
    clock = ManualClock(NOW)
    assert forget_failed(state, WHOSE, NOW + 8, clock) == 5
    assert left(state) == ["evt_2", "evt_6", "evt_8", "evt_9"]
    assert sum(clock.slept) > 0
    assert forget_failed(state, WHOSE, NOW + 8, clock) == 0


def test_audit_knows_what_came_by_type_and_object(state: Database) -> None:
    """What listeners of the profile have kept, and what is added; each pair counts once."""
    keep(begun(state), 1, NOW, A)
    keep(begun(state, replace(LISTENING, mode="live")), 2, NOW, A)
    received = ReceivedEvents(state)
    received.add_inbox(WHOSE)
    received.add([("order.paid", "ord_1"), ("order.paid", "ord_7")])
    wanted = [("order.paid", f"ord_{number}") for number in (1, 2, 7)]
    assert [received.has(*one) for one in wanted] == [True, False, True]
    assert (received.has("payout.paid", "ord_1"), received.count()) == (False, 2)


def test_copies_are_what_receivers_of_this_machine_kept(
    state: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a moment on, in pieces; not what was read in a log, nor what is another mode's."""
    monkeypatch.setattr("svc.listen.inbox.received._COPIES_AT_ONCE", 2)
    inbox = begun(state)
    for number in range(1, 7):
        keep(inbox, number, NOW + number, A, outcome="withheld" if number == 4 else None)
    state.rows("UPDATE ledger SET state = 7 WHERE event = 5")
    keep(begun(state, replace(LISTENING, way=name_reader("DELIVERIES", None, "a"))), 7, NOW + 7, A)
    keep(begun(state, replace(LISTENING, origin="http://t")), 8, NOW + 8, A)
    found = [*copies(state, "http://s", "default", "test", NOW + 2)]
    assert [one.facts.id for one in found] == ["evt_2", "evt_3", "evt_6"]
    assert [one.received_at for one in found] == [NOW + 2, NOW + 3, NOW + 6]
    assert {one.body for one in found} == {event(number) for number in (2, 3, 6)}
