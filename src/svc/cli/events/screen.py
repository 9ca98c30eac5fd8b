"""Prints the listener's records as they come: results on stdout, the rest on stderr.

Lines of one pass of the event loop leave in one write: a burst costs a call a pass, not a line.
Nothing waits for more to come: what was written is with the system a few milliseconds later.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from svc.api_keys import fingerprint
from svc.cli.events.endpoint import Endpoint
from svc.cli.events.lines import HumanLines
from svc.cli.events.ndjson import JsonRecords
from svc.cli.events.options import ListenOptions
from svc.cli.framework.session import Session
from svc.listen.owners import owned
from svc.listen.records import (
    BugMet,
    EventReceived,
    Forwarded,
    ListenerRecord,
    LogState,
    Missed,
    Ready,
    Rejected,
    StoreState,
    Summary,
    TunnelDown,
    TunnelUp,
)
from svc.render.layout import LineLayout
from svc.render.text import cells, wrap_message

if TYPE_CHECKING:
    from typing import TextIO


class PassWriter:
    """Keeps the order of what is written to two streams; what comes in one pass is one write."""

    def __init__(self) -> None:
        self._stream: TextIO | None = None
        self._texts: list[str] = []
        self.failed: Callable[[OSError], None] = _raise

    def write(self, stream: "TextIO", text: str) -> None:
        """Takes a text; outside of an event loop it is written at once.

        Raises:
            OSError: as `flush`.
        """
        if self._stream is not stream:
            self.flush()
            self._stream = stream
        self._texts.append(text)
        if len(self._texts) > 1:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.flush()
        else:
            loop.call_soon(owned(self._flush_later))

    def flush(self) -> None:
        """Writes what waits.

        Raises:
            OSError: nobody reads the stream any more, or its disk is full; the rest is dropped.
        """
        texts, self._texts = self._texts, []
        if texts and self._stream is not None:
            put(self._stream, "".join(texts))

    def _flush_later(self) -> None:
        try:
            self.flush()
        except OSError as error:
            self.failed(error)


def _raise(error: OSError) -> None:
    raise error


class ForwardLines:
    """Forwards for people, a line each; `again` is the command that made them."""

    def __init__(self, stream: "TextIO", layout: LineLayout, again: str) -> None:
        self._stream = stream
        self._lines = HumanLines(layout, again=again)

    def show(self, record: Forwarded) -> None:
        """Prints one attempt."""
        put(self._stream, self._lines.forward(record))

    def close(self) -> None:
        """Nothing was begun."""


def forwards_of(session: Session) -> JsonRecords | ForwardLines:
    """Gives what prints the forwards of `replay`, each at once; an array even if there was none."""
    stdout = session.streams.stdout
    if session.format == "human":
        import shlex

        # What was asked for by name has not failed for good, nor has what was pending.
        again = shlex.join(("svc", *session.argv))
        return ForwardLines(stdout, session.layout(stdout), again)
    return JsonRecords(partial(put, stdout), array=session.format == "json", always=True)


def put(stream: "TextIO", text: str) -> None:
    """Writes and flushes; an OSError passes up."""
    stream.write(text)
    stream.flush()


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
        self._writer = PassWriter()
        self._stdout, self._stderr = streams.stdout, streams.stderr
        self._quiet = bool(session.given.everywhere.quiet)
        self._layout = session.layout(streams.stdout)
        self._lines = HumanLines(
            self._layout,
            payload=asked.shown == "payload",
            holds=asked.forwarding.retry == "fast" and asked.ack == "received",
            alone=len(asked.routes.targets) == 1,
        )
        self._warnings = HumanLines(session.layout(streams.stderr))
        self._json = JsonRecords(
            partial(self._writer.write, self._stdout), array=session.format == "json"
        )
        self.missed = 0  # events that a log had dropped before they were read
        self.log_away: str | None = None  # why a log cannot be read at the moment

    def show(self, record: ListenerRecord) -> None:
        """Prints one record."""
        if isinstance(record, Missed):
            self.missed += record.events
        elif isinstance(record, LogState):
            self.log_away = record.reason
        if self._format == "human":
            self._show_to_a_person(record)
        else:
            self._json.show(record)

    def when_unread(self, failed: Callable[[OSError], None]) -> None:
        """From now on calls `failed` when what was shown cannot be written."""
        self._writer.failed = failed

    def flush(self) -> None:
        """Writes now what has been shown."""
        self._writer.flush()

    def close(self) -> None:
        """Ends the one JSON document, if it was begun."""
        self._json.close()
        self.flush()

    def _show_to_a_person(self, record: ListenerRecord) -> None:
        if isinstance(record, Rejected):
            if record.reason == "not_stored":
                return  # said once, as the state of the store
            self._lines.interrupt()
            self._writer.write(self._stderr, self._warnings.rejected(record))
        elif isinstance(record, TunnelUp | TunnelDown):
            if isinstance(record, TunnelDown) or not self._quiet:
                self._lines.interrupt()
                self._writer.write(self._stderr, self._warnings.tunnel(record))
        elif isinstance(record, BugMet | StoreState):
            self._lines.interrupt()
            self._writer.write(self._stderr, self._warnings.trouble(record))
        elif isinstance(record, LogState | Missed):
            self._lines.interrupt()
            self._writer.write(self._stderr, self._warnings.log(record))
        elif text := self._text(record):
            self._writer.write(self._stdout, text)

    def _text(self, record: ListenerRecord) -> str:
        match record:
            case Ready():
                if self._quiet:
                    return ""
                return welcome(record, self._asked, self._endpoint, self._layout, self._waiting)
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


_STOP = "(Ctrl-C to stop)"


def welcome(
    ready: Ready, asked: ListenOptions, endpoint: Endpoint, layout: LineLayout, waiting: int
) -> str:
    """Says what comes from where and goes where, and where the signing secret is.

    `waiting` counts the events that an earlier run could not forward.
    """
    lines = [
        *_first(ready, layout),
        *_routes(ready, asked),
        *_way_in(ready, endpoint),
        _secret(endpoint, asked),
        *_left(waiting, asked),
    ]
    return _fitted(lines, layout)


def farewell(summary: Summary, layout: LineLayout) -> str:
    """Says what came and what became of it, and what can be done about the rest."""
    counts = {
        "forwarded": summary.forwarded,
        "failed": summary.failed,
        "still to forward": summary.pending,
        "duplicates": summary.duplicates,
        "rejected": summary.rejected,
        "of the other mode": summary.withheld,
    }
    parts = [f"received {summary.received}"]
    parts += [f"{name} {count}" for name, count in counts.items() if count]
    lines = [f"Stopped: {', '.join(parts)}."]
    if summary.pending:
        lines.append("What is left is kept: the same command forwards it when it runs again.")
    if summary.failed:
        lines.append("Send the failed ones again: svc events replay --failed")
    return _fitted(lines, layout)


def _first(ready: Ready, layout: LineLayout) -> list[str]:
    kinds = f"{len(ready.events)} event type{'s' if len(ready.events) > 1 else ''}"
    verb = "Forwarding" if ready.targets else "Receiving"
    what = f"Ready. {verb} {kinds} of {ready.mode} mode"
    if len(ready.targets) != 1:
        return [f"{what}  {_STOP}"]
    whole = f"{what} to {ready.targets[0]}  {_STOP}"
    if layout.width is None or cells(whole) <= layout.width:
        return [whole]
    return [f"{what}  {_STOP}", f"  to {ready.targets[0]}"]


def _routes(ready: Ready, asked: ListenOptions) -> list[str]:
    if len(ready.targets) < 2:  # noqa: PLR2004  one target stands in the first line
        return []
    return [f"  {text}" for text in asked.routes.described()]


def _left(waiting: int, asked: ListenOptions) -> list[str]:
    if not waiting:
        return []
    events = f"{waiting} event{'s' if waiting > 1 else ''} of an earlier run"
    if asked.resume:
        return [f"Forwarding {events} first."]
    return [f"Left alone: {events}: svc events inbox --pending"]


def _way_in(ready: Ready, endpoint: Endpoint) -> list[str]:
    """An address that the user has to enter somewhere, or that a tunnel has to lead to."""
    return [f"Waiting for deliveries at {ready.url}"] if endpoint.id is None else []


def _secret(endpoint: Endpoint, asked: ListenOptions) -> str:
    shown = " and ".join(fingerprint(secret) for secret in endpoint.secrets)
    what = "Signing secret" if len(endpoint.secrets) == 1 else "Signing secrets"
    if endpoint.id is None:
        return f"{what} {shown}, {endpoint.where}"
    return f"{what} {shown} {endpoint.where}: {asked.again} --print-secret"


def _fitted(lines: Sequence[str], layout: LineLayout) -> str:
    wrapped = (wrap_message(line, layout.width, layout.called) for line in lines)
    return "".join(f"{part}\n" for parts in wrapped for part in parts)
