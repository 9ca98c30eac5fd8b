"""HTTP/1.1 as both ends of a listener read it: one parser (promise R57).

The quick path takes only what can be read in one way: strict line ends, one plain Content-Length,
no other framing. Everything else goes to h11, which decides, and is imported with the first of it.
Nothing that the quick path takes would be read differently by h11; a test compares the two.

`requests` and `answers` are built on it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from svc.listen.values import value_class

if TYPE_CHECKING:
    import h11

Header = tuple[bytes, bytes]
HeaderFields = Mapping[bytes, Sequence[bytes]]  # by names in lower case
_Field = tuple[Header, bytes, Sequence[bytes]]  # with its name in lower case and its one value

# Possessive and atomic: a hostile head costs one pass, whatever it looks like.
_NAME: Final = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_VALUE: Final = rb"(?:[\x21-\x7e\x80-\xff]++(?:[ \t]++[\x21-\x7e\x80-\xff]++)*+)?+"
_FIELD: Final = re.compile(rb"(%s):[ \t]*+(%s)[ \t]*+" % (_NAME, _VALUE))
_LENGTH: Final = re.compile(rb"[0-9]{1,12}")
_USUAL_BYTES: Final = 64  # of a line that may come again: one with a signature does not


@value_class
class PlainHead:
    """A head that leaves no doubt: its first line, its fields, and where its body begins.

    Header names keep the sender's spelling. `length` is that of the body, None where none is said.
    """

    line: tuple[bytes, ...]
    headers: tuple[Header, ...]
    fields: HeaderFields
    length: int | None
    offset: int


def parse_plain_head(data: bytes, first_line: re.Pattern[bytes]) -> PlainHead | None:
    """Reads a head whose first line fits and whose other lines leave no doubt; else None."""
    line = first_line.match(data)
    end = data.find(b"\r\n\r\n")
    if line is None or end < line.end() - 2:
        return None
    texts = data[line.end() : end].split(b"\r\n") if end > line.end() else []
    try:
        found = [
            _parse_usual_field(text) if len(text) <= _USUAL_BYTES else _parse_field(text)
            for text in texts
        ]
    except _InDoubt:
        return None
    headers = tuple([header for header, _, _ in found])
    fields: HeaderFields = {name: values for _, name, values in found}
    if len(fields) < len(found):  # a name came twice
        fields = fields_of(headers)
    lengths = fields.get(b"content-length", ())
    if len(lengths) > 1 or (lengths and not _LENGTH.fullmatch(lengths[0])):
        return None
    length = int(lengths[0]) if lengths else None
    return PlainHead(line.groups(), headers, fields, length, end + 4)


class _InDoubt(Exception):  # noqa: N818  no failure: h11 decides
    """A line may be read in more than one way."""


def _parse_field(text: bytes) -> _Field:
    """Reads one line that leaves no doubt; raises _InDoubt."""
    field = _FIELD.fullmatch(text)
    if field is None:
        raise _InDoubt
    name, value = field.groups()
    return (name, value), name.lower(), (value,)


# Most lines of a sender are those of its last request.
_parse_usual_field: Final = lru_cache(_parse_field)


def fields_of(headers: Sequence[Header]) -> HeaderFields:
    """Returns the values of headers by their names."""
    fields: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        fields.setdefault(name.lower(), []).append(value)
    return fields


class SlowPath:
    """Reads one message with h11; `take` gets each of its events but the last."""

    def __init__(self, wire: "h11.Connection", take: Callable[[object], None]) -> None:
        self.wire = wire
        self._take = take

    def read(self, data: bytes | None = None) -> bool:
        """Reads what came (nothing at all means the end); True once the message is whole.

        Raises:
            h11.RemoteProtocolError: it breaks the protocol.
        """
        from h11 import NEED_DATA, EndOfMessage

        if data is not None:
            self.wire.receive_data(data)
        while (event := self.wire.next_event()) is not NEED_DATA:
            if isinstance(event, EndOfMessage):
                return True
            self._take(event)
        return False
