"""Fault rules for `/v1`: what goes wrong, for which requests, and when (contract F.6).

`before` spoils a request that then has no effect; `after` spoils only the answer to one whose
effects, events and idempotent result are on disk.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Final

from svc.sandbox.documents import Doc
from svc.sandbox.exchange import Reply, Request
from svc.sandbox.problems import Problem

Sleep = Callable[[float], Awaitable[None]]

STATUSES: Final = {
    429: "rate_limit",
    500: "internal_error",
    502: "bad_gateway",
    503: "service_unavailable",
    504: "gateway_timeout",
}
CONNECTIONS: Final = ("close", "reset", "truncate", "garbage")
PHASES: Final = ("before", "after")

_GARBAGE: Final = b"\x00\xff<not json>"
_FILLER: Final = b'{"id":"cut_off_by_a_fault_rule","object":"nothing","data":[]}'


@dataclass(slots=True)
class Rule:
    """One rule; `skip` matching requests pass before it fires `times` times."""

    id: str
    phase: str
    effect: Mapping[str, Any]
    match: Mapping[str, Any] = field(default_factory=dict)
    skip: int = 0
    times: int = 1
    seen: int = 0

    def fires(self, request: Request, key: str | None) -> bool:
        """Counts a matching request and says whether the rule applies to it."""
        if self.seen >= self.skip + self.times or not self._matches(request, key):
            return False
        self.seen += 1
        return self.seen > self.skip

    def shown(self) -> Doc:
        return {
            "id": self.id,
            "object": "fault",
            "match": dict(self.match),
            "skip": self.skip,
            "times": self.times,
            "phase": self.phase,
            "effect": dict(self.effect),
            "fired": max(0, self.seen - self.skip),
        }

    def _matches(self, request: Request, key: str | None) -> bool:
        wanted = self.match
        return (
            wanted.get("method") in (None, request.method)
            and fnmatchcase(request.path, wanted.get("path") or "*")
            and wanted.get("idempotency_key") in (None, key)
        )


class Faults:
    """The rules, in the order in which they are tried. They live in memory only."""

    def __init__(self, sleep: Sleep = asyncio.sleep) -> None:
        self._rules: list[Rule] = []
        self._sleep = sleep

    def add(self, rule: Rule) -> None:
        self._rules.append(rule)

    def every(self) -> list[Rule]:
        return list(self._rules)

    def remove(self, identity: str | None = None) -> int:
        """Removes one rule, or all; returns how many there were."""
        kept = [rule for rule in self._rules if identity not in (None, rule.id)]
        removed = len(self._rules) - len(kept)
        self._rules = kept
        return removed

    def pick(self, request: Request, key: str | None) -> Rule | None:
        """The first rule that applies to a request."""
        for rule in self._rules:
            if rule.fires(request, key):
                return rule
        return None

    async def spoil(self, rule: Rule | None, phase: str, reply: Reply | None) -> Reply | None:
        """What a rule makes of a request (`reply` None) or of its reply.

        Raises:
            Problem: the effect is an error status.
        """
        if rule is None or rule.phase != phase:
            return reply
        effect = rule.effect
        if "delay_ms" in effect:
            await self._sleep(effect["delay_ms"] / 1000)
        if "status" in effect:
            return _error(effect)
        if "connection" in effect:
            return _broken(effect["connection"], reply)
        return reply


def _error(effect: Mapping[str, Any]) -> Reply:
    status, headers = effect["status"], {}
    if "retry_after" in effect:
        headers["Retry-After"] = str(effect["retry_after"])
    elif status == 429:  # noqa: PLR2004  contract C: always with Retry-After
        headers["Retry-After"] = "1"
    if "body" in effect:
        return Reply(status, effect["body"].encode(), tuple(headers.items()))
    message = "A fault rule of the sandbox answered this request."
    raise Problem(status, STATUSES[status], message, headers=headers)


def _broken(connection: str, reply: Reply | None) -> Reply:
    if connection == "garbage":
        return Reply(200, _GARBAGE)
    return replace(reply or Reply(200, _FILLER), connection=connection)
