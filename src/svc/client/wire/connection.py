"""One connection: a request out, its answer in, and whether it can serve another."""

import socket
from contextlib import suppress

import h11

from svc.client.exchange import (
    BODY_MAX,
    Collector,
    Deadline,
    Headers,
    RawReply,
    Trouble,
    WireBroken,
    WireRequest,
    is_success,
)
from svc.client.text import one_line
from svc.errors import system_words

HEADER_MAX = 64 * 1024
_READ = 64 * 1024
_DETAIL_MAX = 120
_BODILESS = (204, 304)


class Connection:
    """A connected socket that speaks HTTP/1.1 and takes bodies of at most `body_max` bytes.

    Attributes:
        sent: whether any byte of the present request may have left (promise R10).
        received: whether any byte of its answer came.
    """

    def __init__(self, sock: socket.socket, body_max: int = BODY_MAX) -> None:
        self._sock = sock
        self._body_max = body_max
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEADER_MAX)
        self._ended = False
        self._whole = False
        self.sent = False
        self.received = False

    def exchange(self, request: WireRequest, deadline: Deadline) -> RawReply:
        """Sends a request and reads its answer.

        Raises:
            WireBroken: when no whole answer came.
        """
        self.sent = self.received = False
        self._send(self._framed(request), deadline)
        return self._answer(deadline, request.answer_max or self._body_max)

    def tunnel(self, place: str, authorization: str | None, limit: Deadline) -> socket.socket:
        """Asks a proxy to connect to `place` (host:port); gives the socket to use from then on.

        Raises:
            WireBroken: PROXY when it refuses, NO_CONNECTION when it could not connect.
        """
        headers = [("Host", place)]
        if authorization is not None:
            headers.append(("Proxy-Authorization", authorization))
        ask = WireRequest("CONNECT", place, tuple(headers))
        self._send(self._framed(ask), limit)
        try:
            status = self._head(limit).status_code
        except WireBroken as broken:
            raise WireBroken(Trouble.NO_CONNECTION, "the proxy does not answer") from broken
        if is_success(status):
            return self._sock
        kind = Trouble.NO_CONNECTION if status >= 500 else Trouble.PROXY  # noqa: PLR2004
        raise WireBroken(kind, f"the proxy answered {status}")

    def renew(self) -> bool:
        """Makes the line ready for another request; false if it cannot serve one."""
        both_done = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        # Bytes beyond the answer would be read as the answer to the next request.
        if not (both_done and self._whole) or self._ended or self._http.trailing_data[0]:
            return False
        self._http.start_next_cycle()
        return True

    def is_quiet(self) -> bool:
        """Whether the server has neither closed the line nor said anything unasked."""
        self._sock.settimeout(0)
        try:
            # Below TLS on purpose: any byte, a closing alert too, means that the line is spent.
            socket.socket.recv(self._sock, 1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def close(self) -> None:
        """Closes the socket."""
        self._sock.close()

    def _framed(self, request: WireRequest) -> bytes:
        head = h11.Request(
            method=request.method, target=request.target, headers=list(request.headers)
        )
        parts = [self._http.send(head)]
        if request.body:
            parts.append(self._http.send(h11.Data(data=request.body)))
        parts.append(self._http.send(h11.EndOfMessage()))
        return b"".join(part or b"" for part in parts)

    def _send(self, data: bytes, deadline: Deadline) -> None:
        """Sends what can be sent.

        A failure is left for the reading that follows to find: a server that refuses a request
        early closes while we still send, and then its answer is there all the same.
        """
        rest = memoryview(data)
        with suppress(OSError):  # TimeoutError is one
            while rest:
                self._sock.settimeout(_seconds_left(deadline))
                # Before the call, not after: a failing send may have sent something.
                self.sent = True
                rest = rest[self._sock.send(rest) :]
        self._whole = not rest

    def _answer(self, deadline: Deadline, most: int) -> RawReply:
        head = self._head(deadline)
        headers = _headers(head)
        body = Collector(head.status_code, headers, most)
        while not body.full:
            event = self._event(deadline)
            if isinstance(event, h11.EndOfMessage):
                break
            if not isinstance(event, h11.Data):
                raise WireBroken(Trouble.GARBLED)
            body.add(bytes(event.data))
        complete = not body.full and _is_delimited(head.status_code, headers)
        return RawReply(head.status_code, headers, body.finish(), complete)

    def _head(self, deadline: Deadline) -> h11.Response:
        while True:
            event = self._event(deadline)
            if isinstance(event, h11.Response):
                return event
            if not isinstance(event, h11.InformationalResponse):
                raise WireBroken(Trouble.GARBLED)

    def _event(self, deadline: Deadline) -> object:
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                if self._ended:
                    raise WireBroken(self._cut()) from None
                raise WireBroken(Trouble.GARBLED, one_line(str(error), _DETAIL_MAX)) from None
            if event is not h11.NEED_DATA:
                return event
            self._fill(deadline)

    def _fill(self, deadline: Deadline) -> None:
        try:
            self._sock.settimeout(_seconds_left(deadline))
            data = self._sock.recv(_READ)
        except TimeoutError:
            raise WireBroken(Trouble.TIMEOUT) from None
        except OSError as error:
            raise WireBroken(self._cut(), system_words(error)) from None
        self.received = self.received or bool(data)
        self._ended = not data
        self._http.receive_data(data)

    def _cut(self) -> Trouble:
        return Trouble.TRUNCATED if self.received else Trouble.CLOSED


def _seconds_left(deadline: Deadline) -> float:
    left = deadline.left()
    if left <= 0:
        raise TimeoutError
    return left


def _headers(head: h11.Response) -> Headers:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers)


def _is_delimited(status: int, headers: Headers) -> bool:
    """Whether the end of a body can be told from a connection that broke."""
    names = {name for name, _ in headers}
    return status in _BODILESS or bool(names & {"content-length", "transfer-encoding"})
