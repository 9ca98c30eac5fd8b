"""Who gives way to whom, where there are fewer slots than senders."""

from dataclasses import dataclass, field

from svc.listen.receiver.slots import Slots

PATIENCE = 0.25


@dataclass(eq=False)
class FakeHolder:
    """A connection that does as it is told."""

    slots: Slots
    age: float = 0.0
    proven: bool = False
    refused_at_once: bool = False
    heard: list[str] = field(default_factory=list)

    def serve(self) -> None:
        self.heard.append("served")
        if self.refused_at_once:
            self.slots.leave(self)

    def seconds_unfinished(self) -> float:
        return self.age

    def make_way(self) -> None:
        self.heard.append("gave way")
        self.slots.leave(self)


LATE = PATIENCE + 1


def test_the_oldest_unfinished_request_gives_way_and_no_other() -> None:
    """R57: one that is being answered, or has only begun, stays."""
    slots = Slots(4, 0, PATIENCE)
    answered, young, old, older = (FakeHolder(slots, age) for age in (0, 0.1, LATE, LATE + 1))
    assert all(slots.take(sender) for sender in (answered, young, old, older))
    assert slots.take(FakeHolder(slots))
    assert [len(one.heard) for one in (answered, young, old, older)] == [0, 0, 0, 1]


def test_who_has_proven_itself_has_slots_of_its_own_and_goes_first() -> None:
    """R57: strangers fill neither the reserved slots nor the place before a known sender."""
    slots = Slots(1, 1, PATIENCE)
    holder, known, stranger = FakeHolder(slots), FakeHolder(slots, proven=True), FakeHolder(slots)
    assert slots.take(holder)
    assert not slots.take(stranger)
    assert slots.take(known)
    second = FakeHolder(slots, proven=True)
    assert not slots.take(second)
    slots.leave(known)
    assert (second.heard, stranger.heard) == (["served"], [])


def test_a_stranger_gives_way_before_a_known_sender() -> None:
    """R57: even where the known one is the slower of the two."""
    slots = Slots(2, 0, PATIENCE)
    known, stranger = FakeHolder(slots, LATE + 5, proven=True), FakeHolder(slots, LATE)
    assert slots.take(known)
    assert slots.take(stranger)
    assert slots.take(FakeHolder(slots))
    assert (known.heard, stranger.heard) == ([], ["gave way"])


def test_senders_that_wait_are_let_in_as_those_before_them_grow_late() -> None:
    """R57: nobody need knock again for that."""
    slots = Slots(1, 0, PATIENCE)
    holder, waiting = FakeHolder(slots), FakeHolder(slots)
    slots.take(holder)
    assert not slots.take(waiting)
    slots.relieve()
    assert slots.contested
    holder.age = PATIENCE
    slots.relieve()
    assert slots.contested
    holder.age = LATE
    slots.relieve()
    assert (waiting.heard, slots.contested) == (["served"], False)


def test_who_has_left_is_neither_served_nor_ended() -> None:
    """R57: nor is one whose request is whole by now, however long it took."""
    slots = Slots(2, 0, PATIENCE)
    whole, gone, impatient, waiting = (FakeHolder(slots, LATE) for _ in range(4))
    assert [slots.take(one) for one in (whole, gone)] == [True, True]
    slots.mark_complete(whole)
    slots.leave(gone)
    held = FakeHolder(slots)
    assert [slots.take(one) for one in (held, impatient, waiting)] == [True, False, False]
    slots.leave(impatient)
    slots.relieve()
    slots.leave(held)
    assert [one.heard for one in (whole, gone, held, impatient, waiting)] == [*[[]] * 4, ["served"]]


def test_a_long_queue_of_refused_requests_ends() -> None:
    """R58: each leaves while it is being served; that is no reason to run out of stack."""
    slots = Slots(1, 0, PATIENCE)
    holder = FakeHolder(slots)
    slots.take(holder)
    queue = [FakeHolder(slots, refused_at_once=True) for _ in range(5000)]
    for sender in queue:
        assert not slots.take(sender)
    slots.leave(holder)
    assert all(sender.heard == ["served"] for sender in queue)
    assert slots.take(FakeHolder(slots))
