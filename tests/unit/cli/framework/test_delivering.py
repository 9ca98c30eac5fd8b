"""What the commands make of a recorded request's past and of its end (promises R4, R10, R12)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from support.calls import refunds
from support.clocks import ManualClock
from svc.cli.framework.delivering import journal_of, send_recorded, sender_of
from svc.cli.framework.errors import report_error, report_stopped
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.cli.requests import resume
from svc.client.client import Client
from svc.client.exchange import RawReply
from svc.client.reply import Reply
from svc.client.request import prepare
from svc.delivery.journal.entry import NewIntent, Scope, Settled, store_call
from svc.delivery.journal.journal import Journal
from svc.delivery.send import deliver
from svc.errors import LocalError
from svc.system import uptime
from svc.system.signals import Stopped

KEY = "sk_test_canary7Qx2Lw9Zp4"


class RefundClient(Client):
    """Keeps what it was told of a request's past, and carries it out."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def deliver(self, call: object, prepared: object, **past: Any) -> Reply:
        self.told.append(past)
        return Reply(200, (), "{}", {"id": "rf_1"}, (), None, replayed=False, attempts=1)


def test_a_request_is_sent_with_the_time_of_its_first_sending(isolated: Path) -> None:
    """R4: what is resumed is as old as when it was sent first, not as this run."""
    clock, sender = ManualClock(), RefundClient()
    env = {"SVC_STATE_DIR": str(isolated / "state"), "SVC_API_KEY": KEY}
    env |= {"SVC_BASE_URL": "https://api.example.com", "SVC_CONFIG_DIR": str(isolated / "config")}
    session = Session(["refunds"], env, Streams.of_process(), clock)
    call = refunds.create({"payment": "pay_1"})
    prepared = prepare(call, session.base_url, new_key=lambda: "key-1")
    scope = Scope("default", "test", str(session.base_url), session.key.fingerprint)
    with session, journal_of(session) as journal:
        first = journal.record(NewIntent(store_call(call, prepared), scope))
        journal.settle(first, Settled("unknown"))
        clock.advance(3600)
        deliver(sender_of(session, sender, journal), journal.lease(first.id))
    (past,) = sender.told
    assert (past["sent_before"], past["first_sent_at"]) == (True, first.first_sent_at)


class RefundWire:
    """A wire on which every request is carried out."""

    def exchange(self, *_: object, **__: object) -> RawReply:
        return RawReply(200, (), b'{"id": "rf_1", "object": "refund", "payment": "pay_1"}')

    def close(self) -> None:
        """Has nothing to close."""


def session_in(folder: Path) -> Session:
    env = {"SVC_STATE_DIR": str(folder / "state"), "SVC_API_KEY": KEY}
    env |= {"SVC_BASE_URL": "https://api.example.com", "SVC_CONFIG_DIR": str(folder / "config")}
    return Session(["refunds"], env, Streams.of_process(), ManualClock())


def fail(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    error: BaseException | None = None,
    *,
    before: bool = True,
) -> None:
    """Has a step of the journal end once with an error, by default Ctrl-C, before it or after."""
    step, left = getattr(Journal, name), [error or Stopped(2)]

    def stopped(self: Journal, *args: Any, **more: Any) -> Any:
        if before and left:
            raise left.pop()
        found = step(self, *args, **more)
        if left:
            raise left.pop()
        return found

    monkeypatch.setattr(Journal, name, stopped)


def test_a_request_that_was_not_recorded_is_said_to_be_unsent(
    isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while another process holds the journal: nothing was sent, which is said."""
    fail(monkeypatch, "record")
    with session_in(isolated) as session, journal_of(session) as journal:
        client = Client(session.base_url, KEY, mode="test", wire=cast("Any", RefundWire()))
        with pytest.raises(Stopped) as caught:
            send_recorded(session, client, refunds.create({"payment": "pay_1"}))
        assert (caught.value.unsent, caught.value.sending) == ("/v1/refunds", None)
        assert not journal.list()


@pytest.mark.parametrize("step", ["record", "lease"])
@pytest.mark.parametrize("error", [Stopped(2), LocalError("The disk is full.")], ids=["^C", "disk"])
def test_what_an_earlier_sending_left_unknown_is_not_said_to_be_unsent(
    isolated: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    step: str,
    error: Any,
) -> None:
    """R10: the same once more with its own key, or resumed, ends before a byte has left."""
    call = refunds.create({"payment": "pay_1"})
    with session_in(isolated) as session, journal_of(session) as journal:
        client = Client(session.base_url, KEY, mode="test", wire=cast("Any", RefundWire()))
        scope = session.scope(session.key.fingerprint)
        prepared = client.prepare(call, idempotency_key="own-1")
        first = journal.record(NewIntent(store_call(call, prepared), scope, key_given=True))
        journal.settle(first, Settled("unknown"))
        fail(monkeypatch, step, error)
        again: dict[str, Callable[[], object]] = {
            "record": lambda: send_recorded(session, client, call, idempotency_key="own-1"),
            "lease": lambda: resume(session, first.id),
        }
        with pytest.raises(type(error)):
            again[step]()
        is_signal = isinstance(error, Stopped)
        report_stopped(session, error) if is_signal else report_error(session, error)
        told = json.loads(capsys.readouterr().err)["error"]
        assert (told["outcome"], told["request"]) == ("unknown", first.id)
        assert told["idempotency_key"] == "own-1"
        assert ("was sent again" if is_signal else "Nothing was sent.") in told["message"]
        assert [one.is_unresolved for one in journal.list()] == [True]


@pytest.mark.parametrize("before", [True, False])
def test_a_known_answer_survives_ctrl_c_while_it_is_kept(
    isolated: Path, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    """The id is known: it is told and kept, and nobody is sent to resume it."""
    fail(monkeypatch, "settle", before=before)
    with session_in(isolated) as session, journal_of(session) as journal:
        client = Client(session.base_url, KEY, mode="test", wire=cast("Any", RefundWire()))
        with pytest.raises(Stopped) as caught:
            send_recorded(session, client, refunds.create({"payment": "pay_1"}))
        assert caught.value.sending is None
        assert session.done == "rf_1"
        assert [one.state for one in journal.list()] == ["done"]


@pytest.mark.parametrize("given", [True, False])
def test_a_key_of_the_users_own_is_known_for_one(
    isolated: Path, given: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it looks: own keys keep a request from being made again, others go after 90 days."""
    monkeypatch.setattr(uptime, "read_uptime", lambda: None)  # only the clock is 90 days on
    key = "9b2f6b3e-6c1c-4c51-9d43-0c8b2f1f7a55" if given else None
    with session_in(isolated) as session, journal_of(session) as journal:
        client = Client(session.base_url, KEY, mode="test", wire=cast("Any", RefundWire()))
        send_recorded(session, client, refunds.create({"payment": "pay_1"}), idempotency_key=key)
        journal.forget_old(session.clock.now() + 91 * 24 * 3600)
        assert len(journal.list()) == given
