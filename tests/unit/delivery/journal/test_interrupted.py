"""A signal at any place of a change of the journal: what is kept while it is dealt with is kept."""

from collections.abc import Callable
from functools import partial
from itertools import count

import pytest

from support.kills.interrupting import SignalError, interrupted
from svc.delivery.journal.journal import Journal
from unit.delivery.journal.asking import asked, done

ROOMS = ("delivery/journal/", "state/")
pytestmark = pytest.mark.limit(20)  # a lock that is left is waited for without an end


def come() -> None:
    raise SignalError


def over(
    intents: Journal, place: int, step: Callable[[], object], then: Callable[[], object]
) -> bool:
    """Interrupts a step, and does the next while that is dealt with; true if it came too late."""
    try:
        with interrupted(place, come, *ROOMS) as interruption:
            step()
    except SignalError:
        intents.hurry(0.1)
        then()
    return not interruption.came


def test_what_was_recorded_is_taken_back_while_a_signal_is_dealt_with(intents: Journal) -> None:
    """R78, R2: at any place of the record: nothing of it has left, and nothing is unresolved."""
    for place in count(1, 2):
        new = asked(key=f"key-{place}")
        record, take_back = partial(intents.record, new), partial(intents.withdraw, f"key-{place}")
        if over(intents, place, record, take_back):
            break
        assert not intents.list(unresolved=True)
    assert place > 50


def test_an_end_is_kept_while_a_signal_is_dealt_with(intents: Journal) -> None:
    """R78: at any place of keeping it: the answer is known, so nobody has to ask for it again."""
    for place in count(1, 2):
        intent = intents.record(asked(key=f"key-{place}"))
        keep = partial(intents.settle, intent, done())
        if over(intents, place, keep, keep):
            break
        assert {one.state for one in intents.list()} == {"done"}
    assert place > 50
