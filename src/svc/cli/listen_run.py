"""Running `svc events listen`: a port, an endpoint, the relay, and an exit code that is true."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from svc.cli.listen_asked import Asked
from svc.cli.listen_endpoint import Endpoint, Endpoints, is_sandbox
from svc.cli.listen_loop import Ended, run_loop
from svc.cli.listen_screen import Screen
from svc.cli.session import Session
from svc.cli.signals import Stopped
from svc.errors import CheckFailed, LocalError, UsageError
from svc.journal import State
from svc.listen.claims import Claim, Listening, claimed, last_endpoint, remember
from svc.listen.inbox import SqliteInbox
from svc.listen.readiness import remove
from svc.listen.receiver import bind, new_path
from svc.listen.records import Summary
from svc.listen.relay import Plan


@dataclass(frozen=True, slots=True)
class _Place:
    """What a listener stands on."""

    state: State
    claim: Claim
    bound: socket.socket
    endpoint: Endpoint
    path: str


def listen_to(session: Session, asked: Asked) -> None:
    """Listens until it is stopped or what was asked for has come.

    Raises:
        CheckFailed: `--until` was not reached, or `--strict` found something wrong.
        Stopped: a signal came.
    """
    session.is_long_running()
    if asked.ready_file is not None:
        remove(asked.ready_file)
    with _prepared(session, asked) as place:
        screen = Screen(session, asked, place.endpoint)
        inbox = SqliteInbox(place.state, place.claim.scope, retake_failed=asked.ack == "forwarded")
        plan = _plan(session, asked, place)
        try:
            ended = run_loop(plan, inbox, place.bound, session, asked.command, screen)
        finally:
            screen.close()
    _conclude(asked, ended)


def print_secret(session: Session, asked: Asked) -> None:
    """Prints the signing secret of the listener with these options, also while it runs."""
    state, sandbox = session.state(), is_sandbox(session)
    _need_a_way_in(session, asked, sandbox=sandbox)
    endpoints = Endpoints(session, state, sandbox=sandbox)
    known = endpoints.secret_in_use(last_endpoint(state, _listening(session, asked)))
    secrets = asked.secrets or ((known,) if known else ())
    if not secrets:
        with _prepared(session, asked) as place:
            secrets = place.endpoint.secrets
    for secret in secrets:
        session.streams.stdout.write(secret + "\n")


def _listening(session: Session, asked: Asked) -> Listening:
    settings = session.settings
    way = "given" if asked.secrets else str(asked.public_url or "local")
    return Listening(session.base_url.origin, settings.profile, settings.mode, way, asked.events)


@contextmanager
def _prepared(session: Session, asked: Asked) -> Iterator[_Place]:
    state, sandbox = session.state(), is_sandbox(session)
    _need_a_way_in(session, asked, sandbox=sandbox)
    folder = session.paths.state_dir / "listeners"
    with claimed(state, folder, _listening(session, asked), new_path) as claim:
        bound = _bind(session, asked, claim)
        with bound:
            port = bound.getsockname()[1]
            url, path = _address(asked, claim, port)
            if asked.secrets:
                endpoint = Endpoint(None, url, asked.secrets, "given by you")
            else:
                found = Endpoints(session, state, sandbox=sandbox)
                endpoint = found.of(url, claim.path, asked.events)
            targets = [str(target) for target in asked.routes.targets]
            remember(state, claim, port, endpoint.id, targets)
            yield _Place(state, claim, bound, endpoint, path)


def _need_a_way_in(session: Session, asked: Asked, *, sandbox: bool) -> None:
    if sandbox or session.base_url.is_loopback or asked.public_url or asked.secrets:
        return
    raise UsageError(
        f"{session.base_url.origin} cannot reach this machine.",
        code="public_url_missing",
        param="--public-url",
        hint="Run a tunnel to a port of your choice and give both: --public-url https://... "
        "--port 4000",
    )


def _bind(session: Session, asked: Asked, claim: Claim) -> socket.socket:
    """Takes the port that was asked for or used before; another one only if it is taken."""
    if asked.port is not None or claim.port is None:
        return bind(asked.port or 0)
    try:
        return bind(claim.port)
    except LocalError:
        session.out.note(f"Port {claim.port} is taken by another program; using another one.")
        return bind(0)


def _address(asked: Asked, claim: Claim, port: int) -> tuple[str, str]:
    """Gives the URL for the service and the one path that is answered (promise R56)."""
    if asked.public_url is None:
        return f"http://127.0.0.1:{port}{claim.path}", claim.path
    if asked.secrets and asked.public_url.prefix:  # an endpoint that exists has its own path
        return str(asked.public_url), asked.public_url.prefix
    return asked.public_url.url(claim.path), asked.public_url.prefix + claim.path


def _plan(session: Session, asked: Asked, place: _Place) -> Plan:
    return Plan(
        mode=session.settings.mode,
        secrets=place.endpoint.secrets,
        path=place.path,
        url=place.endpoint.url,
        routes=asked.routes,
        events=asked.events,
        endpoint=place.endpoint.id,
        hosts=(asked.public_url.host,) if asked.public_url else (),
        ack=asked.ack,
        manner=asked.manner,
        headers=asked.headers,
        limits=asked.limits,
        until=asked.until,
        beside=asked.command is not None,
        timeout=asked.timeout,
        ready_file=asked.ready_file,
    )


def _conclude(asked: Asked, ended: Ended) -> None:
    """Turns what happened into an exit code; a failed check counts more than how it was ended."""
    if asked.strict:
        _check_strictly(ended.summary)
    if ended.signal is not None:
        raise Stopped(ended.signal)
    if asked.command is not None and ended.exec_code != 0:
        _tell_of_command(asked, ended.exec_code)
    if ended.summary.until_reached is False and asked.until is not None:
        what, count = asked.until.glob, asked.until.count
        raise CheckFailed(
            f"{what} did not come{f' {count} times' if count > 1 else ''} before the end.",
            code="until_not_reached",
            param="--until",
        )


def _tell_of_command(asked: Asked, code: int | None) -> None:
    if code is None:
        raise CheckFailed(
            f"The command of --exec was still running after {asked.timeout or 0:g} s.",
            code="exec_timeout",
            param="--exec",
        )
    raise CheckFailed(
        f"The command of --exec ended with exit code {code}.", code="exec_failed", param="--exec"
    )


def _check_strictly(summary: Summary) -> None:
    faults = {
        "rejected": summary.rejected,
        "not forwarded": summary.failed + summary.pending + summary.withheld,
    }
    found = [f"{count} {what}" for what, count in faults.items() if count]
    if found:
        raise CheckFailed(f"Deliveries: {', '.join(found)}.", code="strict", param="--strict")
