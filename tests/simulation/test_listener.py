"""Drawn histories of listeners break no rule; each mend that is taken out is noticed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from simulation.listener import judged
from svc.listen.forward import target_queue
from svc.listen.forward.retry import Suspects, decide
from svc.listen.forward.target_queue import TargetQueue
from svc.listen.inbox import arrivals, sqlite
from svc.listen.inbox.arrivals import ArrivalKeeper
from svc.listen.inbox.inbox import OpenItem


def test_histories_break_no_rule() -> None:
    """R50: whatever senders, targets, crashes and resets do: nothing is lost, doubled, out of turn."""
    assert judged(0, 100) == []


@pytest.mark.slow(seconds=10)
def test_many_histories_break_no_rule() -> None:
    """R50: 800 more of them."""
    assert judged(100, 900) == []


@pytest.mark.parametrize("seed", [47831, 48824, 67507, 75076])
def test_event_that_was_closed_elsewhere_is_passed_over_in_peace(seed: int) -> None:
    """A program beside the listener closed it while it waited behind others of its object."""
    assert judged(seed, seed + 1) == []


@contextmanager
def attempts_count() -> Iterator[None]:
    def counting(retry: Any, reply: Any, attempt: int, closes: int = 0) -> Any:
        del closes
        return decide(retry, reply, attempt, attempt)

    with patch.object(target_queue, "decide", counting):
        yield


@contextmanager
def all_are_charged() -> Iterator[None]:
    heard = Suspects.heard

    def charged(self: Any, seq: int, *, closed: bool) -> int:
        self._under_way[seq] = True
        return heard(self, seq, closed=closed)

    with patch.object(Suspects, "heard", charged):
        yield


@contextmanager
def turns_are_given_up() -> Iterator[None]:
    settle = TargetQueue._settle

    def giving(self: Any, item: Any, reply: Any, delay: float | None) -> None:
        if delay is not None:
            self._turns.leave(item)
        settle(self, item, reply, delay)

    with patch.object(TargetQueue, "_settle", giving):
        yield


@contextmanager
def nothing_is_looked_at_again() -> Iterator[None]:
    with patch.object(target_queue, "_FRESH_SECONDS", 1e9):
        yield


@contextmanager
def ids_alone_tell() -> Iterator[None]:
    known = ArrivalKeeper._known

    def by_id(self: Any, tx: Any, ids: Any) -> Any:
        found = known(self, tx, ids)
        return {(event_id, b""): what for (event_id, _), what in found.items()}

    def identity(arrival: Any) -> Any:
        return arrival.delivery.facts.id, b""

    with (
        patch.object(ArrivalKeeper, "_known", by_id),
        patch.object(arrivals, "_identity", identity),
    ):
        yield


@contextmanager
def ids_wait_to_be_listed_unseen() -> Iterator[None]:
    with patch("svc.listen.inbox.event_ids.EventIds.unlisted", lambda *_: []):
        yield


@contextmanager
def restarts_begin_the_schedule() -> Iterator[None]:
    with patch("svc.listen.forward.items.seconds_left", lambda *_: 0.0):
        yield


@contextmanager
def endings_are_forgotten() -> Iterator[None]:
    item = sqlite._item

    def only_taken(row: Any, tried: Any) -> OpenItem:
        one = item(row, tried)
        return replace(one, ended={target: True for target, taken in one.ended.items() if taken})

    with patch.object(sqlite, "_item", only_taken):
        yield


@contextmanager
def crowds_hold_up() -> Iterator[None]:
    following = TargetQueue._next

    def held(self: Any) -> Any:
        full = self._turns.parked >= 3
        return self._turns.next() if full else following(self)

    with patch.object(TargetQueue, "_next", held):
        yield


SABOTAGES = [
    pytest.param(attempts_count, 0, id="attempts-count"),
    pytest.param(all_are_charged, 82, id="all-are-charged"),
    pytest.param(turns_are_given_up, 1, id="turns-are-given-up"),
    pytest.param(nothing_is_looked_at_again, 39, id="nothing-is-looked-at-again"),
    pytest.param(ids_alone_tell, 13, id="ids-alone-tell"),
    pytest.param(ids_wait_to_be_listed_unseen, 4, id="ids-wait-to-be-listed-unseen"),
    pytest.param(restarts_begin_the_schedule, 1, id="restarts-begin-the-schedule"),
    pytest.param(endings_are_forgotten, 12, id="endings-are-forgotten"),
    pytest.param(crowds_hold_up, 31, id="crowds-hold-up"),
]


@pytest.mark.parametrize(("sabotage", "seed"), SABOTAGES)
def test_a_mend_that_is_taken_out_is_found(sabotage: Callable[[], Any], seed: int) -> None:
    """One kept history for each mend: clean with it, and not without."""
    assert judged(seed, seed + 1) == []
    with sabotage():
        assert judged(seed, seed + 1) != []
