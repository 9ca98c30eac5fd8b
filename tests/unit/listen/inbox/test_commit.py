"""Group commit, with an inbox of the test's own that can hold a group back or fail (R50)."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from svc.errors import LocalError
from svc.listen.inbox import commit
from svc.listen.inbox.commit import InboxWriter
from svc.listen.inbox.interfaces import (
    Batch,
    EndedEvent,
    ForwardAttempt,
    InboundEvent,
    OpenItem,
    Retries,
    StoreResult,
)
from svc.listen.verify.verify import Delivery, Facts
from svc.state import LOST

FULL = LocalError("The disk is full.")
GONE = LocalError("The state database is gone.", code=LOST[0])


@dataclass
class FakeInbox:
    """Notes each group; waits where `gate` is closed, and raises what `errors` holds first."""

    batches: list[Batch] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    second_waits: bool = False
    second: threading.Event = field(default_factory=threading.Event)
    threads: set[str] = field(default_factory=set)

    def store(self, batch: Batch) -> list[StoreResult | LocalError]:
        self.batches.append(batch)
        self.threads.add(threading.current_thread().name)
        assert self.gate.wait(60)
        if self.second_waits and len(self.batches) == 2:
            assert self.second.wait(60)
        if self.errors:
            raise self.errors.pop(0)
        batch.ended += [EndedEvent(one.seq, one.type, taken=True) for one in batch.attempts]
        return [kept(one) for one in batch.inbound_events]

    def begin(self, targets: Sequence[str], *, ordered: bool, anew: bool) -> None:
        raise NotImplementedError

    def leave(self, target: str) -> list[OpenItem]:
        raise NotImplementedError

    def due(self, target: str, after: int, most: int) -> list[OpenItem]:
        raise NotImplementedError

    def again(self, target: str, now: float, most: int) -> Retries:
        raise NotImplementedError

    def count(self, targets: Sequence[str]) -> int:
        raise NotImplementedError

    def count_failed(self, seqs: Collection[int]) -> int:
        raise NotImplementedError

    def prune(self, now: float, after: int) -> int | None:
        raise NotImplementedError


@dataclass
class FakeQuickInbox(FakeInbox):
    """One that needs no thread."""

    log_is_long = False
    slow: bool = False

    def store_at_once(self, batch: Batch) -> list[StoreResult | LocalError] | None:
        return None if self.slow else self.store(batch)

    def copy_log(self) -> None:
        raise NotImplementedError


def inbound(number: int) -> InboundEvent:
    facts = Facts(f"evt_{number}", "order.paid", "", None, f"ord_{number}", None, "")
    return InboundEvent(Delivery(b"{}", b"", 0.0, facts), None)


def kept(one: InboundEvent) -> StoreResult:
    number = int(one.delivery.facts.id.removeprefix("evt_"))
    return StoreResult(number, duplicate=False, again=False, open=True)


def attempt(seq: int = 1) -> ForwardAttempt:
    target = "http://127.0.0.1:1/"
    return ForwardAttempt(seq, "order.paid", target, 1, 0.0, 1.0, 200, None, b"", "done")


def numbers(batch: Batch) -> list[int]:
    return [kept(one).seq for one in batch.inbound_events]


def writers() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("inbox")]


@asynccontextmanager
async def writing(
    inbox: FakeInbox, *, results_first: bool = False
) -> AsyncIterator[tuple[InboxWriter, list[asyncio.TimerHandle]]]:
    """A writer over `inbox`, which has a minute, and every timer that it sets."""
    writer, timers = InboxWriter(inbox, results_first=results_first), list[asyncio.TimerHandle]()
    loop = asyncio.get_running_loop()
    later = loop.call_later

    def noted(delay: float, callback: Any, *args: Any, **more: Any) -> asyncio.TimerHandle:
        handle = later(delay, callback, *args, **more)
        step = getattr(callback, "__wrapped__", callback)
        if isinstance(getattr(step, "__self__", None), InboxWriter):
            timers.append(handle)
        return handle

    loop.call_later = noted  # type: ignore[method-assign,assignment]
    async with asyncio.timeout(60):
        try:
            yield writer, timers
        finally:
            inbox.gate.set()
            await writer.close()


async def until(true: Callable[[], bool]) -> None:
    """Lets the loop turn until something is true; the story's limit ends it."""
    while not true():  # noqa: ASYNC110  what it waits for has no event of its own
        await asyncio.sleep(0.001)


