"""Runs one listener of `svc events listen` or `receive`, from its options to its exit code.

Those commands call `listen_to`. It locks the listener's identity so that no other command runs the
same one, binds the port, registers the endpoint (with a tunnel if one is needed), opens the inbox
and runs the event loop (`loop`), which prints each record and the summary. `from_log` shares the
steps that do not need a port.
"""

import gc
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from svc.cli.events.endpoint import Endpoint, Endpoints, Registrar, sandbox_answers
from svc.cli.events.link import (
    ChosenTunnel,
    EndpointLink,
    SignatureWatch,
    TunnelLink,
    choose,
    open_link,
)
from svc.cli.events.loop import Ended, ExecProcess, ListenerLoop, inspect
from svc.cli.events.options import ListenOptions, check_targets
from svc.cli.events.screen.printer import RecordPrinter
from svc.cli.events.screen.streams import Printing
from svc.cli.events.secrets import SECRETS_MAX, StoredSecrets, find_known_elsewhere, place_of
from svc.cli.framework.session import Session
from svc.errors import CheckFailed, LocalError, NotFound
from svc.listen.identity import claim_listener
from svc.listen.inbox.interfaces import Inbox
from svc.listen.inbox.listeners import ListenerId, count_pending, find_last_endpoint
from svc.listen.inbox.sqlite import SqliteInbox, open_inbox
from svc.listen.listener import OpenSource, remove
from svc.listen.names import Listening, name_receiver
from svc.listen.plan import ListenerPlan
from svc.listen.receiver.server import bind, make_path
from svc.state import Database
from svc.system.signals import Stopped

if TYPE_CHECKING:
    from svc.listen.inspector.app import Inspector

# More than 512 events have: the collector would look at each again and again, and free none.
_OBJECTS_ON_THEIR_WAY: Final = 20_000
_CLOSE_SECONDS: Final = 0.2  # for the database, of the one in which we end (promise R78)

_DOUBLED: Final = (
    "Another listener that runs here forwards to the same targets: they get what comes to both "
    "twice, each time with another signature."
)


@dataclass(frozen=True, slots=True)
class ListenerSetup:
    """What a listener needs before it runs: state database, locked identity and endpoint."""

    state: Database
    claim: ListenerId
    endpoint: Endpoint


@dataclass(frozen=True, slots=True)
class _ReceiverSetup(ListenerSetup):
    bound: socket.socket
    path: str
    hosts: tuple[str, ...]
    link: EndpointLink | None


def listen_to(
    session: Session,
    options: ListenOptions,
    into: Callable[[SqliteInbox], Inbox] = lambda inbox: inbox,
) -> None:
    """Runs a listener until it is stopped or `--until` is reached.

    `into` wraps this machine's inbox where deliveries go elsewhere, such as into a team's log.

    Raises:
        CheckFailed: `--until` was not reached, or `--strict` found something wrong.
        Stopped: a signal came.
    """
    begin(session, options)
    sandbox = sandbox_answers(session)
    chosen = choose(session, options, sandbox=sandbox)
    options = _with_own_address(session, options, chosen, sandbox=sandbox)
    with (
        inspect(session, options.inspect) as inspector,
        _prepare(session, options, chosen, sandbox=sandbox) as setup,
    ):
        plan = replace(
            options,
            path=setup.path,
            hosts=setup.hosts,
            known=find_known_elsewhere(session, setup.endpoint.id),
        )

        def ways(inbox: SqliteInbox) -> tuple[Inbox, socket.socket]:
            return into(inbox), setup.bound

        ended, screen = run_listener(session, options, setup, plan, ways, setup.link, inspector)
    conclude(options, ended, screen)


def begin(session: Session, options: ListenOptions) -> None:
    """Removes the ready file of an earlier run and checks the targets; raises UsageError."""
    session.prepare_long_run()
    gc.set_threshold(_OBJECTS_ON_THEIR_WAY, *gc.get_threshold()[1:])
    if options.ready_file is not None:
        remove(options.ready_file)
    check_targets(options.routes.targets)


