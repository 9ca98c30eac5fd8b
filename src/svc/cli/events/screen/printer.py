"""Prints a listener's records as they come: results on stdout, the rest on stderr.

The event loop (`loop`) passes each record of `svc.listen` to `RecordPrinter.show`, which formats it
by `lines` or `ndjson`; for people the first record becomes the `welcome`, the last the `farewell`.
`replay` prints the forwards of `svc events replay` by `forwards_of`.
"""

from collections.abc import Callable, Sequence

from svc.api_keys import fingerprint
from svc.cli.events.endpoint import Endpoint
from svc.cli.events.options import ListenOptions
from svc.cli.events.screen.lines import HumanLines
from svc.cli.events.screen.ndjson import JsonRecords
from svc.cli.framework.session import Session
from svc.listen.output_records import (
    BugMet,
    EventReceived,
    Forwarded,
    ListenerRecord,
    LogReplaced,
    LogState,
    Missed,
    Ready,
    Rejected,
    StoreState,
    Summary,
    TargetAway,
    TunnelDown,
    TunnelUp,
)
from svc.render.layout import LineLayout
from svc.render.text import cells, wrap_message
from svc.render.writer import Writer


class ForwardLines:
    """Prints forwards for people, a line each; `again` is the command to repeat after a failure."""

    def __init__(self, writer: Writer, layout: LineLayout, again: str) -> None:
        self._writer = writer
        self._lines = HumanLines(layout, again=again)

    def show(self, record: Forwarded) -> None:
        """Prints one attempt."""
        self._writer.write_masked(self._lines.forward(record))
        self._writer.flush()

    def close(self) -> None:
        """Does nothing: lines need no end, as a JSON array does."""


def forwards_of(session: Session) -> JsonRecords | ForwardLines:
    """Returns the printer for the forwards of `replay`: lines, NDJSON, or a JSON array."""
    if session.format == "human":
        import shlex

        # What was asked for by name has not failed for good, nor has what was pending.
        again = shlex.join(("svc", *session.argv))
        return ForwardLines(session.stdout, session.layout(session.streams.stdout), again)
    return JsonRecords(session.records, array=session.format == "json", always=True)


class RecordPrinter:
    """Prints each record in the pass of the event loop in which it came, or in the next.

    In `ndjson` a record is a line; in `json` all of them are one array, whose elements are written
    as they come and which `close` ends (promise R72).
    """

    def __init__(
        self,
        session: Session,
        options: ListenOptions,
        endpoint: Endpoint,
        soon: Callable[[Callable[[], None]], None],
    ) -> None:
        """`soon` is that of the streams: what is data for programs is written once a pass."""
        streams = session.streams
        self._session = session
        self._asked = options
        self._endpoint = endpoint
        self._format = session.format
        self._stdout, self._stderr = session.stdout, session.stderr
        self._quiet = bool(session.given.everywhere.quiet)
        self._layout = session.layout(streams.stdout)
        self._lines = HumanLines(
            self._layout,
            payload=options.shown == "payload",
            holds=options.forwarding.retry == "fast" and options.ack == "received",
            alone=len(options.routes.targets) == 1,
            final=options.ack == "received",  # else the service sends it again
        )
        self._warnings = HumanLines(session.layout(streams.stderr))
        array = session.format == "json"
        self._json = JsonRecords(session.records, array=array, shown=options.shown, soon=soon)
        self.missed = 0  # events that a log had dropped before they were read
        self.log_away: str | None = None  # why a log cannot be read at the moment

    def show(self, record: ListenerRecord) -> None:
        """Prints one record; raises OSError if a stream cannot be written."""
        if self._format == "human":
            self._show_to_a_person(record)
        else:
            self._json.show(record)
        if type(record) is Missed:  # for each of thousands of other records a pattern takes longer
            self.missed += record.events
        elif type(record) is LogReplaced:
            self.missed += max(record.gone, 1)
        elif type(record) is LogState:
            self.log_away = record.reason

    def close(self) -> None:
        """Ends the JSON array, if a record began it."""
        self._json.close()

    def _show_to_a_person(self, record: ListenerRecord) -> None:
        if isinstance(record, Rejected):
            if record.reason == "not_stored":
                return  # said once, as the state of the store
            text = self._warnings.rejected(record)
        elif isinstance(record, TunnelUp | TunnelDown):
            if self._quiet and isinstance(record, TunnelUp):
                return
            text = self._warnings.tunnel(record)
        elif isinstance(record, BugMet | StoreState):
            text = self._warnings.trouble(record)
        elif isinstance(record, LogState | Missed | LogReplaced):
            text = self._warnings.log(record)
        else:
            if text := self._text(record):
                self._stdout.write_masked(text)
            return
        self._lines.interrupt()
        self._stderr.write_masked(text)

    def _text(self, record: ListenerRecord) -> str:
        match record:
            case Ready():
                if self._quiet:
                    return ""
                return welcome(record, self._asked, self._endpoint, self._layout)
            case Summary():
                start = "\n" if self._session.streams.person_reads else ""  # behind the ^C
                return "" if self._quiet else start + farewell(record, self._layout)
            case TargetAway():
                return self._lines.waiting(record)
            case EventReceived():
                return "" if self._asked.shown == "none" else self._lines.event(record)
            case Forwarded():
                hidden = self._asked.shown == "none" and record.succeeded
                return "" if hidden else self._lines.forward(record)
            case _:
                return ""


