"""The webhook receiver: an HTTP server for one path on loopback, with limits and deadlines.

It passes complete requests to its hooks, which verify and store them, and sends their answers.

`listener` starts a `Receiver` whose hooks pass requests to `ingest`, unless a team's log is its
source.
"""

import asyncio
import secrets
import socket
from collections.abc import Iterable
from typing import Final

from svc.errors import LocalError, system_words
from svc.listen.http.requests import HttpHead, Refused
from svc.listen.owners import own
from svc.listen.receiver.connection import Phase, ReceiverConnection, ReceiverHooks
from svc.listen.receiver.slots import Slots
from svc.system.loopback import claim, read_max_sockets

_LOOPBACK_NAMES: Final = (b"127.0.0.1", b"localhost", b"[::1]")
_BACKLOG: Final = 1024  # a full queue makes senders wait a second before they knock again
_SWEEPS_PER_LIMIT: Final = 20  # every 250 ms with the real limits
_AWAITED_SECONDS: Final = 0.1  # between sweeps while a sender waits for its turn
_TOKEN_BYTES: Final = 16  # 128 bits (promise R56)


def make_path() -> str:
    """Makes the random path of the receiver, which cannot be guessed (promise R56)."""
    return f"/hook/{secrets.token_hex(_TOKEN_BYTES)}"


def bind(port: int = 0) -> socket.socket:
    """Binds a port on 127.0.0.1, where connections queue from then on (promise R55).

    Raises:
        LocalError: the port is taken or not allowed.
    """
    taken = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        claim(taken)
        taken.bind(("127.0.0.1", port))
        taken.listen(_BACKLOG)
    except OSError as error:
        taken.close()
        raise LocalError(
            f"Port {port} of this machine cannot be used: {system_words(error)}.",
            code="port_unavailable",
        ) from error
    return taken


class HeadCheck:
    """Accepts or refuses a request by its head: host, origin, method and path (R55, R56)."""

    def __init__(self, path: str, hosts: Iterable[str]) -> None:
        self._target = path.encode()
        self._hosts = {*_LOOPBACK_NAMES, *(host.lower().encode() for host in hosts)}

    def admit(self, host: str) -> None:
        """Accepts a further host name: a tunnel may reconnect with another address."""
        self._hosts.add(host.lower().encode())

    def check(self, head: HttpHead) -> None:
        """Raises Refused: 421 for another host, 403 for an Origin, 404 for other paths, methods."""
        hosts = head.values(b"host")
        if not hosts or _without_port(hosts[0].lower()) not in self._hosts:
            raise Refused(421)
        if head.values(b"origin"):
            raise Refused(403)
        if head.method != b"POST" or not secrets.compare_digest(head.target, self._target):
            raise Refused(404)


class Receiver:
    """Serves one bound socket until it is closed; any client may connect."""

    died = None  # no stranger ends it

    def __init__(self, hooks: ReceiverHooks, bound: socket.socket) -> None:
        self._hooks = hooks
        self._bound = bound
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.TimerHandle | None = None
        limits = hooks.limits
        self._slots = Slots(limits.connections, limits.reserved, limits.contended_seconds)
        self._most = min(hooks.limits.sockets, read_max_sockets() // 2)
        self._open: set[ReceiverConnection] = set()

    async def start(self) -> None:
        """Accepts connections, with those that have queued since `bind`."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._admit, sock=self._bound, backlog=_BACKLOG)
        self._sweep()

    async def stop_accepting(self) -> None:
        """Stops accepting connections; open connections continue."""
        if self._server is not None:
            self._server.close()

    async def close(self) -> None:
        """Closes every connection after its pending answers are sent."""
        await self.stop_accepting()
        for connection in tuple(self._open):
            connection.finish()
        if self._sweeper is not None:
            self._sweeper.cancel()

    @property
    def connections(self) -> int:
        """The number of open connections."""
        return len(self._open)

    def _admit(self) -> ReceiverConnection:
        """Accepts a connection; at the limit the oldest silent connection is closed."""
        if len(self._open) >= self._most:
            silent = [one for one in self._open if one.phase in (Phase.SILENT, Phase.LINGER)]
            if silent:
                min(silent, key=lambda one: one.since).cut()
        return ReceiverConnection(self._hooks, self._slots, self._open)

    def _sweep(self) -> None:
        """Ends connections that are past their deadline; repeats itself at intervals."""
        loop, limits = asyncio.get_running_loop(), self._hooks.limits
        pause = min(limits.head_seconds, limits.body_seconds, limits.answer_seconds)
        pause /= _SWEEPS_PER_LIMIT
        if self._slots.contested:
            pause = min(pause, _AWAITED_SECONDS)
        self._sweeper = loop.call_later(pause, own(self._sweep))
        for connection in tuple(self._open):
            connection.expire(loop.time())
        self._slots.relieve()


def _without_port(host: bytes) -> bytes:
    name, colon, port = host.rpartition(b":")
    return name if colon and port.isdigit() else host
