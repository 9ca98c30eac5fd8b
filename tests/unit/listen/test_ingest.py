"""The receiving half, with a writer of the test's own that keeps when it is told to."""

from math import inf
from typing import Any, Literal, cast

import pytest

from support.clocks import ManualClock
from support.listening import NOW, SECRET, event
from svc.errors import LocalError
from svc.listen.forward.pending_acks import PendingAcks
from svc.listen.forward.request import FORWARD_SECONDS
from svc.listen.http.connection import TargetReply
from svc.listen.http.requests import HttpHead, HttpRequest
from svc.listen.inbox.commit import InboxWriter, OnStored
from svc.listen.inbox.interfaces import InboundEvent, Oversized, StoreResult
from svc.listen.ingest import Ingest
from svc.listen.output_records import EventReceived, ListenerRecord, Rejected
from svc.listen.plan import ListenerPlan
from svc.listen.progress import ListenerProgress, Until
from svc.listen.routes import Routes
from svc.listen.verify.verify import Delivery, read_facts
from svc.signature import header_value

NEW = StoreResult(1, duplicate=False, again=False, open=True)
COPY = StoreResult(1, duplicate=True, again=False, open=True)
ENDED = StoreResult(1, duplicate=True, again=False, open=False)
AGAIN = StoreResult(1, duplicate=False, again=True, open=True)


class FakeWriter:
    """Takes arrivals and says where they are kept when the test asks for it."""

    in_trouble = False

    def __init__(self) -> None:
        self.waiting: list[tuple[InboundEvent, OnStored]] = []

    def store(self, inbound: InboundEvent, told: OnStored) -> None:
        self.waiting.append((inbound, told))

    def say(self, kept: StoreResult | LocalError) -> None:
        self.waiting.pop(0)[1](kept)


class Door:
    """A reception for order events in test mode, and everything that it has done."""

    def __init__(self, ack: Literal["received", "forwarded"]) -> None:
        self.writer = FakeWriter()
        self.pending_acks = PendingAcks()
        self.progress = ListenerProgress(Until("payout.paid", 2))
        self.told: list[ListenerRecord] = []
        self.handed: list[StoreResult] = []
        self.on_event_ended = 0
        routes = Routes.parse(["order.*=http://127.0.0.1:1/"])
        self.ingest = Ingest(
            ListenerPlan(mode="test", secrets=(SECRET,), routes=routes, ack=ack),
            cast("InboxWriter", self.writer),
            self.pending_acks,
            self.progress,
            ManualClock(NOW),
            self.told.append,
            lambda kept, _: self.handed.append(kept),
            self._look,
        )

    def _look(self) -> None:
        self.on_event_ended += 1

    def knock(self, body: bytes, *, secret: str = SECRET) -> list[int]:
        """Delivers a body; gives the list in which its answer appears, the first, as on a line."""
        answers: list[int] = []

        def answer(status: int) -> None:
            answers.extend([] if answers else [status])

        header = header_value(body, [secret], NOW).encode()
        fields = {b"svc-signature": [header]}
        head = HttpHead(b"POST", b"/", ((b"Svc-Signature", header),), fields)
        self.ingest.take(HttpRequest(head, body), answer)
        return answers

    @property
    def events(self) -> list[EventReceived]:
        return [one for one in self.told if isinstance(one, EventReceived)]


def test_received_is_answered_once_it_is_kept() -> None:
    """R50: not before; a copy of what has ended or is on its way is answered and not handed over."""
    door = Door("received")
    first = door.knock(event())
    assert (first, door.told, door.handed) == ([], [], [])
    door.writer.say(NEW)
    assert (first, door.handed) == ([200], [NEW])
    second, third = door.knock(event()), door.knock(event())
    door.writer.say(COPY)
    door.writer.say(ENDED)
    assert (second, third, door.handed) == ([200], [200], [NEW])
    assert [one.duplicate for one in door.events] == [False, True, True]
    assert (door.progress.received, door.progress.duplicates) == (3, 2)


