"""Sends kept events again: signs them, sends each to its targets, notes and prints the outcome.

`replay` makes one `ReplayJob` of its options and calls `replay_all`: events in, a count of failures
out.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from svc.api_keys import SIGNING_VARIABLE
from svc.cli.events.screen.ndjson import JsonRecords
from svc.cli.events.screen.printer import ForwardLines, forwards_of
from svc.cli.events.secrets import StoredSecrets, from_environment
from svc.cli.framework.session import Session
from svc.errors import UsageError
from svc.listen.forward.replay import ReplayLoop
from svc.listen.forward.request import FORWARD_SECONDS, ForwardSender, build_record
from svc.listen.forward.signing import sign_anew
from svc.listen.inbox.history import Content, InboxEntry, InboxHistory
from svc.listen.routes import AnyTarget, parse_known
from svc.listen.running.senders import sender_for
from svc.listen.targets import Target, TargetTrust
from svc.render.paths import FieldPath, parse
from svc.state import Database
from svc.system.signals import Stopped

_Printer = JsonRecords | ForwardLines


CHANGED_HEADER: Final = "Svc-Changed"
_KEPT: Final = ("id", "type")  # which headers of the delivery name as well


class EventChange(NamedTuple):
    """A new value at a path of an event's JSON, from `--set PATH=VALUE`."""

    path: FieldPath
    value: object


class ReplayOptions(NamedTuple):
    """The options of one replay.

    Attributes:
        target: where events go; None for the targets that an event went to before.
        times: how often an event is sent to each target.
        original: send the signature that an event came with, instead of a new one.
        rest_only: send only to targets that have not taken an event.
        changes: new values in an event; the outcome of a changed event is not recorded.
        seconds: how long one forward may take.
    """

    target: Target | None
    times: int
    original: bool
    allow_remote: bool
    rest_only: bool
    changes: tuple[EventChange, ...] = ()
    seconds: float = FORWARD_SECONDS


class ReplaySecrets:
    """The signing secrets of one job, each looked up once."""

    def __init__(self, session: Session, state: Database) -> None:
        self._given = from_environment(session.env)
        self._stored = StoredSecrets(session, state)
        self._known: dict[str, tuple[str, ...]] = {}

    def of(self, entry: InboxEntry) -> tuple[str, ...]:
        """Returns the secrets that sign an entry; raises UsageError if none is known here."""
        if self._given:
            return self._given
        name = entry.endpoint_id
        if name is not None and name not in self._known:
            secret = self._stored.get(name)
            self._known[name] = () if secret is None else (secret,)
        found = self._known.get(name or "")
        if not found:
            raise UsageError(
                f"The signing secret of {entry.id} is not known here.",
                code="secret_missing",
                hint=f"Set {SIGNING_VARIABLE}, or add --original-signature",
            )
        return found


