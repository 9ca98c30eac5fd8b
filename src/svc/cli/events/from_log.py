"""Running `svc events listen --from`: a team's log in the place of the HTTP receiver."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from svc.cli.events.endpoint import Endpoint, Endpoints, sandbox_answers
from svc.cli.events.inspect import inspecting
from svc.cli.events.options import ListenOptions
from svc.cli.events.run import (
    ListenerSetup,
    begin,
    claim_of,
    conclude,
    plan_of,
    run_listener,
    show_secrets,
)
from svc.cli.events.secrets import known_elsewhere
from svc.cli.events.team import LogOptions, examine, open_log, own_name
from svc.cli.framework.session import Session
from svc.errors import KeyStoreError, UsageError
from svc.listen.forward.dispatcher import Marking
from svc.listen.forward.replay import signed_anew
from svc.listen.forward.waiting import status_for_group, status_for_sender
from svc.listen.inbox.inbox import Position
from svc.listen.inbox.listeners import remember
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.listener import OpenSource
from svc.listen.log import group, own_cursor, streams
from svc.listen.log.connection import LogConnection
from svc.listen.names import Listening, number_of, reading
from svc.state import Database


@dataclass(frozen=True, slots=True)
class _ReaderSetup(ListenerSetup):
    connection: LogConnection


def listen_from(session: Session, asked: ListenOptions, log: LogOptions) -> None:
    """Listens until it is stopped or what was asked for has come.

    Raises:
        CheckFailed: `--until` was not reached, or `--strict` found something wrong.
        Stopped: a signal came.
    """
    check_group(asked, log)
    begin(session, asked)
    with (
        inspecting(session, asked.inspect) as inspection,
        _prepared(session, asked, log) as reader,
    ):
        shared, endpoint = log.group is not None, reader.endpoint
        plan = replace(
            plan_of(session, asked, endpoint, inspection),
            ack="forwarded" if shared else "received",
            marking=Marking(_signing(session, endpoint) if log.signs_anew else None),
            verdict=status_for_group if shared else status_for_sender,
        )

        def ways(inbox: SqliteInbox) -> tuple[SqliteInbox, OpenSource]:
            return inbox, _source(session, asked, log, reader, inbox)

        ended, screen = run_listener(session, asked, reader, plan, ways, None, inspection)
    conclude(asked, ended, screen)


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
    endpoints = Endpoints(session, state, sandbox=sandbox_answers(session))
    return endpoints.of_log(str(log.address), log.address.name, lasting=lasting)


@contextmanager
def _prepared(session: Session, asked: ListenOptions, log: LogOptions) -> Iterator[_ReaderSetup]:
    state, settings = session.state(), session.settings
    way = reading(log.address, log.group, log.name)
    origin = session.base_url.origin
    listening = Listening(origin, settings.profile, settings.mode, way, asked.events)
    with ExitStack() as open_:
        connection = open_.enter_context(open_log(session, log.address))
        examine(session, connection, writes=None)
        claim = open_.enter_context(claim_of(session, listening, asked))
        endpoint = _own_endpoint(session, state, log)
        remember(state, claim, 0, endpoint.id, asked.routes.spelled())
        yield _ReaderSetup(state, claim, endpoint, connection)


def _source(
    session: Session,
    asked: ListenOptions,
    log: LogOptions,
    reader: _ReaderSetup,
    inbox: SqliteInbox,
) -> OpenSource:
    connection, mode = reader.connection, session.settings.mode
    secrets = _secrets_of_the_service(session, asked, reader)
    if log.group is not None:
        queue = group.Queue(log.group, mode, asked.forwarding.concurrency, secrets)
        connection.run(group.ensure(connection, queue, _delivery_policy(session, log)))
        inbox.hand_back()
        session.out.note(f"Sharing {log.address} with the others of the group {log.group}.")
        return group.opened(connection, queue, asked.routes.targets, session.clock)
    number = number_of(reader.claim.scope)
    name = own_name(log, connection) + (f"-{number + 1}" if number else "")
    subjects = [log.address.subject(mode, kind) for kind in asked.events] if asked.chosen else []
    cursor = own_cursor.Cursor(f"c_{name}", mode, tuple(subjects), secrets)
    connection.run(own_cursor.refuse_twin(connection, cursor))
    position = inbox.position()
    if position is None:
        position = connection.run(_first_position(session, log, connection))
        inbox.begin_at(position)
    start = connection.run(streams.find_start(connection, mode, position))
    session.out.note(f"Reading {log.address} as {name}, {start.behind:,} behind.")
    return own_cursor.opened(connection, cursor, inbox.position, session.clock)


def _secrets_of_the_service(
    session: Session, asked: ListenOptions, reader: _ReaderSetup
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
        return await streams.end_of(connection, mode)
    return await streams.before(connection, mode, session.clock.now() - log.start)


def _delivery_policy(session: Session, log: LogOptions) -> dict[str, Any]:
    """Says from where a group reads when its queue is made."""
    if log.start is None:
        return {"deliver_policy": "all"}
    if log.start == 0:
        return {"deliver_policy": "new"}
    since = datetime.fromtimestamp(session.clock.now() - log.start, UTC)
    return {"deliver_policy": "by_start_time", "opt_start_time": since.isoformat()}


def _signing(session: Session, endpoint: Endpoint) -> Callable[[bytes, bytes], bytes]:
    """Signs at the moment of sending: the service's own signature may be hours old by then."""
    clock, secrets = session.clock, endpoint.secrets
    return lambda headers, body: signed_anew(headers, body, secrets, clock.now())


def check_group(asked: ListenOptions, log: LogOptions) -> None:
    """Refuses what a shared queue cannot promise; raises UsageError."""
    if log.group is None:
        return
    if asked.forwarding.ordered:
        raise UsageError("A group has no order: each event goes to another job.", param="--ordered")
    if asked.forwarding.retry == "real":
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
