"""Chooses a listener's tunnel, and keeps its endpoint registered: a sandbox may be reset, too.

A tunnel program (cloudflared, ngrok, ssh) leads from a public address to the listener's local port.
`run` calls `choose`: options in, a `ChosenTunnel` out, or None where the service is on this machine
or the user runs a tunnel. It opens an `EndpointLink` or a `TunnelLink`, each with threads that
watch, and `loop` attaches it to the listener. When the public address changes or the sandbox has
forgotten the endpoint, it is registered again (`endpoint`), and the listener takes the new address
and secrets. `SignatureWatch` counts failed signatures, a sign that the secret was rolled.
"""

import asyncio
import shlex
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from svc.base_url import BaseUrl
from svc.cli.events.endpoint import Endpoint
from svc.cli.events.options import ListenOptions, TunnelOption
from svc.cli.events.secrets import SECRETS_MAX
from svc.cli.framework.session import Session
from svc.errors import LocalError, NetworkError, RateLimited, ServerError, SvcError, UsageError
from svc.listen.listener import Listener
from svc.listen.output_records import EventReceived, ListenerRecord, Rejected, TunnelDown, TunnelUp
from svc.listen.owners import own
from svc.listen.tunnels.cloudflared import Cloudflared
from svc.listen.tunnels.ngrok import Ngrok
from svc.listen.tunnels.program import find_installed
from svc.listen.tunnels.provider import Down, Provider, Up
from svc.listen.tunnels.ssh import Ssh
from svc.listen.tunnels.tunnel import Tunnel, TunnelChange

_OWN: Final = "or run any tunnel and name it: --public-url https://... --port 4000"


@dataclass(frozen=True, slots=True)
class ChosenTunnel:
    """A tunnel program of this machine; `address` is None until the program announces it."""

    provider: Provider
    path: str
    address: BaseUrl | None

    @property
    def way(self) -> str:
        """Program and address as a text; listeners with different texts are told apart by it."""
        return f"{self.provider.name} {self.address or ''}".strip()


def choose(session: Session, options: ListenOptions, *, sandbox: bool) -> ChosenTunnel | None:
    """Returns the tunnel to start; None where the service needs none, or the user runs one.

    Raises:
        UsageError: the service cannot reach this machine, or the options contradict each other.
        LocalError: the program is not installed.
    """
    if options.tunnel.kind == "auto":
        return _choose_automatic(session, options, sandbox=sandbox)
    if options.tunnel.kind == "none":
        if _is_reached(session, options, sandbox=sandbox):
            return None
        raise UsageError(
            f"{session.base_url.origin} cannot reach this machine.",
            code="public_url_missing",
            param="--public-url",
            hint="Run a tunnel to a port of your choice and give both: --public-url https://... "
            "--port 4000",
        )
    provider, address = _provider(options.tunnel, options.public_url)
    path = find_installed(provider.program, session.env.get("PATH", ""))
    if path is None:
        raise LocalError(
            f"{provider.program} is not installed: no folder of PATH holds it.",
            code="tunnel_program_missing",
            param="--tunnel",
            hint=f"Install {provider.program}, {_OWN}",
        )
    return ChosenTunnel(provider, path, address)


def _choose_automatic(
    session: Session, options: ListenOptions, *, sandbox: bool
) -> ChosenTunnel | None:
    if _is_reached(session, options, sandbox=sandbox):
        return None
    if session.base_url.is_clear:
        raise UsageError(
            f"The sandbox at {session.base_url.origin} sends webhooks to its own machine only.",
            code="public_url_missing",
            param="--base-url",
            hint="Listen where it runs, as with network_mode: service:NAME, see: svc help ci",
        )
    for provider in (Cloudflared(), Ngrok()):
        path = find_installed(provider.program, session.env.get("PATH", ""))
        if path is not None:
            return ChosenTunnel(provider, path, None)
    raise UsageError(
        f"{session.base_url.origin} cannot reach this machine, and neither cloudflared nor ngrok "
        "is installed.",
        code="public_url_missing",
        param="--tunnel",
        hint=f"Install one of them, use --tunnel ssh:HOST, {_OWN}",
    )


def _provider(wanted: TunnelOption, public_url: BaseUrl | None) -> tuple[Provider, BaseUrl | None]:
    server = wanted.destination
    if server is not None:
        if public_url is None and server.public_url is None:
            raise UsageError(
                f"{server.host} does not say under which address its web server is known.",
                code="public_url_missing",
                param="--public-url",
                hint=f"Name what leads to 127.0.0.1:{server.port} there: --public-url https://...",
            )
        address = public_url or BaseUrl.parse(server.public_url or "")
        return Ssh(server, str(address)), address
    if wanted.kind == "ngrok":
        return Ngrok(str(public_url) if public_url else None), public_url
    if public_url is not None:
        raise UsageError(
            "A tunnel by cloudflared has an address of Cloudflare's choice.",
            param="--public-url",
            hint="Run your own Cloudflare tunnel and use --tunnel none with --public-url",
        )
    return Cloudflared(), None


