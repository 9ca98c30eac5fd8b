"""What must be true of every history of a listener, whatever was drawn."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from simulation.listener_histories import ListenerHistory
from simulation.listener_world import Event, SimListener, SimTarget, Try
from support.listening import OUTCOME
from svc.listen.forward.retry import delay_after

_FRESH_SECONDS: Final = 1.1  # for so long what was closed elsewhere may still be sent
_CALLS_AN_EVENT: Final = 700
_PROBES: Final = 6
_WINDOW: Final = 4 + 3
_AGAIN: Final = 3 + 8
_TRANSIENT: Final = (408, 425, 429)


def problems(played: ListenerHistory) -> list[str]:
    """Gives every rule that a history breaks, in words."""
    return [*_of_all(played), *(text for one in _lanes(played) for text in one.problems())]


def _of_all(played: ListenerHistory) -> Iterator[str]:
    world = played.world
    if not played.quiet:
        yield "events are still under way after days in which all was well"
    if world.loop.trouble:
        yield f"raised: {world.loop.trouble[0]}"
    if world.loop.calls > _CALLS_AN_EVENT * (len(played.events) + 2):
        yield f"spins: {world.loop.calls} calls"
    for pending, open_ in played.stops:
        if pending not in open_:
            yield f"says {pending} pending where {open_[0]} are"
    if played.most.get("window", 0) > _WINDOW or played.most.get("again", 0) > _AGAIN:
        yield f"a queue is over its bound: {played.most}"
    for listener in world.listeners:
        yield from _acknowledged(played, listener)


def _acknowledged(played: ListenerHistory, listener: SimListener) -> Iterator[str]:
    """Everything that was answered 200 was forwarded, or ended for a reason of its target's."""
    rows = played.world.state.rows(
        f"SELECT body, {OUTCOME} FROM inbox JOIN payloads ON inbox_seq = seq"
        " JOIN listeners ON listeners.id = listener WHERE scope = ? OR instr(scope, ?) = 1",
        (listener.scope, f"{listener.scope}|until"),
    )
    outcomes = {row["body"]: row["outcome"] for row in rows}
    if len(outcomes) != len(rows):
        yield "an event is in the inbox twice"
    for event, status, at in listener.answers:
        if status == 200:
            outcome = outcomes.get(event.body, "lost")
            yield from _ended_well(played, listener, event, outcome, at)


def _ended_well(
    played: ListenerHistory, listener: SimListener, event: Event, outcome: str | None, at: float
) -> Iterator[str]:
    plot = played.plot
    lanes = _lanes_of(played, listener, event)
    if outcome == "reset":
        if not plot.noticed or plot.reset_at is None or event.generation:
            yield f"{event.name} was closed as of before a reset"
    elif outcome not in ("forwarded", "failed"):
        yield f"{event.name} was answered 200 and is {outcome}"
    elif plot.ack == "forwarded":
        for lane in lanes:
            if not lane.has_taken(event, at):
                yield f"{event.name} was answered 200 before {lane.target.url} took it"
    elif _is_untrue(outcome, lanes, event):
        yield f"{event.name} is said to be {outcome}, and is not"


def _is_untrue(outcome: str, lanes: "list[_Lane]", event: Event) -> bool:
    if outcome == "forwarded":
        return not all(lane.has_taken(event) for lane in lanes)
    return all(lane.is_known_to_have_taken(event) for lane in lanes)


