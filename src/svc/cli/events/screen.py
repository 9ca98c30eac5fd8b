"""Prints the listener's records as they come: results on stdout, the rest on stderr.

Lines of one pass of the event loop leave in one write: a burst costs a call a pass, not a line.
Nothing waits for more to come: what was written is with the system a few milliseconds later.
"""

import asyncio
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

from svc.cli.events.endpoint import Endpoint
from svc.cli.events.lines import HumanLines, LineLayout, as_ndjson
from svc.cli.events.options import ListenOptions
from svc.cli.events.welcome import farewell, welcome
from svc.cli.framework.session import Session
from svc.listen.records import (
    EventReceived,
    Forwarded,
    LogState,
    Missed,
    Ready,
    Record,
    Rejected,
    Summary,
    TunnelDown,
    TunnelUp,
)

if TYPE_CHECKING:
    from typing import TextIO


class Sink(Protocol):
    """Somewhere to print to."""

    def write(self, text: str, /) -> object:
        """Takes a text."""

    def flush(self) -> None:
        """Passes on what was taken."""


class Gathering:
    """Keeps the order of what is written to several streams, and writes it soon."""

    def __init__(self) -> None:
        self._waiting: list[tuple[TextIO, str]] = []

    def of(self, stream: "TextIO") -> "Gathered":
        """Gives a stand-in for a stream."""
        return Gathered(self, stream)

    def add(self, stream: "TextIO", text: str) -> None:
        """Takes a text; outside of an event loop it is written at once."""
        self._waiting.append((stream, text))
        if len(self._waiting) > 1:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.write_out()
        else:
            loop.call_soon(self.write_out)

    def write_out(self) -> None:
        """Writes and flushes what waits.

        Raises:
            OSError: nobody reads a stream any more, or its disk is full; the rest is dropped.
        """
        waiting, self._waiting = self._waiting, []
        for stream, texts in groupby(waiting, key=itemgetter(0)):
            stream.write("".join(text for _, text in texts))
            stream.flush()


class Gathered:
    """A stream, as far as printing records is concerned."""

    def __init__(self, gathering: Gathering, stream: "TextIO") -> None:
        self._gathering = gathering
        self._stream = stream

    def write(self, text: str) -> None:
        """Takes a text for the stream."""
        self._gathering.add(self._stream, text)

    def flush(self) -> None:
        """Does nothing: what was taken is flushed with what else came in this pass."""


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


def layout_of(session: Session, stream: "TextIO") -> LineLayout:
    """Gives the layout for a stream; a file that is no terminal keeps each message on its line."""
    streams, env = session.streams, session.env
    everywhere = session.given.everywhere
    known = env.get("COLUMNS", "").isdigit() or stream.isatty()
    return LineLayout(
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


class RecordPrinter:
    """Prints each record in the loop's pass in which it came; an OSError rises from that pass.

    In `ndjson` a record is a line; in `json` all of them are one array, whose elements are written
    as they come and which `close` ends (promise R72).
    """

    def __init__(
        self, session: Session, asked: ListenOptions, endpoint: Endpoint, waiting: int
    ) -> None:
        """Takes the number of events that an earlier run has left `waiting`."""
        streams = session.streams
        self._session = session
        self._asked = asked
        self._endpoint = endpoint
        self._waiting = waiting
        self._format = session.format
        self._gathering = Gathering()
        self._stdout = self._gathering.of(streams.stdout)
        self._stderr = self._gathering.of(streams.stderr)
        self._quiet = bool(session.given.everywhere.quiet)
        self._layout = layout_of(session, streams.stdout)
        self._lines = HumanLines(
            self._layout,
            payload=asked.shown == "payload",
            holds=asked.manner.retry == "fast" and asked.ack == "received",
            alone=len(asked.routes.targets) == 1,
        )
        self._warnings = HumanLines(layout_of(session, streams.stderr))
        self._machine = Machine(self._stdout, array=session.format == "json")
        self.missed = 0  # events that a log had dropped before they were read

    def show(self, record: Record) -> None:
        """Prints one record."""
        if isinstance(record, Missed):
            self.missed += record.events
        if self._format == "human":
            self._show_to_a_person(record)
        else:
            self._machine.show(record)

    def flush(self) -> None:
        """Writes now what has been shown."""
        self._gathering.write_out()

    def close(self) -> None:
        """Ends the one JSON document, if it was begun."""
        self._machine.close()
        self.flush()

    def _show_to_a_person(self, record: Record) -> None:
        if isinstance(record, Rejected):
            self._lines.interrupt()
            put(self._stderr, self._warnings.rejected(record))
        elif isinstance(record, TunnelUp | TunnelDown):
            if isinstance(record, TunnelDown) or not self._quiet:
                self._lines.interrupt()
                put(self._stderr, self._warnings.tunnel(record))
        elif isinstance(record, LogState | Missed):
            self._lines.interrupt()
            put(self._stderr, self._warnings.log(record))
        elif text := self._text(record):
            put(self._stdout, text)

    def _welcome(self, ready: Ready) -> str:
        return welcome(ready, self._asked, self._endpoint, self._layout, self._waiting)

    def _text(self, record: Record) -> str:
        match record:
            case Ready():
                return "" if self._quiet else self._welcome(record)
            case Summary():
                start = "\n" if self._session.streams.person_reads else ""  # behind the ^C
                return "" if self._quiet else start + farewell(record, self._layout)
            case EventReceived():
                return "" if self._asked.shown == "none" else self._lines.event(record)
            case Forwarded():
                hidden = self._asked.shown == "none" and record.succeeded
                return "" if hidden else self._lines.forward(record)
            case _:
                return ""
