"""As much of a team's log as one connection sees of it, in memory."""

import asyncio
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

from support.listening import event
from support.team.log import KEY, inbound
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import Message
from svc.listen.log.errors import LogMissing
from svc.listen.log.messages import headers_of

ADDRESS = LogAddress.parse("nats://127.0.0.1/shop", "--to")
STREAM = ADDRESS.stream("test")
MADE = "2026-10-01T00:00:00Z"


def message(number: int, **headers: str) -> Message:
    """The message of an event; the headers are added, or replace what a receiver has written."""
    made = headers_of(inbound(number).delivery, ADDRESS, "test", KEY, again=False)
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return Message(ADDRESS.subject("test", "order.paid"), "", {**made, **more}, event(number))


class FakeLog:
    """Answers what a log is asked for, and remembers it.

    `held` are the messages of each stream by their numbers. `told` is what is answered to a
    question of another kind, or raised; a stream or consumer that is not there is said to be missing.
    """

    address = ADDRESS
    credentials: Any = None
    is_apart = False

    def __init__(self, messages: Mapping[int, Message] | None = None, **state: Any) -> None:
        self.client = SimpleNamespace(
            is_connected=True, version="2.12.3", generation=1, max_payload=1 << 20
        )
        self.held: dict[str, dict[int, Message]] = {STREAM: dict(messages or {})}
        numbers = [*(messages or {})]
        first, last = min(numbers, default=0), max(numbers, default=0)
        counted = {"first_seq": first, "last_seq": last, "messages": len(numbers), "bytes": 1000}
        self.info_of_events: dict[str, Any] = {
            "created": MADE,
            "config": {"num_replicas": 3, "max_bytes": 5000},
            "state": {**counted, "first_ts": MADE, **state},
        }
        self.told: dict[str, Any] = {f"STREAM.INFO.{STREAM}": self.info_of_events}
        self.asked: list[tuple[str, Any]] = []
        self.heard: dict[str, Any] = {}

    def run(self, call: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run(call)

    def submit(self, call: Coroutine[Any, Any, Any]) -> "Future[Any]":
        return asyncio.run_coroutine_threadsafe(call, asyncio.get_running_loop())

    async def subscribe(self, subject: str, heard: Any) -> Any:
        self.heard[subject] = heard

        async def end() -> None:
            self.heard.pop(subject, None)

        return end

    async def info(self, verb: str) -> Any:
        return await self.api(verb)

    async def api(self, verb: str, body: Any = None, seconds: float = 5.0) -> Any:
        assert seconds >= 5
        self.asked.append((verb, body))
        answer = self.told.get(verb, LogMissing(404, 10059, "not found"))
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def gather(self, verb: str, body: Mapping[str, Any], most: int) -> list[Message]:
        """One message by its number or the first since a time (which `told` has), or a page."""
        if verb in self.told:
            await self.api(verb, body)
        kind, _, stream = verb.rpartition(".")
        assert kind == "DIRECT.GET"
        held = self.held.get(stream, {})
        first = self.told["start_time"] if "start_time" in body else body["seq"]
        found = [one for one in sorted(held) if one >= first]
        if most == 1:
            exact = found[:1] if "start_time" in body or found[:1] == [first] else []
            return [self._given(held[one], one, 0) for one in exact] or [_status("404")]
        found = found[: body["batch"]]
        page = [self._given(held[b], b, a) for a, b in zip([0, *found], found, strict=False)]
        end = _status("204", **{"Nats-Last-Sequence": str(found[-1])}) if found else _status("404")
        return [*page, end]

    async def request(self, subject: str, body: bytes, *more: Any, seconds: float = 5.0) -> Message:
        assert 2 <= seconds <= 5  # an answer may take a moment, and a command no longer
        answer = await self.api(subject, (body, *more))
        assert isinstance(answer, Message)
        return answer

    def _given(self, one: Message, seq: int, before: int) -> Message:
        numbers = {"Nats-Sequence": f"{seq}", "Nats-Last-Sequence": f"{before}"}
        headers = {**one.headers, **numbers, "Nats-Subject": one.subject}
        return Message("_INBOX.a", "", headers, one.body)


def _status(status: str, **headers: str) -> Message:
    return Message("_INBOX.a", "", headers, b"", status)