async def test_arrivals_of_one_moment_are_one_group() -> None:
    """Each is told its own place, in order, once the whole group is on the disk."""
    inbox, told = FakeInbox(), list[StoreResult | LocalError]()
    async with writing(inbox) as (writer, timers):
        for number in (1, 2, 3):
            writer.store(inbound(number), told.append)
        assert (inbox.batches, writer.idle) == ([], False)
        await until(lambda: len(inbox.batches) == 1)
        assert (told, writer.idle) == ([], False)
        inbox.gate.set()
        await until(lambda: len(told) == 3)
        assert writer.idle
        assert timers == []  # a lone group waits for no timer
    assert [numbers(batch) for batch in inbox.batches] == [[1, 2, 3]]
    assert told == [kept(inbound(number)) for number in (1, 2, 3)]


async def test_lone_delivery_is_kept_at_once() -> None:
    """With the next turn of the loop; only where several have come are others waited for."""
    inbox, told = FakeQuickInbox(), list[StoreResult | LocalError]()
    inbox.gate.set()
    async with writing(inbox) as (writer, _):
        for number in (1, 2):
            writer.store(inbound(number), told.append)
            await asyncio.sleep(0)
            assert len(told) == number
        writer.store(inbound(3), told.append)
        writer.store(inbound(4), told.append)
        await asyncio.sleep(0)
        assert len(told) == 2
        await until(lambda: len(told) == 4)
    assert [numbers(batch) for batch in inbox.batches] == [[1], [2], [3, 4]]


async def test_next_group_gathers_while_one_is_being_written() -> None:
    """Whatever comes meanwhile waits for the first, and then goes at once and in one."""
    inbox, told = FakeInbox(), list[StoreResult | LocalError]()
    async with writing(inbox) as (writer, timers):
        writer.store(inbound(1), told.append)
        await until(lambda: len(inbox.batches) == 1)
        writer.store(inbound(2), told.append)
        await asyncio.sleep(0.02)
        writer.store(inbound(3), told.append)
        writer.record(attempt())
        writer.record(attempt(1))
        await asyncio.sleep(0.02)
        assert (len(inbox.batches), writer.idle, timers) == (1, False, [])
        inbox.gate.set()
        await until(lambda: writer.idle)
    assert [numbers(batch) for batch in inbox.batches] == [[1], [2, 3]]
    assert inbox.batches[1].attempts == [attempt(), attempt(1)]
    assert len(told) == 3
    assert len(inbox.threads) == 1


async def test_group_has_a_size() -> None:
    """256 deliveries and no more; the rest go in the next one, told in order."""
    inbox, told = FakeInbox(), list[StoreResult | LocalError]()
    async with writing(inbox) as (writer, _):
        for number in range(1, 259):
            writer.store(inbound(number), told.append)
        writer.record(attempt(9))
        inbox.gate.set()
        await until(lambda: len(told) == 258)
    assert [len(batch.inbound_events) for batch in inbox.batches] == [256, 2]
    assert [batch.attempts for batch in inbox.batches] == [[attempt(9)], []]
    assert told == [kept(inbound(number)) for number in range(1, 259)]


async def test_result_alone_is_written_a_moment_later() -> None:
    """Without another delivery, and with one timer for all that comes until then."""
    inbox = FakeInbox()
    inbox.gate.set()
    async with writing(inbox) as (writer, timers):
        begun = asyncio.get_running_loop().time()
        for seq in (1, 2):
            writer.record(attempt(seq))
        assert not writer.idle
        assert len(timers) == 1
        assert begun < timers[0].when() <= asyncio.get_running_loop().time() + 0.05
        await until(lambda: bool(inbox.batches))
    (batch,) = inbox.batches
    assert len(batch.attempts) == 2


async def test_results_ride_along_with_the_next_delivery() -> None:
    """Its group takes them, so their timer is of no use any more; a later one has its own."""
    inbox = FakeInbox()
    async with writing(inbox) as (writer, timers):
        writer.record(attempt(1))
        writer.store(inbound(1), lambda _: None)
        await until(lambda: bool(inbox.batches))
        assert [timer.cancelled() for timer in timers] == [True]
        inbox.gate.set()
        await until(lambda: writer.idle)
        writer.record(attempt(2))
        assert [timer.cancelled() for timer in timers] == [True, False]
        await until(lambda: len(inbox.batches) == 2)
    assert [len(batch.attempts) for batch in inbox.batches] == [1, 1]


