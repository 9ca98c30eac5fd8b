"""Records on stdout as they come: lines for people, NDJSON, or one JSON array (promise R72)."""

from typing import TYPE_CHECKING

from svc.cli.listen_gathering import Sink
from svc.cli.listen_layout import Layout
from svc.cli.listen_lines import HumanLines, as_ndjson
from svc.cli.session import Session
from svc.listen.records import Forwarded, Record

if TYPE_CHECKING:
    from typing import TextIO


class Machine:
    """Records for programs: an NDJSON line each, or with `array` elements of one document.

    The array is written as it comes; `close` ends it.
    """

    def __init__(self, stream: Sink, *, array: bool) -> None:
        self._stream = stream
        self._array = array
        self._begun = False

    def show(self, record: Record) -> None:
        """Prints one record at once; an OSError of the stream passes up."""
        line = as_ndjson(record)
        if self._array:
            line = (",\n" if self._begun else "[\n") + line.rstrip("\n")
            self._begun = True
        put(self._stream, line)

    def close(self) -> None:
        """Ends the document, if it was begun."""
        if self._begun:
            self._begun = False
            put(self._stream, "\n]\n")


class Records:
    """What `replay` prints: the forwards that it makes. An array even if there was none."""

    def __init__(self, session: Session) -> None:
        stdout = session.streams.stdout
        self._stream = stdout
        self._lines = HumanLines(layout_of(session, stdout)) if session.format == "human" else None
        self._machine = Machine(stdout, array=session.format == "json")
        self._empty = session.format == "json"

    def show(self, record: Forwarded) -> None:
        """Prints one attempt."""
        self._empty = False
        if self._lines is not None:
            put(self._stream, self._lines.forward(record))
        else:
            self._machine.show(record)

    def close(self) -> None:
        """Ends what was begun."""
        if self._empty:
            put(self._stream, "[]\n")
        self._machine.close()


def layout_of(session: Session, stream: "TextIO") -> Layout:
    """Gives the layout for a stream; a file that is no terminal keeps each message on its line."""
    streams, env = session.streams, session.env
    everywhere = session.given.everywhere
    known = env.get("COLUMNS", "").isdigit() or stream.isatty()
    return Layout(
        width=streams.width(env) if known else None,
        color=streams.wants_color(env, everywhere.color or "auto", stream),
        utc=bool(everywhere.utc),
        tick="✓" if _has_tick(stream) else "ok",
    )


def put(stream: Sink, text: str) -> None:
    """Writes and flushes; an OSError passes up."""
    stream.write(text)
    stream.flush()


def _has_tick(stream: "TextIO") -> bool:
    return (stream.encoding or "").lower().replace("-", "") == "utf8"
