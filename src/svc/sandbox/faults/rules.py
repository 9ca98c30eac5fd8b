"""The base classes of fault rules: counting how often one fires, listing and removing them.

`api` and `webhooks` derive from them.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from svc.sandbox.store.documents import Doc

Sleep = Callable[[float], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class Rule:
    """One rule; `skip` matching things pass before it fires `times` times, then it is inert."""

    kind: ClassVar[str] = "fault"
    id: str = ""  # of those that a person sets
    match: Mapping[str, Any] = field(default_factory=dict)
    skip: int = 0
    times: int = 1
    seen: int = 0

    def counts(self) -> bool:
        """Counts something that matches and says whether the rule fires for it."""
        if self.seen >= self.skip + self.times:
            return False
        self.seen += 1
        return self.seen > self.skip

    def build_view(self) -> Doc:
        return {
            "id": self.id,
            "object": self.kind,
            "match": dict(self.match),
            "skip": self.skip,
            "times": self.times,
            **self.describe_effect(),
            "fired": max(0, self.seen - self.skip),
        }

    def describe_effect(self) -> Doc:
        """The fields that only rules of this kind have."""
        return {}


R = TypeVar("R", bound=Rule)


class Rules(Generic[R]):
    """The rules of one kind, in the order in which they are tried. They live in memory only."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._rules: list[R] = []

    def __iter__(self) -> Iterator[R]:
        return iter(self._rules)

    def add(self, rule: R) -> None:
        self._rules.append(rule)

    def remove(self, identity: str | None = None) -> int:
        """Removes one rule, or all; returns how many there were."""
        kept = [rule for rule in self._rules if identity not in (None, rule.id)]
        removed = len(self._rules) - len(kept)
        self._rules = kept
        return removed
