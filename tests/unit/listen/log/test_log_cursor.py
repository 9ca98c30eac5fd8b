"""A laptop's own reading of a log in memory: each event once and in order, and what is told."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pytest

from support.clocks import ManualClock
from support.listening import NOW
from support.suite.patience import WAIT_SECONDS
from support.team.log import KEY
from svc.errors import AuthError
from svc.listen.inbox.interfaces import Position
from svc.listen.log import log_cursor
from svc.listen.log.connection import Message
from svc.listen.log.errors import LogDown
from svc.listen.log.log_cursor import Cursor, CursorSource, Place
from svc.listen.log.messages import Trust, put_again
from svc.listen.log.streams import mark_of
from svc.listen.output_records import LogReplaced, Missed, Rejected
from unit.listen.log.fake_log import ADDRESS, MADE, STREAM, FakeLog, message

NOTICES = "notice.shop.test.>"
REPORTS = "reader.shop.test.anna"


class Laptop:
    """A listener with its position; it keeps each event, or answers what `statuses` says next (0: not yet)."""

    def __init__(self, log: FakeLog, *filters: str, position: Position | None = None) -> None:
        self.log = log
        self.position = position
        self.got: list[tuple[str, int | None]] = []
        self.told: list[Any] = []
        self.statuses: list[int] = []
        self.moves: list[int] = []
        place = Place(lambda: self.position, self._move)
        cursor = Cursor("anna", "test", Trust(STREAM, (KEY,)), filters)
        given = (cursor, place, ManualClock(NOW), cast("Any", self), self.told.append)
        self.make = partial(CursorSource, cast("Any", log), *given)
        self.reject = self.told.append

    def _move(self, position: Position) -> None:
        self.position = position
        self.moves.append(position.seq)

    def admit(
        self, delivery: Any, answer: Callable[[int], None], position: Position, again: int
    ) -> None:
        assert (position.event_id, again) == (mark_of(MADE, delivery.facts.id), 0)
        self.got.append((delivery.facts.id, position.after))
        status = self.statuses.pop(0) if self.statuses else 200
        kept = self.position.seq if self.position is not None else 0
        if status == 200 and position.after in (None, kept):  # as an inbox keeps it
            self.position = position
        if status:
            asyncio.get_running_loop().call_soon(answer, status)

    async def until(self, true: Callable[[], object]) -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            while not true():  # noqa: ASYNC110  no event tells of it
                await asyncio.sleep(0.002)

    async def announce(self, number: int, one: Message) -> None:
        """Has the log hold another event, and tell of it."""
        self.log.held[STREAM][number] = one
        state = self.log.info_of_events["state"]
        state.update(last_seq=number, messages=len(self.log.held[STREAM]))
        for text in (str(number), "x", "²"):
            await self.log.heard[NOTICES](Message("", "", {"Nats-Sequence": text}, b""))

    def read(self, count: int) -> list[str]:
        """Reads until so many events have come."""

        async def play() -> None:
            source = self.make()
            await source.start()
            await self.until(lambda: len(self.got) >= count)
            await source.stop_accepting()
            await source.close()

        asyncio.run(play())
        return [one for one, _ in self.got]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_cursor, "_PAUSES", (0.001,))


def log_of(*numbers: int) -> FakeLog:
    return FakeLog({number: message(number) for number in numbers})


def for_group(number: int) -> Message:
    one = message(number)
    return Message(one.subject, "", put_again(one, STREAM, KEY, "ci", 1), one.body)


async def test_events_come_in_order_and_what_no_reader_gets_is_passed() -> None:
    """Each names the one before it, else reading has begun anew; what is put aside is told once."""
    log = log_of(3, 6)
    log.held[STREAM] |= {4: message(4, Svc_Receiver_Proof="0"), 5: for_group(5)}
    laptop = Laptop(log)
    source = laptop.make()
    await source.start()
    await laptop.until(lambda: len(laptop.got) == 2)
    assert laptop.got == [("evt_3", None), ("evt_6", 3)]
    await laptop.announce(8, message(8))  # the one before it was dropped
    await laptop.until(lambda: len(laptop.got) == 3)
    await laptop.announce(9, message(9, Svc_Receiver_Proof="0"))
    await laptop.until(lambda: laptop.moves == [9])
    await laptop.announce(10, message(10))
    await laptop.until(lambda: len(laptop.got) == 4)
    await source.stop_accepting()
    assert laptop.got[2:] == [("evt_8", 6), ("evt_10", None)]
    first, missed, last = laptop.told
    assert isinstance(first, Rejected)
    assert first.message.startswith("Message 4 of the log is put aside. Its Svc-Receiver-Proof was")
    assert (first.reason, first.size) == ("proof_invalid", len(message(4).body))
    assert (missed.events, last.message[:9]) == (1, "Message 9")


def test_what_was_not_kept_is_read_again() -> None:
    laptop = Laptop(log_of(1, 2))
    laptop.statuses = [503, 200, 200, 503]
    assert laptop.read(5) == ["evt_1", "evt_2", "evt_1", "evt_2", "evt_2"]
    assert laptop.told == []


@pytest.mark.parametrize(
    ("position", "numbers", "told", "got"),
    [
        (None, (1, 2), [], [1, 2]),
        (Position(1, mark_of(MADE, "evt_1")), (1, 2), [], [2]),
        (Position(1, mark_of(MADE, "evt_1")), (4, 6), [(2, None), (1, None)], [4, 6]),
        (Position(9, "another evt_9"), (1, 2), [(2, 7)], [1, 2]),
    ],
)
def test_what_is_gone_is_told_once(
    position: Position | None, numbers: tuple[int, ...], told: list[Any], got: list[int]
) -> None:
    """R130: what was dropped for its age, or with a log that is another one."""
    laptop = Laptop(log_of(*numbers), position=position)
    laptop.statuses = [200] * (len(got) - 1) + [503]  # and reading begins anew
    ids = [f"evt_{number}" for number in got]
    assert laptop.read(len(got) + 1) == [*ids, ids[-1]]
    said = [(one.events, getattr(one, "gone", None)) for one in laptop.told]
    assert said == told
    for one in laptop.told:
        assert isinstance(one, LogReplaced | Missed)
        assert (one.time, one.address) == (NOW, str(ADDRESS))
    assert laptop.moves == ([0] if position and position.seq == 9 else [])


@pytest.mark.parametrize(
    ("filters", "asked"),
    [
        (("svc.shop.test.order.paid",), "svc.shop.test.order.paid"),
        (("svc.shop.test.order.paid", "svc.shop.test.payout.*"), "svc.shop.test.>"),
    ],
)
def test_a_filter_is_asked_of_the_log_or_applied_here(filters: tuple[str, ...], asked: str) -> None:
    """What it leaves out is not missed."""
    log = log_of(2, 5)
    other = message(4)
    log.held[STREAM][4] = Message("svc.shop.test.refund.created", "", other.headers, other.body)
    pages, gather = list[Any](), log.gather

    async def noted(verb: str, body: Any, most: int) -> list[Message]:
        pages.append(body.get("next_by_subj"))
        return await gather(verb, body, most)

    log.gather = noted  # type: ignore[method-assign]
    laptop = Laptop(log, *filters)
    assert laptop.read(2) == ["evt_2", "evt_5"]
    assert (pages[0], laptop.told) == (asked, [])


async def test_a_log_that_is_away_is_told_with_its_reason_and_when_it_is_back() -> None:
    """A connection that is lost wakes the reader, which asks again."""
    log = log_of(1)
    info = log.told[f"STREAM.INFO.{STREAM}"]
    log.told[f"STREAM.INFO.{STREAM}"] = LogDown("It is away.")
    log.client.is_connected = False
    laptop = Laptop(log)
    source = laptop.make()
    await source.start()
    await laptop.until(lambda: laptop.told)
    log.told[f"STREAM.INFO.{STREAM}"] = info
    await laptop.until(lambda: laptop.got)
    log.client.on_state_change("It went away.")
    log.client.on_state_change(None)
    await laptop.until(lambda: len(laptop.told) == 3)
    await source.stop_accepting()
    assert [one.reason for one in laptop.told] == ["It is away.", None, "It went away."]
    assert log.heard == {}


async def test_another_log_is_noticed_though_nothing_is_announced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_cursor, "_POLL_SECONDS", 0.001)
    log = log_of(1, 2)
    laptop = Laptop(log)
    source = laptop.make()
    await source.start()
    await laptop.until(lambda: len(laptop.got) == 2)
    del log.held[STREAM][2]
    log.info_of_events["state"].update(last_seq=1, messages=1)
    await laptop.until(lambda: laptop.told)
    await source.stop_accepting()
    [told] = laptop.told
    assert (told.read, told.events, told.gone) == (2, 1, 1)


async def test_a_key_that_is_missing_ends_the_reader() -> None:
    """R128: each message that the new key has proved would be passed."""
    log = FakeLog({1: message(1, Svc_Receiver_Proof="0")})
    log.info_of_events["config"]["metadata"] = {"svc-key": "another"}
    laptop = Laptop(log)
    source = laptop.make()
    await source.start()
    with pytest.raises(AuthError):
        await asyncio.wait_for(source.died, WAIT_SECONDS)
    with pytest.raises(AuthError) as caught:
        await source.stop_accepting()
    assert (caught.value.code, laptop.moves, laptop.told) == ("log_key_wrong", [], [])


@pytest.mark.parametrize(("refusal", "most"), [(None, 3), (LogDown("no"), 3), (AuthError("no"), 1)])
async def test_how_far_a_laptop_is_is_reported_on_and_on(
    refusal: Exception | None, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For its admin: until the log refuses it, and once more at the end."""
    monkeypatch.setattr(log_cursor, "_REPORT_SECONDS", 0.001)
    log = log_of(1)
    log.told[REPORTS] = refusal or Message("", "", {}, b"")
    laptop = Laptop(log)
    source = laptop.make()
    await source.start()
    await laptop.until(lambda: laptop.got)
    await laptop.until(lambda: [verb for verb, _ in log.asked].count(REPORTS) >= most)
    await source.stop_accepting()
    await source.close()
    reports = [body for verb, body in log.asked if verb == REPORTS]
    assert reports[-1] == (b'{"seq": 1, "time": %d}' % NOW,)
    assert (len(reports) == 2) == (most == 1)


async def test_no_more_is_read_ahead_than_can_be_held_in_memory() -> None:
    laptop = Laptop(log_of(*range(1, 900)))
    laptop.statuses = [0] * 900
    source = laptop.make()
    await source.start()
    await laptop.until(lambda: len(laptop.got) >= 768)  # the page that goes beyond 512
    await asyncio.sleep(0.02)
    await source.stop_accepting()
    assert len(laptop.got) == 768
