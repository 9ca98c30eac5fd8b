"""What the commands make of a recorded request's past and of its end (promises R4, R10, R12)."""

from pathlib import Path
from typing import Any

from svc.cli.journalled import deliver, journal_of
from svc.cli.session import Session
from svc.cli.streams import Streams
from svc.client import refunds
from svc.client.client import Client
from svc.client.journal.entry import Asked, Scope, Settled
from svc.client.prepared import prepare
from svc.client.replies import Reply
from svc.clock import ManualClock

KEY = "sk_test_canary7Qx2Lw9Zp4"


class Sender(Client):
    """Keeps what it was told of a request's past, and carries it out."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def deliver(self, call: object, prepared: object, **past: Any) -> Reply:
        self.told.append(past)
        return Reply(200, (), "{}", {"id": "rf_1"}, (), None, replayed=False, attempts=1)


def test_a_request_is_sent_with_the_time_of_its_first_sending(isolated: Path) -> None:
    """R4: what is resumed is as old as when it was sent first, not as this run."""
    clock, sender = ManualClock(), Sender()
    env = {"SVC_STATE_DIR": str(isolated / "state"), "SVC_API_KEY": KEY}
    env |= {"SVC_BASE_URL": "https://api.example.com", "SVC_CONFIG_DIR": str(isolated / "config")}
    session = Session(["refunds"], env, Streams.of_process(), clock)
    call = refunds.create({"payment": "pay_1"})
    prepared = prepare(call, session.base_url, new_key=lambda: "key-1")
    scope = Scope("default", "test", str(session.base_url), session.key.fingerprint)
    with session, journal_of(session) as journal:
        first = journal.record(Asked(call, prepared, scope))
        journal.settle(first, Settled("unknown"))
        clock.advance(3600)
        deliver(session, sender, journal, journal.lease(first.id))
    (past,) = sender.told
    assert (past["sent_before"], past["first_sent_at"]) == (True, first.first_sent_at)
