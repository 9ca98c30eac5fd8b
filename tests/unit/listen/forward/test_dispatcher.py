"""Forwarding: the same bytes, only to this machine, and what becomes of each attempt."""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.absence import importable
from support.listening import (
    NOW,
    OK,
    SECRET,
    Received,
    TargetServer,
    event,
    listening,
    status_line,
)
from svc.clock import SystemClock
from svc.errors import UsageError
from svc.listen.forward.pump import ForwardOptions
from svc.listen.forward.request import parse_header
from svc.listen.output_records import Forwarded, Summary
from svc.listen.routes import Routes
from svc.signature import verify

FAST = ForwardOptions(retry="fast")
OFF = ForwardOptions(retry="off", seconds=1.5)


def test_target_gets_the_same_bytes(tmp_path: Path) -> None:
    """R46, R52: body, signature, content type and the service's headers arrive as they were sent."""
    body = b"\n " + event(note="\\u00e9 \u00e9 10.0 ") + b" \r\n"
    with (
        TargetServer() as target,
        listening(tmp_path, f"localhost:{target.port}/hooks?a=b") as listener,
    ):
        assert listener.send(body, Svc_Delivery_Id="dlv_1", Svc_Delivery_Attempt="3") == 200
        listener.forwards(1)
        [got] = target.received
        verify(got.body, got.header("svc-signature"), [SECRET], NOW)
    assert got.body == body
    assert got.head.startswith(b"POST /hooks?a=b HTTP/1.1\r\n")
    assert got.header("host") == [f"localhost:{target.port}".encode()]
    assert got.header("content-type") == [b"application/json; charset=utf-8"]
    assert got.header("svc-event-id") == [b"evt_1"]
    assert got.header("svc-delivery-id") == [b"dlv_1"]
    assert got.header("svc-delivery-attempt") == [b"3"]
    assert got.header("content-length") == [str(len(body)).encode()]


def test_target_gets_nothing_of_the_way_there(tmp_path: Path) -> None:
    """R52: credentials, cookies, hop-by-hop and proxy headers of the caller are left behind."""
    unwanted = {
        "Authorization": "Bearer sk_test_x",
        "Cookie": "a=b",
        "X_Forwarded_For": "1.2.3.4",
        "Forwarded": "for=1.2.3.4",
        "Connection": "keep-alive",
        "Keep_Alive": "timeout=5",
        "Proxy_Authorization": "Basic x",
        "Te": "trailers",
    }
    with TargetServer() as target, listening(tmp_path, target.port) as listener:
        assert listener.send(event(), **unwanted) == 200
        listener.forwards(1)
        [got] = target.received
    for name in unwanted:
        assert got.header(name.replace("_", "-")) == []


def test_target_gets_no_header_that_only_looks_like_the_senders(tmp_path: Path) -> None:
    """R108: the signature is of the body; whoever has one copy can send it with other headers."""
    documented = {"Svc_Delivery_Id": "dlv_1", "Svc_Delivery_Attempt": "3"}
    forged = {"Svc_Role": "admin", "Svc_Account": "acct_2", "Svc_Event_Type": "order.paid"}
    with TargetServer() as target, listening(tmp_path, target.port) as listener:
        assert listener.send(event(), **documented, **forged, Svc_Event_Id="evt_999") == 200
        listener.forwards(1)
        [got] = target.received
    sent = {line.split(b":")[0].lower() for line in got.head.split(b"\r\n")[1:] if line}
    assert {name for name in sent if name.startswith(b"svc-")} == {
        b"svc-signature",
        b"svc-delivery-id",
        b"svc-delivery-attempt",
    }


def test_extra_headers_are_added(tmp_path: Path) -> None:
    """`--header` adds headers and replaces the caller's of the same name, the signed ones excepted."""
    headers = (parse_header("X-Team: a: b"), parse_header("user-agent: mine"))
    with TargetServer() as target, listening(tmp_path, target.port, headers=headers) as listener:
        assert listener.send(event(), User_Agent="Svc-Webhooks/1.0") == 200
        listener.forwards(1)
        [got] = target.received
    assert got.header("x-team") == [b"a: b"]
    assert got.header("user-agent") == [b"mine"]
    assert len(got.header("svc-signature")) == 1


@pytest.mark.parametrize(
    "text",
    ["none", "A B: c", ": c", "X: a\r\nY: b", "X: \x00", "Content-Length: 3", "svc-signature: t=1"],
)
def test_unfit_extra_headers_are_refused(text: str) -> None:
    """A header that would break the request or replace what was signed is a usage error."""
    with pytest.raises(UsageError):
        parse_header(text)


