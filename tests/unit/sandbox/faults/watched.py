"""A sandbox in memory whose webhooks are looked at, on a clock that stands still."""

from dataclasses import dataclass
from typing import Any

from support.sandbox_calls import AsgiSandbox
from support.serving import Postman
from svc import signature
from svc.errors import SignatureError
from svc.sandbox.webhooks.sender import Outgoing


@dataclass(frozen=True)
class Got:
    """One delivery as the receiver got it; `verdict` is what the official check says."""

    event: str
    type: str
    delivery: str
    attempt: str
    verdict: str
    time: int


class WatchedSandbox:
    """A sandbox, its receiver, and rules for what goes wrong between them."""

    def __init__(self) -> None:
        self.postman = Postman()
        self.sandbox = AsgiSandbox(sender=self.postman)
        self._secret = ""

    def listen(self, *types: str) -> str:
        """Registers an endpoint and returns its id."""
        body = {"url": "http://127.0.0.1:9/hook", "events": list(types)}
        made = self.sandbox.post("/v1/webhook_endpoints", body).json
        self._secret = made["secret"]
        return str(made["id"])

    def control(self, path: str, body: Any = None, method: str = "POST") -> Any:
        """One control call that must work."""
        answer = self.sandbox.control(path, body, method)
        assert answer.status == 200, answer.body
        return answer.json

    def fault(self, effect: str, **rule: Any) -> str:
        """Adds a webhook fault rule and returns its id."""
        return str(self.control("/webhook_faults", {"effect": effect, **rule})["id"])

    def cancel(self) -> str:
        """Lets `order.cancelled` happen and returns the event's id."""
        return str(self.control("/events/trigger", {"type": "order.cancelled"})["event"]["id"])

    def run(self, **step: Any) -> Any:
        """Makes the attempts that are due now, or on the way of a step."""
        return self.control("/clock/advance", step or {"seconds": 0})

    @property
    def got(self) -> list[Got]:
        """Everything that reached the receiver, in its order."""
        return [self._read(outgoing) for outgoing in self.postman.sent]

    @property
    def log(self) -> list[Any]:
        """The delivery log, oldest first."""
        return list(reversed(self.control("/deliveries?limit=100", method="GET")["data"]))

    def _read(self, outgoing: Outgoing) -> Got:
        headers = dict(outgoing.headers)
        stamp, now = headers["Svc-Signature"], int(self.sandbox.clock.now())
        verdict = "verified"
        try:
            signature.verify(outgoing.body, [stamp], [self._secret], now)
        except SignatureError as error:
            verdict = str(error.reason)
        return Got(
            event=headers["Svc-Event-Id"],
            type=outgoing.body.split(b'"type":"')[1].split(b'"')[0].decode(),
            delivery=headers["Svc-Delivery-Id"],
            attempt=headers["Svc-Delivery-Attempt"],
            verdict=verdict,
            time=int(stamp.partition(",")[0].removeprefix("t=")) - now,
        )
