"""`svc events replay`: sends kept events again, the same bytes with a new signature.

It selects events of this machine's inbox by id, `--failed` or `--pending`; a `ReplayJob` signs
them, sends each to its targets, notes and prints the outcome. With `--pending` listeners that start
meanwhile wait, so that no event is sent twice.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Final

from svc.api_keys import SIGNING_VARIABLE
from svc.cli.events.inbox import archive_of, entry_of, scope_of, tell_elsewhere
from svc.cli.events.options import WHERE, check_targets, condition, refuse_formats
from svc.cli.events.screen.ndjson import JsonRecords
from svc.cli.events.screen.printer import ForwardLines, forwards_of
from svc.cli.events.secrets import StoredSecrets, from_environment
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.options import OptionSet, argument, flag, option
from svc.cli.framework.session import Session
from svc.errors import CheckFailed, UsageError
from svc.listen.forward.replay import ReplayLoop
from svc.listen.forward.request import FORWARD_SECONDS, ForwardSender, build_record
from svc.listen.forward.signing import sign_anew
from svc.listen.http.connection import exchange_once
from svc.listen.identity import hold_off_listeners, part_waiting
from svc.listen.inbox.history import Content, InboxEntry, InboxFilter, InboxHistory
from svc.listen.routes import AnyTarget, parse_known
from svc.listen.running import sender_for
from svc.listen.targets import Target, TargetTrust
from svc.render.paths import FieldPath, lookup, parse
from svc.state import Database
from svc.system.signals import Stopped

app = make_app()

CHANGED_HEADER: Final = "Svc-Changed"
_KEPT: Final = ("id", "type")  # which headers of the delivery name as well


class ReplayArguments(OptionSet):
    """What may be typed behind `svc events replay`."""

    events: list[str] | None = argument(
        "EVT...", "Events of the inbox, evt_...", show_default=True, default=None
    )
    failed: bool = flag(
        "--failed", "All events that a target did not take and that are not tried again."
    )
    pending: bool = flag(
        "--pending", "All still to be forwarded, where no listener runs that does it."
    )
    forward_to: str | None = option("URL", "Where to send them.", show_default="where they went")
    times: int = option("N", "How many times each is sent.", min=1, max=1000, default=1)
    original_signature: bool = flag("--original-signature", "Keep the old signature and its time.")
    where: str | None = WHERE
    set_: list[str] | None = option(
        "PATH=VALUE",
        "Change the event before it is sent: data.object.amount=1; repeatable. Needs "
        "--forward-to; the header Svc-Changed says so, and nothing of it is kept.",
        "--set",
    )
    forward_timeout: float = option(
        "SECONDS", "How long one forward may take.", min=0.1, default=FORWARD_SECONDS
    )
    allow_remote_forward: bool = flag("--allow-remote-forward", "Send to other machines too.")


@verb(app, options=ReplayArguments)
def replay(session: Session, arguments: ReplayArguments) -> None:
    """Send received events again: the same bytes, signed now.

    --failed and --pending send to those targets that have not taken an event. With --times the
    target can show that it takes an event once; with --original-signature that it refuses an old
    one.

    $ svc events replay evt_3kPq0aVb7cXd9eYf1gZh2iWj --times 3
    $ svc events replay --failed --forward-to 3000/webhooks
    $ svc events replay evt_3kPq0aVb7cXd9eYf1gZh2iWj --set data.object.amount=1 --forward-to 3000
    """
    session.prepare_long_run()  # connections refer to themselves: the collector frees them
    refuse_formats(session, "replay")
    _refuse_together(arguments)
    meets = condition(arguments.where)
    target = _target(arguments)
    state = session.state()
    archive = archive_of(session, state)
    secrets_of = make_secret_finder(session, state)
    changes = [_parse_change(text) for text in arguments.set_ or ()]
    with _hold_listeners(session, state) if arguments.pending else nullcontext():
        wanted = InboxFilter(failed=arguments.failed, pending=arguments.pending, meets=meets)
        entries: Iterable[InboxEntry] = (
            [entry_of(archive, name) for name in arguments.events]
            if arguments.events
            else archive.entries(wanted, oldest_first=True)
        )
        with ReplayLoop() as replayer:
            job = ReplayJob(
                session,
                archive,
                secrets_of,
                arguments,
                target,
                changes,
                replayer,
                forwards_of(session),
            )
            refused = job.replay_all(entries)
    if replayer.stopped_by is not None:
        raise Stopped(replayer.stopped_by)
    if arguments.failed and not arguments.pending:
        _tell_left(session, state)
    if refused:
        raise _not_taken(refused, job.events, job.unsent)
    _tell_end(session, job.events, arguments.times, pending=arguments.pending)
    if arguments.pending and not job.events:
        tell_elsewhere(session, archive)


def _refuse_together(arguments: ReplayArguments) -> None:
    """Refuses options that contradict each other; raises UsageError."""
    if bool(arguments.events) == (arguments.failed or arguments.pending):
        raise UsageError(
            "Name events, or give --failed or --pending.", hint="svc events inbox lists them"
        )
    if arguments.where is not None and arguments.events:
        raise UsageError("--where chooses among --failed and --pending.", param="--where")
    if arguments.set_ and not arguments.forward_to:
        raise UsageError(
            "A changed event goes only where --forward-to says.",
            param="--forward-to",
            hint="Add --forward-to URL",
        )
    if arguments.set_ and arguments.original_signature:
        raise UsageError(
            "A changed event needs a new signature.",
            param="--original-signature",
            hint="Leave --original-signature out",
        )


def _target(arguments: ReplayArguments) -> Target | None:
    if not arguments.forward_to:
        return None
    target = Target.parse(arguments.forward_to, allow_remote=arguments.allow_remote_forward)
    check_targets([target])
    return target


def _not_taken(refused: int, count: int, unsent: int) -> CheckFailed:
    were = "was" if refused == 1 else "were"
    beside = f"; {unsent} of them could not be sent" if unsent else ""
    return CheckFailed(
        f"{refused:,} of {_events(count)} {were} not taken{beside}.", code="replay_failed"
    )


def _tell_end(session: Session, count: int, times: int, *, pending: bool) -> None:
    if not count:
        session.out.note("There is none to send." if pending else "No event has failed.")
    elif session.format == "human":
        end = f" {times} times, taken each time" if times > 1 else ", all taken"
        sent = f"{_events(count)} sent again"
        session.out.note(f"{sent}{' and taken' if count == times == 1 else end}.")


def _events(count: int) -> str:
    return f"{count:,} event{'' if count == 1 else 's'}"


def _tell_left(session: Session, state: Database) -> None:
    """Says that events wait for listeners that do not run: those have not failed."""
    folder = session.paths.state_dir / "listeners"
    with hold_off_listeners(folder) as alone:
        # Beside another command that holds listeners back, it is unknown which of them run.
        idle = part_waiting(state, folder, scope_of(session))[1] if alone else []
        count = sum(one.events for one in idle)
    if count and session.format == "human":
        session.out.note(
            f"{_events(count)} still {'waits' if count == 1 else 'wait'} for a listener that does "
            "not run: svc events replay --pending"
        )


@contextmanager
def _hold_listeners(session: Session, state: Database) -> Iterator[None]:
    """Has listeners that start meanwhile wait; refuses to send beside one that runs, or its like.

    Both would send what is pending.
    """
    folder = session.paths.state_dir / "listeners"
    with hold_off_listeners(folder) as alone:
        if not alone:
            raise CheckFailed(
                "Another svc command starts a listener or sends what is pending.",
                code="replay_running",
                param="--pending",
                hint="Try again when it has ended",
            )
        running, _ = part_waiting(state, folder, scope_of(session))
        if running:
            raise CheckFailed(
                f"The listener on port {running[0].port} runs and forwards what is pending to "
                f"{' and '.join(running[0].targets)}.",
                code="listener_running",
                param="--pending",
                hint="Stop it first, or name the events to send them again",
            )
        yield


def make_secret_finder(session: Session, state: Database) -> Callable[[InboxEntry], Sequence[str]]:
    """Returns a function that finds the secrets that sign an entry; each is looked up once."""
    given, stored = from_environment(session.env), cache(StoredSecrets(session, state).get)

    def find(entry: InboxEntry) -> Sequence[str]:
        if given:
            return given
        secret = None if entry.endpoint_id is None else stored(entry.endpoint_id)
        if secret is None:
            raise UsageError(
                f"The signing secret of {entry.id} is not known here.",
                code="secret_missing",
                hint=f"Set {SIGNING_VARIABLE}, or add --original-signature",
            )
        return (secret,)

    return find


# A new value at a path of an event's JSON, from `--set PATH=VALUE`.
EventChange = tuple[FieldPath, object]


@dataclass(slots=True)
class ReplayJob:
    """Sends events again, records each outcome in the inbox and counts events and failures.

    `target` is where events go, None for those that an event went to before. With `changes` the
    outcome is not recorded.
    """

    session: Session
    archive: InboxHistory
    secrets_of: Callable[[InboxEntry], Sequence[str]]
    arguments: ReplayArguments
    target: Target | None
    changes: Sequence[EventChange]
    replayer: ReplayLoop
    records: JsonRecords | ForwardLines
    events: int = 0
    unsent: int = 0

    @property
    def rest_only(self) -> bool:
        """True for all that failed or wait: they go to targets that have not taken them."""
        return not self.arguments.events

    def replay_all(self, entries: Iterable[InboxEntry]) -> int:
        """Sends the entries to their targets; returns how many events a target did not take."""
        refused = 0
        try:
            for entry in entries:
                self.events += 1
                refused += not self._replay_or_tell(entry)
        finally:
            self.records.close()
        return refused

    def _replay_or_tell(self, entry: InboxEntry) -> bool:
        """Sends one event; of all that failed or wait, one that cannot be sent stops no other."""
        try:
            return self._replay(entry)
        except UsageError as error:
            if not self.rest_only:
                raise
            hint = f" {error.hint}" if error.hint else ""
            self.session.out.warn(f"{error.message}{hint}")
            self.unsent += 1
            return False

    def _replay(self, entry: InboxEntry) -> bool:
        """Sends one event to its targets; says whether all of them took it every time."""
        there = self.archive.at_targets(entry.seq) if self.rest_only else ()
        if entry.state == "pending" and self.rest_only and not any(one.is_open for one in there):
            return True  # another process has closed it since it was listed
        content = change_event(self.archive.content(entry), self.changes)
        taken = True
        for target in self._targets(entry):
            sender = sender_for(target, trust=TargetTrust(self.session.settings.ca_bundle))
            for number in range(self.arguments.times):
                taken &= self._send(entry, content, sender, number + 1)
        if taken and not self.changes:
            # Also where no target is left: each had taken it before the listener noted that.
            whole = self.rest_only and self.target is None
            self.archive.note_replays(entry.seq, (), taken=True, pending=whole)
        return taken

    def _send(
        self, entry: InboxEntry, content: Content, sender: ForwardSender, number: int
    ) -> bool:
        """Sends an event once and notes it at once, whatever comes after; says if it was taken."""
        started = self.session.clock.now()
        headers = content.headers
        if not self.arguments.original_signature:
            headers = sign_anew(headers, content.body, self.secrets_of(entry), started)
        limit = max(self.arguments.forward_timeout, sender.seconds or 0.0)
        url = str(sender.target)
        before = 0 if self.changes else self.archive.begin_replay(entry.seq, url)
        request = sender.request(headers, content.body, before).data
        reply = self.replayer.run(lambda: exchange_once(sender.link(), request, limit))
        if reply is None:
            raise Stopped(self.replayer.stopped_by or 0)
        if not self.changes:
            self.archive.note_replays(entry.seq, [(url, started, reply)], taken=False)
        event, now = (entry.id, entry.type), self.session.clock.now()
        self.records.show(build_record(reply, sender.target, event, now, number))
        return reply.is_taken

    def _targets(self, entry: InboxEntry) -> list[AnyTarget]:
        if self.target is not None:
            return [self.target]
        tried = self.archive.targets_tried(entry)
        urls = dict.fromkeys(row["url"] for row in tried if row["forwarded"])
        urls = urls or dict.fromkeys(entry.targets)
        if not urls:
            raise UsageError(
                f"{entry.id} was not forwarded anywhere.",
                param="--forward-to",
                hint="Say where to.",
            )
        if self.rest_only:
            for row in tried:
                if row["taken"]:
                    urls.pop(row["url"], None)
        remote = self.arguments.allow_remote_forward
        return [parse_known(url, self.session.env, allow_remote=remote) for url in urls]


def _parse_change(text: str) -> EventChange:
    """Parses a `PATH=VALUE` of `--set`; a value that is not JSON is taken as a text.

    Raises:
        UsageError: it has no `=` or no path, or the path is the event's `id` or `type`.
    """
    name, mark, value = text.partition("=")
    if not name or not mark:
        raise UsageError(
            f"--set {text!r} has no PATH=VALUE.", param="--set", hint="--set data.object.amount=1"
        )
    path = parse(name, "--set")
    if len(path) == 1 and path[0] in _KEPT:
        raise UsageError(f"The {path[0]} of an event stays as it is.", param="--set")
    try:
        return path, json.loads(value)
    except ValueError:
        return path, value


def change_event(content: Content, changes: Sequence[EventChange]) -> Content:
    """Returns the event with its new values, and a header that names the changed paths.

    Raises:
        UsageError: a path does not exist in the event.
    """
    if not changes:
        return content
    event = json.loads(content.body)
    for path, value in changes:
        above, last = lookup(event, path[:-1]), path[-1]
        if isinstance(above, dict):
            above[last] = value
        elif isinstance(above, list) and last.isdecimal() and int(last) < len(above):
            above[int(last)] = value
        else:
            message = f"The event has nothing at {'.'.join(path)}."
            raise UsageError(message, param="--set", code="path_unknown")
    names = ", ".join(".".join(path) for path, _ in changes)
    header = f"{CHANGED_HEADER}: {names}\r\n".encode("ascii", "backslashreplace")
    body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
    return Content(content.headers + header, body)