def run_listener(
    session: Session,
    options: ListenOptions,
    setup: ListenerSetup,
    plan: ListenerPlan,
    ways: Callable[[SqliteInbox], tuple[Inbox, socket.socket | OpenSource]],
    link: EndpointLink | None,
    inspector: "Inspector | None",
) -> tuple[Ended, RecordPrinter]:
    """Opens the listener's inbox and runs the listener to its end.

    `plan` is the options with what was found out since, but for the endpoint and the inspector.
    `ways` takes that inbox and returns the inbox to store deliveries in, and the bound socket or
    log that deliveries come from.
    """
    retake = plan.ack == "forwarded"
    inbox = open_inbox(session.state, setup.claim.scope, session.clock, retake_failed=retake)
    into, way_in = ways(inbox)
    plan = replace(
        plan,
        secrets=setup.endpoint.secrets,
        url=setup.endpoint.url,
        endpoint=setup.endpoint.id,
        inspector=inspector.url if inspector is not None else None,
        pending=_take_over(session, options, setup, inbox),
    )
    printing = Printing(session.streams, session.paths.state_dir, session.format != "human")
    session.print_to(printing.streams)
    screen = RecordPrinter(session, options, setup.endpoint, printing.soon)
    child_process = (
        ExecProcess(options.command, session.env, plan.secrets[0]) if options.command else None
    )
    try:
        signatures = None
        if link is None or isinstance(link, TunnelLink):  # a local one takes a new secret itself
            warn = session.out.warn
            signatures = SignatureWatch(setup.endpoint, options.again, session.argv, warn)
        loop = ListenerLoop(
            plan, into, session, child_process, screen, printing, link, inspector, signatures
        )
        ended = loop.run(way_in)
    finally:
        session.print_to(printing.end())
        setup.state.shorten_timeout(_CLOSE_SECONDS)
        inbox.close(_CLOSE_SECONDS)
    return ended, screen


def _take_over(
    session: Session, options: ListenOptions, setup: ListenerSetup, inbox: SqliteInbox
) -> int:
    """Counts what these targets are still to get; says, or takes over, what waits for others."""
    urls = [str(target) for target in options.routes.targets]
    if options.adopt and urls:
        inbox.adopt(lambda kind: [str(target) for target in options.routes.match(kind)], urls)
    left = count_pending(setup.state, setup.claim)
    for url in sorted(left.keys() - set(urls)):
        events = f"{left[url]:,} event{' waits' if left[url] == 1 else 's wait'} for {url}"
        adopt = "; --adopt forwards them to the targets of this run" if urls else ""
        session.out.note(f"{events}, as an earlier run was told{adopt}.")
    return sum(left.get(url, 0) for url in urls)


def print_secret(session: Session, options: ListenOptions) -> None:
    """Prints the signing secret of the listener with these options, even while it runs.

    An endpoint that does not exist yet is registered.
    """
    state, sandbox = session.state(), sandbox_answers(session)
    chosen = choose(session, options, sandbox=sandbox)
    options = _with_own_address(session, options, chosen, sandbox=sandbox)
    endpoints = Endpoints(session, state, sandbox=sandbox)
    endpoint_id = find_last_endpoint(
        state, _build_listening(session, options, chosen), options.routes.format_routes()
    )
    own = None if options.secrets else endpoints.secret_in_use(endpoint_id)
    secrets = options.secrets or (() if own is None else (own,))
    if not secrets and chosen is not None and chosen.address is None:
        raise NotFound(
            f"There is no signing secret before {chosen.provider.name} has given its address.",
            code="no_endpoint_yet",
            hint="Ask while svc events listen runs, with the same options",
        )
    if not secrets:
        with _prepare(session, options, chosen, sandbox=sandbox, linking=False) as setup:
            endpoint_id, secrets = setup.endpoint.id, setup.endpoint.secrets
    show_secrets(session, None if options.secrets else endpoint_id, secrets)


def show_secrets(session: Session, endpoint_id: str | None, secrets: tuple[str, ...]) -> None:
    """Prints each secret as a line, for `$(...)`, or as JSON where a format was asked for."""
    options = session.given.everywhere
    if session.settings.output in (None, "human", "id") and not (options.query or options.fields):
        for secret in secrets:
            session.stdout.write(secret + "\n")
        return
    session.out.value(
        {"object": "signing_secrets", "endpoint": endpoint_id, "secrets": list(secrets)}
    )


def _with_own_address(
    session: Session, options: ListenOptions, chosen: ChosenTunnel | None, *, sandbox: bool
) -> ListenOptions:
    """Keeps the address of the listener's own endpoint where its secret is among the given ones.

    So that `SVC_WEBHOOK_SECRET=NEW,OLD` goes on where a secret was rolled; the new one is kept.
    """
    if len(options.secrets) < SECRETS_MAX:
        return options
    state, own = session.state(), replace(options, secrets=())
    endpoint_id = find_last_endpoint(
        state, _build_listening(session, own, chosen), options.routes.format_routes()
    )
    if endpoint_id is None or StoredSecrets(session, state).get(endpoint_id) not in options.secrets:
        return options
    Endpoints(session, state, sandbox=sandbox).keep_rolled(endpoint_id, options.secrets[0])
    return replace(own, also=options.secrets)


