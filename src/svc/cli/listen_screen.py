"""Showing records while they come: results on stdout, rejected deliveries and links on stderr."""

from typing import TYPE_CHECKING

from svc.cli.listen_asked import Asked
from svc.cli.listen_endpoint import Endpoint
from svc.cli.listen_layout import Layout
from svc.cli.listen_lines import HumanLines, as_ndjson
from svc.cli.listen_welcome import farewell, welcome
from svc.cli.session import Session
from svc.listen.records import (
    EventReceived,
    Forwarded,
    Ready,
    Record,
    Rejected,
    Summary,
    TunnelDown,
    TunnelUp,
)

if TYPE_CHECKING:
    from typing import TextIO


class Screen:
    """Prints each record at once. An OSError of the stream passes up.

    In `ndjson` a record is a line; in `json` all of them are one array, whose elements are written
    as they come and which `close` ends (promise R72).
    """

    def __init__(self, session: Session, asked: Asked, endpoint: Endpoint) -> None:
        streams = session.streams
        self._session = session
        self._asked = asked
        self._endpoint = endpoint
        self._format = session.format
        self._stdout = streams.stdout
        self._stderr = streams.stderr
        self._quiet = bool(session.given.everywhere.quiet)
        self._layout = layout_of(session, streams.stdout)
        self._lines = HumanLines(
            self._layout,
            payload=asked.shown == "payload",
            holds=asked.manner.retry == "fast" and asked.ack == "received",
            alone=len(asked.routes.targets) == 1,
        )
        self._warnings = HumanLines(layout_of(session, streams.stderr))
        self._in_array = False

    def show(self, record: Record) -> None:
        """Prints one record."""
        if self._format == "human":
            self._show_to_a_person(record)
        elif self._format == "json":
            start = ",\n" if self._in_array else "[\n"
            self._in_array = True
            _put(self._stdout, start + as_ndjson(record).rstrip("\n"))
        else:
            _put(self._stdout, as_ndjson(record))

    def close(self) -> None:
        """Ends the one JSON document, if it was begun."""
        if self._in_array:
            self._in_array = False
            _put(self._stdout, "\n]\n")

    def _show_to_a_person(self, record: Record) -> None:
        if isinstance(record, Rejected):
            self._lines.interrupt()
            _put(self._stderr, self._warnings.rejected(record))
        elif isinstance(record, TunnelUp | TunnelDown):
            self._lines.interrupt()
            _put(self._stderr, self._warnings.tunnel(record))
        elif text := self._text(record):
            _put(self._stdout, text)

    def _text(self, record: Record) -> str:
        match record:
            case Ready():
                return (
                    ""
                    if self._quiet
                    else welcome(record, self._asked, self._endpoint, self._layout)
                )
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


def _has_tick(stream: "TextIO") -> bool:
    return (stream.encoding or "").lower().replace("-", "") == "utf8"


def _put(stream: "TextIO", text: str) -> None:
    stream.write(text)
    stream.flush()
