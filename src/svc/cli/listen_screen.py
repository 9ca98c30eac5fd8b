"""Showing records while they come: results on stdout, rejected deliveries on stderr."""

import textwrap
from typing import TYPE_CHECKING

from svc.cli.listen_asked import Asked
from svc.cli.listen_endpoint import Endpoint
from svc.cli.listen_lines import HumanLines, as_ndjson
from svc.cli.session import Session
from svc.keys.kinds import fingerprint
from svc.listen.records import EventReceived, Forwarded, Ready, Record, Rejected, Summary

if TYPE_CHECKING:
    from typing import TextIO


class Screen:
    """Prints each record at once. An OSError of the stream passes up."""

    def __init__(self, session: Session, asked: Asked, endpoint: Endpoint) -> None:
        streams = session.streams
        everywhere = session.given.everywhere
        self._session = session
        self._asked = asked
        self._endpoint = endpoint
        self._human = session.format == "human"
        self._stdout = streams.stdout
        self._stderr = streams.stderr
        self._width = streams.width(session.env)
        self._quiet = bool(everywhere.quiet)
        self._lines = HumanLines(
            width=self._width,
            color=streams.wants_color(session.env, everywhere.color or "auto", streams.stdout),
            utc=bool(everywhere.utc),
            payload=asked.shown == "payload",
        )

    def show(self, record: Record) -> None:
        """Prints one record."""
        if not self._human:
            _put(self._stdout, as_ndjson(record))
        elif isinstance(record, Rejected):
            _put(self._stderr, self._lines.rejected(record))
        else:
            text = self._text(record)
            if text:
                _put(self._stdout, text)

    def _text(self, record: Record) -> str:
        match record:
            case Ready():
                return "" if self._quiet else self._ready(record)
            case Summary():
                return "" if self._quiet else self._summary(record)
            case EventReceived():
                return "" if self._asked.shown == "none" else self._lines.event(record)
            case Forwarded():
                hidden = self._asked.shown == "none" and record.succeeded
                return "" if hidden else self._lines.forward(record)
            case Rejected():
                return ""
            case _:
                return self._lines.tunnel(record)

    def _ready(self, ready: Ready) -> str:
        kinds = f"{len(ready.events)} event type{'s' if len(ready.events) > 1 else ''}"
        what = f"{kinds} of {ready.mode} mode"
        if len(ready.targets) == 1:
            first = f"Ready. Forwarding {what} to {ready.targets[0]}  (Ctrl-C to stop)"
        elif ready.targets:
            first = f"Ready. Forwarding {what}  (Ctrl-C to stop)"
        else:
            first = f"Ready. Receiving {what}  (Ctrl-C to stop)"
        lines = [first, *self._routes(ready), *self._way_in(ready), self._secret()]
        return "".join(f"{self._wrapped(line)}\n" for line in lines)

    def _routes(self, ready: Ready) -> list[str]:
        if len(ready.targets) < 2:  # noqa: PLR2004  one target stands in the first line
            return []
        return [f"  {text}" for text in self._asked.routes.described()]

    def _way_in(self, ready: Ready) -> list[str]:
        """An address that the user has to enter somewhere, or that a tunnel has to lead to."""
        if self._endpoint.id is None:
            return [f"Waiting for deliveries at {ready.url}"]
        return []

    def _secret(self) -> str:
        shown = " and ".join(fingerprint(secret) for secret in self._endpoint.secrets)
        where = self._endpoint.where
        if self._endpoint.id is None:
            return f"Signing secret {shown}, {where}"
        return f"Signing secret {shown} {where}: {self._asked.again} --print-secret"

    def _wrapped(self, text: str) -> str:
        return "\n".join(
            textwrap.wrap(
                text,
                self._width,
                break_long_words=False,
                break_on_hyphens=False,
                drop_whitespace=True,
                subsequent_indent="  ",
            )
        )

    def _summary(self, summary: Summary) -> str:
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
            lines.append("They are kept: the same command forwards them when it runs again.")
        if summary.failed:
            lines.append("Send the failed ones again: svc events replay --failed")
        start = "\n" if self._session.streams.person_reads else ""  # behind the terminal's ^C
        return start + "".join(f"{self._wrapped(line)}\n" for line in lines)


def _put(stream: "TextIO", text: str) -> None:
    stream.write(text)
    stream.flush()
