"""Encodes a request and parses its answer, by a fast path or by h11.

The fast path only accepts messages that can be read in one way: strict line ends, plain characters,
one Content-Length, no other framing. h11 parses all others; its import takes an eighth of a
command's time. h11 would read no message of the fast path differently; a test compares the two.

`connection` makes one `HttpExchange` for each request.
"""

from typing import TYPE_CHECKING, Final, TypeAlias

from svc.client.exchange import Headers, WireRequest

if TYPE_CHECKING:
    import h11

HEADER_MAX: Final = 64 * 1024
_TOKEN: Final = b"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_VISIBLE: Final = bytes([9, *range(0x20, 0x7F), *range(0x80, 0x100)])
_VERSION: Final = b"HTTP/1.1 "
_WITHOUT_BODY: Final = (b"204", b"304")
_LENGTH_DIGITS: Final = 12
_LENGTH: Final = "content-length"
_FRAMING: Final = frozenset(("transfer-encoding", "connection"))

Head: TypeAlias = tuple[int, Headers]


class NotHttp(Exception):  # noqa: N818  named for what the answer is
    """The answer violates the protocol; the text says how."""


class HttpExchange:
    """One request and its answer; used once."""

    def __init__(self, request: WireRequest) -> None:
        self._request = request
        self._waiting = b""
        self._over = False
        self._left = -1  # bytes of the body to come on the fast path
        self._keeps = False
        self._careful: h11.Connection | None = None

    def encode(self) -> bytes:
        """Returns the bytes of the request."""
        quick = _encode_request(self._request)
        if quick is not None:
            return quick
        self._careful, sent = _start_parser(self._request)
        return sent

    def feed(self, data: bytes) -> None:
        """Adds received bytes; an empty value means that the connection has ended."""
        self._over = not data
        if self._careful is None:
            self._waiting += data
        else:
            self._careful.receive_data(data)

    def head(self) -> Head | None:
        """Returns status and headers (names in lower case); None if incomplete; raises NotHttp."""
        if self._careful is None:
            end = self._waiting.find(b"\r\n\r\n")
            if end < 0 and not self._over and _may_be_quick(self._waiting):
                return None
            found = _parse_head(self._waiting[:end]) if end >= 0 else None
            if found is not None:
                status, headers, self._left, self._keeps = found
                self._waiting = self._waiting[end + 4 :]
                return status, headers
            self._careful, _ = _start_parser(self._request)
            self._careful.receive_data(self._waiting)
            if self._over and self._waiting:
                self._careful.receive_data(b"")
        return self._read_head_by_parser()

    def piece(self) -> bytes | None:
        """Returns the next bytes of the body, empty at its end; None if more must be received.

        Raises:
            NotHttp: the body differs from the announcement of the head.
        """
        if self._careful is not None:
            return self._read_piece_by_parser()
        taken, self._waiting = self._waiting[: self._left], self._waiting[self._left :]
        self._left -= len(taken)
        if self._left and not taken:
            if self._over:
                raise NotHttp("it ends within its body")
            return None
        return taken

    def is_clean(self) -> bool:
        """Whether request and answer are complete, and the connection may carry further ones."""
        if self._careful is None:
            return self._left == 0 and self._keeps and not self._waiting
        from h11 import DONE

        both_done = self._careful.our_state is DONE and self._careful.their_state is DONE
        return both_done and not self._careful.trailing_data[0]

    def _read_head_by_parser(self) -> Head | None:
        from h11 import InformationalResponse, Response

        while isinstance(event := self._event(), InformationalResponse):
            pass
        if event is None:
            return None
        if not isinstance(event, Response):
            raise NotHttp("")
        headers = event.headers
        return event.status_code, tuple((_text(name), _text(value)) for name, value in headers)

    def _read_piece_by_parser(self) -> bytes | None:
        from h11 import Data, EndOfMessage

        event = self._event()
        if event is None:
            return None
        if isinstance(event, EndOfMessage):
            return b""
        if not isinstance(event, Data):
            raise NotHttp("")
        return bytes(event.data)

    def _event(self) -> object:
        from h11 import NEED_DATA, RemoteProtocolError

        assert self._careful is not None
        try:
            event = self._careful.next_event()
        except RemoteProtocolError as error:
            raise NotHttp(str(error)) from None
        return None if event is NEED_DATA else event


