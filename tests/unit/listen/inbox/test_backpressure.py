"""Deliveries wait for the forwards before them, but for no target that is slow or away."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from simulation.virtual_loop import VirtualLoop
from svc.listen.inbox.commit import Backpressure, InboxWriter
from svc.listen.inbox.interfaces import StoreResult
from unit.listen.inbox.test_commit import (
    FakeQuickInbox,
    attempt,
    inbound,
    kept,
    numbers,
    until,
    writing,
)

MANY = 257  # one more than may be on their way before a group has to wait
OPEN = StoreResult(1, duplicate=False, again=False, open=True)


@asynccontextmanager
async def with_many_open() -> AsyncIterator[tuple[InboxWriter, FakeQuickInbox, list[int]]]:
    """257 events are kept and none is forwarded yet."""
    inbox, told = FakeQuickInbox(), list[int]()
    inbox.gate.set()
    async with writing(inbox) as (writer, _):
        for number in range(MANY):
            keep(writer, number, told)
        await until(lambda: len(told) == MANY)
        yield writer, inbox, told


def keep(writer: InboxWriter, number: int, told: list[int]) -> None:
    def heard(one: object) -> None:
        assert isinstance(one, StoreResult)
        told.append(one.seq)

    writer.store(inbound(number), heard)


async def turns() -> None:
    """Lets the loop turn as often as a group ever takes to be closed, and more."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_deliveries_wait_while_many_are_on_their_way() -> None:
    """They go, in one group, as soon as one of the others has ended."""
    async with with_many_open() as (writer, inbox, told):
        for number in (1001, 1002):
            keep(writer, number, told)
            await turns()
        assert (len(told), writer.idle) == (MANY, False)
        writer.record(attempt(1))
        await until(lambda: len(told) == MANY + 2)
        assert told[MANY:] == [1001, 1002]
    assert [1001, 1002] in [numbers(batch) for batch in inbox.batches]


async def test_results_are_written_while_deliveries_wait() -> None:
    """Those are what the wait is for; the deliveries are not taken along before their time."""
    async with with_many_open() as (writer, inbox, told):
        keep(writer, 1001, told)
        await turns()
        writer.record(attempt())
        await until(lambda: any(batch.attempts for batch in inbox.batches))
        [results] = [batch for batch in inbox.batches if batch.attempts]
        assert numbers(results) == []


async def test_slow_target_is_not_waited_for() -> None:
    """A tenth of a second, once; then everybody is answered at once until it has caught up."""
    async with with_many_open() as (writer, inbox, told):
        keep(writer, 1001, told)
        await until(lambda: len(told) == MANY + 1)
        keep(writer, 1002, told)
        await turns()
        assert told[MANY:] == [1001, 1002]
        for seq in range(3):
            writer.record(attempt(seq))
        await until(lambda: bool(inbox.batches[-1].attempts))
        for number in (1003, 1004):
            keep(writer, number, told)
            await turns()
        assert told[MANY:] == [1001, 1002, 1003]  # with that one there are too many again


def test_wait_goes_on_while_many_events_end() -> None:
    """What is not waited for is read back: a laptop read each of a night's events twice."""

    async def play() -> None:
        pressure, told = with_open(MANY + 128)
        assert pressure.holds()
        for wait in range(2):
            pressure.note_ended(64)
            await asyncio.sleep(0.1)
            assert (pressure.holding, told) == (True, []), wait
        await asyncio.sleep(0.2)  # and nothing ends
        assert (pressure.holding, told) == (False, ["go"])

    in_a_moment(play)


def test_slow_target_is_waited_for_again_once_many_events_have_ended() -> None:
    """At its start a target may be slow, and then it keeps up."""

    async def play() -> None:
        pressure, told = with_open(2 * MANY)
        assert pressure.holds()
        await asyncio.sleep(0.2)
        assert told == ["go"]
        pressure.note_ended(63)
        pressure.note_stored([OPEN])
        assert not pressure.holds()
        pressure.note_ended(1)
        pressure.note_stored([])  # of results alone: what was waited for is still to go
        assert not pressure.holds()
        pressure.note_stored([OPEN])
        assert pressure.holds()
        pressure.release()

    in_a_moment(play)


def in_a_moment(play: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Plays it in a loop whose time jumps to the next timer."""
    loop = VirtualLoop()
    try:
        loop.run_until_complete(play())
    finally:
        loop.close()


def with_open(events: int) -> tuple[Backpressure, list[str]]:
    """A pressure of so many events; when it lets a group go, it is told."""
    told = list[str]()
    pressure = Backpressure(lambda: told.append("go"))
    pressure.note_stored([OPEN] * events)
    return pressure, told


async def test_copies_and_what_is_not_forwarded_are_no_burden() -> None:
    """Only what a target is to get is counted."""

    class Deaf(FakeQuickInbox):
        def store(self, batch: Any) -> Any:
            super().store(batch)
            places = [kept(one).seq for one in batch.inbound_events]
            return [
                StoreResult(seq, duplicate=True, again=False, open=True) for seq in places[::2]
            ] + [StoreResult(seq, duplicate=False, again=False, open=False) for seq in places[1::2]]

    inbox, told = Deaf(), list[int]()
    inbox.gate.set()
    async with writing(inbox) as (writer, _):
        for number in range(2 * MANY):
            keep(writer, number, told)
        await until(lambda: len(told) == 2 * MANY)
        keep(writer, 1001, told)
        await turns()
        assert len(told) == 2 * MANY + 1


async def test_end_waits_for_no_forward() -> None:
    """What was held back is kept and answered."""
    async with with_many_open() as (writer, _, told):
        keep(writer, 1001, told)
        await turns()
        await writer.close()
        assert told[MANY:] == [1001]
