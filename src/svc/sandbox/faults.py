"""Fault rules for `/v1`: what goes wrong, for which requests, and when.

`before` spoils a request that then has no effect; `after` spoils only the answer to one whose
effects, events and idempotent result are on disk.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Final

from svc.sandbox.documents import Doc
from svc.sandbox.exchange import Reply, Request
from svc.sandbox.fault_rules import Rule, Rules
from svc.sandbox.problems import Problem

Sleep = Callable[[float], Awaitable[None]]

STATUSES: Final = {
    429: "rate_limit",
    500: "internal_error",
    502: "bad_gateway",
    503: "service_unavailable",
    504: "gateway_timeout",
}
CONNECTIONS: Final = ("close", "reset", "truncate", "garbage", "drip")
PHASES: Final = ("before", "after")

_GARBAGE: Final = b"\x00\xff<not json>"
_FILLER: Final = b'{"id":"cut_off_by_a_fault_rule","object":"nothing","data":[]}'


@dataclass(slots=True, kw_only=True)
class ApiRule(Rule):
    """A rule for requests of one method, path pattern and idempotency key, or of all."""

    phase: str
    effect: Mapping[str, Any]

    def fires(self, request: Request, key: str | None) -> bool:
        """Counts a matching request and says whether the rule applies to it."""
        return self._matches(request, key) and self.counts()

    def shown_effect(self) -> Doc:
        return {"phase": self.phase, "effect": dict(self.effect)}

    def _matches(self, request: Request, key: str | None) -> bool:
        wanted = self.match
        return (
            (wanted.get("method") or request.method).upper() == request.method
            and fnmatchcase(request.path, wanted.get("path") or "*")
            and wanted.get("idempotency_key") in (None, key)
        )


class Faults(Rules[ApiRule]):
    """The rules, and what they make of requests. `sleep` takes real seconds."""

    def __init__(self, sleep: Sleep = asyncio.sleep) -> None:
        super().__init__(ApiRule.kind)
        self._sleep = sleep

    def pick(self, request: Request, key: str | None) -> ApiRule | None:
        """The first rule that applies to a request."""
        return next((rule for rule in self if rule.fires(request, key)), None)

    @contextmanager
    def unless_refused(self, rule: ApiRule | None) -> Iterator[None]:
        """A refused request has no answer to spoil: the rule is kept for the next one."""
        try:
            yield
        except Problem:
            if rule is not None and rule.phase == "after":
                rule.seen -= 1
            raise

    async def spoil(self, rule: ApiRule | None, phase: str, reply: Reply | None) -> Reply | None:
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
    elif status == 429:  # noqa: PLR2004  a 429 always comes with Retry-After
        headers["Retry-After"] = "1"
    if "body" in effect:
        body = effect["body"]
        return Reply(status, body.encode(), tuple(headers.items()), media_type=_media_type(body))
    message = "A fault rule of the sandbox answered this request."
    raise Problem(status, STATUSES[status], message, headers=headers)


def _media_type(body: str) -> str:
    """The type that whoever stands before a service would give such a body."""
    start = body.lstrip()[:1]
    kind = "application/json" if start in ("{", "[") else "text/html" if start == "<" else None
    return f"{kind or 'text/plain'}; charset=utf-8"


def _broken(connection: str, reply: Reply | None) -> Reply:
    if connection == "garbage":
        return Reply(200, _GARBAGE)
    return replace(reply or Reply(200, _FILLER), connection=connection)