_STOP = "(Ctrl-C to stop)"


def welcome(ready: Ready, options: ListenOptions, endpoint: Endpoint, layout: LineLayout) -> str:
    """Formats the first lines: source, targets, and where the signing secret is."""
    lines = _first(ready, options, layout)
    if endpoint.id is None:  # it has to be entered somewhere, or a tunnel has to lead to it
        lines.append(f"Waiting for deliveries at {ready.url}")
    lines.append(_secret(endpoint, options))
    if ready.pending:
        events = f"{ready.pending} event{'s' if ready.pending > 1 else ''} of an earlier run"
        alone = f"Left alone: {events}: svc events inbox --pending"
        lines.append(f"Forwarding {events} first." if options.resume else alone)
    return _fit(lines, layout)


def farewell(summary: Summary, layout: LineLayout) -> str:
    """Formats the last lines: the counts of events and forwards, and what to do about the rest."""
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
        lines.append(
            "Events that are still pending are kept: the same command forwards them when "
            "it runs again."
        )
    if summary.failed:
        lines.append("Send the failed ones again: svc events replay --failed")
    return _fit(lines, layout)


def _first(ready: Ready, options: ListenOptions, layout: LineLayout) -> list[str]:
    """What comes and where it goes; each route in a line where not all goes to one target."""
    kinds = f"{len(ready.events)} event type{'s' if len(ready.events) > 1 else ''}"
    goes = [bool(options.routes.match(event_type)) for event_type in ready.events]
    verb = "Forwarding" if ready.targets and all(goes) else "Receiving"
    what = f"Ready. {verb} {kinds} of {ready.mode} mode"
    if len(ready.targets) != 1 or not all(goes):
        routes = options.routes.describe_routes()
        return [f"{what}  {_STOP}", *(f"  {text}" for text in routes)]
    whole = f"{what} to {ready.targets[0]}  {_STOP}"
    if layout.width is None or cells(whole) <= layout.width:
        return [whole]
    return [f"{what}  {_STOP}", f"  to {ready.targets[0]}"]


def _secret(endpoint: Endpoint, options: ListenOptions) -> str:
    shown = " and ".join(fingerprint(secret) for secret in endpoint.secrets)
    what = "Signing secret" if len(endpoint.secrets) == 1 else "Signing secrets"
    if endpoint.id is None:
        return f"{what} {shown}, {endpoint.where}"
    return f"{what} {shown} {endpoint.where}: {options.again} --print-secret"


def _fit(lines: Sequence[str], layout: LineLayout) -> str:
    wrapped = (wrap_message(line, layout.width, layout.program_name) for line in lines)
    return "".join(f"{part}\n" for parts in wrapped for part in parts)
