"""Three days of webhook retries, through the real program and through kill -9 (R83, R85)."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.kills.killing import kill_sandboxes
from support.running import Svc
from support.serving import HookReceiver
from support.suite.patience import patient
from svc.sandbox.process.records import list_running

HOUR = 3600
# 0, 1 min, 11 min, 1 h 11 min, then every 6 h; the last at 67 h 11 min (assumptions: Delivery).
SCHEDULE = [0, 60, 660, *(4260 + 6 * HOUR * step for step in range(12))]


@pytest.fixture
def receiver() -> Iterator[HookReceiver]:
    """Answers 500 to everything."""
    with HookReceiver(500).listening() as made:
        yield made


def times(receiver: HookReceiver) -> list[int]:
    """When it was called, by the sandbox's clock, in seconds after the first time."""
    found = [hook.signed_at for hook in receiver.hooks]
    return [moment - found[0] for moment in found]


class KilledSandbox:
    """One sandbox with a file, which is killed and started again."""

    def __init__(self, svc: Svc, home: Path) -> None:
        self.svc = svc
        self._records = home / "state" / "sandbox"

    def start(self) -> None:
        self.svc.ok("sandbox", "start", "--detach", "--port", "0")

    def kill(self) -> None:
        """Kills it with -9 and waits until nothing of it is left."""
        kill_sandboxes(self._records)
        while list_running(self._records):
            time.sleep(0.01)

    def listen(self, receiver: HookReceiver) -> None:
        url, types = ("--url", receiver.url), ("--events", "order.cancelled")
        self.svc.ok("webhook-endpoints", "create", *url, *types)
        self.svc.ok("sandbox", "settings", "signature_time=virtual")


@pytest.fixture
def story(svc: Svc, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KilledSandbox]:
    """A story whose sandbox is killed at its end."""
    monkeypatch.setenv("SVC_API_KEY", "sk_test_sandbox")
    told = KilledSandbox(svc, isolated)
    yield told
    kill_sandboxes(isolated / "state" / "sandbox")


@pytest.mark.slow
def test_schedule_is_exact_through_two_kills(story: KilledSandbox, receiver: HookReceiver) -> None:
    """15 attempts at the 15 times although it is killed after the third and the ninth."""
    svc = story.svc
    story.start()
    story.listen(receiver)
    event = svc.ok("sandbox", "trigger", "order.cancelled")["event"]["id"]
    for _ in range(2):
        svc.ok("sandbox", "advance", "--until", "next")
    assert len(receiver.hooks) == 3
    story.kill()
    story.start()
    assert len(receiver.hooks) == 3, "an attempt came early"
    svc.ok("sandbox", "advance", "1d12h")
    assert len(receiver.hooks) == 9
    story.kill()
    story.start()
    assert svc.ok("sandbox", "advance", "1d12h")["deliveries"] == 6
    assert times(receiver) == SCHEDULE
    headers = [hook.headers for hook in receiver.hooks]
    assert [int(one["svc-delivery-attempt"]) for one in headers] == list(range(1, 16))
    assert {one["svc-event-id"] for one in headers} == {event}
    log = svc.ok("sandbox", "deliveries", "--limit", "100")["data"]
    shown = [(row["attempt"], row["status"]) for row in log]
    assert shown == [(number, "failed") for number in range(15, 0, -1)]


def test_three_days_of_retries_run_in_under_two_seconds(
    story: KilledSandbox, receiver: HookReceiver
) -> None:
    """R83: the whole command, start-up of the program included."""
    story.start()
    story.listen(receiver)
    story.svc.ok("sandbox", "trigger", "order.cancelled")
    begun = time.monotonic()
    moved = story.svc.ok("sandbox", "advance", "3d")
    took = time.monotonic() - begun
    assert len(receiver.hooks) == 15
    assert moved["deliveries"] in (14, 15)  # the first one is made at once
    assert took < patient(2)
