"""Keeps a running listener's endpoint registered: the tunnel may move, a sandbox be reset.

`run` opens a `TunnelLink` or a `LocalLink`, each with threads that watch, and `loop` attaches it to
the listener. When the public address changes or the sandbox has forgotten the endpoint, it is
registered again (`register`), and the listener takes the new address and secrets.
`SignatureWatch` counts failed signatures, a sign that the secret was rolled.
"""

import asyncio
import shlex
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from svc.base_url import BaseUrl
from svc.cli.events.endpoint import SECRETS_MAX, Endpoint
from svc.cli.events.tunnel import ChosenTunnel
from svc.cli.framework.session import Session
from svc.errors import NetworkError, RateLimited, ServerError, SvcError
from svc.listen.listener import Listener
from svc.listen.output_records import EventReceived, ListenerRecord, Rejected, TunnelDown, TunnelUp
from svc.listen.owners import own
from svc.listen.tunnels.provider import Down, Up
from svc.listen.tunnels.tunnel import Tunnel, TunnelBroken, TunnelChange

WAIT_SECONDS: Final = 10.0  # until an endpoint is asked for again

Register = Callable[[BaseUrl], Endpoint]


class TunnelLink:
    """A tunnel that is up, and the endpoint at its address.

    While the service does not answer, the registration is repeated every `wait_seconds`.
    """

    def __init__(
        self,
        session: Session,
        tunnel: Tunnel,
        url: str,
        register: Register,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        """Registers the endpoint; raises SvcError: the service refused, or was not reached."""
        self._session = session
        self._tunnel = tunnel
        self._register = register
        self._wait_seconds = wait_seconds
        self._registered = url  # the tunnel's thread alone looks at it
        self._closing = threading.Event()
        self._watch: SandboxWatch | None = None
        self.address = BaseUrl.parse(url)
        self.endpoint = register(self.address)

    def look_after(
        self, renew: Callable[[], Endpoint | None], absent: Callable[[SvcError | None], None]
    ) -> None:
        """Has the endpoint registered again when a sandbox behind the tunnel was reset."""

        def renewed(listener: Listener, endpoint: Endpoint) -> None:
            listener.move(self.address.host, _both(endpoint, self.endpoint))
            self.endpoint = endpoint

        self._watch = SandboxWatch(renew, absent, renewed)

    def attach(
        self,
        listener: Listener,
        emit: Callable[[ListenerRecord], None],
        fail: Callable[[BaseException], None],
    ) -> None:
        """Passes changes of the tunnel to the listener from now on; emits at once that it is up."""
        if self._watch is not None:
            self._watch.attach(listener)
        loop = asyncio.get_running_loop()

        def show(change: TunnelChange, moved: Endpoint | None) -> None:
            if isinstance(change, TunnelBroken):
                fail(change.error)
                return
            if isinstance(change, Up) and moved is not None:
                self._move(listener, BaseUrl.parse(change.url), moved)
            emit(self._record(change))

        def on_change(change: TunnelChange) -> None:
            moved = self._follow_move(change, on_change)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(own(show), change, moved)

        emit(self._record(Up(str(self.address))))
        self._tunnel.follow(on_change)

    def close(self) -> None:
        """Stops registering and watching."""
        self._closing.set()
        if self._watch is not None:
            self._watch.close()

    def _follow_move(
        self, change: TunnelChange, on_change: Callable[[TunnelChange], None]
    ) -> Endpoint | None:
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
                    on_change(down)
                told_before = down
                if self._closing.wait(self._wait_seconds):
                    raise
            else:
                self._registered = change.url
                return endpoint

    def _move(self, listener: Listener, address: BaseUrl, endpoint: Endpoint) -> None:
        listener.move(address.host, _both(endpoint, self.endpoint))
        if endpoint.id is None:
            words = f"The tunnel has another address. Deliveries have to go to {endpoint.url}"
            self._session.out.note(words)
        self.address, self.endpoint = address, endpoint

    def _record(self, change: Up | Down) -> ListenerRecord:
        now = self._session.clock.now()
        if isinstance(change, Up):
            return TunnelUp(now, change.url, self.endpoint.id)
        return TunnelDown(now, str(self.address), change.reason)


def _both(endpoint: Endpoint, before: Endpoint) -> tuple[str, ...]:
    """The secrets of an endpoint and of the one in whose place it is, as many as count.

    That of the one before may have signed what is still on its way.
    """
    return tuple(dict.fromkeys((*endpoint.secrets, *before.secrets)))[:SECRETS_MAX]


@contextmanager
def open_link(
    session: Session, chosen: ChosenTunnel, port: int, register: Register
) -> Iterator[TunnelLink]:
    """Keeps a tunnel to a local port up, with a registered endpoint, for the length of the block.

    Raises:
        NetworkError: the tunnel does not come up.
        SvcError: the endpoint could not be registered.
    """
    session.out.note(f"Starting {chosen.provider.name} as the tunnel: {chosen.path}")
    with Tunnel(chosen.provider, chosen.path, session.env, session.clock) as tunnel:
        with session.waiting.until(lambda: (f" for {chosen.provider.name}",)):
            address = tunnel.start(port)
        with closing(TunnelLink(session, tunnel, address, register)) as link:
            yield link


_LOOK_SECONDS: Final = 1.0
_TELL_SECONDS: Final = 4.0  # the pause behind the second look in vain
_MOST_SECONDS: Final = 8.0  # between looks at a sandbox that does not answer
_END_SECONDS: Final = 0.5  # promise R78: stopped in under a second, whatever the sandbox does
_HERE: Final = "127.0.0.1"


@dataclass(slots=True)
class SandboxWatch:
    """Asks every second, on a thread of its own, whether the sandbox has forgotten the endpoint.

    `renew` asks the sandbox and returns the endpoint that it had to register, or None; `renewed`
    takes that endpoint in the listener's loop. `absent` is called once with the error when the
    sandbox has not answered for some seconds, and with None when it answers again.
    """

    renew: Callable[[], Endpoint | None]
    absent: Callable[[SvcError | None], None]
    renewed: Callable[[Listener, Endpoint], None]
    _closing: threading.Event = field(init=False, default_factory=threading.Event)
    _thread: threading.Thread | None = field(default=None, init=False)

    def attach(self, listener: Listener) -> None:
        """From now on tells the listener that runs in this loop."""
        loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._look, args=(loop, listener), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Looks no more."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(_END_SECONDS)

    def _look(self, loop: asyncio.AbstractEventLoop, listener: Listener) -> None:
        pause = _LOOK_SECONDS
        while not self._closing.wait(pause):
            try:
                renewed = self.renew()
            except SvcError as error:  # it is away, and may have forgotten when it comes back
                pause = min(2 * pause, _MOST_SECONDS)
                if pause == _TELL_SECONDS and not self._closing.is_set():
                    self.absent(error)
                continue
            if pause >= _TELL_SECONDS:
                self.absent(None)
            pause = _LOOK_SECONDS
            if renewed is not None and not self._closing.is_set():
                with suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(own(self.renewed), listener, renewed)


class LocalLink:
    """The endpoint of a listener without a tunnel of its own, at a sandbox that may be reset."""

    def __init__(
        self,
        endpoint: Endpoint,
        renew: Callable[[], Endpoint | None],
        absent: Callable[[SvcError | None], None],
    ) -> None:
        self.endpoint = endpoint
        self._watch = SandboxWatch(renew, absent, self._take)

    def attach(
        self,
        listener: Listener,
        emit: Callable[[ListenerRecord], None],  # noqa: ARG002  as a tunnel's link is attached
        fail: Callable[[BaseException], None],  # noqa: ARG002
    ) -> None:
        """From now on tells the listener that runs in this loop."""
        self._watch.attach(listener)

    def close(self) -> None:
        """Looks no more."""
        self._watch.close()

    def _take(self, listener: Listener, renewed: Endpoint) -> None:
        listener.move(_HERE, _both(renewed, self.endpoint))
        self.endpoint = renewed


_MISMATCHES: Final = 3  # in a row: one may be anybody's


@dataclass(slots=True)
class SignatureWatch:
    """Counts signatures that do not match; after three in a row it calls `warn` with advice.

    The API shows a secret only when its endpoint is made, so a rolled secret has to come from the
    person who rolled it. A local sandbox shows it, and `LocalLink` takes it instead.
    """

    endpoint: Endpoint
    again: str
    argv: Sequence[str]
    warn: Callable[[str], None]
    _mismatches: int = field(default=0, init=False)

    def hear(self, record: ListenerRecord) -> None:
        """Counts failed signatures among the records of a listener."""
        if isinstance(record, EventReceived):
            self._mismatches = 0
        elif isinstance(record, Rejected) and record.reason == "signature_mismatch":
            self._mismatches += record.cause in ("", record.reason)
            if self._mismatches == _MISMATCHES:
                self.warn(self._sentence())

    def _sentence(self) -> str:
        command = shlex.join(("svc", *self.argv))
        if self.endpoint.id is None:
            whose, old = "the endpoint", "OLD"
        else:
            whose, old = self.endpoint.id, f'"$({self.again} --print-secret)"'
        return (
            f"{_MISMATCHES} deliveries in a row were signed with another secret. If that of "
            f"{whose} was rolled, stop and go on with both, NEW being the new one: "
            f"SVC_WEBHOOK_SECRET=NEW,{old} {command}"
        )