async def test_copy_that_joins_a_delivery_in_flight_is_marked() -> None:
    """R50: under `--ack forwarded` it is no second event, waits, and gets the first one's answer."""
    door = Door("forwarded")
    first = door.knock(event())
    door.writer.say(NEW)
    copy = door.knock(event())
    assert door.writer.waiting == []
    assert (first, copy) == ([], [])
    assert [(one.duplicate, one.wrong_mode) for one in door.events] == [
        (False, False),
        (True, False),
    ]
    assert (door.progress.received, door.progress.duplicates) == (2, 1)
    door.pending_acks.release(("evt_1", event()), 502)
    assert (first, copy) == ([502], [502])
    assert door.pending_acks.seconds_left(("evt_1", event())) == inf


async def test_event_of_the_other_mode_joins_no_flight() -> None:
    """R60: it is withheld and answered at once, and nobody who waits for a forward hears of it."""
    door = Door("forwarded")
    live = event(livemode=True)
    first, second = door.knock(live), door.knock(live)
    assert door.pending_acks.seconds_left(("evt_1", live)) == inf
    assert [inbound.outcome for inbound, _ in door.writer.waiting] == ["withheld"] * 2
    door.writer.say(StoreResult(1, duplicate=False, again=False, open=False))
    door.writer.say(ENDED)
    assert (first, second, door.handed) == ([200], [200], [])
    assert [(one.duplicate, one.wrong_mode) for one in door.events] == [
        (False, True),
        (True, True),
    ]
    assert (door.progress.withheld, door.progress.duplicates) == (1, 1)


@pytest.mark.parametrize("ack", ["received", "forwarded"])
async def test_repeated_event_without_a_target_counts_once(ack: Any) -> None:
    """`--until payout.paid:2` waits for two events, not for one that the service sends twice."""
    door = Door(ack)
    paid = event(1, "payout.paid")
    answers = [door.knock(paid)]
    assert door.writer.waiting[0][0].outcome == "unrouted"
    door.writer.say(StoreResult(1, duplicate=False, again=False, open=False))
    answers.append(door.knock(paid))
    door.writer.say(ENDED)
    assert (door.progress.reached, door.on_event_ended) == (False, 1)
    answers.append(door.knock(event(2, "payout.paid")))
    door.writer.say(StoreResult(2, duplicate=False, again=False, open=False))
    assert (door.progress.reached, door.on_event_ended) == (True, 2)
    assert answers == [[200]] * 3
    assert door.handed == []
    assert door.pending_acks.seconds_left(("evt_1", paid)) == inf


async def test_verdict_of_an_open_copy_is_waited_for() -> None:
    """R50: what an earlier run left open is handed over again for the sake of who waits."""
    door = Door("forwarded")
    for kept in (COPY, AGAIN, ENDED):
        answer = door.knock(event())
        door.writer.say(kept)
        assert answer == ([200] if kept is ENDED else [])
        door.pending_acks.release(("evt_1", event()), 200)
    assert door.handed == [COPY, AGAIN]


@pytest.mark.parametrize("ack", ["received", "forwarded"])
async def test_what_cannot_be_kept_is_for_the_sender_to_send_again(ack: Any) -> None:
    """R50: 503 to everybody who waits for it, and it is told as not stored."""
    door = Door(ack)
    answers = [door.knock(event())]
    if ack == "forwarded":
        answers.append(door.knock(event()))
    door.writer.say(LocalError("The disk is full."))
    assert all(one == [503] for one in answers)
    (rejected,) = [one for one in door.told if isinstance(one, Rejected)]
    assert (rejected.reason, rejected.time) == ("not_stored", NOW)
    assert rejected.to_dict()["verified"] is True
    assert "The disk is full." in rejected.message
    assert (door.progress.rejected, door.handed) == (1, [])
    assert door.pending_acks.seconds_left(("evt_1", event())) == inf


def test_what_is_not_authentic_is_counted_and_not_kept() -> None:
    """R49: 400, one record without a payload, nothing for the writer."""
    door = Door("received")
    assert door.knock(event(), secret="whsec_other") == [400]
    assert (door.writer.waiting, door.events, door.progress.rejected) == ([], [], 1)
    assert door.progress.received == 0