def _start_parser(request: WireRequest) -> "tuple[h11.Connection, bytes]":
    """Creates a connection of h11 that has sent the request; returns it with the sent bytes."""
    import h11

    wire = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEADER_MAX)
    headers = list(request.headers)
    parts = [wire.send(h11.Request(method=request.method, target=request.target, headers=headers))]
    if request.body:
        parts.append(wire.send(h11.Data(data=request.body)))
    parts.append(wire.send(h11.EndOfMessage()))
    return wire, b"".join(part or b"" for part in parts)


def _encode_request(request: WireRequest) -> bytes | None:
    """Encodes a request for the fast path; None if h11 has to encode it."""
    target, headers = request.target, request.headers
    names = [name.lower() for name, _ in headers]
    lengths = [value for name, (_, value) in zip(names, headers, strict=True) if name == _LENGTH]
    bare = request.method == "GET" and not request.body and not lengths
    framed = bare or lengths == [str(len(request.body))]
    usual = request.method in ("GET", "POST", "DELETE") and names[:1] == ["host"]
    plain = target[:1] == "/" and " " not in target and _are_plain((("X", target), *headers))
    if not (framed and usual and plain) or not _FRAMING.isdisjoint(names):
        return None
    if names.count("host") > 1:
        return None
    lines = [f"{request.method} {target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join((*lines, "", "")).encode("ascii") + request.body


def _are_plain(headers: Headers) -> bool:
    """Whether names are tokens, and values printable ASCII without blanks around them."""
    names, values = zip(*headers, strict=True)
    said, bare = "".join(values), "".join(names)
    plain = (bare + said).isascii() and said.isprintable() and all(names)
    trimmed = all(value == value.strip() for value in values)
    return plain and trimmed and not bare.encode().translate(None, _TOKEN)


def _may_be_quick(begun: bytes) -> bool:
    """Whether the first bytes of a head allow the fast path.

    If not, h11 parses the head at once: it may be complete or invalid without further bytes.
    """
    usual = _VERSION.startswith(begun[: len(_VERSION)])
    strict = begun.count(b"\n") == begun.count(b"\r\n")
    return usual and strict and len(begun) <= HEADER_MAX


def _parse_head(head: bytes) -> tuple[int, Headers, int, bool] | None:
    """Parses status, headers, body length, and whether the connection is kept.

    None if the head is ambiguous, or the length is not known.
    """
    line, *fields = head.split(b"\r\n")
    status, blank = line[9:12], line[12:13]
    plain = line.startswith(_VERSION) and not line.translate(None, _VISIBLE)
    if not plain or not status.isdigit() or blank not in (b"", b" "):
        return None
    if not b"200" <= status < b"600" or status in _WITHOUT_BODY:
        return None
    headers = _parse_fields(fields)
    framing = None if headers is None else _parse_framing(headers)
    return None if headers is None or framing is None else (int(status), headers, *framing)


def _parse_fields(fields: list[bytes]) -> Headers | None:
    headers = []
    for field in fields:
        name, colon, value = field.partition(b":")
        if not colon or not name or name.translate(None, _TOKEN) or value.translate(None, _VISIBLE):
            return None
        headers.append((_text(name.lower()), _text(value.strip(b" \t"))))
    return tuple(headers)


def _parse_framing(headers: Headers) -> tuple[int, bool] | None:
    named = dict(headers)
    names = [name for name, _ in headers]
    length, connection = named.get("content-length", ""), named.get("connection", "keep-alive")
    usual = {"transfer-encoding", "upgrade"}.isdisjoint(named)
    once = names.count("content-length") == 1 and names.count("connection") <= 1
    plain = length.isascii() and length.isdigit() and len(length) <= _LENGTH_DIGITS
    if not (usual and once and plain) or connection.lower() not in ("keep-alive", "close"):
        return None
    return int(length), connection.lower() == "keep-alive"


def _text(raw: bytes) -> str:
    return raw.decode("latin-1")
