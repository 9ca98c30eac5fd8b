"""Reads requests from the bytes of a connection, with limits, and writes their answers (R57).

The receiver of webhooks has one `RequestReader` for each connection.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from http import HTTPStatus
from typing import Final

from svc.listen.http.wire import Header, HeaderFields, SlowPath, fields_of, parse_plain_head
from svc.listen.values import value_class

_REQUEST_LINE: Final = re.compile(rb"([A-Z]{1,16}) (/[\x21-\x7e]*) HTTP/1\.1\r\n")
_HEAD_END: Final = re.compile(rb"\n\r?\n")
_FRAMING: Final = re.compile(rb"(?im)^(?:content-length|transfer-encoding)[ \t]*:")
_OTHER_FRAMING: Final = frozenset(
    (b"transfer-encoding", b"expect", b"upgrade", b"connection", b"te", b"trailer")
)


@value_class
class HttpHead:
    """A request's first line and headers. Header names keep the sender's spelling."""

    method: bytes
    target: bytes
    headers: tuple[Header, ...]
    fields: HeaderFields

    def values(self, name: bytes) -> Sequence[bytes]:
        """Returns all values of one header, whose name is given in lower case."""
        return self.fields.get(name, ())


@value_class
class HttpRequest:
    """One complete request; `body` has the received bytes unchanged."""

    head: HttpHead
    body: bytes


class Refused(Exception):  # noqa: N818  it ends a request with a status, it is no failure of ours
    """The request ends with this status and its connection with it."""

    def __init__(self, status: int, head: HttpHead | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.head = head


class RequestReader:
    """Turns the bytes of one connection into requests, one at a time.

    `check` sees every head before its body is read and refuses by raising.
    """

    def __init__(self, check: Callable[[HttpHead], None], head_max: int, body_max: int) -> None:
        self._check = check
        self._head_max = head_max
        self._body_max = body_max
        self._waiting = b""
        self._head: HttpHead | None = None
        self._parts: list[bytes] = []
        self._count = 0
        self._length = 0
        self._slow: SlowPath | None = None
        self._to_send: list[bytes] = []

    @property
    def started(self) -> bool:
        """True once a byte of a request has come that was not handed out yet."""
        return bool(self._waiting or self._head)

    @property
    def in_body(self) -> bool:
        """True between a whole head and a whole body."""
        return self._head is not None

    def feed(self, data: bytes) -> HttpRequest | None:
        """Adds received bytes; returns the request once it is complete.

        Raises:
            Refused: it breaks the protocol, a limit or what `check` allows.
        """
        if self._head is None:
            self._waiting = self._waiting + data if self._waiting else data
            return self._start()
        if self._slow is None:
            return self._take_body(data)
        return self._read_wire(data)

    def hold(self, data: bytes) -> int:
        """Keeps bytes behind a request that is not answered yet; returns their number."""
        self._waiting += data
        return len(self._waiting)

    def answer(self, status: int) -> tuple[bytes, bool]:
        """Returns the bytes of an empty answer, and whether the connection may carry on."""
        if self._slow is None:
            return _quick_answer(status), True
        from h11 import DONE, EndOfMessage, Response

        wire = self._slow.wire
        answer = Response(
            status_code=status, reason=_reason(status), headers=[("Content-Length", "0")]
        )
        sent = (wire.send(answer) or b"") + (wire.send(EndOfMessage()) or b"")
        carries_on = wire.our_state is DONE
        self._waiting = bytes(wire.trailing_data[0]) + self._waiting
        self._slow = None
        return sent, carries_on

    def next(self) -> HttpRequest | None:
        """After an answer: gives the request that came behind the last one, if it is whole.

        Raises:
            Refused: as `feed`.
        """
        return self._start() if self._waiting else None

    def to_send(self) -> bytes:
        """Returns what the protocol wants sent before the answer (100 Continue)."""
        sent, self._to_send = b"".join(self._to_send), []
        return sent

    def _start(self) -> HttpRequest | None:
        quick = parse_quick_head(self._waiting)
        if quick is None:
            end = _HEAD_END.search(self._waiting)
            if (end.end() if end else len(self._waiting)) > self._head_max:
                raise Refused(431)
            return None if end is None else self._start_wire(self._waiting[: end.end()])
        self._head, self._length, offset = quick
        if offset > self._head_max:
            raise Refused(431)
        self._check(self._head)
        if self._length > self._body_max:
            raise Refused(413, self._head)
        rest, self._waiting = self._waiting[offset:], b""
        return self._take_body(rest)

    def _take_body(self, data: bytes) -> HttpRequest | None:
        missing = self._length - self._count
        if len(data) < missing:
            self._parts.append(data)
            self._count += len(data)
            return None
        self._parts.append(data[:missing])
        self._waiting = data[missing:]
        return self._finish()

    def _finish(self) -> HttpRequest:
        assert self._head is not None
        request = HttpRequest(self._head, b"".join(self._parts))
        self._head, self._parts, self._count = None, [], 0
        return request

    def _start_wire(self, head: bytes) -> HttpRequest | None:
        import h11

        if len(_FRAMING.findall(head)) > 1:  # two lengths, or a length and chunks: smuggling
            raise Refused(400)
        wire = h11.Connection(h11.SERVER, max_incomplete_event_size=self._head_max)
        self._slow = SlowPath(wire, self._take_event)
        data, self._waiting = self._waiting, b""
        return self._read_wire(data)

    def _read_wire(self, data: bytes) -> HttpRequest | None:
        from h11 import InformationalResponse, RemoteProtocolError

        assert self._slow is not None
        try:
            if self._slow.read(data):
                return self._finish()
            wire = self._slow.wire
            if wire.they_are_waiting_for_100_continue:
                sent = wire.send(InformationalResponse(status_code=100, headers=[]))
                self._to_send.append(sent or b"")
        except RemoteProtocolError as error:
            raise Refused(error.error_status_hint, self._head) from None
        return None

    def _take_event(self, event: object) -> None:
        from h11 import Data, Request

        if isinstance(event, Request):
            headers = tuple(event.headers.raw_items())
            self._head = HttpHead(event.method, event.target, headers, fields_of(headers))
            self._check(self._head)
        elif isinstance(event, Data):
            self._parts.append(bytes(event.data))
            self._count += len(event.data)
        else:  # the peer closed; the receiver hears of that by itself
            raise Refused(400, self._head)
        lengths = self._head.values(b"content-length") if self._head else []
        declared = int(lengths[0]) if lengths else 0
        if self._count > self._body_max or declared > self._body_max:
            raise Refused(413, self._head)


def parse_quick_head(data: bytes) -> tuple[HttpHead, int, int] | None:
    """Reads a head that leaves no doubt: the head, the body's length and its offset; else None."""
    plain = parse_plain_head(data, _REQUEST_LINE)
    if plain is None or len(plain.fields.get(b"host", ())) != 1:
        return None
    if not _OTHER_FRAMING.isdisjoint(plain.fields):
        return None
    method, target = plain.line
    head = HttpHead(method, target, plain.headers, plain.fields)
    return head, plain.length or 0, plain.offset


def build_closing_answer(status: int) -> bytes:
    """Returns the bytes of an empty answer after which the connection is closed."""
    return _answer(status, b"Connection: close\r\n")


@cache
def _quick_answer(status: int) -> bytes:
    return _answer(status, b"")


def _answer(status: int, lines: bytes) -> bytes:
    start = b"HTTP/1.1 %d %s\r\n" % (status, _reason(status))
    return b"%s%sContent-Length: 0\r\n\r\n" % (start, lines)


def _reason(status: int) -> bytes:
    return HTTPStatus(status).phrase.encode()
