"""Fault rules for webhook deliveries: delays, copies, drops, bad signatures, another order.

`control.routes.faults` adds the rules. `svc.sandbox.webhooks.attempts` asks `WebhookFaults` which
rule an attempt falls under, and waits as the rule says.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import ClassVar, Final

from svc.sandbox.faults import WebhookEffect
from svc.sandbox.faults.rules import Rule, Rules, Sleep
from svc.sandbox.store.documents import Doc


@dataclass(slots=True, eq=False)
class HeldDelivery:
    """A delivery that waits: `may_go` is set when it may be sent, `gone` when it is over."""

    may_go: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    after: "HeldDelivery | None" = None


class Reorder:
    """Groups of held deliveries by name; `changed` is called whenever one begins to wait."""

    def __init__(self) -> None:
        self._groups: dict[str, list[HeldDelivery]] = {}
        self.changed: Callable[[], object] = lambda: None

    @property
    def held(self) -> int:
        """How many wait and may not go yet."""
        return sum(map(len, self._groups.values()))

    def is_open(self, group: str) -> bool:
        """Returns whether a group waits for more."""
        return bool(self._groups.get(group))

    @asynccontextmanager
    async def turn(self, group: str, size: int) -> AsyncIterator[None]:
        """Holds the caller until `size` of its group wait, and then until those after it are gone.

        The block sends the delivery: the receiver gets a group's deliveries in reverse.
        """
        ticket = HeldDelivery()
        waiting = self._groups.setdefault(group, [])
        waiting.append(ticket)
        if len(waiting) >= size:
            self._release(group)
        else:
            self.changed()
        try:
            await ticket.may_go.wait()
            if ticket.after is not None:
                await ticket.after.gone.wait()
            yield
        finally:
            if ticket in self._groups.get(group, ()):  # cut short
                self._groups[group].remove(ticket)
            ticket.gone.set()

    def release(self) -> None:
        """Releases all held deliveries, each group in reverse."""
        for group in list(self._groups):
            self._release(group)

    def _release(self, group: str) -> None:
        after = None
        for ticket in reversed(self._groups.pop(group, [])):
            ticket.after, after = after, ticket
            ticket.may_go.set()


STALE_SECONDS: Final = 600
_PAIR: Final = 2  # one delivery alone has no order


@dataclass(slots=True, kw_only=True)
class WebhookRule(Rule):
    """A rule for attempts of some event types at one endpoint or at every one.

    `count` is how many copies a duplicate has, or how many deliveries are reordered; `delay_ms`
    are real milliseconds before an attempt, or before each copy of a duplicate.
    """

    kind: ClassVar[str] = "webhook_fault"
    effect: WebhookEffect
    count: int = 1
    delay_ms: int = 0

    @property
    def age(self) -> int:
        """How old the signature pretends to be, seconds."""
        return STALE_SECONDS if self.effect == "stale_timestamp" else 0

    @property
    def copies(self) -> int:
        """How many times more the event is delivered."""
        return self.count if self.effect == "duplicate" else 0

    @property
    def group(self) -> int:
        """How many deliveries wait for each other; 0 for none."""
        return max(self.count, _PAIR) if self.effect == "reorder" else 0

    def matches(self, event_type: str, endpoint: str, order: str | None) -> bool:
        """Returns whether an attempt is one of those that the rule is for."""
        return (
            self.match.get("endpoint") in (None, endpoint)
            and self.match.get("order") in (None, order)
            and fnmatchcase(event_type, self.match.get("type") or "*")
        )

    def describe_effect(self) -> Doc:
        return {"effect": self.effect, "count": self.count, "delay_ms": self.delay_ms}


class WebhookFaults(Rules[WebhookRule]):
    """The rules and what they hold back. `sleep` takes real seconds."""

    def __init__(self, sleep: Sleep = asyncio.sleep) -> None:
        super().__init__(WebhookRule.kind)
        self.holding = Reorder()
        self._sleep = sleep

    def pick(
        self, event_type: str, endpoint: str, order: str | None, *, at_once: bool
    ) -> WebhookRule | None:
        """The first rule that applies to an attempt; one made `at_once` is never held.

        A reorder rule whose group waits for more takes every attempt that matches; for such a rule
        `times` counts groups.
        """
        for rule in self:
            if not rule.matches(event_type, endpoint, order) or (rule.group and at_once):
                continue
            if self.holding.is_open(rule.id) or rule.counts():
                return rule
        return None

    def remove(self, identity: str | None = None) -> int:
        """Removes one rule, or all; returns how many, and releases all held deliveries."""
        removed = super().remove(identity)
        self.holding.release()
        return removed

    @asynccontextmanager
    async def turn(self, rule: WebhookRule | None) -> AsyncIterator[None]:
        """Holds the caller back as a rule says; the block is the attempt."""
        if rule is not None and not rule.copies:
            await self.pause(rule)
        if rule is not None and rule.group:
            async with self.holding.turn(rule.id, rule.group):
                yield
        else:
            yield

    async def pause(self, rule: WebhookRule) -> None:
        """Waits as long as a rule says."""
        if rule.delay_ms:
            await self._sleep(rule.delay_ms / 1000)
