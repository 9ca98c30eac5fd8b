"""What has to be there for a shown command line to work: objects, files, a profile."""

import json
import re
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

from support.orders import ORDER as JACKET_ORDER
from support.running import Sandbox

ORDER = {**JACKET_ORDER, "settlement_currency": "USD"}

PLACEHOLDER: Final = re.compile(r"\b(?:ord|pay|rf|po|lcq|evt|dp|we|key|rq)_[A-Za-z0-9]{18,}")


class ExampleWorld:
    """A sandbox in which things happen, and the folder in which a line is run."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self.sandbox = sandbox
        self.folder = folder

    def api(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Sends a POST of JSON without the program under test."""
        connection = HTTPConnection("127.0.0.1", self.sandbox.port, timeout=30)
        headers = {
            "Authorization": "Bearer sk_test_sandbox",
            "Content-Type": "application/json",
            "Idempotency-Key": f"{path}-{len(json.dumps(body))}-{id(body)}",
        }
        try:
            connection.request("POST", f"/v1/{path}", json.dumps(body), headers)
            reply: dict[str, Any] = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        assert "id" in reply, reply
        return reply

    def happened(self, event_type: str) -> dict[str, Any]:
        """Lets an event happen and gives its object."""
        found: dict[str, Any] = self._triggered(event_type)["data"]["object"]
        return found

    def event(self) -> str:
        return str(self._triggered("order.paid")["id"])

    def _triggered(self, event_type: str) -> dict[str, Any]:
        reply = self.sandbox.control("POST", "/events/trigger", {"type": event_type})
        assert "event" in reply, reply
        event: dict[str, Any] = reply["event"]
        return event

    def open_order(self) -> str:
        return str(self.api("orders", ORDER)["id"])

    def program(self, name: str, text: str = "") -> None:
        """A script of a shell; without a text it does nothing, and does it well."""
        self.file(name, f"#!/bin/sh\n{text}\n")
        (self.folder / name).chmod(0o755)

    def held_order(self) -> str:
        return str(self.happened("payment.authorized")["order"])

    def endpoint(self) -> str:
        body = {"url": "http://127.0.0.1:9/hook", "events": ["order.paid"]}
        return str(self.api("webhook_endpoints", body)["id"])

    def disabled_endpoint(self) -> str:
        identifier = self.endpoint()
        self.sandbox.control("POST", f"/webhook_endpoints/{identifier}/disable")
        return identifier

    def key(self) -> str:
        return str(
            self.sandbox.control(
                "POST", "/keys", {"type": "restricted", "permissions": {"orders": "read"}}
            )["id"]
        )

    def roll(self, identifier: str) -> str:
        """Rolls a key as the dashboard does and gives the new one."""
        rolled = self.sandbox.control("POST", f"/keys/{identifier}/roll", {"expires_in": 86_400})
        return str(rolled["secret"])

    def state(self) -> None:
        exported = self.sandbox.control("GET", "/export")
        self.file("state.json", json.dumps(exported))

    def refunds_file(self) -> None:
        payments = [self.happened("payment.captured")["id"] for _ in range(2)]
        rows = "".join(f"{payment},1000\n" for payment in payments)
        self.file("refunds.csv", f"payment,amount\n{rows}")

    def file(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)


Maker = Callable[[ExampleWorld], str]

# What an id in a line has to be, by the words before it; the first that fits.
IDS: Final[tuple[tuple[str, Maker], ...]] = (
    ("orders cancel", ExampleWorld.open_order),
    ("orders capture", ExampleWorld.held_order),
    ("orders update", ExampleWorld.open_order),
    ("sandbox pay", ExampleWorld.open_order),
    ("sandbox checkout", ExampleWorld.open_order),
    (" ord_", ExampleWorld.open_order),
    ("sandbox decide", lambda world: str(world.happened("dispute.evidence_submitted")["id"])),
    (" dp_", lambda world: str(world.happened("dispute.opened")["id"])),
    ("pay_", lambda world: str(world.happened("payment.captured")["id"])),
    (" rf_", lambda world: str(world.happened("refund.created")["id"])),
    (" po_", lambda world: str(world.happened("payout.created")["id"])),
    (" lcq_", lambda world: str(world.happened("order.paid")["landed_cost"]["quote"])),
    ("endpoints enable", ExampleWorld.disabled_endpoint),
    (" we_", ExampleWorld.endpoint),
    (" key_", ExampleWorld.key),
    (" evt_", ExampleWorld.event),
)


def real(line: str, world: ExampleWorld) -> str:
    """Puts ids of objects that are there in place of the shown ones; ends what would not end."""
    for shown in set(PLACEHOLDER.findall(line)):
        make = next(make for words, make in IDS if words in line)
        line = line.replace(shown, make(world))
    # A person ends it with Ctrl-C; `timeout` says then that it had to.
    return f"! timeout -s INT 2 {line}" if line.endswith(" --follow") else line
