"""Histories of listeners, each drawn from one seed: what happens, played in virtual time."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Literal
from unittest.mock import patch

from simulation.listener_world import (
    Event,
    ListenerWorld,
    Reaction,
    SimListener,
    SimTarget,
    wipe,
)
from svc.listen.forward import pump
from svc.listen.forward.pump import ForwardOptions, Pump
from svc.listen.forward.retry import RetryMode
from svc.listen.inbox import ledger
from svc.state import Database

SECONDS: Final = 40.0  # in which everything goes wrong that goes wrong
_HEALED: Final = (1.0, 30.0, 300.0, 3600.0, 40_000.0, 400_000.0)
_NOTICED_AFTER: Final = 0.01  # seconds from a sandbox's reset, at least
_TYPES: Final = ("order.paid", "payment.captured", "payout.paid")
_URLS: Final = (3001, 3002)
_BOUNDS: Final = {
    (pump, "_WINDOW_ITEMS"): 4,
    (pump, "_PAGE_ITEMS"): 3,
    (ledger, "_LEFT_ROWS"): 3,
}


@dataclass
class Plot:
    """What was drawn: who listens how, and what may happen."""

    rng: Random
    retry: RetryMode
    ordered: bool
    ack: Literal["received", "forwarded"]
    concurrency: int
    routes: tuple[str, ...]
    listeners: int
    crowded: bool
    reset_at: float | None
    noticed: bool
    replay_at: float | None
    impatient: float
    fates: dict[tuple[SimTarget, Event], list[Reaction]] = field(default_factory=dict)


@dataclass
class ListenerHistory:
    """A history that has ended, for whoever judges it."""

    seed: int
    plot: Plot
    world: ListenerWorld
    events: list[Event] = field(default_factory=list)
    stops: list[tuple[int, list[int]]] = field(default_factory=list)
    quiet: bool = False
    most: dict[str, int] = field(default_factory=dict)


def draw(seed: int) -> Plot:
    """Draws how a history is set up."""
    rng = Random(seed)
    crowded = rng.random() < 0.1
    ack: Literal["received", "forwarded"] = "forwarded" if rng.random() < 0.2 else "received"
    routes = rng.choice((("3001",), ("3001",), ("3001", "3002"), ("order.*=3001", "3002")))
    return Plot(
        rng=rng,
        retry="fast" if crowded else rng.choice(("fast", "fast", "real", "real", "off")),
        ordered=crowded or rng.random() < 0.5,
        ack="received" if crowded else ack,
        concurrency=rng.choice((2, 4)) if crowded else rng.choice((1, 2, 3, 8)),
        routes=("3001",) if crowded else routes,
        listeners=1 if crowded or rng.random() < 0.8 else 2,
        crowded=crowded,
        reset_at=rng.uniform(5, 30) if not crowded and rng.random() < 0.2 else None,
        noticed=rng.random() < 0.6,
        replay_at=rng.uniform(5, 38) if not crowded and rng.random() < 0.2 else None,
        impatient=0.0 if crowded else rng.choice((0.0, 0.0, 0.3)),
    )


def play(seed: int, state: Database) -> ListenerHistory:
    """Plays one history to its end, when all has been well for days."""
    wipe(state)
    plot = draw(seed)
    played = ListenerHistory(seed, plot, ListenerWorld(state))
    with _bounds(played.most):
        try:
            _Play(played).run()
        except BaseException:
            played.world.loop.trouble.clear()
            played.world.close()
            raise
    return played


class _Play:
    def __init__(self, played: ListenerHistory) -> None:
        self._played = played
        self._plot = plot = played.plot
        self._world = world = played.world
        self._rng = plot.rng
        self._healed = False
        ports = sorted({int(route.rpartition("=")[2]) for route in plot.routes})
        self._targets = [
            world.target(port, self._script(index)) for index, port in enumerate(ports)
        ]
        forwarding = ForwardOptions(
            concurrency=plot.concurrency, ordered=plot.ordered, retry=plot.retry
        )
        self._listeners = [
            world.listener(
                *plot.routes,
                scope=f"listener {number}",
                ack=plot.ack,
                concurrency=forwarding.concurrency,
                ordered=forwarding.ordered,
                retry=forwarding.retry,
            )
            for number in range(plot.listeners)
        ]
        self._owed: dict[tuple[Event, SimListener], bool] = {}

    def run(self) -> None:
        world = self._world
        for listener in self._listeners:
            listener.start()
        self._draw_events()
        if not self._plot.crowded:
            self._draw_troubles()
        world.loop.run_for(SECONDS + self._rng.random())
        self._heal()
        for seconds in _HEALED:
            world.loop.run_for(seconds)
            if self._is_quiet():
                self._played.quiet = True
                break
        for listener in self._listeners:
            self._stop(listener)

    def _at(self, seconds: float, call: Callable[..., Any], *args: Any) -> None:
        self._world.loop.call_at(seconds, call, *args)

    def _draw_events(self) -> None:
        rng, plot = self._rng, self._plot
        objects = rng.randint(1, 4)
        for number in range(rng.randint(10, 14) if plot.crowded else rng.randint(2, 12)):
            at = rng.uniform(0, 2) if plot.crowded or rng.random() < 0.4 else rng.uniform(0, 35)
            at = self._often_whole(at)
            generation = int(plot.reset_at is not None and at > plot.reset_at)
            changed = f"ord_{rng.randint(1, objects)}"
            if plot.crowded:
                changed = "ord_slow" if rng.random() < 0.8 else f"ord_q{number}"
            event = self._world.event(
                number % 5 if plot.reset_at is not None else number,
                changed,
                rng.choice(_TYPES),
                generation,
            )
            if event in self._played.events:
                continue  # drawn before, as the same event
            self._played.events.append(event)
            for listener in self._listeners:
                self._owed[event, listener] = True
                self._at(at, self._send, event, listener)
                if rng.random() < 0.3:
                    again = at + rng.choice((0.0, 0.001, rng.uniform(0, 20)))
                    self._at(again, self._repeat, event, listener)

    def _often_whole(self, at: float) -> float:
        """Gives another moment close by at which other things happen, too, half of the time."""
        if self._rng.random() < 0.5:
            return at
        return max(round(at / 2) * 2 + self._rng.randint(-2, 8) * 0.0004, 0.0)

    def _draw_troubles(self) -> None:
        rng, plot = self._rng, self._plot
        for target in self._targets:
            for _ in range(rng.choice((0, 0, 1, 2))):
                at = self._often_whole(rng.uniform(0, 35))
                self._at(at, target.stop)
                self._at(self._often_whole(at + rng.uniform(0.1, 20)), target.start)
            if rng.random() < 0.2:
                silent = rng.choice((Reaction("close"), Reaction("hang"), Reaction("garbage")))
                self._at(rng.uniform(0, 20), target.sicken, silent, rng.uniform(3, 15))
        self._draw_full_disks()
        for listener in self._listeners:
            for _ in range(rng.choice((0, 0, 1, 2, 3))):
                at = self._often_whole(rng.uniform(0.01, 38))
                end = self._stop_later if rng.random() < 0.5 else listener.lose
                self._at(at, end, *([listener] if end == self._stop_later else []))
                self._at(self._often_whole(at + rng.uniform(0.9, 8)), listener.start)
            if plot.reset_at is not None and plot.noticed:
                self._at(plot.reset_at, self._world.reset, listener)
            if plot.replay_at is not None:
                self._at(plot.replay_at, self._world.replay, listener)

    def _draw_full_disks(self) -> None:
        for _ in range(self._rng.choice((0, 0, 0, 1, 2))):
            at = self._often_whole(self._rng.uniform(0, 35))
            self._world.full_spans.append((at, at + self._rng.uniform(0.05, 6)))

    def _heal(self) -> None:
        self._healed = True
        for target in self._targets:
            target.start()
        for listener in self._listeners:
            listener.start()

    def _is_quiet(self) -> bool:
        owed = any(self._owed.values())
        return not owed and all(
            one.pipeline is None or one.pipeline.idle for one in self._listeners
        )

    # --- the service ----------------------------------------------------------------------------

    def _send(self, event: Event, listener: SimListener) -> None:
        if self._is_of_before(event):
            self._owed[event, listener] = False
        if not self._owed[event, listener]:
            return
        if self._rng.random() < self._plot.impatient:  # it hangs up before its answer
            self._later(event, listener)
            listener.deliver(event, lambda _: None)
            return
        heard: list[int] = []

        def told(status: int) -> None:
            heard.append(status)
            if status == 200:
                self._owed[event, listener] = False
            else:
                self._later(event, listener)

        def look() -> None:
            if not heard:  # the service waits no longer
                self._later(event, listener)

        self._world.loop.call_later(10.0, look)
        listener.deliver(event, told)

    def _later(self, event: Event, listener: SimListener) -> None:
        self._world.loop.call_later(self._rng.uniform(0.5, 15), self._send, event, listener)

    def _repeat(self, event: Event, listener: SimListener) -> None:
        if not self._is_of_before(event):
            listener.deliver(event, lambda _: None)

    def _is_of_before(self, event: Event) -> bool:
        """What a sandbox had sent before it was reset it sends no more.

        A listener notices later than it happens, and has kept by then what came before it.
        """
        at = self._plot.reset_at
        sent_at = self._world.loop.time() + _NOTICED_AFTER
        return at is not None and event.generation == 0 and sent_at >= at

    # --- the listeners and their targets --------------------------------------------------------

    def _stop_later(self, listener: SimListener) -> None:
        if listener.runs:
            ending = self._world.loop.create_task(listener.stop())
            ending.add_done_callback(lambda done: self._stopped(listener, done.result()))

    def _stop(self, listener: SimListener) -> None:
        if listener.runs:
            self._stopped(listener, self._world.loop.do(listener.stop()))

    def _stopped(self, listener: SimListener, pending: int | None) -> None:
        if pending is not None and not listener.runs:  # else it has been started again by now
            open_ = [self._world.open_events(listener)]
            # What another program closed meanwhile may have been counted before, or not.
            for closed in reversed(listener.closed_since_stop):
                open_.append(open_[-1] + closed)
            self._played.stops.append((pending, open_))

    def _script(self, index: int) -> Callable[[Event, int], Reaction]:
        def react(event: Event, number: int) -> Reaction:
            if self._healed:
                return Reaction()
            if self._plot.crowded:
                slow = event.object_id == "ord_slow"
                return Reaction("hang") if slow else Reaction()
            target = self._targets[index]
            fate = self._plot.fates.get((target, event))
            if fate is None:
                fate = self._plot.fates[target, event] = _fate(self._rng)
            return fate[min(number, len(fate)) - 1]

        return react


def _fate(rng: Random) -> list[Reaction]:
    """Draws what a target does with each try of an event; the last of it for ever."""
    good = Reaction(delay=rng.choice((0.005, 0.05, 0.4)))
    kind = rng.random()
    if kind < 0.6:
        return [good]
    if kind < 0.66:
        return [Reaction("crash", delay=rng.uniform(0.01, 0.3), down=rng.uniform(0.1, 3))]
    if kind < 0.72:
        return [Reaction(status=422)]
    bad = (
        Reaction(status=503),
        Reaction(status=500, delay=0.3),
        Reaction("close"),
        Reaction("hang"),
        Reaction("garbage"),
        Reaction(delay=9.0),
    )
    return [*(rng.choice(bad) for _ in range(rng.randint(1, 3))), good]


@contextmanager
def _bounds(most: dict[str, int]) -> Iterator[None]:
    """Makes the queues small, and watches how full they get."""
    pumped = Pump.pump

    def pumping(self: Any) -> None:
        pumped(self)
        most["window"] = max(most.get("window", 0), len(self._window))
        most["again"] = max(most.get("again", 0), len(self._due_again))

    with ExitStack() as stack:
        for (module, name), value in _BOUNDS.items():
            stack.enter_context(patch.object(module, name, value))
        stack.enter_context(patch.object(Pump, "pump", pumping))
        yield
