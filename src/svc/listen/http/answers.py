"""Reads a target's HTTP/1.1 answer from bytes, with a limit, by a quick path or by h11.

`dial.OpenConnection` has one `AnswerReader` for each request that it sends to a target.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from svc.listen.http.wire import SlowPath, parse_plain_head
from svc.listen.values import value_class

if TYPE_CHECKING:
    import h11

_STATUS_LINE: Final = re.compile(rb"HTTP/1\.1 ([2-5][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?\r\n")
_KEPT_OPEN: Final = b"keep-alive"
# Errors of h11 by their first word, where it speaks of its own states.
_PLAINER: Final = {
    "peer": "the connection was closed before a whole answer",
    "can't": "the connection was closed before a whole answer",
    "Received": "the answer asks for another protocol (101)",
}
_WITHOUT_BODY: Final = (b"204", b"304")
_HEAD_MAX: Final = 64 * 1024
BODY_MAX: Final = 1024 * 1024
KEPT_BYTES: Final = 4096


@value_class
class TargetAnswer:
    """A target's answer; `body` is the beginning of its body.

    `reusable`: the connection may carry another request.
    """

    status: int
    body: bytes
    reusable: bool


class UnreadableAnswer(Exception):  # noqa: N818  named for what the answer is
    """The answer breaks the protocol or is too large; the text says which."""


class AnswerReader:
    """Turns the bytes of one answer into a `TargetAnswer`; used once."""

    def __init__(self) -> None:
        self._waiting = b""
        self._slow: SlowPath | None = None
        self._status = 0
        self._body = bytearray()
        self._count = 0

    @property
    def started(self) -> bool:
        """True once a byte has come."""
        return bool(self._waiting or self._slow)

    def feed(self, data: bytes) -> TargetAnswer | None:
        """Adds received bytes (empty at the end); returns the answer once it is complete.

        Raises:
            UnreadableAnswer: it is no HTTP, or over 64 KiB of head or 1 MiB of body.
        """
        if self._slow is not None:
            return self._read_wire(data)
        self._waiting = self._waiting + data if self._waiting else data
        end = self._waiting.find(b"\r\n\r\n")
        # A line that ends otherwise is for h11, to which the head may be whole already.
        if end < 0 and data and self._waiting.count(b"\n") == self._waiting.count(b"\r\n"):
            if len(self._waiting) > _HEAD_MAX:
                raise UnreadableAnswer("the answer's head is over 64 KiB")
            return None
        length = _parse_length(self._waiting[: end + 4]) if end >= 0 else None
        if length is None:
            return self._start_wire(at_end=not data)
        if length > BODY_MAX:
            raise UnreadableAnswer("the answer is over 1 MiB")
        offset = end + 4
        surplus = len(self._waiting) - offset - length
        if surplus < 0:
            return None
        body = self._waiting[offset : offset + min(length, KEPT_BYTES)]
        return TargetAnswer(int(self._waiting[9:12]), body, reusable=surplus == 0)

    def status_so_far(self) -> TargetAnswer | None:
        """Returns an answer whose head has come, but not all of its body; the connection ends."""
        if self._slow is not None:
            body = bytes(self._body)
            return TargetAnswer(self._status, body, reusable=False) if self._status else None
        head, end, body = self._waiting.partition(b"\r\n\r\n")
        if not end:
            return None
        return TargetAnswer(int(head[9:12]), body[:KEPT_BYTES], reusable=False)

    def _start_wire(self, *, at_end: bool) -> TargetAnswer | None:
        import h11

        wire = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_MAX)
        wire.send(h11.Request(method="POST", target="/", headers=[("Host", "target")]))
        wire.send(h11.EndOfMessage())
        self._slow = SlowPath(wire, self._take)
        data, self._waiting = self._waiting, b""
        answer = self._read_wire(data) if data else None
        return answer or (self._read_wire(b"") if at_end else None)

    def _read_wire(self, data: bytes) -> TargetAnswer | None:
        from h11 import RemoteProtocolError

        assert self._slow is not None
        try:
            return self._read_whole(self._slow.wire) if self._slow.read(data) else None
        except RemoteProtocolError as error:
            why = str(error).partition(": bytearray")[0]  # h11 repeats the bytes as Python has them
            why = _PLAINER.get(why.partition(" ")[0], f"the answer is no HTTP: {why}")
            raise UnreadableAnswer(why) from None

    def _take(self, event: object) -> None:
        from h11 import Data, Response

        if isinstance(event, Response):
            self._status = event.status_code
        elif isinstance(event, Data):
            self._count += len(event.data)
            if len(self._body) < KEPT_BYTES:
                self._body += event.data[: KEPT_BYTES - len(self._body)]
            if self._count > BODY_MAX:
                raise UnreadableAnswer("the answer is over 1 MiB")

    def _read_whole(self, wire: "h11.Connection") -> TargetAnswer:
        from h11 import DONE

        done = wire.our_state is DONE and wire.their_state is DONE
        clean = wire.trailing_data == (b"", False)  # nothing behind it, nor the end
        return TargetAnswer(self._status, bytes(self._body), reusable=done and clean)


@lru_cache(maxsize=16)  # a target's heads are the same until its clock says another second
def _parse_length(head: bytes) -> int | None:
    """Returns the body's length if the head can be read in one way only, else None."""
    plain = parse_plain_head(head, _STATUS_LINE)
    if plain is None or plain.line[0] in _WITHOUT_BODY:  # whatever length they announce
        return None
    kept = all(one.lower() == _KEPT_OPEN for one in plain.fields.get(b"connection", ()))
    return plain.length if kept and b"transfer-encoding" not in plain.fields else None