@dataclass(slots=True)
class ReplayJob:
    """Sends events again, records each outcome in the inbox and counts events and failures."""

    session: Session
    archive: InboxHistory
    secrets: ReplaySecrets
    options: ReplayOptions
    replayer: ReplayLoop
    events: int = 0
    unsent: int = 0

    def replay_all(self, entries: Iterable[InboxEntry]) -> int:
        """Sends the entries to their targets; returns how many events a target did not take."""
        records, refused = forwards_of(self.session), 0
        try:
            for entry in entries:
                self.events += 1
                refused += not self._replay_or_tell(entry, records)
        finally:
            records.close()
        return refused

    def _replay_or_tell(self, entry: InboxEntry, records: _Printer) -> bool:
        """Sends one event; of all that failed or wait, one that cannot be sent stops no other."""
        if not self.options.rest_only:
            return self._replay(entry, records)
        try:
            return self._replay(entry, records)
        except UsageError as error:
            hint = f" {error.hint}" if error.hint else ""
            self.session.out.warn(f"{error.message}{hint}")
            self.unsent += 1
            return False

    def _replay(self, entry: InboxEntry, records: _Printer) -> bool:
        """Sends one event to its targets; says whether all of them took it every time."""
        if (
            self.options.rest_only
            and entry.state == "pending"
            and not self.archive.waits(entry.seq)
        ):
            return True  # another process has closed it since it was listed
        content = change_event(self.archive.content(entry), self.options.changes)
        taken = True
        for target in self._targets(entry):
            sender = sender_for(target, trust=TargetTrust(self.session.settings.ca_bundle))
            for number in range(self.options.times):
                taken &= self._send(entry, content, sender, number + 1, records)
        if taken and not self.options.changes:
            # Also where no target is left: each had taken it before the listener noted that.
            whole = self.options.rest_only and self.options.target is None
            self.archive.note_replays(entry.seq, (), taken=True, pending=whole)
        return taken

    def _send(
        self,
        entry: InboxEntry,
        content: Content,
        sender: ForwardSender,
        number: int,
        records: _Printer,
    ) -> bool:
        """Sends an event once and notes it at once, whatever comes after; says if it was taken."""
        started = self.session.clock.now()
        headers = self._headers(entry, content)
        limit = max(self.options.seconds, sender.seconds or 0.0)
        reply = self.replayer.send(sender, headers, content.body, limit)
        if reply is None:
            raise Stopped(self.replayer.stopped_by or 0)
        url = str(sender.target)
        attempt = (url, started, reply.milliseconds, reply.status, reply.error, reply.body)
        if not self.options.changes:
            self.archive.note_replays(entry.seq, [attempt], taken=False)
        event, now = (entry.id, entry.type), self.session.clock.now()
        records.show(build_record(reply, sender.target, event, now, number))
        return reply.is_taken

    def _targets(self, entry: InboxEntry) -> list[AnyTarget]:
        options = self.options
        if options.target is not None:
            return [options.target]
        tried = self.archive.targets_tried(entry)
        urls = dict.fromkeys(row["url"] for row in tried if row["forwarded"])
        urls = urls or dict.fromkeys(entry.targets)
        if not urls:
            raise UsageError(
                f"{entry.id} was not forwarded anywhere.",
                param="--forward-to",
                hint="Say where to.",
            )
        if options.rest_only:
            for row in tried:
                if row["taken"]:
                    urls.pop(row["url"], None)
        remote = options.allow_remote
        return [parse_known(url, self.session.env, allow_remote=remote) for url in urls]

    def _headers(self, entry: InboxEntry, content: Content) -> bytes:
        if self.options.original:
            return content.headers
        now = self.session.clock.now()
        return sign_anew(content.headers, content.body, self.secrets.of(entry), now)


def changes_of(texts: Sequence[str]) -> tuple[EventChange, ...]:
    """Parses each `PATH=VALUE` of `--set`; a value that is not JSON is taken as a text.

    Raises:
        UsageError: a text has no `=` or no path, or the path is the event's `id` or `type`.
    """
    return tuple(map(_change_of, texts))


def _change_of(text: str) -> EventChange:
    name, mark, value = text.partition("=")
    if not name or not mark:
        raise UsageError(
            f"--set {text!r} has no PATH=VALUE.", param="--set", hint="--set data.object.amount=1"
        )
    path = parse(name, "--set")
    if len(path) == 1 and path[0] in _KEPT:
        raise UsageError(f"The {path[0]} of an event stays as it is.", param="--set")
    try:
        return EventChange(path, json.loads(value))
    except ValueError:
        return EventChange(path, value)


def change_event(content: Content, changes: Sequence[EventChange]) -> Content:
    """Returns the event with its new values, and a header that names the changed paths.

    Raises:
        UsageError: a path does not exist in the event.
    """
    if not changes:
        return content
    event = json.loads(content.body)
    for change in changes:
        _put(event, change)
    names = ", ".join(".".join(change.path) for change in changes)
    header = f"{CHANGED_HEADER}: {names}\r\n".encode("ascii", "backslashreplace")
    body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
    return Content(content.headers + header, body)


def _put(event: Any, change: EventChange) -> None:
    *around, last = change.path
    for part in around:
        event = _change_inside(event, part, change)
    if isinstance(event, dict):
        event[last] = change.value
    elif isinstance(event, list) and last.isdecimal() and int(last) < len(event):
        event[int(last)] = change.value
    else:
        raise _leads_nowhere(change)


def _change_inside(value: Any, part: str, change: EventChange) -> Any:
    if isinstance(value, dict) and part in value:
        return value[part]
    if isinstance(value, list) and part.isdecimal() and int(part) < len(value):
        return value[int(part)]
    raise _leads_nowhere(change)


def _leads_nowhere(change: EventChange) -> UsageError:
    name = ".".join(change.path)
    return UsageError(f"The event has nothing at {name}.", param="--set", code="path_unknown")
