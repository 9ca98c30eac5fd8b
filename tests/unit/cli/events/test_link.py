"""A tunnel and the listener's loop: what is told, and when an endpoint cannot be had."""

import asyncio
import io
import threading
from collections.abc import Callable
from typing import cast

from support.clocks import ManualClock
from support.listening import SECRET
from svc.base_url import BaseUrl
from svc.cli.events.endpoint import Endpoint
from svc.cli.events.link import TunnelLink
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.errors import Forbidden, NetworkError
from svc.listen.listener import Listener
from svc.listen.output_records import ListenerRecord, TunnelDown, TunnelUp
from svc.listen.tunnels.provider import Down, Up
from svc.listen.tunnels.tunnel import Tunnel, TunnelChange

NEW = "whsec_test_Zq8LmX2vTn5RkW9yB4cJ7dHs"


class _FakeTunnel:
    """Stands for the watching thread: tells what it is told to tell, on a thread of its own."""

    def __init__(self, *changes: TunnelChange) -> None:
        self._changes = changes

    def follow(self, told: Callable[[TunnelChange], None]) -> None:
        threading.Thread(target=self._tell, args=(told,)).start()

    def _tell(self, told: Callable[[TunnelChange], None]) -> None:
        for change in self._changes:
            told(change)


class _FakeRelay:
    def __init__(self) -> None:
        self.moves: list[tuple[str, tuple[str, ...]]] = []

    def move(self, host: str, secrets: tuple[str, ...]) -> None:
        self.moves.append((host, secrets))


class _EndpointService:
    """Registers endpoints, or answers with the errors that it was given first."""

    def __init__(self, *errors: Exception) -> None:
        self._errors = list(errors)
        self.registered: list[str] = []

    def register(self, address: BaseUrl) -> Endpoint:
        if self.registered and self._errors:
            raise self._errors.pop(0)
        self.registered.append(str(address))
        number = len(self.registered)
        return Endpoint(f"we_{number}", str(address), (SECRET if number == 1 else NEW,), "here")


def followed(
    service: _EndpointService, *changes: TunnelChange
) -> tuple[list[ListenerRecord], list[object], _FakeRelay, str]:
    """What a loop hears of these changes: records, errors; how the relay moved; and stderr."""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    records: list[ListenerRecord] = []
    errors: list[object] = []
    relay = _FakeRelay()

    async def listen(session: Session) -> None:
        tunnel = cast("Tunnel", _FakeTunnel(*changes))
        link = TunnelLink(session, tunnel, "https://first.example", service.register, 0.01)
        ended = asyncio.Event()

        def tell(record: ListenerRecord) -> None:
            records.append(record)
            if len(records) > 1 and isinstance(record, TunnelUp):
                ended.set()

        def fail(error: BaseException) -> None:
            errors.append(error)
            ended.set()

        link.attach(cast("Listener", relay), tell, fail)
        async with asyncio.timeout(60):
            await ended.wait()

    with Session((), {}, streams, ManualClock()) as session:
        asyncio.run(listen(session))
    assert isinstance(streams.stderr, io.StringIO)
    return records, errors, relay, streams.stderr.getvalue()


def test_same_address_keeps_its_endpoint() -> None:
    """A link that comes back where it was needs nothing from the service."""
    service = _EndpointService()
    records, errors, relay, said = followed(service, Down("cut"), Up("https://first.example"))
    assert [type(record) for record in records] == [TunnelUp, TunnelDown, TunnelUp]
    assert (service.registered, relay.moves, errors, said) == (
        ["https://first.example"],
        [],
        [],
        "",
    )


def test_other_address_is_up_when_its_endpoint_is_registered() -> None:
    """The relay takes the new host and both secrets; no secret is shown."""
    records, _, relay, said = followed(_EndpointService(), Up("https://second.example"))
    assert records[1:] == [TunnelUp(records[1].time, "https://second.example", "we_2")]
    assert relay.moves == [("second.example", (NEW, SECRET))]
    assert NEW not in said


def test_service_that_is_away_is_asked_again() -> None:
    """The link stays down, with the reason, until the endpoint for its new address is there."""
    service = _EndpointService(*(NetworkError("it was not reached") for _ in range(3)))
    records, errors, relay, _ = followed(service, Up("https://second.example"))
    down = TunnelDown(
        records[0].time,
        "https://first.example",
        "no endpoint at https://second.example yet: it was not reached",
    )
    assert records[1:-1] == [down]
    assert records[-1] == TunnelUp(records[0].time, "https://second.example", "we_2")
    assert (len(relay.moves), errors) == (1, [])


def test_broken_tunnel_ends_the_listener() -> None:
    """What no new attempt will mend, such as a key without the permission, is an error."""
    refused = Forbidden("The key may not register endpoints.")
    assert followed(_EndpointService(), refused)[1] == [refused]