def _is_reached(session: Session, options: ListenOptions, *, sandbox: bool) -> bool:
    """A service of this machine reaches it; so does one that the user has shown the way."""
    local = sandbox or session.base_url.is_loopback
    return local or options.public_url is not None or bool(options.secrets)


WAIT_SECONDS: Final = 10.0  # until an endpoint is asked for again

Register = Callable[[BaseUrl], Endpoint]


_LOOK_SECONDS: Final = 1.0
_TELL_SECONDS: Final = 4.0  # the pause behind the second look in vain
_MOST_SECONDS: Final = 8.0  # between looks at a sandbox that does not answer
_END_SECONDS: Final = 0.5  # promise R78: stopped in under a second, whatever the sandbox does


class EndpointLink:
    """The endpoint of a listener, and a thread that has it registered again after a reset.

    Without a tunnel deliveries come to this machine by themselves; see `TunnelLink`.

    Attributes:
        renew: asks a sandbox whether it has forgotten the endpoint, and returns the one that had to
            be registered, or None; it is called every second.
        absent: called once with the error when the sandbox has not answered for some seconds, and
            with None when it answers again.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.renew: Callable[[], Endpoint | None] | None = None
        self.absent: Callable[[SvcError | None], None] = lambda _: None
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def host(self) -> str:
        """The public name of this machine."""
        return "127.0.0.1"

    def attach(
        self,
        listener: Listener,
        emit: Callable[[ListenerRecord], None],  # noqa: ARG002  of a tunnel
        fail: Callable[[BaseException], None],  # noqa: ARG002
    ) -> None:
        """From now on tells the listener that runs in this loop."""
        if self.renew is not None:
            told = (asyncio.get_running_loop(), listener, self.renew)
            self._thread = threading.Thread(target=self._watch, args=told, daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Ends the thread; registers nothing from now on."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(_END_SECONDS)

    def _watch(
        self,
        loop: asyncio.AbstractEventLoop,
        listener: Listener,
        renew: Callable[[], Endpoint | None],
    ) -> None:
        pause = _LOOK_SECONDS
        while not self._closing.wait(pause):
            try:
                renewed = renew()
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
                    loop.call_soon_threadsafe(own(self._take), listener, renewed)

    def _take(self, listener: Listener, endpoint: Endpoint) -> None:
        """Has the listener verify with the secrets of an endpoint, and of the one before it.

        Those of the one before may have signed what is still on its way.
        """
        both = dict.fromkeys((*endpoint.secrets, *self.endpoint.secrets))
        listener.move(self.host, tuple(both)[:SECRETS_MAX])
        self.endpoint = endpoint


class TunnelLink(EndpointLink):
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
        self.address = BaseUrl.parse(url)
        super().__init__(register(self.address))
        self._session = session
        self._tunnel = tunnel
        self._register = register
        self._wait_seconds = wait_seconds
        self._registered = url  # the tunnel's thread alone looks at it

    @property
    def host(self) -> str:
        """The name in the tunnel's address."""
        return self.address.host

    def attach(
        self,
        listener: Listener,
        emit: Callable[[ListenerRecord], None],
        fail: Callable[[BaseException], None],
    ) -> None:
        """Passes changes of the tunnel to the listener from now on; emits at once that it is up."""
        super().attach(listener, emit, fail)
        loop = asyncio.get_running_loop()

        def show(change: TunnelChange, moved: Endpoint | None) -> None:
            if isinstance(change, Exception):
                fail(change)
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
        self.address = address
        self._take(listener, endpoint)
        if endpoint.id is None:
            words = f"The tunnel has another address. Deliveries have to go to {endpoint.url}"
            self._session.out.note(words)

    def _record(self, change: Up | Down) -> ListenerRecord:
        now = self._session.clock.now()
        if isinstance(change, Up):
            return TunnelUp(now, change.url, self.endpoint.id)
        return TunnelDown(now, str(self.address), change.reason)


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


_MISMATCHES: Final = 3  # in a row: one may be anybody's


@dataclass(slots=True)
class SignatureWatch:
    """Counts signatures that do not match; after three in a row it calls `warn` with advice.

    The API shows a secret only when its endpoint is made, so a rolled secret has to come from the
    person who rolled it. A local sandbox shows it, and `EndpointLink` takes it instead.
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
                command = shlex.join(("svc", *self.argv))
                whose, old = "the endpoint", "OLD"
                if self.endpoint.id is not None:
                    whose, old = self.endpoint.id, f'"$({self.again} --print-secret)"'
                self.warn(
                    f"{_MISMATCHES} deliveries in a row were signed with another secret. If that "
                    f"of {whose} was rolled, stop and go on with both, NEW being the new one: "
                    f"SVC_WEBHOOK_SECRET=NEW,{old} {command}"
                )
