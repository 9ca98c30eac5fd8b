"""One HTTP connection: sends a request, reads its answer, and tells whether it can be reused.

`sockets` opens it and keeps it between two requests; bytes are encoded and parsed by `http`.
"""

import socket
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from svc.client.exchange import (
    BODY_MAX,
    Collector,
    Deadline,
    RawReply,
    Trouble,
    WireBroken,
    WireRequest,
)
from svc.client.wire.http import HttpExchange, NotHttp
from svc.errors import system_words
from svc.redaction import one_line
from svc.service.facts import is_success
from svc.system import signals

_READ = 64 * 1024
_DETAIL_MAX = 120
_BODILESS = (204, 304)
_FRAMING = frozenset(("content-length", "transfer-encoding"))
_REFUSALS = {407: Trouble.PROXY_LOGIN}

_Part = TypeVar("_Part")


class Connection:
    """A connected socket that speaks HTTP/1.1 and accepts bodies of at most `body_max` bytes.

    Attributes:
        sent: whether any byte of the present request may have been sent (promise R10).
        received: whether any byte of its answer was received.
    """

    def __init__(self, sock: socket.socket, body_max: int = BODY_MAX) -> None:
        sock.setblocking(False)  # it is waited for beside a signal
        self._sock = sock
        self._body_max = body_max
        self._http: HttpExchange | None = None
        self._ended = False
        self._whole = False
        self.sent = False
        self.received = False

    def exchange(self, request: WireRequest, deadline: Deadline) -> RawReply:
        """Sends a request and reads its answer; raises WireBroken: no complete answer came."""
        self.sent = self.received = False
        self._http = http = HttpExchange(request)
        self._send(http.encode(), deadline)
        status, headers = self._read(http, http.head, deadline)
        body = Collector(status, headers, request.answer_max or self._body_max, request.file)
        while not body.full and (data := self._read(http, http.piece, deadline)):
            body.add(data)
        # The end of a body of another kind cannot be told from a broken connection.
        is_delimited = status in _BODILESS or not _FRAMING.isdisjoint(dict(headers))
        return RawReply(status, headers, body.finish(), is_delimited and not body.full)

    def tunnel(
        self, place: str, proxy: str, authorization: str | None, limit: Deadline
    ) -> socket.socket:
        """Asks a `proxy` to connect to `place` (host:port); returns the socket of the tunnel.

        Raises:
            WireBroken: PROXY or PROXY_LOGIN if the proxy refuses, NO_CONNECTION if it could not
                connect, NO_PROXY if it does not answer.
        """
        headers = [("Host", place)]
        if authorization is not None:
            headers.append(("Proxy-Authorization", authorization))
        http = HttpExchange(WireRequest("CONNECT", place, tuple(headers)))
        self._send(http.encode(), limit)
        try:
            status, _ = self._read(http, http.head, limit)
        except WireBroken as broken:
            raise WireBroken(Trouble.NO_PROXY, f"{proxy} does not answer") from broken
        if is_success(status):
            return self._sock
        kind = _REFUSALS.get(status, Trouble.NO_CONNECTION if status >= 500 else Trouble.PROXY)  # noqa: PLR2004
        raise WireBroken(kind, f"the proxy {proxy} answered {status}")

    def can_be_reused(self) -> bool:
        """Whether the connection can be reused for another request after this answer."""
        # Bytes beyond the answer would be read as the answer to the next request.
        clean = self._http is not None and self._http.is_clean()
        return clean and self._whole and not self._ended

    def is_quiet(self) -> bool:
        """Whether the server has neither closed the connection nor sent unrequested bytes."""
        # Below TLS on purpose: any byte, a closing alert too, means that the line is spent.
        try:
            return not signals.wait_ready(self._sock.fileno(), 0)
        except (OSError, ValueError):
            return False

    def close(self) -> None:
        """Closes the socket."""
        self._sock.close()

    def _send(self, data: bytes, deadline: Deadline) -> None:
        """Sends the bytes of a request, as far as the connection accepts them.

        An error is ignored here: a server that refuses a request early closes the connection while
        svc is still sending, and its answer can be read all the same. Reading finds other errors.
        """
        rest = memoryview(data)
        with suppress(OSError):  # TimeoutError is one
            while rest:
                _seconds_left(deadline)
                signals.raise_if_stopped()
                # Before the call, not after: a failing send may have sent something.
                self.sent = True
                try:
                    rest = rest[self._sock.send(rest) :]
                except OSError as error:
                    await_turn(self._sock, error, deadline, write=True)
        self._whole = not rest

    def _read(
        self, http: HttpExchange, part: Callable[[], _Part | None], deadline: Deadline
    ) -> _Part:
        """Returns the next part of the answer; receives bytes until it is complete."""
        while True:
            try:
                found = part()
            except NotHttp as error:
                if self._ended:
                    raise WireBroken(self._classify_end()) from None
                raise WireBroken(Trouble.GARBLED, one_line(str(error), _DETAIL_MAX)) from None
            if found is not None:
                return found
            self._fill(http, deadline)

    def _fill(self, http: HttpExchange, deadline: Deadline) -> None:
        try:
            data = self._receive(deadline)
        except TimeoutError:
            raise WireBroken(Trouble.TIMEOUT) from None
        except OSError as error:
            raise WireBroken(self._classify_end(), system_words(error)) from None
        self.received = self.received or bool(data)
        self._ended = not data
        http.feed(data)

    def _receive(self, deadline: Deadline) -> bytes:
        if not _is_held(self._sock) and not signals.wait_ready(self._sock, _seconds_left(deadline)):
            raise TimeoutError
        while True:
            try:
                return self._sock.recv(_READ)
            except OSError as error:
                await_turn(self._sock, error, deadline, write=False)

    def _classify_end(self) -> Trouble:
        return Trouble.TRUNCATED if self.received else Trouble.CLOSED


def await_turn(sock: socket.socket, error: OSError, deadline: Deadline, *, write: bool) -> None:
    """Waits until a socket is ready after `error`; `write` is whether a plain socket was sending.

    Raises:
        OSError: `error`, if it does not say that the socket was not ready.
        TimeoutError: the deadline has passed.
        Stopped: a signal came.
    """
    if isinstance(error, BlockingIOError):
        pass
    elif hasattr(sock, "pending"):  # TLS: it may have to read in order to write
        import ssl

        if not isinstance(error, ssl.SSLWantReadError | ssl.SSLWantWriteError):
            raise error
        write = isinstance(error, ssl.SSLWantWriteError)
    else:
        raise error
    if not signals.wait_ready(sock, _seconds_left(deadline), write=write):
        raise TimeoutError


def _is_held(sock: socket.socket) -> bool:
    """Whether TLS has decrypted bytes that were not read yet, so that none need to arrive."""
    pending: Callable[[], int] | None = getattr(sock, "pending", None)
    return pending is not None and pending() > 0


def _seconds_left(deadline: Deadline) -> float:
    left = deadline.seconds_left()
    if left <= 0:
        raise TimeoutError
    return left