def _build_listening(
    session: Session, options: ListenOptions, chosen: ChosenTunnel | None
) -> Listening:
    way = chosen.way if chosen is not None else str(options.public_url or "local")
    way = name_receiver("given" if options.secrets else way, options.log)
    return Listening(*place_of(session)[:3], way, options.events)


@contextmanager
def _prepare(
    session: Session,
    options: ListenOptions,
    chosen: ChosenTunnel | None,
    *,
    sandbox: bool,
    linking: bool = True,
) -> Iterator[_ReceiverSetup]:
    """Sets a listener up; starts its tunnel only if it is going to be `linking`."""
    state, listening = session.state(), _build_listening(session, options, chosen)
    with ExitStack() as open_:
        claim = open_.enter_context(claim_of(session, listening, options))
        if claim.beside and options.routes.targets:
            session.out.warn(_DOUBLED)
        bound = open_.enter_context(_bind(session, options, claim))
        register = Registrar(session, options, state, claim, bound.getsockname()[1], sandbox)
        address = chosen.address if chosen is not None else options.public_url
        link: EndpointLink | None = None
        if linking and chosen is not None:
            tunnel = open_.enter_context(open_link(session, chosen, register.port, register))
            link, address = tunnel, tunnel.address
        endpoint = link.endpoint if link is not None else register(address)
        renew = register.renewal(lambda: link.address if isinstance(link, TunnelLink) else address)
        if renew is not None:
            link = link or open_.enter_context(closing(EndpointLink(endpoint)))
            link.renew, link.absent = renew, register.tell_absence
        hosts = (address.host,) if address is not None else ()
        path = register.address(address)[1]
        yield _ReceiverSetup(state, claim, endpoint, bound, path, hosts, link)


def claim_of(
    session: Session, listening: Listening, options: ListenOptions
) -> AbstractContextManager[ListenerId]:
    """Locks a listener's identity (`claim_listener`); notes a wait for another command."""

    def waiting() -> None:
        session.out.note("Waiting for another svc command that sends what is pending.")

    folder, targets = session.paths.state_dir / "listeners", options.routes.format_routes()
    return claim_listener(session.state(), folder, listening, make_path, targets, waiting)


def _bind(session: Session, options: ListenOptions, claim: ListenerId) -> socket.socket:
    """Takes the port that was asked for or used before; another one only if it is taken."""
    if options.port is not None or claim.port is None:
        return bind(options.port or 0)
    try:
        return bind(claim.port)
    except LocalError:
        session.out.note(f"Port {claim.port} is taken by another program; using another one.")
        return bind(0)


def conclude(options: ListenOptions, ended: Ended, screen: RecordPrinter) -> None:
    """Raises the error that gives the exit code; a failed check counts more than a signal."""
    if options.strict:
        summary = ended.summary
        faults = {
            "missed": screen.missed,
            "rejected": summary.rejected,
            "not forwarded": summary.failed + summary.pending + summary.withheld,
        }
        found = [f"{count} {what}" for what, count in faults.items() if count]
        if found:
            raise CheckFailed(f"Deliveries: {', '.join(found)}.", code="strict", param="--strict")
    if ended.signal is not None:
        stopped = Stopped(ended.signal)
        stopped.told = True  # the summary says so
        raise stopped
    if options.command is not None and ended.exec_code != 0:
        code, how = "exec_failed", f"ended with exit code {ended.exec_code}"
        if ended.exec_code is None:
            code, how = "exec_timeout", f"was still running after {options.timeout or 0:g} s"
        raise CheckFailed(f"The command of --exec {how}.", code=code, param="--exec")
    if ended.summary.until_reached is False and options.until is not None:
        what, count = options.until.glob, options.until.count
        missed_it = "was not forwarded" if ended.summary.pending else "did not come"
        raise CheckFailed(
            f"{what} {missed_it}{f' {count} times' if count > 1 else ''} before the end.",
            code="until_not_reached",
            param="--until",
            hint=f"The log could not be read: {screen.log_away}" if screen.log_away else None,
        )