async def test_results_that_came_meanwhile_are_written_soon() -> None:
    """Nothing else has to happen for it."""
    inbox = FakeInbox()
    async with writing(inbox) as (writer, timers):
        writer.store(inbound(1), lambda _: None)
        await until(lambda: bool(inbox.batches))
        writer.record(attempt(1))
        assert timers == []
        inbox.gate.set()
        await until(lambda: len(inbox.batches) == 2)
    assert inbox.batches[1].attempts == [attempt(1)]


async def found_quick(writer: InboxWriter, inbox: FakeQuickInbox) -> None:
    """Has a writer see that its inbox needs no thread."""
    writer.store(inbound(0), lambda _: None)
    await until(lambda: bool(inbox.batches))
    inbox.batches.clear()


async def test_lone_delivery_is_not_held_up_by_results() -> None:
    """Where nothing waits for a thread they are written by themselves, within 10 ms and at once."""
    inbox = FakeQuickInbox()
    inbox.gate.set()
    async with writing(inbox) as (writer, timers):
        await found_quick(writer, inbox)
        writer.record(attempt(1))
        writer.record(attempt(1))
        writer.store(inbound(2), lambda _: None)
        await until(lambda: bool(inbox.batches))
        assert not timers[0].cancelled()
        await until(lambda: len(inbox.batches) == 2)
        writer.record(attempt(2))  # has a timer of its own, though no delivery comes any more
        await until(lambda: len(inbox.batches) == 3)
    assert inbox.batches[0] == Batch([inbound(2)])
    assert inbox.batches[1].attempts == [attempt(1), attempt(1)]
    assert inbox.batches[2].attempts == [attempt(2)]
    assert inbox.threads == {"MainThread"}


async def test_results_are_no_group_of_their_own_on_a_slow_disk() -> None:
    """Deliveries would wait for its sync: there they ride along, from the first slow one on."""
    inbox = FakeQuickInbox()
    inbox.gate.set()
    async with writing(inbox) as (writer, _):
        await found_quick(writer, inbox)
        inbox.slow = True
        writer.store(inbound(1), lambda _: None)
        await until(lambda: len(inbox.batches) == 1 and writer.idle)
        writer.record(attempt(1))
        writer.store(inbound(2), lambda _: None)
        await until(lambda: len(inbox.batches) == 2)
    assert (numbers(inbox.batches[1]), inbox.batches[1].attempts) == ([2], [attempt(1)])


async def test_many_results_ride_along_all_the_same() -> None:
    inbox = FakeQuickInbox()
    inbox.gate.set()
    async with writing(inbox) as (writer, timers):
        await found_quick(writer, inbox)
        for number in range(1, 33):
            writer.record(attempt(number))
        writer.store(inbound(99), lambda _: None)
        await until(lambda: bool(inbox.batches))
        assert timers[0].cancelled()
    assert [(numbers(one), len(one.attempts)) for one in inbox.batches] == [([99], 32)]


async def test_results_go_first_where_a_copy_asks_for_them() -> None:
    """R50: under `--ack forwarded` a copy of what has just failed is taken for new."""
    inbox = FakeQuickInbox()
    inbox.gate.set()
    async with writing(inbox, results_first=True) as (writer, _):
        await found_quick(writer, inbox)
        writer.record(attempt(1))
        writer.store(inbound(1), lambda _: None)
        await until(lambda: bool(inbox.batches))
    assert [(numbers(one), one.attempts) for one in inbox.batches] == [([1], [attempt(1)])]


async def test_every_sender_hears_that_the_disk_is_full() -> None:
    """And the results of that group are written later; the deliveries come again by themselves.

    An event that is shown as forwarded without one attempt would be a lie, and a target whose end
    is forgotten gets its event again after a restart.
    """
    inbox, told = FakeInbox(errors=[FULL]), list[StoreResult | LocalError]()
    inbox.gate.set()
    async with writing(inbox) as (writer, _):
        writer.record(attempt(7))
        writer.record(attempt())
        writer.store(inbound(1), told.append)
        writer.store(inbound(2), told.append)
        await until(lambda: len(inbox.batches) == 2)
        assert not writer.broken.done()
    assert told == [FULL, FULL]
    assert inbox.batches[1].attempts == [attempt(7), attempt()]


