"""How a target is reached, and what an exchange with it comes to, with connections of the test's own."""

import asyncio
import errno
import ipaddress
import os
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from simulation.virtual_loop import VirtualLoop
from svc.listen.http import dial
from svc.listen.http.answers import TargetAnswer
from svc.listen.http.connection import TargetConnection, TargetReply
from svc.listen.http.dial import BrokenExchange, CannotConnect, open_connection, resolve
from svc.listen.targets import Target, TargetTrust

HERE = Target.parse("http://app.test:3000", allow_remote=False)
YOURS = Target.parse("https://app.test", allow_remote=True)
CLOSED = BrokenExchange("closed", "it closed the connection without a whole answer")
DONE = TargetAnswer(200, b"whsec_" + b"c" * 24, reusable=True)


TRUST = "--ca-bundle FILE, or --insecure-target"


def no_tls(reason: str | None) -> OSError:
    error = ssl.SSLError(0, "what went wrong")
    error.reason = reason  # type: ignore[assignment]
    return error


def not_trusted() -> OSError:
    error = ssl.SSLCertVerificationError()
    error.verify_message = "Self-Signed Certificate"
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionRefusedError(), "connection refused"),
        (socket.gaierror(), "its host name is not known"),
        (not_trusted(), f"its certificate is not trusted (self-signed certificate): {TRUST}"),
        (no_tls("WRONG_VERSION_NUMBER"), "TLS failed: wrong version number"),
        (no_tls(None), "TLS failed: what went wrong"),
        (OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH)), "network is unreachable"),
        (None, "its host name has no address"),
    ],
)
async def test_why_a_target_cannot_be_reached(
    error: OSError | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In words that say what to do about it; of several addresses those of the last."""
    tried: list[str] = []

    async def found(_: Target) -> list[Any]:
        return [] if error is None else ["first", "last"]

    async def fails(address: str, *_: object) -> None:
        tried.append(address)
        raise OSError("another") if error is None or address == "first" else error

    monkeypatch.setattr(dial, "resolve", found)
    monkeypatch.setattr(dial, "_open", fails)
    with pytest.raises(CannotConnect) as caught:
        await open_connection(HERE, None)
    assert (str(caught.value), caught.value.trouble) == (words, "unreachable")
    assert tried == ([] if error is None else ["first", "last"])


@pytest.mark.parametrize(
    ("target", "addresses", "refusal"),
    [
        (HERE, ["127.0.0.1", "::1", "127.0.0.1"], None),
        (YOURS, ["203.0.113.9", "127.0.0.1"], None),
        (
            HERE,
            ["127.0.0.1", "192.0.2.7"],
            "app.test leads to 192.0.2.7, which is not on this machine",
        ),
        (YOURS, ["169.254.169.254"], "app.test leads to 169.254.169.254, which is never allowed"),
    ],
)
async def test_every_address_of_a_name_has_to_be_allowed(
    target: Target, addresses: list[str], refusal: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R53: whichever of them would have been taken; each is tried once."""

    async def names(*_: object, **__: object) -> list[Any]:
        return [(0, 0, 0, "", (one, target.port)) for one in addresses]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", names)
    if refusal is None:
        assert [str(one) for one in await resolve(target)] == list(dict.fromkeys(addresses))
        return
    with pytest.raises(CannotConnect) as caught:
        await resolve(target)
    assert (str(caught.value), caught.value.trouble) == (refusal, "forbidden")


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1"])
async def test_no_unchecked_certificate_is_taken_from_elsewhere(address: str) -> None:
    """R53, --insecure-target: it is for addresses of this machine and of private networks."""
    context = TargetTrust(insecure=True).context(YOURS)
    with pytest.raises(CannotConnect) as caught:
        await dial._open(ipaddress.ip_address(address), YOURS, context)
    text = f"--insecure-target is for private addresses, and {address} is not one"
    assert (str(caught.value), caught.value.trouble) == (text, "forbidden")


@dataclass
class DialledWire:
    """A connection that answers as it is told, at once or never."""

    answers: list[Any] = field(default_factory=list)
    so_far: TargetAnswer | None = None
    open: bool = True
    sent: list[bytes] = field(default_factory=list)

    def is_open(self) -> bool:
        return self.open

    def send(self, request: bytes, on_answer: Callable[[Any], None]) -> None:
        self.sent.append(request)
        if self.answers:
            on_answer(self.answers.pop(0))

    def status_so_far(self) -> TargetAnswer | None:
        return self.so_far

    def close(self) -> None:
        self.open = False


def exchange(*wires: Any, times: int = 1, again: bool = True) -> tuple[TargetReply, float]:
    """The last of so many exchanges over these connections, and how many seconds they took."""
    left, replies = list(wires), list[TargetReply]()

    async def connect(*_: object) -> Any:
        wire = left.pop(0)
        if wire == "hangs":
            await asyncio.sleep(99)
        if isinstance(wire, Exception):
            raise wire
        return wire

    async def play() -> float:
        loop = asyncio.get_running_loop()
        link, began = TargetConnection(HERE, connect=connect), loop.time()
        for number in range(times):
            more = (lambda: b"again") if again else None
            link.exchange(b"first", 5.0, replies.append, more)
            while len(replies) <= number:  # noqa: ASYNC110  the time of this loop is none
                await asyncio.sleep(0.01)
        link.close()
        assert all(not wire.open for wire in wires if isinstance(wire, DialledWire))
        return loop.time() - began

    loop = VirtualLoop()
    try:
        seconds = loop.run_until_complete(play())
    finally:
        loop.close()
    return replies[-1], seconds


REFUSES = CannotConnect("connection refused", "unreachable")


@pytest.mark.parametrize(
    ("wires", "times", "again", "status", "trouble", "error", "sent"),
    [
        ([DialledWire([DONE])], 1, True, 200, None, None, 1),
        ([DialledWire([DONE, DONE])], 2, True, 200, None, None, 1),
        ([REFUSES], 1, True, None, "unreachable", "connection refused", 0),
        ([CannotConnect("no", "forbidden")], 1, True, None, "forbidden", "no", 0),
        ([DialledWire([CLOSED])], 1, True, None, "closed", CLOSED.text, 1),
        ([DialledWire([DONE, CLOSED]), DialledWire([DONE])], 2, True, 200, None, None, 2),
        (
            [DialledWire([DONE, CLOSED]), DialledWire([CLOSED])],
            2,
            True,
            None,
            "closed",
            CLOSED.text,
            2,
        ),
        ([DialledWire([DONE, CLOSED]), REFUSES], 2, True, None, "closed", "connection refused", 1),
        ([DialledWire([DONE, CLOSED])], 2, False, None, "closed", CLOSED.text, 1),
        (
            [DialledWire([DONE, BrokenExchange("closed", "in mid-answer", begun=True)])],
            *(2, True, None, "closed", "in mid-answer", 1),
        ),
        (
            [DialledWire([DONE, BrokenExchange("unreadable", "no")])],
            2,
            True,
            None,
            "unreadable",
            "no",
            1,
        ),
    ],
)
def test_what_an_exchange_comes_to(
    wires: list[Any],
    times: int,
    again: bool,
    status: int | None,
    trouble: str | None,
    error: str | None,
    sent: int,
) -> None:
    """R124: a request goes once more only where a kept connection was closed, and both count."""
    reply, _ = exchange(*wires, times=times, again=again)
    assert (reply.status, reply.trouble, reply.error, reply.sent) == (status, trouble, error, sent)
    assert reply.body in (b"", b"whsec_\xe2\x80\xa6cccc")  # R126
    requests = [one for wire in wires if isinstance(wire, DialledWire) for one in wire.sent]
    firsts = times if sent else 0
    assert requests == [b"first"] * firsts + [b"again"] * (len(requests) - firsts)


@pytest.mark.parametrize(
    ("wire", "status", "trouble", "error"),
    [
        ("hangs", None, "unreachable", "no connection in time"),
        (DialledWire(), None, "timeout", "no answer in time"),
        (DialledWire(so_far=TargetAnswer(202, b"half", reusable=False)), 202, None, None),
    ],
)
def test_an_exchange_ends_in_time(
    wire: Any, status: int | None, trouble: str | None, error: str | None
) -> None:
    """With what the target has said by then; its body is let go."""
    reply, seconds = exchange(wire)
    assert (reply.status, reply.trouble, reply.error) == (status, trouble, error)
    assert seconds == pytest.approx(5, abs=0.1)
    assert reply.milliseconds == pytest.approx(5000, abs=99)