CHUNKED = b"HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
ANSWERS = [  # the others are read without a network (test_answers)
    pytest.param(b"HTTP/1.1 500 Oh\r\nContent-Length: 4\r\n\r\noops", 500, b"oops", id="500"),
    pytest.param(
        b"HTTP/1.1 301 M\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
        301,
        b"",
        id="redirect",
    ),
    pytest.param(
        CHUNKED + b"2328\r\n" + b"z" * 9000 + b"\r\n0\r\n\r\n", 200, b"z" * 4096, id="long"
    ),
]


@pytest.mark.parametrize(("answer", "expected", "reply"), ANSWERS)
def test_answer_is_noted(answer: bytes, expected: int, reply: bytes, tmp_path: Path) -> None:
    """R54: status, time and the beginning of the body are told; no redirect is followed."""
    once = ForwardOptions(retry="off")
    with (
        TargetServer(lambda _: answer) as target,
        listening(tmp_path, target.port, forwarding=once) as listener,
    ):
        for number in (1, 2):
            listener.send(event(number))
        first, second = listener.forwards(2)
    for forward in (first, second):
        assert (forward.status, forward.reply, forward.error) == (expected, reply, None)
        assert forward.attempt == 1
        assert forward.retry_in is None
        assert 0 < forward.milliseconds < 5000
    assert sorted(target.ids) == ["evt_1", "evt_2"]


def forward_to(
    answer: bytes | None, folder: Path, options: ForwardOptions
) -> tuple[Forwarded, Summary]:
    """What becomes of one event at a target that answers so; it is sent there once."""
    with (
        TargetServer(lambda _: answer) as target,
        listening(folder, target.port, forwarding=options) as listener,
    ):
        assert listener.send(event()) == 200
        [forward] = listener.forwards(1)
        summary = listener.stop()
    assert target.ids == ["evt_1"]
    return forward, summary


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"SMTP nonsense\r\n\r\n", "the answer is no HTTP: illegal status line."),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nX", "closed before a whole answer"),
        (None, "no answer in time"),
    ],
)
def test_trouble_is_named(answer: bytes | None, words: str, tmp_path: Path) -> None:
    """An answer that never comes or is none ends in a sentence and fails the event for good."""
    options = ForwardOptions(retry="off", seconds=5.0 if answer else 0.3)
    forward, summary = forward_to(answer, tmp_path, options)
    assert forward.status is None
    assert words in f"{forward.error}."
    assert (summary.forwarded, summary.failed, summary.pending) == (0, 1, 0)


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nX: close\r\n\r\nab", b"ab"),
        (CHUNKED + b"2\r\nab\r\nnonsense\r\n", b"ab"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n", b""),
        (CHUNKED.replace(b"Transfer-Encoding: chunked\r\n", b"") + b"x" * 1100000, b"x" * 4096),
    ],
    ids=["length", "chunks-of-nonsense", "1-gb", "1.1-mb"],
)
def test_the_status_counts_where_the_body_is_cut_short(
    answer: bytes, reply: bytes, tmp_path: Path
) -> None:
    """A target that has said 2xx has the event, and does not get it again (spec: Delivery 1)."""
    forward, summary = forward_to(answer, tmp_path, ForwardOptions(retry="fast", seconds=20))
    assert (forward.status, forward.reply, forward.error) == (200, reply, None)
    assert summary.forwarded == 1


def test_fast_retry_tries_again_what_may_pass(tmp_path: Path) -> None:
    """R124, `--retry fast`: two seconds later; the line says so, and the request that it came."""
    passing = [408, 425, 429, 500, 503]

    def reply(request: Received) -> bytes:
        return (
            OK
            if request.header("Svc-Redelivered")
            else status_line(int(json.loads(request.body)["id"][4:]))
        )

    with (
        TargetServer(reply) as target,
        listening(tmp_path, target.port, clock=SystemClock(), forwarding=FAST) as listener,
    ):
        began = time.monotonic()
        for status in passing:
            listener.send(event(status), now=int(time.time()))
        forwards = listener.forwards(2 * len(passing))
        assert time.monotonic() - began > 1.9
    told = [(one.id, one.status, one.retry_in, one.attempt) for one in forwards]
    came = [(one.body, one.header("Svc-Redelivered")) for one in target.received]
    for status in passing:
        name = f"evt_{status}"
        assert [one for one in told if one[0] == name] == [
            (name, status, 2, 1),
            (name, 200, None, 2),
        ]
        assert [mark for body, mark in came if body == event(status)] == [[], [b"1"]]


def test_fast_retry_takes_other_refusals_as_final(tmp_path: Path) -> None:
    """`--retry fast`: a 4xx that another try would only repeat, and a redirect."""
    answers = iter([status_line(404), status_line(302)])
    with (
        TargetServer(lambda _: next(answers)) as target,
        listening(tmp_path, target.port, forwarding=FAST) as listener,
    ):
        listener.send(event(1))
        listener.send(event(2))
        assert [one.retry_in for one in listener.forwards(2)] == [None, None]
    assert len(target.received) == 2


