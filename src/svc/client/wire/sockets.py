"""The wire of commands: sockets, with TLS for https, and one connection that is kept open.

`client`, `sandbox` and `probe` (for `svc doctor`, which makes it) send by a `SocketWire`: a
`WireRequest` in, a `RawReply` or a `Failure` out. It resolves the host, connects (through a proxy
if there is one) and reuses its connection.
"""

import errno
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from svc.base_url import BaseUrl
from svc.client.exchange import (
    BODY_MAX,
    Deadline,
    Failure,
    RawReply,
    Trouble,
    WireBroken,
    WireRequest,
)
from svc.client.wire.connection import Connection
from svc.client.wire.proxy import Proxy, proxy_for
from svc.clock import Clock
from svc.errors import system_error, system_words
from svc.system import signals

if TYPE_CHECKING:
    import ssl
    from threading import Thread

# Servers drop idle connections after 5 s and more; a POST must not meet one that is about to go.
POST_IDLE_MAX = 4.0
# A connection that is under way; the second is how Windows says it.
_BEGUN = (errno.EINPROGRESS, errno.EWOULDBLOCK)


class SocketWire:
    """Carries requests to one origin, one at a time; belongs to one thread.

    In the main thread a signal ends each wait (`system.signals`).

    `proxy` is an address such as `http://proxy.example:3128` or None; `ca_bundle` is a PEM file
    that is trusted besides the system's authorities. Answers have at most `body_max` bytes.
    `expected` is called for each new connection before a byte is sent: whether it leads to the
    right service.
    """

    def __init__(
        self,
        base_url: BaseUrl,
        *,
        clock: Clock,
        proxy: str | None = None,
        ca_bundle: str | None,
        body_max: int = BODY_MAX,
        expected: Callable[[], bool] | None = None,
    ) -> None:
        self._base_url = base_url
        self._body_max = body_max
        self._expected = expected
        self._clock = clock
        self._proxy: Proxy | None = proxy_for(base_url, proxy)
        self._trusted = _trust(base_url, ca_bundle)
        self._kept: Connection | None = None
        self._kept_since = 0.0
        self._last: Connection | None = None
        self._served = 0  # answers that came over the kept connection
        self._closes_each = False  # whether the server closes after each answer

    def exchange(
        self, request: WireRequest, *, deadline: Deadline, connect_seconds: float
    ) -> RawReply | Failure:
        """Sends a request and reads its answer, over the kept connection if it can be reused."""
        kept = self._take(request.method)
        if kept is not None:
            result = self._over(kept, request, deadline)
            was_closed = isinstance(result, Failure) and result.trouble is Trouble.CLOSED
            if not was_closed or kept.received:
                return result
            # A server that closes connections after their first answer: none is kept again.
            self._closes_each = self._closes_each or self._served == 1
            if request.method != "GET":  # only a GET is sent again
                return result
        try:
            line = self._open(deadline.within(connect_seconds))
        except WireBroken as broken:
            return Failure(broken.trouble, sent=False, detail=broken.detail)
        return self._over(line, request, deadline)

    def close(self) -> None:
        """Closes the kept connection."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def _take(self, method: str) -> Connection | None:
        line, self._kept = self._kept, None
        if line is None:
            return None
        idle = self._clock.monotonic() - self._kept_since
        quiet = line.is_quiet()
        if quiet and (method == "GET" or idle < POST_IDLE_MAX):
            return line
        self._closes_each = self._closes_each or (not quiet and self._served == 1)
        line.close()
        return None

    def _over(
        self, line: Connection, request: WireRequest, deadline: Deadline
    ) -> RawReply | Failure:
        try:
            reply = line.exchange(request, deadline)
        except WireBroken as broken:
            line.close()
            return Failure(broken.trouble, sent=line.sent, detail=broken.detail)
        except BaseException:
            line.close()
            raise
        self._served = self._served + 1 if line is self._last else 1
        self._last = line
        if line.can_be_reused() and not self._closes_each:
            self._kept, self._kept_since = line, self._clock.monotonic()
        else:
            line.close()
        return reply

    def _open(self, limit: Deadline) -> Connection:
        via = self._proxy or self._base_url
        try:
            sock = connect(via.host, via.port, limit)
        except WireBroken as broken:
            if self._proxy is None:
                raise
            raise WireBroken(Trouble.NO_PROXY, f"{self._proxy}: {broken.detail}") from broken
        try:
            # After connecting, not before: the port's owner cannot change while we are connected.
            if self._expected is not None and not self._expected():
                raise WireBroken(Trouble.STRANGER)  # noqa: TRY301  closed below, as for any reason
            return Connection(self._shake_hands(sock, limit), self._body_max)
        except BaseException:
            sock.close()
            raise

    def _shake_hands(self, sock: socket.socket, limit: Deadline) -> socket.socket:
        if self._trusted is None:
            return sock
        from svc.client.wire.tls import shake_hands

        if self._proxy is not None:
            host = self._base_url.host
            place = f"{f'[{host}]' if ':' in host else host}:{self._base_url.port}"
            proxy = self._proxy
            sock = Connection(sock).tunnel(place, str(proxy), proxy.authorization, limit)
        return shake_hands(sock, self._base_url.host, self._trusted, limit)


def _trust(base_url: BaseUrl, ca_bundle: str | None) -> "ssl.SSLContext | None":
    if base_url.scheme != "https":
        return None
    from svc.client.wire.tls import context

    return context(ca_bundle)


SocketAddress: TypeAlias = tuple[socket.AddressFamily, tuple[str | int | bytes, ...]]


def connect(host: str, port: int, limit: Deadline) -> socket.socket:
    """Connects to the first address that answers; raises WireBroken: NO_ADDRESS, NO_CONNECTION."""
    found = addresses(host, port, limit)
    reasons: dict[str, None] = {}
    for index, address in enumerate(found):
        share = limit.seconds_left() / (len(found) - index)
        try:
            return _open_connection(address, share)
        except TimeoutError:
            reasons["timed out"] = None
        except OSError as error:
            reasons[system_words(error)] = None
    raise WireBroken(Trouble.NO_CONNECTION, ", ".join(reasons))


def addresses(host: str, port: int, limit: Deadline) -> list[SocketAddress]:
    """Returns the addresses of a host, best first.

    `localhost` is always this machine, even if a resolver has another address (promise R21).

    Raises:
        WireBroken: NO_ADDRESS.
    """
    if host == "localhost":
        return [(socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET6, ("::1", port))]
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        return [(family, (host, port))]
    return _resolve_host(host, port, limit)


def _resolve_host(host: str, port: int, limit: Deadline) -> list[SocketAddress]:
    """Calls the resolver in a thread, because its call has no time limit."""
    from threading import Thread

    answers: list[list[SocketAddress]] = []
    errors: list[OSError] = []

    def look() -> None:
        try:
            # Bytes, because text would pass through the slow import of the IDNA tables.
            found = socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM)
            answers.append([(family, address) for family, _, _, _, address in found])
        except OSError as error:
            errors.append(error)

    thread = Thread(target=look, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        raise WireBroken(Trouble.NO_ADDRESS, "the system starts no more threads") from None
    signals.wait(lambda seconds: _has_ended(thread, seconds), max(0.0, limit.seconds_left()))
    if answers:
        return answers[0]
    raise WireBroken(
        Trouble.NO_ADDRESS, system_words(errors[0]) if errors else "the look-up timed out"
    )


def _has_ended(thread: "Thread", seconds: float) -> bool:
    thread.join(seconds)
    return not thread.is_alive()


def _open_connection(address: SocketAddress, seconds: float) -> socket.socket:
    if seconds <= 0:
        raise TimeoutError
    family, place = address
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        refused = sock.connect_ex(place)
        if refused in _BEGUN:
            if not signals.wait_ready(sock, seconds, write=True):
                raise TimeoutError  # noqa: TRY301  closed below, as for any reason
            refused = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if refused:
            raise system_error(refused)  # noqa: TRY301
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        sock.close()
        raise
    return sock
