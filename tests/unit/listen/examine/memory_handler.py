"""A webhook handler in memory, in place of one behind a socket, with at most one fault."""

import asyncio
import json
import re
from typing import Final

from svc.errors import SignatureError
from svc.listen.examine.examiner import HandlerTarget
from svc.listen.http.connection import TargetReply
from svc.service.facts import EVENT_TYPES
from svc.signature import sign, verify

SECRET: Final = "whsec_test_4fQzN7cPq2LrTxVb9KdYhWm3"
NOW: Final = 1_700_000_000
OK: Final = TargetReply(3.0, 200)
REFUSED: Final = TargetReply(1.0, 400)
CLOSED: Final = TargetReply(1.0, trouble="closed", error="it closed the connection")
AWAY: Final = TargetReply(1.0, trouble="unreachable", error="connection refused", sent=0)


class MemoryHandler(HandlerTarget):
    """Fulfils what is paid, and keeps the last state of every other object.

    `usual` is its answer to what it takes, whatever becomes of it.
    """

    def __init__(self, fault: str = "", usual: TargetReply = OK) -> None:
        self.fault = fault
        self.usual = usual
        self.is_away = False
        self.fulfilled: list[str] = []
        self._states: dict[str, tuple[str, str]] = {}
        self._seen: set[str] = set()
        self._late: list[bytes] = []
        self.rules: list[str] = []
        self.sent: list[bytes] = []

    async def sleep(self, _seconds: float) -> None:
        """Lets time pass, in which what was put off is done."""
        for body in self._late:
            self._handle(body)
        self._late.clear()

    async def print_effects(self) -> str:
        """What a command of --check would print."""
        lines = [f"fulfilled {order}\n" for order in self.fulfilled]
        return "".join(
            [*lines, *(f"{state} {name}\n" for name, (_, state) in self._states.items())]
        )

    async def connect(self) -> TargetReply:
        return AWAY if self.is_away else TargetReply(0.0)

    async def cut(self, headers: bytes, body: bytes) -> None:
        await self.send(headers, body)
        if self.fault == "forgets what breaks":
            self._seen.clear()

    async def send(self, headers: bytes, body: bytes) -> TargetReply:
        lines = dict(re.findall(r"(?m)^([^:]+): (.*)\r$", headers.decode()))
        self.rules.append(lines["Svc-Examination"])
        self.sent.append(headers + b"\r\n" + body)
        if self.is_away:
            return AWAY
        if not self._is_authentic(lines.get("Svc-Signature", ""), body):
            return self._refuse()
        kind = json.loads(body)["type"]
        if kind not in EVENT_TYPES and self.fault == "crash on an unknown type":
            self.is_away = True
            return CLOSED
        if kind not in EVENT_TYPES and self.fault == "unknown type refused":
            return TargetReply(1.0, 422)
        if self.fault == "early":
            self._late.append(body)
        elif self.fault == "race":
            is_new = json.loads(body)["id"] not in self._seen
            await asyncio.sleep(0)
            self._handle(body, is_known=not is_new)
        else:
            self._handle(body)
        return self.usual

    def _refuse(self) -> TargetReply:
        if self.fault == "200 to everything":
            return TargetReply(1.0, 200, b'{"error": "bad signature"}')
        return TargetReply(1.0, 500) if self.fault == "500 in place of 400" else REFUSED

    def _is_authentic(self, header: str, body: bytes) -> bool:
        if self.fault == "no signature":
            return True
        if self.fault == "one v1":
            header = ",".join(header.split(",")[:2])
        if self.fault == "JSON written again":
            body = json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode()
        if self.fault == "no age":
            stamp = re.search(r"t=([0-9]+)", header)
            return stamp is not None and sign(body, SECRET, int(stamp[1])) in header
        try:
            verify(body, [header], [SECRET], NOW)
        except SignatureError:
            return False
        return True

    def _handle(self, body: bytes, *, is_known: bool | None = None) -> None:
        event = json.loads(body)
        known = event["id"] in self._seen if is_known is None else is_known
        self._seen.add(event["id"])
        if (known and self.fault != "twice") or self.fault == "nothing done":
            return
        changed = event["data"]["object"]
        if event["type"] == "order.paid" or self.fault == "any type fulfilled":
            self.fulfilled.append(changed["id"])
        elif changed["object"] != "order":
            newest = self._states.get(changed["id"], ("", ""))[0]
            if event["created"] >= newest or self.fault == "wrong order":
                self._states[changed["id"]] = event["created"], event["type"]
