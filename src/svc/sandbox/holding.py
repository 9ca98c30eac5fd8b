"""Deliveries that are held until enough of them wait, and then go, the last one first."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Ticket:
    """One held delivery: `gate` opens when it may go, `gone` when it is over."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    after: "Ticket | None" = None


class Holding:
    """Groups of held deliveries by name; `changed` is called whenever one begins to wait."""

    def __init__(self) -> None:
        self._groups: dict[str, list[Ticket]] = {}
        self.changed: Callable[[], None] = _nothing

    @property
    def held(self) -> int:
        """How many wait with a closed gate."""
        return sum(map(len, self._groups.values()))

    def is_open(self, group: str) -> bool:
        """Says whether a group waits for more."""
        return bool(self._groups.get(group))

    @asynccontextmanager
    async def turn(self, group: str, size: int) -> AsyncIterator[None]:
        """Holds the caller until `size` of its group wait, and then until those after it are gone.

        What the block does is then seen by the receiver before anything that came earlier.
        """
        ticket = Ticket()
        waiting = self._groups.setdefault(group, [])
        waiting.append(ticket)
        if len(waiting) >= size:
            self._let_go(group)
        else:
            self.changed()
        try:
            await ticket.gate.wait()
            if ticket.after is not None:
                await ticket.after.gone.wait()
            yield
        finally:
            if ticket in self._groups.get(group, ()):  # cut short
                self._groups[group].remove(ticket)
            ticket.gone.set()

    def release(self) -> None:
        """Lets everything go that is held, each group in reverse."""
        for group in list(self._groups):
            self._let_go(group)

    def _let_go(self, group: str) -> None:
        after = None
        for ticket in reversed(self._groups.pop(group, [])):
            ticket.after, after = after, ticket
            ticket.gate.set()


def _nothing() -> None:
    """Stands in until somebody wants to hear of it."""
