"""Showing records while they come: results on stdout, rejected deliveries and links on stderr."""

from svc.cli.listen_asked import Asked
from svc.cli.listen_endpoint import Endpoint
from svc.cli.listen_gathering import Gathering
from svc.cli.listen_lines import HumanLines
from svc.cli.listen_records import Machine, layout_of, put
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


class Screen:
    """Prints each record in the loop's pass in which it came; an OSError rises from that pass.

    In `ndjson` a record is a line; in `json` all of them are one array, whose elements are written
    as they come and which `close` ends (promise R72).
    """

    def __init__(self, session: Session, asked: Asked, endpoint: Endpoint, waiting: int) -> None:
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

    def show(self, record: Record) -> None:
        """Prints one record."""
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