def test_closing_asks_the_sender_to_come_again() -> None:
    """503 at once, before anything is looked at."""
    door = Door("received")
    door.ingest.close()
    assert door.knock(event()) == [503]
    answers: list[int] = []
    delivery = Delivery(event(), b"", NOW, read_facts(event()))
    door.ingest.admit(delivery, answers.append)  # verified by a receiver elsewhere
    assert answers == [503]
    assert (door.writer.waiting, door.told) == ([], [])


def test_only_a_delivery_that_is_too_large_is_worth_a_line() -> None:
    """Strangers are counted; who came to the right door with too much is told, with the size."""
    door = Door("received")
    head = HttpHead(b"POST", b"/", (), {b"content-length": [b"2000000"]})
    for status, known in ((404, head), (413, None), (421, None)):
        door.ingest.refuse(status, known, 1_048_576)
    assert (door.progress.refused, door.told) == (3, [])
    door.ingest.refuse(413, head, 1_048_576)
    door.ingest.refuse(413, HttpHead(b"POST", b"/", (), {}), 1_048_576)
    sizes = [one.size for one in door.told if isinstance(one, Rejected)]
    assert sizes == [2_000_000, 1_048_576]
    assert {one.reason for one in door.told if isinstance(one, Rejected)} == {"body_too_large"}
    assert (door.progress.refused, door.progress.rejected) == (3, 2)


@pytest.mark.parametrize(
    ("replies", "status"),
    [
        ([TargetReply(1, 200)], 200),
        ([TargetReply(1, 299)], 200),
        ([TargetReply(1, 300)], 502),
        ([TargetReply(1, 199)], 502),
        ([TargetReply(1, 500), TargetReply(1, 200)], 502),
        ([TargetReply(1, None, trouble="timeout"), TargetReply(1, 500)], 504),
        ([TargetReply(1, None, trouble="unreachable")], 502),
    ],
)
async def test_flight_ends_with_the_worst_verdict(replies: list[TargetReply], status: int) -> None:
    """R51: 200 where all targets took it, 504 where one did not answer in time, else 502."""
    pending_acks, heard = PendingAcks(), list[int]()
    key = ("evt_1", b"{}")
    assert pending_acks.seconds_left(key) == inf
    assert not pending_acks.join(key, heard.append)
    pending_acks.start(key, heard.append)
    left = pending_acks.seconds_left(key)
    assert FORWARD_SECONDS - 1 < left <= FORWARD_SECONDS
    assert pending_acks.join(key, heard.append)
    pending_acks.note_stored(7, key)
    for reply in replies:
        pending_acks.note_reply(7, reply)
    for _ in range(2):
        pending_acks.note_ended(7, taken=True)
    assert heard == [status, status]


async def test_delivery_that_is_too_large_for_what_keeps_it_is_answered_413() -> None:
    """It will never fit: the sender need not come again, and its line says why."""
    door = Door("received")
    answers = door.knock(event())
    door.writer.say(Oversized("The event is 5 bytes with its headers; the log takes 4."))
    assert answers == [413]
    [told] = [one for one in door.told if isinstance(one, Rejected)]
    assert told.reason == "body_too_large"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"id":"evt_1"}', "evt_1"),
        (b' \n{"id":"evt_1"}\n', "evt_1"),
        (b'\xef\xbb\xbf{"id":"evt_1"}', "evt_1"),
        ('{"id":"evt_1"}'.encode("utf-16"), "evt_1"),
        (b'{"id":"evt_1"}{"id":"evt_2"}', ""),
        (b'{"id":"evt_1"} and more', ""),
        (b'[{"id":"evt_1"}]', ""),
    ],
)
def test_facts_are_those_of_one_whole_object(body: bytes, found: str) -> None:
    """R46: blanks around it, a mark and other encodings of JSON are read; what is more is none."""
    read = read_facts(body).id
    assert read == found if found else read.startswith("body_")
