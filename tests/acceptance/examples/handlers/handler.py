"""A webhook handler without a fault, or with the one that is named: handler.py PORT [FAULT].

It keeps what it has done in shop.txt: a line for each event it has seen, each order it has
fulfilled, and the last event of every other object.
"""

import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Timer
from typing import Any

SECRET = os.environ["SVC_WEBHOOK_SECRET"].encode()
FAULT = sys.argv[2] if len(sys.argv) > 2 else ""
LOCK = Lock()
seen: set[str] = set()
fulfilled: list[str] = []
states: dict[str, tuple[str, str]] = {}


def is_authentic(header: str, body: bytes) -> bool:
    """Checks every v1 over the raw bytes, and the age."""
    parts = [part.partition("=") for part in header.split(",")]
    stamp = next((value for name, _, value in parts if name == "t"), "0")
    expected = hmac.new(SECRET, f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    signed = any(hmac.compare_digest(expected, value) for name, _, value in parts if name == "v1")
    return signed and (FAULT == "no age" or abs(time.time() - int(stamp)) <= 300)


def handle(event: dict[str, Any]) -> None:
    """Keeps an event's effect together with its id, once."""
    is_new = event["id"] not in seen
    if FAULT == "race" and is_new:
        time.sleep(0.2)  # in which others look as well
    with LOCK:
        if FAULT != "race":
            is_new = event["id"] not in seen or FAULT == "fulfilment twice"
        if not is_new:
            return
        seen.add(event["id"])
        changed = event["data"]["object"]
        if event["type"] == "order.paid":
            fulfilled.append(changed["id"])
        elif event["type"].startswith(("payment.", "refund.", "payout.")):
            known = states.get(changed["id"], ("", ""))
            states[changed["id"]] = max(known, (event["created"], event["type"]))
        save()


def save() -> None:
    lines = [*(f"seen {each}" for each in seen), *(f"fulfilled {each}" for each in fulfilled)]
    lines += [f"{kind} {each}" for each, (_, kind) in states.items()]
    Path("shop.new").write_text("\n".join([*lines, ""]))
    Path("shop.new").replace("shop.txt")


class ExaminedShop(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not is_authentic(self.headers.get("Svc-Signature", ""), body):
            self.answer(400)
            return
        event = json.loads(body)
        if FAULT == "200 before it is saved":
            Timer(0.3, handle, [event]).start()
        else:
            handle(event)
        self.answer(200)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), ExaminedShop).serve_forever()