@pytest.mark.parametrize("errors", [[], [FULL]])
async def test_one_that_raises_keeps_no_other_from_being_told(errors: list[Exception]) -> None:
    """R50: the error reaches whoever watches the loop; the rest of its group have their answers."""
    inbox, told = FakeInbox(errors=list(errors)), list[StoreResult | LocalError]()
    inbox.gate.set()
    heard: list[object] = []

    def odd(_: StoreResult | LocalError) -> None:
        raise ZeroDivisionError

    async with writing(inbox) as (writer, _):
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: heard.append(context["exception"])
        )
        for number, tell in enumerate((told.append, odd, told.append), start=1):
            writer.store(inbound(number), tell)
        await until(lambda: len(told) == 2)
        writer.store(inbound(4), told.append)
        await until(lambda: len(told) == 3)
    first, third = [FULL, FULL] if errors else [kept(inbound(1)), kept(inbound(3))]
    assert told == [first, third, kept(inbound(4))]
    assert [type(one) for one in heard] == [ZeroDivisionError]


async def test_unexpected_error_ends_it() -> None:
    """Nobody is told that it is kept, and the listener hears of the error itself."""
    inbox, told = FakeInbox(errors=[ZeroDivisionError("a bug")]), list[StoreResult | LocalError]()
    inbox.gate.set()
    async with writing(inbox) as (writer, _):
        writer.store(inbound(1), told.append)
        with pytest.raises(ZeroDivisionError, match="a bug"):
            await writer.broken
    assert told == []
    assert len(inbox.batches) == 1


async def test_close_writes_what_is_left() -> None:
    """Also what comes while the last group is being written; then the thread is over."""
    inbox, told = FakeInbox(), list[StoreResult | LocalError]()
    async with writing(inbox) as (writer, timers):
        writer.store(inbound(1), told.append)
        await until(lambda: bool(inbox.batches))
        writer.record(attempt())
        assert writers()
        closing = asyncio.ensure_future(writer.close())
        await asyncio.sleep(0.02)
        assert not closing.done()
        inbox.gate.set()
        await closing
        assert all(timer.cancelled() for timer in timers)
    assert [numbers(batch) for batch in inbox.batches] == [[1], []]
    assert inbox.batches[1].attempts == [attempt()]
    assert told == [kept(inbound(1))]
    assert writers() == []


async def test_close_begins_no_second_group_beside_the_first() -> None:
    """What waits is not kept before its own group is on the disk, also in the last moment."""
    inbox = FakeInbox(second_waits=True)
    async with writing(inbox) as (writer, _):
        writer.store(inbound(1), lambda _: None)
        await until(lambda: bool(inbox.batches))
        writer.store(inbound(2), lambda _: None)
        closing = asyncio.ensure_future(writer.close())
        await asyncio.sleep(0)
        inbox.gate.set()
        await until(lambda: len(inbox.batches) == 2)
        await asyncio.sleep(0.02)
        assert (len(inbox.batches), writer.idle) == (2, False)
        inbox.second.set()
        await closing
        assert writer.idle
    assert [numbers(batch) for batch in inbox.batches] == [[1], [2]]


async def test_close_ends_although_nothing_can_be_written() -> None:
    """An outcome that cannot be kept only means that the event is forwarded once more."""
    inbox = FakeInbox(errors=[FULL])
    inbox.gate.set()
    async with writing(inbox) as (writer, timers):
        writer.record(attempt(1))
        await writer.close()
        assert timers[0].cancelled()
    assert len(inbox.batches) == 1


async def test_reads_go_through_the_same_thread() -> None:
    """One thread has the inbox at a time: a read waits for the group that is being written."""
    inbox = FakeInbox()
    async with writing(inbox) as (writer, _):
        writer.store(inbound(1), lambda _: None)
        await until(lambda: bool(inbox.batches))
        reading = asyncio.ensure_future(writer.read(lambda: threading.current_thread().name))
        await asyncio.sleep(0.02)
        assert not reading.done()
        inbox.gate.set()
        assert {await reading} == inbox.threads


