"""Calls to a sandbox's controls."""

import json
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from support.calls import orders
from support.clocks import ManualClock
from svc.base_url import BaseUrl
from svc.client.call import Call
from svc.client.exchange import Deadline, Failure, RawReply, Trouble
from svc.client.sandbox import SandboxClient, control_call, in_mode
from svc.errors import ApiError, AuthError, NetworkError, OutcomeUnknown, UsageError
from unit.client.bench import FakeWire

if TYPE_CHECKING:
    from support.servers.misbehaving import ScriptedServer

HEALTHY = RawReply(200, (), b'{"object":"sandbox","version":"1"}')


def reply(status: int, body: Any) -> RawReply:
    return RawReply(status, (), json.dumps(body).encode())


@pytest.fixture
def fake(bench: Any) -> Any:
    """Makes a control on a fake wire."""

    def fake(*results: RawReply | Failure) -> tuple[SandboxClient, FakeWire]:
        wire = bench(*results).wire
        base = BaseUrl.parse("http://127.0.0.1:4242")
        return SandboxClient(base, clock=ManualClock(), wire=wire), wire

    return fake


def test_a_sandbox_is_proved_before_the_first_call(fake: Any) -> None:
    """Health first, once; every call carries `Svc-Sandbox: 1` and no key."""
    control, wire = fake(HEALTHY, reply(200, {"object": "list", "data": []}))
    control.send(control_call("GET", "requests", params={"limit": 5}))
    control.send(control_call("GET", "emails"))
    assert [request.target for request in wire.requests] == [
        "/_sandbox/health",
        "/_sandbox/requests?limit=5",
        "/_sandbox/emails",
    ]
    for request in wire.requests:
        assert ("Svc-Sandbox", "1") in request.headers
        assert "Authorization" not in dict(request.headers)


@pytest.mark.parametrize("url", ["https://api.example.com", "https://10.0.0.1"])
def test_another_machine_is_never_asked(url: str) -> None:
    """Exit 2 before any connection."""
    with pytest.raises(UsageError):
        SandboxClient(BaseUrl.parse(url))


@pytest.mark.parametrize(
    "answer",
    [
        reply(404, {"message": "No."}),
        reply(200, {"object": "list"}),
        reply(200, ["sandbox"]),
        RawReply(200, (), b"<html>"),
        RawReply(500, (), b""),
    ],
)
def test_what_is_no_sandbox_gets_no_call(answer: RawReply, fake: Any) -> None:
    """Something else on loopback is refused with exit 2, and the call is not sent."""
    control, wire = fake(answer, answer)
    with pytest.raises(UsageError) as caught:
        control.send(control_call("POST", "reset"))
    assert int(caught.value.exit_code) == 2
    with pytest.raises(UsageError):
        control.download(control_call("GET", "export"), BytesIO())
    assert [each.target for each in wire.requests] == ["/_sandbox/health"] * 2


def test_no_sandbox_running_says_how_to_start_one(fake: Any) -> None:
    """Nothing answers: exit 8 and the next step."""
    control, _ = fake(Failure(Trouble.NO_CONNECTION, sent=False, detail="refused"))
    with pytest.raises(NetworkError) as caught:
        control.send(control_call("POST", "reset"))
    assert "svc sandbox" in (caught.value.hint or "")


def test_a_checkout_is_paid_with_a_publishable_key(fake: Any) -> None:
    """The only key that a control takes; a declined card is an answer, not an error."""
    declined = {"type": "card_error", "code": "card_declined", "message": "No.", "payment": {}}
    control, wire = fake(HEALTHY, reply(402, declined))
    call = control_call(
        "POST", "checkout", "pay", body={"client_secret": "s", "card": {"number": "4"}}
    )
    answer = control.send(call, key="pk_test_sandbox", accept=(402,))
    assert (answer.status, answer.data) == (402, declined)
    assert ("Authorization", "Bearer pk_test_sandbox") in wire.requests[1].headers
    with pytest.raises(AuthError):
        control.send(call, key="sk_test_sandbox")
    with pytest.raises(ApiError) as caught:
        control.send(call, key="pk_test_sandbox")
    assert (caught.value.code, caught.value.status) == ("card_declined", 402)


def test_a_checkout_key_of_a_shop_goes_by_no_plain_http() -> None:
    """R21: a sandbox in another container gets its own publishable key, which everybody knows."""
    wire = FakeWire(ManualClock(), HEALTHY, reply(200, {"object": "checkout"}))
    control = SandboxClient(BaseUrl.parse("http://svc:4242"), wire=wire)
    call = control_call(
        "POST", "checkout", "pay", body={"client_secret": "s", "card": {"number": "4"}}
    )
    for key in ("pk_test_x", "pk_live_x", "pk_test_sandbox1"):
        with pytest.raises(UsageError, match="in clear"):
            control.send(call, key=key)
    assert [one.target for one in wire.requests] == ["/_sandbox/health"]
    assert control.send(call, key="pk_test_sandbox").data == {"object": "checkout"}