def test_target_that_dies_of_an_event_holds_up_no_other(tmp_path: Path) -> None:
    """A target that closes without an answer is tried again later; the next event goes before."""
    quick = ForwardOptions(rest=lambda _: 0.01)

    def reply(request: Received) -> bytes:
        return b"" if b'"evt_1"' in request.body else OK

    with (
        TargetServer(reply) as target,
        listening(tmp_path, target.port, forwarding=quick) as listener,
    ):
        listener.send(event(1))
        listener.forwards(1)
        listener.send(event(2))
        listener.until(lambda: "evt_2" in target.ids)
    assert target.ids == ["evt_1", "evt_2"]


def test_idle_connection_that_the_target_closed_costs_nothing(tmp_path: Path) -> None:
    """A kept connection that is gone by the next event is opened anew within the same attempt."""
    with (
        TargetServer() as target,
        listening(tmp_path, target.port, forwarding=ForwardOptions(1)) as listener,
    ):
        listener.send(event(1))
        listener.forwards(1)
        for peer in target.peers:
            peer.shutdown(socket.SHUT_RDWR)
        listener.send(event(2))
        forwards = listener.forwards(2)
    assert [one.status for one in forwards] == [200, 200]
    assert [one.attempt for one in forwards] == [1, 1]
    assert target.connections == 2


def test_connections_are_kept(tmp_path: Path) -> None:
    """Forwards to one target use at most `--concurrency` connections and use them again."""
    with (
        TargetServer() as target,
        listening(tmp_path, target.port, forwarding=ForwardOptions(4)) as listener,
    ):
        for number in range(40):
            listener.send(event(number))
        listener.forwards(40)
    assert target.connections <= 4


def test_concurrency_is_bounded(tmp_path: Path) -> None:
    """No more than `--concurrency` requests are at the target at once."""
    working: list[int] = []
    most: list[int] = []

    def reply(_: Received) -> bytes:
        working.append(1)
        most.append(len(working))
        time.sleep(0.02)
        working.pop()
        return OK

    with (
        TargetServer(reply) as target,
        listening(tmp_path, target.port, forwarding=ForwardOptions(3)) as listener,
    ):
        for number in range(20):
            listener.send(event(number))
        listener.forwards(20)
    assert 2 <= max(most) <= 3


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Names that resolve to what a test says."""
    names: dict[str, str] = {}
    original = socket.getaddrinfo

    def resolve(host: str, *args: Any, **kwargs: Any) -> Any:
        return original(names.get(host, host), *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return names


def test_name_that_leads_away_is_not_followed(hosts: dict[str, str], tmp_path: Path) -> None:
    """R53: a name is checked by the address that it has when the connection is made."""
    hosts["app.test"] = "127.0.0.1"
    with (
        TargetServer() as target,
        listening(tmp_path, f"http://app.test:{target.port}") as listener,
    ):
        listener.send(event(1))
        assert listener.forwards(1)[0].status == 200
        for peer in target.peers:
            peer.shutdown(socket.SHUT_RDWR)
        hosts["app.test"] = "192.0.2.7"
        listener.send(event(2))
        forward = listener.forwards(2)[1]
    assert forward.error == "app.test leads to 192.0.2.7, which is not on this machine"
    assert target.ids == ["evt_1"]


def test_proxies_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R54: proxy settings of the environment have no effect."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with TargetServer() as target, listening(tmp_path, target.port) as listener:
        listener.send(event())
        assert listener.forwards(1)[0].status == 200


def test_httpx_is_not_loaded() -> None:
    """The listen room sends without httpx: it is too slow for a burst, and costs memory.

    h11 is loaded with the first message that leaves a doubt.
    """
    code = "import sys, svc.listen.listener; print(*sys.modules)"
    loaded = set(subprocess.check_output([sys.executable, "-c", code], text=True).split())
    assert "svc.listen.http.connection" in loaded
    assert not loaded & importable(["httpx", "h11", "rich"])


def test_routes_share_nothing(tmp_path: Path) -> None:
    """Each target gets its own types, one that hangs does not hold up the other."""
    with TargetServer(lambda _: None) as slow, TargetServer() as quick:
        routes = Routes.parse(
            [f"order.*=:{slow.port}", f"payment.*=:{quick.port}", f":{quick.port}/rest"]
        )
        with listening(tmp_path, routes=routes) as listener:
            for number, name in enumerate(["order.paid", "payment.captured", "payout.paid"]):
                listener.send(event(number, name))
            listener.forwards(2)
            listener.until(lambda: slow.ids == ["evt_0"])
            paths = {json.loads(one.body)["id"]: one.head.split()[1] for one in quick.received}
            assert paths == {"evt_1": b"/", "evt_2": b"/rest"}