@pytest.mark.parametrize("busy", [False, True])
async def test_read_may_ask_to_see_every_result(busy: bool) -> None:
    """What was settled before it is on the disk before it, at once and also behind a group."""
    inbox = FakeInbox()
    async with writing(inbox) as (writer, timers):
        if busy:
            writer.store(inbound(1), lambda _: None)
            await until(lambda: bool(inbox.batches))
        writer.record(attempt(1))
        inbox.gate.set()
        seen = await writer.read_all(lambda: list(inbox.batches))
        assert [batch.attempts for batch in seen] == [[]] * busy + [[attempt(1)]]
        assert all(timer.cancelled() for timer in timers)


@dataclass
class LongInbox(FakeQuickInbox):
    """One whose log is long until it was copied twice; each copy waits until it is let go."""

    copies: list[str] = field(default_factory=list)
    go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    fails: LocalError | None = None

    @property
    def log_is_long(self) -> bool:  # type: ignore[override]
        return len(self.copies) < 2

    def copy_log(self) -> None:
        self.copies.append(threading.current_thread().name)
        assert self.go.acquire(timeout=60)
        if self.fails is not None:
            raise self.fails


async def test_log_is_copied_beside_what_comes_and_then_caught_up_with() -> None:
    """Groups are stored during the first copy; the second one holds them back, so it has an end."""
    inbox, told = LongInbox(), list[StoreResult | LocalError]()
    inbox.gate.set()
    async with writing(inbox) as (writer, _):
        writer.store(inbound(1), told.append)
        await until(lambda: len(inbox.copies) == 1)
        writer.store(inbound(2), told.append)
        await until(lambda: len(told) == 2)
        idle = [writer.idle]
        inbox.go.release()
        await until(lambda: len(inbox.copies) == 2)
        assert [*idle, writer.idle] == [True, False]
        writer.store(inbound(3), told.append)
        writer.record(attempt(1))
        await asyncio.sleep(0.02)
        assert len(told) == 2
        inbox.go.release()
        await until(lambda: len(told) == 3)
        await until(lambda: bool(inbox.batches[-1].attempts))
    assert told == [kept(inbound(number)) for number in (1, 2, 3)]
    assert len(inbox.copies) == 2
    assert len(set(inbox.copies)) == 1
    assert inbox.threads == {"MainThread"}


async def test_log_that_cannot_be_copied_is_copied_with_what_follows() -> None:
    """No second copy is begun behind one that failed; the next group begins anew."""
    inbox = LongInbox(fails=FULL)
    inbox.gate.set()
    async with writing(inbox) as (writer, _):
        writer.store(inbound(1), lambda _: None)
        await until(lambda: len(inbox.copies) == 1)
        inbox.go.release()
        await asyncio.sleep(0.02)
        assert (len(inbox.copies), writer.idle) == (1, True)
        writer.store(inbound(2), lambda _: None)
        await until(lambda: len(inbox.copies) == 2)
        inbox.go.release()
        await asyncio.sleep(0.02)
        assert not writer.broken.done()


@pytest.mark.parametrize("begun", [False, True])
async def test_no_log_is_copied_at_the_end(begun: bool) -> None:
    """R78: the end empties it anyway, and the thread is to be over."""
    inbox = LongInbox()
    inbox.gate.set()
    async with writing(inbox) as (writer, _):
        writer.store(inbound(1), lambda _: None)
        await until(lambda: len(inbox.copies) == begun)
        writer.record(attempt(1))
        inbox.go.release()
        await writer.close()
        assert writers() == []
    assert len(inbox.copies) == begun
    assert inbox.batches[-1].attempts == [attempt(1)]


class SlowQuickInbox(FakeQuickInbox):
    """One that could do without a thread, but whose disk is slow."""

    def store_at_once(self, batch: Batch) -> list[StoreResult | LocalError] | None:
        return None


async def test_read_that_asks_for_results_is_not_overtaken_by_the_next_group() -> None:
    """R50: what it would find open, though it has ended, would be forwarded once more."""
    inbox = SlowQuickInbox()
    async with writing(inbox) as (writer, _):
        writer.store(inbound(1), lambda _: None)
        await until(lambda: bool(inbox.batches))
        writer.store(inbound(2), lambda _: None)  # its group begins as the first one ends
        writer.record(attempt(7))
        reading = asyncio.ensure_future(writer.read_all(lambda: list(inbox.batches)))
        await asyncio.sleep(0)
        inbox.gate.set()
        seen = await reading
        assert attempt(7) in [one for batch in seen for one in batch.attempts]


