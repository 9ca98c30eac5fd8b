"""Drawn histories of jobs that share a queue break no rule; each mend that is taken out is noticed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest

from simulation.group import aside_after, judged
from simulation.listener_world import in_memory
from svc.listen.forward import pending_acks
from svc.listen.log import group
from svc.listen.log.group import GroupSource
from svc.service.facts import WEBHOOK_RETRY_WINDOW_SECONDS


def test_histories_of_a_group_break_no_rule() -> None:
    """R50, R124, R129: nothing is lost, used up, or doubled without saying so."""
    assert judged(0, 20) == []


@pytest.mark.slow(seconds=6)
def test_many_histories_of_a_group_break_no_rule() -> None:
    """R129: 100 more of them."""
    assert judged(20, 120) == []


@pytest.mark.slow(seconds=20, rare=True)
def test_what_no_target_takes_is_put_aside_after_days() -> None:
    """R129: not before the time is over in which the service tries, and not long after it."""
    state = in_memory()
    assert WEBHOOK_RETRY_WINDOW_SECONDS < aside_after(state) < 1.1 * WEBHOOK_RETRY_WINDOW_SECONDS
    state.close()


@contextmanager
def what_is_away_has_refused() -> Iterator[None]:
    with patch.object(pending_acks, "_AWAY_STATUSES", frozenset()):
        yield


@contextmanager
def events_go_back_without_a_delay() -> Iterator[None]:
    with patch.object(group, "back_after", lambda _: b"-NAK"):
        yield


@contextmanager
def a_full_disk_gives_back_at_once() -> Iterator[None]:
    answered = GroupSource._handle_answer

    def at_once(self: Any, receipt: str, status: int) -> None:
        if status == 503 and self._out.pop(receipt, None) is not None:
            self._room.set()
            self._say(receipt, b"-NAK")
        answered(self, receipt, status)

    with patch.object(GroupSource, "_handle_answer", at_once):
        yield


@contextmanager
def events_are_acknowledged_before_a_target_has_them() -> Iterator[None]:
    give = GroupSource._give

    async def early(self: Any, one: Any, seq: int, delivered: int, now: float) -> None:
        self._keep(self._connection.submit(self._acknowledge(one.reply)))
        await give(self, one, seq, delivered, now)

    with patch.object(GroupSource, "_give", early):
        yield


@contextmanager
def nothing_is_marked() -> Iterator[None]:
    give = GroupSource._give

    async def first(self: Any, one: Any, seq: int, _: int, now: float) -> None:
        await give(self, one, seq, 1, now)

    with patch.object(GroupSource, "_give", first):
        yield


SABOTAGES = [
    (what_is_away_has_refused, 7),
    (events_go_back_without_a_delay, 0),
    (a_full_disk_gives_back_at_once, 29),
    (events_are_acknowledged_before_a_target_has_them, 0),
    (nothing_is_marked, 0),
]


@pytest.mark.parametrize(("sabotage", "seed"), SABOTAGES)
def test_a_mend_of_the_group_that_is_taken_out_is_found(
    sabotage: Callable[[], Any], seed: int
) -> None:
    """One kept history for each mend: clean with it, and not without."""
    assert judged(seed, seed + 1) == []
    with sabotage():
        assert judged(seed, seed + 1) != []
