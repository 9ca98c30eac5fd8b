"""Fault rules for `/v1` requests: errors, delays, broken connections (promise R90).

`svc.sandbox.control.routes.faults` adds the rules that a person or a test asks for.
`svc.sandbox.api.requests` asks `Faults` before and after each request; `svc.sandbox.app` breaks the
connection by `send_broken`.
"""

import asyncio
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, TypeAlias

from svc.sandbox.faults import STATUSES
from svc.sandbox.faults.rules import Rule, Rules, Sleep
from svc.sandbox.http.auth import key_text
from svc.sandbox.http.exchange import AsgiRequest, HttpReply, Receive, Send
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.store.documents import Doc

PHASES: Final = ("before", "after")
IsAbout: TypeAlias = Callable[[str], bool]

_GARBAGE: Final = b"\x00\xff<not json>"
_FILLER: Final = b'{"id":"cut_off_by_a_fault_rule","object":"nothing","data":[]}'


@dataclass(slots=True, kw_only=True)
class ApiRule(Rule):
    """A rule for the requests that `match` fits; an empty one fits all.

    It may name a method, a path pattern, an API key, an idempotency key and an order.
    """

    phase: str = "before"
    effect: Mapping[str, Any]

    def describe_effect(self) -> Doc:
        return {"phase": self.phase, "effect": dict(self.effect)}

    def matches(self, request: AsgiRequest, key: str | None, is_about: IsAbout) -> bool:
        """Whether a request is one of those that the rule is for."""
        wanted, order = self.match, self.match.get("order")
        return (
            (wanted.get("method") or request.method).upper() == request.method
            and fnmatchcase(request.path, wanted.get("path") or "*")
            and wanted.get("idempotency_key") in (None, key)
            and wanted.get("api_key") in (None, _sender(request))
            and (order is None or is_about(order))
        )


def _sender(request: AsgiRequest) -> str | None:
    """The API key of a request, or None where there is no readable one."""
    try:
        return key_text(request.header("authorization"))
    except Problem:
        return None


class Faults(Rules[ApiRule]):
    """The rules, and what they make of requests. `sleep` takes real seconds."""

    def __init__(self, sleep: Sleep = asyncio.sleep) -> None:
        super().__init__(ApiRule.kind)
        self._sleep = sleep

    def pick(self, request: AsgiRequest, key: str | None, is_about: IsAbout) -> ApiRule | None:
        """The first rule that applies to a request with the idempotency key `key`, or None.

        `is_about` tells whether the request is about an order, by its id.
        """
        fitting = (rule for rule in self if rule.matches(request, key, is_about))
        return next((rule for rule in fitting if rule.counts()), None)

    def refund(self, rule: ApiRule | None) -> None:
        """Uncounts a rule that was to break an answer, because the request was refused."""
        if rule is not None and rule.phase == "after":
            rule.seen -= 1

    async def apply(self, rule: ApiRule, phase: str, reply: HttpReply | None) -> HttpReply | None:
        """Applies a rule to a request (`reply` None) or to its reply; returns the reply to send.

        Raises:
            Problem: the effect is an error status without a body of its own.
        """
        if rule.phase != phase:
            return reply
        effect = rule.effect
        if "delay_ms" in effect:
            await self._sleep(effect["delay_ms"] / 1000)
        if "status" in effect:
            return _error(effect)
        if effect.get("connection") == "garbage":
            return HttpReply(200, _GARBAGE)
        if "connection" in effect:
            return (reply or HttpReply(200, _FILLER))._replace(connection=effect["connection"])
        return reply


def _error(effect: Mapping[str, Any]) -> HttpReply:
    status, headers = effect["status"], {}
    if "retry_after" in effect:
        headers["Retry-After"] = str(effect["retry_after"])
    elif status == 429:  # noqa: PLR2004  a 429 always comes with Retry-After
        headers["Retry-After"] = "1"
    if "body" in effect:
        body = effect["body"]
        return HttpReply(
            status, body.encode(), tuple(headers.items()), media_type=_media_type(body)
        )
    message = "A fault rule of the sandbox answered this request."
    raise Problem(status, STATUSES[status], message, headers=headers)


def _media_type(body: str) -> str:
    """Returns the content type that a proxy before a service would give such a body."""
    start = body.lstrip()[:1]
    kind = "application/json" if start in ("{", "[") else "text/html" if start == "<" else None
    return f"{kind or 'text/plain'}; charset=utf-8"


_NO_LINGER: Final = struct.pack("ii", 1, 0)  # makes close send a reset
DRIP_SECONDS: Final = 0.3  # between two bytes


class BrokenByRuleError(ConnectionError):
    """The connection is to be broken and there is none, as in an in-process test client."""


async def send_broken(
    reply: HttpReply, receive: Receive, send: Send, *, drip_seconds: float = DRIP_SECONDS
) -> None:
    """Breaks the connection in the way that the reply asks for; drips a byte every so often.

    Raises:
        BrokenByRuleError: the server behind `receive` has no connection to break.
    """
    if reply.connection == "drip":
        await _drip(reply, receive, send, drip_seconds)
        return
    # uvicorn hands over bound methods of the request's cycle, which knows its connection.
    transport: Any = getattr(getattr(receive, "__self__", None), "transport", None)
    if transport is None:
        raise BrokenByRuleError(reply.connection)
    if reply.connection == "truncate":
        await reply.begin(send)
        half = reply.body[: len(reply.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})
    if reply.connection == "reset":
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        transport.abort()
    else:
        transport.close()
    while (await receive())["type"] != "http.disconnect":
        pass  # the server must know that the caller is gone, or it would answer for us


async def _drip(reply: HttpReply, receive: Receive, send: Send, seconds: float) -> None:
    """Sends byte by byte until all is sent or the caller has had enough."""
    await reply.begin(send)
    gone = asyncio.ensure_future(receive())
    try:
        for place in range(len(reply.body)):
            byte = reply.body[place : place + 1]
            await send({"type": "http.response.body", "body": byte, "more_body": True})
            await asyncio.wait([gone], timeout=seconds)
            if gone.done():
                return
        await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()
