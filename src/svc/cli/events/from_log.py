"""Runs `svc events listen --from LOG`: a team's log takes the place of the HTTP receiver.

A log is a team's shared stream of verified deliveries on NATS servers. `listen` calls
`listen_from`, which connects to the log (`team`), locks this machine's reader so that no other
command runs the same one, and starts the same listener as `run`: events of the log in, forwards
out.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from svc.cli.events.endpoint import Endpoint, Endpoints, sandbox_answers
from svc.cli.events.loop import inspect
from svc.cli.events.options import ListenOptions
from svc.cli.events.run import ListenerSetup, begin, claim_of, conclude, run_listener, show_secrets
from svc.cli.events.secrets import load_secrets, place_of
from svc.cli.events.team import LogOptions, choose_name, delivery_policy, examine, open_log, user_of
from svc.cli.framework.session import Session
from svc.errors import KeyStoreError, UsageError
from svc.listen.forward.pending_acks import status_for_group, status_for_sender
from svc.listen.forward.signing import HeaderSigner, sign_anew
from svc.listen.inbox.interfaces import Position
from svc.listen.inbox.listeners import remember, remember_address
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.listener import OpenSource
from svc.listen.log import group, log_cursor, streams
from svc.listen.log.connection import LogConnection
from svc.listen.log.messages import Trust
from svc.listen.names import Listening, name_reader
from svc.state import Database


@dataclass(frozen=True, slots=True)
class _ReaderSetup(ListenerSetup):
    connection: LogConnection
    keys: tuple[str, ...] = field(repr=False)


def listen_from(session: Session, options: ListenOptions, log: LogOptions) -> None:
    """Runs a listener on a team's log until it is stopped or `--until` is reached.

    Raises:
        CheckFailed: `--until` was not reached, or `--strict` found something wrong.
        Stopped: a signal came.
    """
    check_group(options, log)
    begin(session, options)
    with (
        inspect(session, options.inspect) as inspector,
        _prepare(session, options, log) as reader,
    ):
        consumer_group = log.group is not None
        if consumer_group:  # what a target does not take goes back to the log, which gives it again
            options = replace(options, forwarding=replace(options.forwarding, retry="off"))
        plan = replace(
            options,
            ack="forwarded" if consumer_group else "received",
            signs=_make_signer(session, reader.endpoint) if log.signs_anew else "original",
            verdict=status_for_group if consumer_group else status_for_sender,
        )

        def ways(inbox: SqliteInbox) -> tuple[SqliteInbox, OpenSource]:
            return inbox, _source(session, options, log, reader, inbox)

        ended, screen = run_listener(session, options, reader, plan, ways, None, inspector)
    conclude(options, ended, screen)


def print_own_secret(session: Session, log: LogOptions) -> None:
    """Prints svc's own secret, with which this machine signs a log's events in every run.

    Raises:
        KeyStoreError: there is no keyring to store the secret in.
    """
    try:
        endpoint = _find_own_endpoint(session, session.state(), log, lasting=True)
    except KeyStoreError as error:
        error.hint = "Each run has a secret of its own then, in SVC_WEBHOOK_SECRET of --exec"
        raise
    show_secrets(session, endpoint.id, endpoint.secrets)


def _find_own_endpoint(
    session: Session, state: Database, log: LogOptions, *, lasting: bool = False
) -> Endpoint:
    endpoints = Endpoints(session, state, sandbox=sandbox_answers(session))
    return endpoints.of_log(str(log.address), log.address.name, lasting=lasting)


@contextmanager
def _prepare(session: Session, options: ListenOptions, log: LogOptions) -> Iterator[_ReaderSetup]:
    state = session.state()
    way = name_reader(log.address.stream(session.settings.mode), log.group, log.name)
    listening = Listening(*place_of(session)[:3], way, options.events)
    with ExitStack() as open_:
        connection = open_.enter_context(open_log(session, log.address))
        keys = examine(session, connection, writes=None)
        claim = open_.enter_context(claim_of(session, listening, options))
        endpoint = _find_own_endpoint(session, state, log)
        remember(state, claim, 0, endpoint.id, options.routes.format_routes())
        remember_address(state, claim, str(log.address))
        yield _ReaderSetup(state, claim, endpoint, connection, keys)


def _source(
    session: Session,
    options: ListenOptions,
    log: LogOptions,
    reader: _ReaderSetup,
    inbox: SqliteInbox,
) -> OpenSource:
    connection, mode = reader.connection, session.settings.mode
    known = load_secrets(session, of_logs=False)
    trust = Trust(log.address.stream(mode), reader.keys, options.secrets, tuple(known))
    if log.group is not None:
        consumer_group = group.ConsumerGroup(log.group, mode, options.forwarding.concurrency, trust)
        start = delivery_policy(session, log.start)
        waiting = connection.run(group.ensure(connection, consumer_group, start))
        inbox.hand_back()
        others = f"the others of the group {log.group}, {waiting:,} waiting"
        session.out.note(f"Sharing {log.address} with {others}.")
        targets, clock = options.routes.targets, session.clock
        return partial(group.GroupSource, connection, consumer_group, targets, clock)
    name = choose_name(log, connection)
    subjects = [log.address.subject(mode, kind) for kind in options.events] if options.only else []
    cursor = log_cursor.Cursor(user_of(connection) or name, mode, trust, tuple(subjects))
    connection.run(log_cursor.check_right(connection, mode))
    position = inbox.position()
    if position is None:
        position = connection.run(_first_position(session, log, connection))
        inbox.begin_at(position)
    behind = connection.run(streams.find_start(connection, mode, position)).behind
    session.out.note(f"Reading {log.address} as {name}, {behind:,} behind.")
    place = log_cursor.Place(inbox.position, inbox.begin_at)
    return partial(log_cursor.CursorSource, connection, cursor, place, session.clock)


async def _first_position(session: Session, log: LogOptions, connection: LogConnection) -> Position:
    mode = session.settings.mode
    if log.start is None:
        return Position(0, "")
    if log.start == 0:
        return await streams.end_of(connection, mode)
    return await streams.before(connection, mode, session.clock.now() - log.start)


def _make_signer(session: Session, endpoint: Endpoint) -> HeaderSigner:
    """Signs at the moment of sending: the service's own signature may be hours old by then."""
    clock, secrets = session.clock, endpoint.secrets
    return lambda headers, body: (sign_anew(headers, body, secrets, clock.now()), False)


def check_group(options: ListenOptions, log: LogOptions) -> None:
    """Refuses options that do not go with `--group`, a queue shared by jobs; raises UsageError."""
    if log.group is None:
        return
    if options.forwarding.ordered:
        raise UsageError("A group has no order: each event goes to another job.", param="--ordered")
    if options.forwarding.retry == "real":
        raise UsageError(
            "The service's schedule takes three days; a job of a group has an event for seconds.",
            param="--retry",
        )
    if not options.routes.targets:
        raise UsageError(
            "A group's event counts as done when a target has taken it.",
            param="--forward-to",
            hint="Give a target: --forward-to 3000",
        )
    if options.only or not options.routes.take_all:
        raise UsageError(
            "What a job of a group does not want would be lost to the others.",
            param="--events" if options.only else "--forward-to",
            hint="Give a target for all the rest too, as --forward-to 3000 or --run '*=./rest.sh', "
            "and no --events; or read without --group",
        )
