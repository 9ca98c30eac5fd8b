"""Running `svc events listen --from`: a team's log in the place of the HTTP receiver."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from svc.cli.events.endpoint import Endpoint, Endpoints, is_sandbox
from svc.cli.events.inspect import Inspection, inspecting
from svc.cli.events.loop import run_loop
from svc.cli.events.options import ListenOptions, check_targets
from svc.cli.events.run import conclude, show_secrets
from svc.cli.events.screen import RecordPrinter
from svc.cli.events.secrets import known_elsewhere
from svc.cli.events.team import LogOptions, examine, open_log, own_name
from svc.cli.framework.session import Session
from svc.errors import KeyStoreError, UsageError
from svc.listen.forward.dispatcher import Marking
from svc.listen.forward.replay import signed_anew
from svc.listen.forward.waiting import status_for_group, status_for_sender
from svc.listen.halves import ListenerPlan
from svc.listen.identity import ListenerId, Listening, claimed, pending, remember
from svc.listen.inbox.inbox import Position
from svc.listen.inbox.quick import open_inbox
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.listener import OpenSource, remove
from svc.listen.log import group, own_cursor, places
from svc.listen.log.connection import LogConnection
from svc.listen.receiver.server import new_path
from svc.state import Database

_CLOSE_SECONDS: Final = 0.2  # for the database, of the one in which we end (promise R78)


@dataclass(frozen=True, slots=True)
class _Reader:
    """What a listener of a log stands on."""

    connection: LogConnection
    state: Database
    claim: ListenerId
    endpoint: Endpoint


def listen_from(session: Session, asked: ListenOptions, log: LogOptions) -> None:
    """Listens until it is stopped or what was asked for has come.

    Raises:
        CheckFailed: `--until` was not reached, or `--strict` found something wrong.
        Stopped: a signal came.
    """
    check_group(asked, log)
    session.is_long_running()
    if asked.ready_file is not None:
        remove(asked.ready_file)
    check_targets(asked.routes.targets)
    with (
        inspecting(session, asked.inspect) as inspection,
        _prepared(session, asked, log) as reader,
    ):
        retake = log.group is not None
        inbox = open_inbox(session.state, reader.claim.scope, session.clock, retake_failed=retake)
        source = _source(session, asked, log, reader, inbox)
        waiting = pending(reader.state, reader.claim) if asked.routes.targets else 0
        screen = RecordPrinter(session, asked, reader.endpoint, waiting)
        plan = _plan(session, asked, log, reader, inspection)
        try:
            ended = run_loop(plan, inbox, source, session, asked.command, screen, None, inspection)
        finally:
            screen.close()
            reader.state.hurry(_CLOSE_SECONDS)
            inbox.close(_CLOSE_SECONDS)
    conclude(asked, ended, missed=screen.missed, log_away=screen.log_away)


def print_own_secret(session: Session, log: LogOptions) -> None:
    """Prints the secret that events of a log are signed with here, from run to run.

    Raises:
        KeyStoreError: there is no keyring that it could be in.
    """
    try:
        endpoint = _own_endpoint(session, session.state(), log, lasting=True)
    except KeyStoreError as error:
        error.hint = "Each run has a secret of its own then, in SVC_WEBHOOK_SECRET of --exec"
        raise
    show_secrets(session, endpoint.id, endpoint.secrets)


def _own_endpoint(
    session: Session, state: Database, log: LogOptions, *, lasting: bool = False
) -> Endpoint:
    endpoints = Endpoints(session, state, sandbox=is_sandbox(session))
    return endpoints.of_log(str(log.address), log.address.name, lasting=lasting)


@contextmanager
def _prepared(session: Session, asked: ListenOptions, log: LogOptions) -> Iterator[_Reader]:
    state, folder = session.state(), session.paths.state_dir / "listeners"
    settings, targets = session.settings, asked.routes.spelled()
    way = f"{log.address} {log.group or ''} {log.name or ''}".rstrip()
    origin = session.base_url.origin
    listening = Listening(origin, settings.profile, settings.mode, way, asked.events)

    def waiting() -> None:
        session.out.note("Waiting for another svc command that sends what is pending.")

    with ExitStack() as open_:
        connection = open_.enter_context(open_log(session, log.address))
        examine(session, connection, writes=None)
        claim = open_.enter_context(claimed(state, folder, listening, new_path, targets, waiting))
        endpoint = _own_endpoint(session, state, log)
        remember(state, claim, 0, endpoint.id, targets)
        yield _Reader(connection, state, claim, endpoint)


def _source(
    session: Session, asked: ListenOptions, log: LogOptions, reader: _Reader, inbox: SqliteInbox
) -> OpenSource:
    connection, mode = reader.connection, session.settings.mode
    secrets = _secrets_of_the_service(session, asked, reader)
    if log.group is not None:
        queue = group.Queue(log.group, mode, asked.manner.concurrency, secrets)
        connection.run(group.ensure(connection, queue, _delivery_policy(session, log)))
        inbox.hand_back()
        session.out.note(f"Sharing {log.address} with the others of the group {log.group}.")
        return group.opened(connection, queue, asked.routes.targets, session.clock)
    number = int(reader.claim.scope.rsplit("|", 1)[1])
    name = own_name(log, connection) + (f"-{number + 1}" if number else "")
    subjects = [log.address.subject(mode, kind) for kind in asked.events] if asked.chosen else []
    cursor = own_cursor.Cursor(f"c_{name}", mode, tuple(subjects), secrets)
    connection.run(own_cursor.refuse_twin(connection, cursor))
    position = inbox.position()
    if position is None:
        position = connection.run(_first_position(session, log, connection))
        inbox.begin_at(position)
    start = connection.run(places.find_start(connection, mode, position))
    session.out.note(f"Reading {log.address} as {name}, {start.behind:,} behind.")
    return own_cursor.opened(connection, cursor, inbox.position, session.clock)


def _secrets_of_the_service(
    session: Session, asked: ListenOptions, reader: _Reader
) -> tuple[str, ...]:
    """Gives the secrets that the service may have signed with, where this machine has any."""
    known = known_elsewhere(session, reader.endpoint.id)
    return tuple(dict.fromkeys((*asked.secrets, *(one.secret for one in known))))


async def _first_position(session: Session, log: LogOptions, connection: LogConnection) -> Position:
    """Gives where the first run begins."""
    mode = session.settings.mode
    if log.start is None:
        return Position(0, "")
    if log.start == 0:
        return await places.end_of(connection, mode)
    return await places.before(connection, mode, session.clock.now() - log.start)


def _delivery_policy(session: Session, log: LogOptions) -> dict[str, Any]:
    """Says from where a group reads when its queue is made."""
    if log.start is None:
        return {"deliver_policy": "all"}
    if log.start == 0:
        return {"deliver_policy": "new"}
    since = datetime.fromtimestamp(session.clock.now() - log.start, UTC)
    return {"deliver_policy": "by_start_time", "opt_start_time": since.isoformat()}


def _plan(
    session: Session,
    asked: ListenOptions,
    log: LogOptions,
    reader: _Reader,
    inspection: Inspection | None,
) -> ListenerPlan:
    endpoint = reader.endpoint
    return ListenerPlan(
        mode=session.settings.mode,
        secrets=endpoint.secrets,
        path="",
        url=endpoint.url,
        routes=asked.routes,
        events=asked.events,
        endpoint=endpoint.id,
        inspector=inspection.url if inspection is not None else None,
        ack="forwarded" if log.group is not None else "received",
        manner=asked.manner,
        headers=asked.headers,
        limits=asked.limits,
        until=asked.until,
        beside=asked.command is not None,
        resume=asked.resume,
        timeout=asked.timeout,
        ready_file=asked.ready_file,
        marking=Marking(_signing(session, endpoint) if log.signs_anew else None),
        verdict=status_for_group if log.group is not None else status_for_sender,
    )


def _signing(session: Session, endpoint: Endpoint) -> Callable[[bytes, bytes], bytes]:
    """Signs at the moment of sending: the service's own signature may be hours old by then."""
    clock, secrets = session.clock, endpoint.secrets
    return lambda headers, body: signed_anew(headers, body, secrets, clock.now())


def check_group(asked: ListenOptions, log: LogOptions) -> None:
    """Refuses what a shared queue cannot promise; raises UsageError."""
    if log.group is None:
        return
    if asked.manner.ordered:
        raise UsageError("A group has no order: each event goes to another job.", param="--ordered")
    if asked.manner.retry == "real":
        raise UsageError(
            "The service's schedule takes three days; a job of a group has an event for seconds.",
            param="--retry",
        )
    if not asked.routes.targets:
        raise UsageError(
            "A group's event counts as done when a target has taken it.",
            param="--forward-to",
            hint="Say where to: --forward-to 3000",
        )