class _Lane:
    """All that one listener sent to one target."""

    def __init__(self, played: ListenerHistory, listener: SimListener, target: SimTarget) -> None:
        self.target = target
        self._played = played
        self._listener = listener
        self._plot = played.plot
        self._final = self._plot.retry == "fast" and self._plot.ack == "received"
        self._of: dict[Event, list[Try]] = {}
        self._all = [one for one in target.tries if one.listener is listener]
        for one in self._all:
            self._of.setdefault(one.event, []).append(one)
        self._seqs = {
            row["body"]: row["seq"]
            for row in played.world.state.rows(
                "SELECT seq, body FROM inbox JOIN payloads ON inbox_seq = seq"
                " JOIN listeners ON listeners.id = listener WHERE scope = ? OR instr(scope, ?) = 1",
                (listener.scope, f"{listener.scope}|until"),
            )
        }

    def has_taken(self, event: Event, by: float = 1e12) -> bool:
        """Says whether the target said 2xx to an event, or took it from another program."""
        outside = self.target.outside.get((self._listener, event))
        if outside is not None and outside <= by:
            return True
        return any(one.heard == 200 and one.heard_at <= by for one in self._of.get(event, ()))

    def is_known_to_have_taken(self, event: Event) -> bool:
        """Says whether the listener lived to note that the target took an event."""
        taken = [one for one in self._of.get(event, ()) if one.heard == 200]
        return (self._listener, event) in self.target.outside or any(
            not any(one.heard_at <= at < self._noted(one) for at in self._listener.lost_at)
            for one in taken
        )

    def problems(self) -> Iterator[str]:
        for event, tries in self._of.items():
            yield from self._doubles(event, tries)
            yield from self._marks(event, tries)
            yield from self._ending(event, tries)
            if self._plot.ack == "received":
                yield from self._schedule(event, tries)
        if self._plot.ordered:
            yield from self._order()
        if self._plot.crowded:
            yield from self._passing()
        if self._final:
            yield from self._rests()

    def _doubles(self, event: Event, tries: list[Try]) -> Iterator[str]:
        for before, after in pairwise(tries):
            ended = before.heard == 200 or (self._final and self._is_final(before))
            if ended and not self._was_lost_at(before, after):
                yield f"{event.name} again at {after.at:.3f} after {before.heard} {self}"
        outside = self.target.outside.get((self._listener, event))
        if outside is not None and any(one.at > outside + _FRESH_SECONDS for one in tries):
            yield f"{event.name} again after another program had closed it"

    def _marks(self, event: Event, tries: list[Try]) -> Iterator[str]:
        """Everything that may come twice says so (R124), and nothing that cannot."""
        for number, one in enumerate(tries):
            if number and not one.redelivered:
                yield f"{event.name} comes again at {one.at:.3f} and does not say so {self}"
        lost = [at for at in self._listener.lost_at if at < tries[0].at]
        if tries[0].redelivered and all(self._waited(event, at) for at in lost):
            yield f"{event.name} says that it came before {self}"

    def _waited(self, event: Event, at: float) -> bool:
        """Says whether an event waited for an older one of its object, so that it was not sent."""
        if not self._plot.ordered or self._plot.ack == "forwarded" or self._plot.reset_at:
            return False
        return any(
            self._seqs[older.body] < self._seqs[event.body] and self._ended_at(older, tries) > at
            for older, tries in self._of.items()
            if older.object_id == event.object_id
        )

    def _ended_at(self, event: Event, tries: list[Try]) -> float:
        """Gives when an event had ended here, at the earliest."""
        taken = (one.heard_at for one in tries if one.heard == 200)
        outside = self.target.outside.get((self._listener, event), 1e12)
        return min(next(taken, tries[-1].heard_at), outside)

    def _ending(self, event: Event, tries: list[Try]) -> Iterator[str]:
        """An event is given up for what its target answered, and not before its schedule ends."""
        last = tries[-1]
        if last.heard == 200 or self._plot.ack == "forwarded" or self.has_taken(event):
            return
        if self._plot.noticed and self._plot.reset_at is not None and event.generation == 0:
            return
        if self._plot.retry == "real":
            yield f"{event.name} was given up while the service's schedule ran"
        elif self._plot.retry == "fast" and not self._is_final(last):
            yield f"{event.name} was given up after {last.heard}"

    def _schedule(self, event: Event, tries: list[Try]) -> Iterator[str]:
        if self._plot.retry == "off":
            return
        number = 0
        for before, after in pairwise(tries):
            if before.heard == "closed" and before.kept and after.at - before.heard_at < 0.01:
                continue  # at once, on a new connection
            number += 1
            if before.heard in (None, "let go") or self._was_lost_at(before, after):
                return  # an attempt that nobody could note
            least, waited = delay_after(self._plot.retry, number) or 0.0, after.at - before.heard_at
            if self._plot.retry == "fast" and before.heard == "closed" and not before.alone:
                least = min(least, 10.0)
            if self._plot.retry == "fast" and self._is_early(before, after):
                continue
            if waited < least - 0.01:
                yield f"{event.name} was tried again after {waited:.1f} s, not {least:g} s"

    def _is_early(self, before: Try, after: Try) -> bool:
        """Says whether a restart, or the first success of the target, made an event due.

        A success that is not on the disk yet counts for what fails meanwhile, too.
        """
        return after.run != before.run or any(
            one.heard == 200 and before.at <= self._noted(one) and one.heard_at <= after.at
            for one in self._all
        )

    def _order(self) -> Iterator[str]:
        newest: dict[str, Try] = {}
        for one in self._all:
            before = newest.get(one.event.object_id)
            if before is None or self._seqs[one.event.body] >= self._seqs[before.event.body]:
                newest[one.event.object_id] = one
                continue
            earlier = [each for each in self._of[one.event] if each.at < one.at]
            repeated = any(self._was_lost_at(each, one) or each.heard is None for each in earlier)
            # Under `forwarded` it is the sender that tries again, when it likes.
            by_sender = self._plot.ack == "forwarded" and self._listener.sent[one.event] > 1
            if not repeated and not by_sender:
                yield f"{one.event.name} came after {before.event.name} of the same object"

    def _rests(self) -> Iterator[str]:
        """A target that answers nothing gets no more than its lanes hold, and some probes."""
        for begun, ended in self.target.unfit_spans:
            tries = [one for one in self._all if begun < one.at < ended]
            runs = len({one.run for one in tries})
            if len(tries) > runs * (2 * self._plot.concurrency + _PROBES):
                yield f"{self.target.url} got {len(tries)} tries while it answered nothing"

    def _passing(self) -> Iterator[str]:
        """A crowded object holds up no other."""
        for event, status, at in self._listener.answers:
            if status == 200 and event.object_id != "ord_slow":
                first = self._of.get(event, [None])[0]
                if first is None or first.at - at > 1.0:
                    yield f"{event.name} was held up by another object"

    def _is_final(self, one: Try) -> bool:
        status = one.heard
        return isinstance(status, int) and status < 500 and status not in _TRANSIENT

    def _was_lost_at(self, before: Try, after: Try) -> bool:
        """Says whether the listener was lost before it could note how an attempt ended."""
        noted = self._noted(before)
        return any(before.at <= at <= after.at and at < noted for at in self._listener.lost_at)

    def _noted(self, one: Try) -> float:
        return self._played.world.noted_by(one.heard_at)

    def __str__(self) -> str:
        return f"from {self._listener.scope} to {self.target.url}"


def _lanes(played: ListenerHistory) -> list[_Lane]:
    return [
        _Lane(played, listener, target)
        for listener in played.world.listeners
        for target in played.world.targets.values()
    ]


def _lanes_of(played: ListenerHistory, listener: SimListener, event: Event) -> list[_Lane]:
    urls = [str(target) for target in listener.plan.routes.match(event.type)]
    return [_Lane(played, listener, played.world.targets[url]) for url in urls]
