"""A service that keeps a ledger: what was carried out, under which key, and how often.

It answers POSTs as the specification says (the same key gives the same answer) and spoils the
requests of a mark on order. A mark is `mark-N` somewhere in a request's body.
"""

import json
import re
import socket
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from support.servers.misbehaving import ScriptedServer

Spoil = Callable[[socket.socket, bytes], bool]  # is given the answer that it spoils

_MARK = re.compile(rb"mark-\d+")
CLIENT_SECRET = "ord_1_secret_canaryClientSecret123"
SIGNING_SECRET = "whsec_canarySigningSecret123"


class Fault(NamedTuple):
    """What goes wrong with one request: after it was carried out, or before."""

    spoil: Spoil
    carried_out: bool = False


class Gate:
    """Holds connections until it is opened, then lets them end without an answer."""

    def __init__(self) -> None:
        self._opened = threading.Event()

    def hold(self, sock: socket.socket, reply: bytes) -> bool:
        self._opened.wait()
        return False

    def open(self) -> None:
        self._opened.set()


class Posted(NamedTuple):
    """One request as it arrived; nearly all of them are POSTs."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def key(self) -> str:
        return self.headers["idempotency-key"]

    @property
    def mark(self) -> str:
        found = _MARK.search(self.body)
        return found.group().decode() if found else ""

    @property
    def fields(self) -> dict[str, Any]:
        text = self.body.decode()
        if self.headers.get("content-type", "").startswith("application/x-www-form"):
            return dict(parse_qsl(text))
        document: dict[str, Any] = json.loads(text or "{}")
        return document


class Ledger(ScriptedServer):
    """Counts effects; `spoil` says what goes wrong with the next requests of a mark.

    Attributes:
        posts: every request that was read whole.
        effects: how often each mark was carried out: never more than once, if all is well.
        gate: for requests that are to wait.
    """

    def __init__(self) -> None:
        self.posts: list[Posted] = []
        self.effects: Counter[str] = Counter()
        self.gate = Gate()
        self._answers: dict[str, bytes] = {}
        self._asked: dict[str, tuple[str, dict[str, Any]]] = {}
        self._made: Counter[str] = Counter()
        self._faults: dict[str, list[Fault]] = {}
        self._changes: dict[str, Any] = {}
        self._books = threading.Lock()
        super().__init__()

    def stop(self) -> None:
        self.gate.open()
        super().stop()

    def spoil(self, *faults: Fault, mark: str = "") -> None:
        """The next requests of a mark meet these, in order; those after them go well."""
        self._faults[mark] = list(faults)

    def twist(self, **changes: Any) -> None:
        """Answers say this from now on, whatever was asked for."""
        self._changes = changes

    def sent(self, mark: str) -> list[Posted]:
        """What arrived of a mark."""
        return [post for post in self.posts if post.mark == mark]

    def answer(self, request: bytes, sock: socket.socket) -> bool:
        post = _posted(request)
        if post.path.startswith("/_sandbox/"):  # no sandbox has a ledger
            sock.sendall(http(404, b"{}"))
            return True
        with self._books:
            self.posts.append(post)
            faults = self._faults.get(post.mark) or self._faults.get("", [])
            fault = faults.pop(0) if faults else None
            reply = b"" if fault and not fault.carried_out else self._carried_out(post)
        if fault is not None:
            return fault.spoil(sock, reply)
        sock.sendall(reply)
        return True

    def _carried_out(self, post: Posted) -> bytes:
        if post.method == "GET":
            names = ("currency", "amount_captured", "amount_refunded")
            said = {name: self._changes[name] for name in names if name in self._changes}
            return http(200, json.dumps({**_object(post), **said}).encode())
        replayed = post.key in self._answers
        if replayed and self._asked[post.key] != (post.path, post.fields):
            fields = {"type": "idempotency_error", "code": "idempotency_key_reused"}
            return http(400, json.dumps({**fields, "message": "Used otherwise."}).encode())
        if not replayed:
            self._asked[post.key] = post.path, post.fields
            self.effects[post.mark] += 1
            self._made[post.path] += 1
            made = {**_object(post, self._made[post.path]), **self._changes}
            self._answers[post.key] = json.dumps(made).encode()
        headers = {"Request-Id": "req_1", "Idempotent-Replayed": str(replayed).lower()}
        return http(200, self._answers[post.key], headers)


def http(status: int, body: bytes, headers: dict[str, str] | None = None) -> bytes:
    """One whole answer."""
    fields = {"Content-Length": str(len(body)), **(headers or {})}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + body


def _posted(request: bytes) -> Posted:
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.split(": ", 1) for line in lines)
    method, path, _ = first.split(" ")
    return Posted(method, path, {name.lower(): value for name, value in pairs}, body)


_CREATED: dict[str, dict[str, Any]] = {
    "/v1/orders": {"id": "ord_1", "object": "order", "client_secret": CLIENT_SECRET},
    "/v1/refunds": {"id": "rf_1", "object": "refund"},
    "/v1/payouts": {"id": "po_1", "object": "payout"},
    "/v1/landed-cost/quotes": {"id": "lcq_1", "object": "landed_cost_quote"},
    "/v1/webhook_endpoints": {"id": "we_1", "object": "webhook_endpoint", "secret": SIGNING_SECRET},
    "/v1/gift_cards": {"id": "gc_1", "object": "gift_card"},
}


def _object(post: Posted, number: int = 1) -> dict[str, Any]:
    """The object that a path answers with; what the request said stands in it.

    `number` tells new objects apart: the first refund is rf_1.
    """
    fields = post.fields
    said: dict[str, Any] = {
        name: fields[name] for name in ("amount", "currency", "payment") if name in fields
    }
    live = "live" in post.headers["authorization"]
    common: dict[str, Any] = {"livemode": live, "status": "pending", **said}
    if post.path in _CREATED:
        first = _CREATED[post.path]
        return {**first, "id": first["id"].replace("_1", f"_{number}"), **common}
    _, _, noun, identifier, *rest = post.path.split("/")
    if rest == ["capture"]:
        return {"id": "pay_1", "object": "payment", "order": identifier, **common}
    return {"id": identifier, "object": noun.removesuffix("s"), **common}
