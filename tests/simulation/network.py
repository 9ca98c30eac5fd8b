"""What lies between the program and the service: a wire, proxies and gateways that misbehave.

Which faults a history knows, and how often they come, is drawn once ("swarm testing": a history
with all of them at once would never get deep). One that is not carried out says so by its name.
"""

import json
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from simulation.machine import Machine, Process
from simulation.service import Service, ServiceAnswer
from svc.client.exchange import Deadline, Failure, RawReply, Trouble, WireRequest

Result: TypeAlias = RawReply | Failure

_JSON: Final = ("content-type", "application/json")
_LATENCIES: Final = (0.002, 0.02, 0.15, 0.9)
_DELAYS: Final = (0.3, 2.0, 20.0, 90.0)
_SOMEBODY: Final = {"refund": "rf_", "payout": "po_", "order": "ord_", "payment": "pay_"}


class Network:
    """One network for all processes of a history.

    Attributes:
        weather: the faults that it knows, and how often one comes.
        quiet: whether no fault comes any more.
        made: whose request made each effect, and how many lines the history had then.
        has_crossed: whether a proxy has answered with what was stored for another API key.
    """

    def __init__(self, machine: Machine, service: Service) -> None:
        self.machine = machine
        self.service = service
        self.weather: tuple[str, ...] = ()
        self.often = 0.0
        self.quiet = False
        self.on_post: Callable[[str, WireRequest], None] = lambda key, request: None
        self.is_known: Callable[[bytes], bool] = lambda body: True
        self.made: dict[str, tuple[Process, int]] = {}
        self.has_crossed = False
        self._cache: dict[str, tuple[RawReply, str]] = {}

    def exchange(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        """One request, and what the program gets to see of its answer."""
        machine = self.machine
        machine.step("connect")
        fault = "fine"
        if not self.quiet and self.weather and machine.random.random() < self.often:
            fault = machine.random.choice(self.weather)
        if request.method == "GET" and fault not in _HARMLESS:
            fault = "fine"
        if fault != "refused":
            self._leaves(request)
        result: Result = getattr(self, f"_{fault}")(wire, request, deadline)
        machine.note(
            "wire", request.method, request.target, _key(request)[:8], fault, _shown(result)
        )
        wire.last = result if isinstance(result, RawReply) else None
        machine.step("answered")
        return result

    def _leaves(self, request: WireRequest) -> None:
        if request.method == "POST":
            self.on_post(_key(request), request)

    def _served(self, wire: "NetworkWire", request: WireRequest) -> RawReply:
        """The service gets a request now."""
        headers = dict(request.headers)
        path = request.target.partition("?")[0]
        before = len(self.service.effects)
        answer = self.service.handle(request.method, path, headers, request.body, self.machine.now)
        if len(self.service.effects) > before:
            effect = self.service.effects[-1]
            self.made[effect.id] = wire.process, len(self.machine.trace)
            self.machine.note("EFFECT", effect.id, effect.account, effect.key[:8], path)
        return _reply(answer)

    def _takes(self, seconds: float, deadline: Deadline) -> bool:
        """Lets time pass; false where the deadline came first."""
        left = deadline.seconds_left()
        self.machine.pause(max(0.0, min(seconds, left)))
        return seconds < left

    def _latency(self) -> float:
        return self.machine.random.choice(_LATENCIES)

    # --- what can happen ---

    def _fine(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        self.machine.step("sent")
        if not self._takes(self._latency(), deadline):
            return Failure(Trouble.TIMEOUT, sent=True)
        reply = self._served(wire, request)
        self.machine.step("carried out")
        if not self._takes(self._latency(), deadline):
            return Failure(Trouble.TIMEOUT, sent=True)
        if request.method == "POST" and reply.status == 200:
            self._cache.setdefault(request.target, (reply, _api_key(request)))
        return reply

    def _refused(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        self._takes(0.001, deadline)
        return Failure(Trouble.NO_CONNECTION, sent=False)

    def _lost(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        self._takes(self._latency(), deadline)
        return Failure(Trouble.CLOSED, sent=True)

    def _silence(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        self._takes(1000.0, deadline)
        return Failure(Trouble.TIMEOUT, sent=True)

    def _dropped(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        result = self._fine(wire, request, deadline)
        kinds = (Trouble.CLOSED, Trouble.TRUNCATED, Trouble.GARBLED, Trouble.TOO_LARGE)
        return Failure(self.machine.random.choice(kinds), sent=True) if result else result

    def _late(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        self._fine(wire, request, deadline)
        self._takes(1000.0, deadline)
        return Failure(Trouble.TIMEOUT, sent=True)

    def _delayed(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        seconds = self.machine.random.choice(_DELAYS)
        self.machine.later(seconds, lambda: self._served(wire, request) and None)
        return self._lost(wire, request, deadline)

    def _doubled(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        first = self._fine(wire, request, deadline)
        second = self._fine(wire, request, deadline)
        return second if isinstance(second, RawReply) else first

    def _stale(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        """The reply before comes once more; whether this request is carried out, nobody sees.

        Not a refusal: nothing in one says whose it is.
        """
        last = wire.last if wire.last is not None and wire.last.status == 200 else None
        if last is None or self.machine.random.random() < 0.4:
            result = self._fine(wire, request, deadline)
            return result if last is None else last
        self._takes(self._latency(), deadline)
        return last

    def _cached(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        """A proxy answers from its store; what it has not stored goes on to the service.

        Nor does what it has stored of an answer that the machine never got: to the same request
        once more, nobody could tell that one from its own.
        """
        kept, whose = self._cache.get(request.target, (None, ""))
        if kept is None or not self.is_known(kept.body):
            return self._fine(wire, request, deadline)
        self.has_crossed |= whose != _api_key(request)
        self._takes(0.001, deadline)
        return kept

    def _somebodys(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        """An answer about somebody else's object, of the right kind or of another one."""
        result = self._fine(wire, request, deadline)
        if not isinstance(result, RawReply) or result.status != 200:
            return result
        document = json.loads(result.body)
        kind = document["object"]
        document["id"] = f"{_SOMEBODY.get(kind, 'x_')}somebody{len(self.machine.trace)}"
        for name in ("payment", "order"):
            if name in document:
                document[name] = f"{document[name]}0"
        if "destination" in document:
            document["destination"] = {**document["destination"], "last4": "9999"}
        if kind == "order" and "status" in document and "currency" in document:
            document["amount"] = 77
        return result._replace(body=json.dumps(document).encode())

    def _altered(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        """Our own object, with another amount (promise R15)."""
        result = self._fine(wire, request, deadline)
        if not isinstance(result, RawReply) or result.status != 200:
            return result
        document = json.loads(result.body)
        for name in ("amount", "amount_captured"):
            if name in document:
                document[name] += 1
        return result._replace(body=json.dumps(document).encode())

    def _foreign(self, deadline: Deadline, status: int, kind: str, document: Any) -> Result:
        self._takes(self._latency(), deadline)
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        return RawReply(status, (("content-type", kind),), body)

    def _problem(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        document = {"type": "about:blank", "title": "Not Found", "status": 404}
        return self._foreign(deadline, 404, "application/problem+json", document)

    def _routeless(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        document = {"type": "invalid_request_error", "code": "route_not_found", "message": "No."}
        return self._foreign(deadline, 404, "application/json", document)

    def _upstream(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        document = {"error": {"code": "UPSTREAM_CLOSED", "message": "upstream closed"}}
        return self._foreign(deadline, 400, "application/json", document)

    def _reused(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        if not self.service.by_key.get(_key(request)):
            return self._lost(wire, request, deadline)
        document = {
            "type": "idempotency_error",
            "code": "idempotency_key_reused",
            "message": "Used.",
        }
        return self._foreign(deadline, 409, "application/json", document)

    def _limited(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        document = {"type": "rate_limit_error", "code": "rate_limit", "message": "Slow down."}
        return self._foreign(deadline, 429, "application/json", document)

    def _failing(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        if self.machine.random.random() < 0.5:
            self._fine(wire, request, deadline)
        status = self.machine.random.choice((500, 502, 503, 504, 520))
        return self._foreign(deadline, status, "text/html", b"<h1>Oops</h1>")

    def _busy(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        document = {"type": "idempotency_error", "code": "idempotency_key_in_use", "message": "-"}
        return self._foreign(deadline, 409, "application/json", document)

    def _unreadable(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        if self.machine.random.random() < 0.5:
            self._fine(wire, request, deadline)
        bodies = (
            b"",
            b"<html>",
            b"[]",
            b'{"id":"',
            b'{"object":"list","data":[],"has_more":false}',
        )
        return self._foreign(deadline, 200, "text/plain", self.machine.random.choice(bodies))

    def _gateway(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        """HTML of what stands in between: it turns a request away, or gives up waiting for it."""
        status = self.machine.random.choice((403, 404, 405, 413, 408, 425, 499))
        if status in _GIVES_UP and self.machine.random.random() < 0.5:
            self._fine(wire, request, deadline)
        return self._foreign(deadline, status, "text/html", b"<html>No</html>")

    def _moved(self, wire: "NetworkWire", request: WireRequest, deadline: Deadline) -> Result:
        return self._foreign(deadline, 302, "text/html", b"")


_GIVES_UP: Final = (408, 425, 499)
_HARMLESS: Final = frozenset(("refused", "lost", "silence", "limited", "failing", "moved"))
FAULTS: Final = (
    "refused", "lost", "silence", "dropped", "late", "delayed", "doubled", "stale", "cached",
    "somebodys", "altered", "problem", "routeless", "upstream", "reused", "limited", "failing",
    "busy", "unreadable", "moved",
)  # fmt: skip


class NetworkWire:
    """Stands in for a worker's or command's connection.

    Attributes:
        last: the reply before, while the connection is kept.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self.process = network.machine.process
        self.last: RawReply | None = None

    def exchange(
        self, request: WireRequest, *, deadline: Deadline, connect_seconds: float
    ) -> Result:
        return self._network.exchange(self, request, deadline)

    def close(self) -> None:
        self.last = None


def _reply(answer: ServiceAnswer) -> RawReply:
    headers = (_JSON, ("idempotent-replayed", "true")) if answer.replayed else (_JSON,)
    return RawReply(answer.status, headers, json.dumps(answer.document).encode())


def _key(request: WireRequest) -> str:
    return dict(request.headers).get("Idempotency-Key", "")


def _api_key(request: WireRequest) -> str:
    return dict(request.headers).get("Authorization", "")


def _shown(result: Result) -> str:
    return result.trouble.name if isinstance(result, Failure) else str(result.status)