def refuse(error: LocalError) -> Callable[[], object]:
    def read() -> object:
        raise error

    return read


async def test_trouble_with_results_is_told_and_when_it_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R121: a read that must see them all is refused meanwhile, any other is not."""
    monkeypatch.setattr(commit, "_AGAIN_SECONDS", 0.001)
    told: list[LocalError | None] = []
    inbox = FakeInbox(errors=[FULL] * 10_000)
    inbox.gate.set()
    async with writing(inbox) as (writer, _):
        writer.on_trouble(told.append)
        assert not writer.in_trouble
        writer.record(attempt(1))
        with pytest.raises(LocalError, match="could not be noted yet"):
            await writer.read_all(lambda: 1)
        assert (writer.in_trouble, await writer.read(lambda: 2)) == (True, 2)
        inbox.errors.clear()
        await until(lambda: not writer.in_trouble)
        assert (set(told[:-1]), told[-1]) == ({FULL}, None)
        assert await writer.read_all(lambda: 3) == 3
        writer.record(attempt(2))
        await until(lambda: writer.idle)
    written = [[one.seq for one in batch.attempts] for batch in inbox.batches]
    assert written == [*[[1]] * len(told), [2]]


async def test_trouble_with_reading_is_told_and_when_it_is_over() -> None:
    """Results that are stored meanwhile do not end it; a read that may miss some is another's."""
    told: list[LocalError | None] = []
    inbox = FakeInbox(errors=[FULL])
    inbox.gate.set()
    async with writing(inbox) as (writer, _):
        writer.on_trouble(told.append)
        with pytest.raises(LocalError, match="disk is full"):
            await writer.read(refuse(FULL))
        assert (told, writer.in_trouble) == ([], False)
        with pytest.raises(LocalError, match="disk is full"):
            await writer.read_all(refuse(FULL))
        assert (told, writer.in_trouble) == ([FULL], True)
        writer.record(attempt(1))
        await until(lambda: len(inbox.batches) == 2 and writer.idle)
        assert (told, writer.in_trouble) == ([FULL, FULL], True)
        assert await writer.read_all(lambda: 1) == 1
        assert (told, writer.in_trouble) == ([FULL, FULL, None], False)
    assert not writer.broken.done()


@pytest.mark.parametrize("how", ["read", "read_all", "store", "store_at_once", "copy", "look"])
async def test_what_is_lost_ends_the_listener(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R121: whoever finds it out; nobody reads on, for what is seen may be gone with a power cut."""
    monkeypatch.setattr(commit, "_LOOK_SECONDS", 0.001)
    told: list[object] = []
    inbox: FakeInbox = FakeQuickInbox() if how == "store_at_once" else FakeInbox()
    inbox = {"copy": LongInbox(), "look": VanishingInbox()}.get(how, inbox)
    inbox.gate.set()
    async with writing(inbox) as (writer, _):
        writer.on_trouble(told.append)
        if how.startswith("read"):
            with pytest.raises(LocalError, match="is gone"):
                await getattr(writer, how)(refuse(GONE))
        elif how == "copy":
            inbox.fails = GONE  # type: ignore[attr-defined]
            inbox.go.release()  # type: ignore[attr-defined]
            writer.store(inbound(1), lambda _: None)
        elif how != "look":
            inbox.errors.append(GONE)
            writer.store(inbound(1), told.append)
            writer.record(attempt(1))
        with pytest.raises(LocalError, match="is gone"):
            await writer.broken
        for read in (writer.read, writer.read_all):
            with pytest.raises(LocalError, match="not safe to read from"):
                await read(lambda: 1)
    assert told == [GONE] * how.startswith("store")
    assert sum(len(batch.attempts) for batch in inbox.batches) == how.startswith("store")


@dataclass
class VanishingInbox(FakeInbox):
    """One whose file is there when it is looked for three times, and then no more."""

    looks: int = 0

    def check_in_place(self) -> None:
        self.looks += 1
        if self.looks > 3:
            raise GONE

    def save_copy(self, seconds: float) -> str | None:
        raise NotImplementedError