def test_a_control_is_not_repeated(fake: Any) -> None:
    """There is no key to repeat it with; sent and unanswered is unknown."""
    control, wire = fake(HEALTHY, Failure(Trouble.TIMEOUT, sent=True))
    with pytest.raises(OutcomeUnknown):
        control.send(control_call("POST", "clock", "advance", body={"seconds": 5}))
    assert len(wire.requests) == 2
    with pytest.raises(NetworkError):
        control.send(control_call("GET", "clock"))
    with pytest.raises(OutcomeUnknown):
        fake(HEALTHY, RawReply(200, (), b"x"))[0].send(control_call("POST", "reset"))


def test_a_full_disk_is_told_in_the_words_of_the_sandbox(fake: Any) -> None:
    """It says how far the call came: nothing beside it that it may have been done."""
    full = {"type": "sandbox_error", "code": "storage_full", "message": "Full. The clock stands."}
    control, _ = fake(HEALTHY, reply(507, full))
    with pytest.raises(ApiError) as caught:
        control.send(control_call("POST", "clock", "advance", body={"seconds": 5}))
    assert (caught.value.code, caught.value.status) == ("storage_full", 507)
    assert (caught.value.message, caught.value.outcome) == ("Full. The clock stands.", None)


def test_a_control_says_the_mode_in_its_query(fake: Any) -> None:
    """Test mode goes unsaid; a POST keeps its body to itself."""
    call = control_call("POST", "balances", body={"currency": "EUR", "amount": 1})
    assert in_mode(call, "test") is call
    control, wire = fake(HEALTHY, reply(200, {"object": "list", "data": []}))
    control.send(in_mode(call, "live"))
    assert wire.requests[1].target == "/_sandbox/balances?mode=live"
    assert json.loads(wire.requests[1].body) == {"currency": "EUR", "amount": 1}


def test_one_deadline_may_hold_for_all_controls(server: "ScriptedServer") -> None:
    """R9: what one call took is not there for the next one any more."""
    clock = ManualClock()
    server.play(server.reply(200, {"object": "sandbox"}))
    base, limit = BaseUrl.parse(server.url), Deadline(clock, 10)
    with SandboxClient(base, clock=clock, deadline=limit) as control:
        control.health()
        clock.advance(11)
        with pytest.raises(NetworkError):
            control.send(control_call("GET", "clock"))


@pytest.mark.parametrize("status", [500, 503])
def test_a_control_that_broke_may_have_worked(fake: Any, status: int) -> None:
    """Exit 7 with the sandbox's words for what changes something, exit 8 for what does not."""
    broke = reply(status, {"type": "sandbox_error", "message": "It broke."})
    with pytest.raises(OutcomeUnknown, match=r"It broke.*may have done it"):
        fake(HEALTHY, broke)[0].send(control_call("POST", "reset"))
    with pytest.raises(NetworkError, match=r"It broke"):
        fake(HEALTHY, broke)[0].send(control_call("GET", "clock"))


def test_a_certificate_that_nobody_vouches_for(fake: Any) -> None:
    """Not sent, and where the right one comes from."""
    control, _ = fake(Failure(Trouble.CERTIFICATE, sent=False, detail="self-signed"))
    with pytest.raises(NetworkError) as caught:
        control.send(control_call("GET", "clock"))
    assert "svc sandbox env" in (caught.value.hint or "")


def test_a_client_never_reaches_a_control(bench: Any) -> None:
    """Not even a call made by hand goes to /_sandbox with a key."""
    made = bench(HEALTHY)
    with pytest.raises(UsageError):
        made.client.send(control_call("GET", "settings", params={}))
    with pytest.raises(UsageError):
        made.client.send(Call("POST", "/_sandbox/reset"))
    assert made.attempts == 0


def test_a_control_never_reaches_the_api(fake: Any) -> None:
    """The other way round: no money call without a key and its checks."""
    control, wire = fake(HEALTHY)
    with pytest.raises(UsageError):
        control.send(orders.list())
    assert len(wire.requests) == 1


def test_an_id_in_the_path_of_a_control_cannot_leave_it() -> None:
    """R25: an id is one step of the path."""
    assert control_call("POST", "keys", " key_1 ", "roll").path == "/_sandbox/keys/key_1/roll"
    with pytest.raises(UsageError):
        control_call("POST", "keys", "key_1/../reset")


def test_a_control_works_on_a_socket(server: "ScriptedServer") -> None:
    """Health and call over one real connection; DELETE has a length of zero."""
    server.play(server.reply(200, {"object": "sandbox"}))
    with SandboxClient(BaseUrl.parse(server.url)) as control:
        control.send(control_call("DELETE", "faults"))
    assert server.connections == 1
    assert server.requests[1].startswith(b"DELETE /_sandbox/faults HTTP/1.1\r\n")
    assert b"\r\nContent-Length: 0\r\n" in server.requests[1]
