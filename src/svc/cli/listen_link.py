"""A listener's tunnel as its event loop sees it: up, down, and moved to another address."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from svc.cli.listen_endpoint import Endpoint
from svc.cli.listen_tunnel import Chosen
from svc.cli.session import Session
from svc.errors import NetworkError, RateLimited, ServerError
from svc.keys.kinds import fingerprint
from svc.listen.listener import Listener
from svc.listen.records import Record, TunnelDown, TunnelUp
from svc.listen.tunnels.provider import Down, Up
from svc.listen.tunnels.tunnel import Change, Tunnel, TunnelBroken
from svc.origin import BaseUrl

_WAIT_SECONDS: Final = 10.0  # until an endpoint is asked for again
_SECRETS_MAX: Final = 2  # that of the endpoint before may have signed what is still on its way

Register = Callable[[BaseUrl], Endpoint]


class Link:
    """A tunnel that is up, and the endpoint at its address."""

    def __init__(self, session: Session, tunnel: Tunnel, url: str, register: Register) -> None:
        """Registers the endpoint.

        Raises:
            SvcError: the service refused, or was not reached.
        """
        self._session = session
        self._tunnel = tunnel
        self._register = register
        self._registered = url  # the tunnel's thread alone looks at it
        self._closing = threading.Event()
        self.address = BaseUrl.parse(url)
        self.endpoint = register(self.address)

    def attach(
        self,
        relay: Listener,
        tell: Callable[[Record], None],
        fail: Callable[[BaseException], None],
    ) -> None:
        """From now on tells the loop that runs; at once, that the tunnel is up."""
        loop = asyncio.get_running_loop()

        def show(change: Change, moved: Endpoint | None) -> None:
            if isinstance(change, TunnelBroken):
                fail(change.error)
                return
            if isinstance(change, Up) and moved is not None:
                self._move(relay, BaseUrl.parse(change.url), moved)
            tell(self._record(change))

        def told(change: Change) -> None:
            moved = self._moved(change, told)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(show, change, moved)

        tell(self._record(Up(str(self.address))))
        self._tunnel.follow(told)

    def close(self) -> None:
        """Asks for no other endpoint any more."""
        self._closing.set()

    def _moved(self, change: Change, told: Callable[[Change], None]) -> Endpoint | None:
        """Registers the endpoint at another address; waits for a service that is away."""
        if not isinstance(change, Up) or change.url == self._registered:
            return None
        told_before = None
        while True:
            try:
                endpoint = self._register(BaseUrl.parse(change.url))
            except (NetworkError, RateLimited, ServerError) as error:
                down = Down(f"no endpoint at {change.url} yet: {error.message}")
                if down != told_before:
                    told(down)
                told_before = down
                if self._closing.wait(_WAIT_SECONDS):
                    raise
            else:
                self._registered = change.url
                return endpoint

    def _move(self, relay: Listener, address: BaseUrl, endpoint: Endpoint) -> None:
        secrets = dict.fromkeys((*endpoint.secrets, *self.endpoint.secrets))
        relay.move(address.host, tuple(secrets)[:_SECRETS_MAX])
        note = self._session.out.note
        if endpoint.id is None:
            note(f"The tunnel has another address. Deliveries have to go to {endpoint.url}")
        elif endpoint.secrets != self.endpoint.secrets:
            shown = fingerprint(endpoint.secrets[0])
            note(f"The tunnel has another address, and deliveries another signing secret: {shown}")
        self.address, self.endpoint = address, endpoint

    def _record(self, change: Up | Down) -> Record:
        now = self._session.clock.now()
        if isinstance(change, Up):
            return TunnelUp(now, change.url, self.endpoint.id)
        return TunnelDown(now, change.reason, str(self.address))


@contextmanager
def linked(session: Session, chosen: Chosen, port: int, register: Register) -> Iterator[Link]:
    """Keeps a tunnel to a local port up for the length of the block.

    Raises:
        NetworkError: it does not come up.
        SvcError: the endpoint could not be registered.
    """
    session.out.note(f"Starting {chosen.provider.name} as the tunnel: {chosen.path}")
    with Tunnel(chosen.provider, chosen.path, session.env, session.clock) as tunnel:
        link = Link(session, tunnel, tunnel.start(port), register)
        try:
            yield link
        finally:
            link.close()
