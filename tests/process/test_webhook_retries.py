"""Three days of webhook retries, through the real program (R83)."""

import time
from pathlib import Path

from support.kills.killing import kill_sandboxes
from support.running import Svc
from support.serving import HookReceiver
from support.suite.patience import patient


def test_three_days_of_retries_run_in_under_two_seconds(svc: Svc, isolated: Path) -> None:
    """R83: the whole command, start-up of the program included."""
    svc.ok("sandbox", "start", "--detach", "--port", "0")
    try:
        with HookReceiver(500).listening() as receiver:
            url, types = ("--url", receiver.url), ("--events", "order.cancelled")
            svc.ok("webhook-endpoints", "create", *url, *types)
            svc.ok("sandbox", "trigger", "order.cancelled")
            begun = time.monotonic()
            moved = svc.ok("sandbox", "advance", "3d")
            took = time.monotonic() - begun
    finally:
        kill_sandboxes(isolated / "state" / "sandbox")
    assert len(receiver.hooks) == 15
    assert moved["deliveries"] in (14, 15)  # the first one is made at once
    assert took < patient(2)
