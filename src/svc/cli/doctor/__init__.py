"""`svc doctor`: checks what stands between this machine and the service, each with its remedy.

`checks` has the checks, and this module their order; it checks a team's logs itself. Each check
gives a `Finding` (ok, warning, failed or skipped), and `report` collects them for a bug report.
"""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from svc.cli.doctor.checks import (
    Check,
    CheckResult,
    Finding,
    build_failed,
    completion,
    configuration,
    key,
    keyring,
    run_guarded,
    service,
    state,
    tunnels,
)
from svc.cli.framework.app import make_app, works_with_invalid_config
from svc.cli.framework.options import flag, option
from svc.cli.framework.session import Session
from svc.errors import CheckFailed, LocalError, SvcError
from svc.listen.inbox.listeners import list_listeners
from svc.listen.names import log_of
from svc.service.facts import WEBHOOK_BODY_MAX

app = make_app()

_MACHINE: Final[tuple[tuple[str, Check], ...]] = (
    ("keyring", keyring),
    ("state", state),
    ("tunnels", tunnels),
    ("completion", completion),
)

_TO_REPORT: Final = (
    "Attach this where you have svc from, with what you typed, what came and what you expected"
)


@works_with_invalid_config(app)
def doctor(
    session: Session,
    log_monitor: list[str] | None = option(
        "URL", "The monitoring address of a team's log, for each of its servers."
    ),
    report: bool = flag(
        "--report", "Print what to attach to a report of a bug; no secret is in it."
    ),
) -> None:
    """Check settings, key, connection, clock, keyring, state and tunnels, each with its remedy.

    The logs that this machine reads are checked as well. Nothing is changed. Ends with 11 if a
    check failed; a warning is no failure.

    $ svc doctor
    $ svc doctor --live --max-time 5
    $ svc doctor --report
    """
    findings = list(_examine(session, log_monitor or ()))
    out = session.repair_out
    if report:
        from svc.cli.doctor.report import report_of

        told = report_of(session, findings)
        if out.format != "human":
            out.value(told, name="svc")
            return
        out.value({name: value for name, value in told.items() if name != "checks"})
        out.line("")
        out.checkup(told["checks"])
        out.hint(_TO_REPORT)
        return
    shown = [finding.as_data() for finding in findings]
    if out.format == "id":
        out.value(shown, name="name")
    else:
        out.checkup(shown)
    wrong = [finding for finding in findings if finding.verdict == "failed"]
    if wrong:
        raise CheckFailed(
            f"{len(wrong)} of {len(findings)} checks failed: "
            f"{', '.join(finding.name for finding in wrong)}.",
            code="doctor_failed",
            hint=wrong[0].fix,
        )


def _examine(session: Session, monitors: Sequence[str]) -> Iterator[Finding]:
    first = run_guarded("configuration", configuration, session)
    yield first
    if first.verdict == "failed":
        # Everything else would only fail with the same words.
        yield run_guarded("state", state, session)
        return
    yield from _account(session)
    for name, check in _MACHINE:
        yield run_guarded(name, check, session)
    yield from logs(session, monitors)


def _account(session: Session) -> Iterator[Finding]:
    try:
        session.base_url  # noqa: B018  a property that raises
    except SvcError as error:
        # The key belongs to an address: it would only fail with the same words.
        yield Finding("key", "skipped", "no base URL is known that the key would be sent to")
        yield build_failed("service", error)
        return
    yield run_guarded("key", key, session)
    try:
        yield from service(session)
    except SvcError as error:
        yield build_failed("service", error)


_WORSE: Final = ("ok", "warning", "failed")


def logs(session: Session, monitors: Sequence[str]) -> Iterator[Finding]:
    """Yields a finding for each team's log that this machine has used.

    Without such a log it yields one for the `monitors` (addresses of NATS servers), if any.
    """
    try:
        known = _find_logs(session)
    except (LocalError, OSError):  # the check of the state has said so
        return
    if monitors and not known:
        yield run_guarded("log", partial(_look_at_monitors, monitors=monitors), session)
    for address, fills in known.items():
        check = partial(_check_log, text=address, monitors=monitors, fills=fills)
        yield run_guarded("log", check, session)


def _look_at_monitors(session: Session, monitors: Sequence[str]) -> CheckResult:  # noqa: ARG001  a check's
    from svc.listen.log import checks

    seen = checks.sync(monitors, len(monitors))
    return seen.verdict, f"{seen.detail}; no log was used from here", seen.fix


def _find_logs(session: Session) -> dict[str, bool]:
    """Returns the logs that were used here, and whether by a receiver."""
    settings = session.settings
    if not session.paths.has_state or settings.address is None:
        return {}
    known = list_listeners(
        session.state(), settings.address.origin, settings.profile, settings.mode
    )
    logs: dict[str, bool] = {}
    for scope, place in known.items():
        log = log_of(scope)
        address = log.log if log is not None and log.fills else place.address
        if log is not None and place.in_use and address:
            logs[address] = logs.get(address, False) or log.fills
    return logs


def _check_log(session: Session, text: str, monitors: Sequence[str], *, fills: bool) -> CheckResult:
    from svc.cli.events.log import position_here
    from svc.cli.events.team import open_log
    from svc.listen.log import checks
    from svc.listen.log.address import LogAddress
    from svc.listen.log.status import read_status
    from svc.listen.log.streams import stream_info

    address, mode = LogAddress.parse(text, "--from"), session.settings.mode
    position = position_here(session, address)
    started = time.monotonic()
    with open_log(session, address) as connection:
        took = (time.monotonic() - started) * 1000
        info = connection.run(stream_info(connection, mode))
        versions, certificates = zip(*connection.list_servers(), strict=True)
        remarks = [
            checks.version(versions),
            checks.payload(connection, WEBHOOK_BODY_MAX),
            checks.replicas(info),
            checks.limits(info),
            checks.sync(monitors, len(address.hosts)),
            checks.clock(info, session.clock.now()),
            checks.certificate(certificates, session.clock.now()),
        ]
        if not fills:
            remarks.append(connection.run(checks.rights(connection, mode)))
        status = connection.run(read_status(connection, mode, position, session.clock.now()))
        if status["failed"]:
            remarks.append(checks.put_aside(status["failed"], text))
    worst = max(remarks, key=lambda one: _WORSE.index(one.verdict))
    parts = [f"{address} answered in {took:.0f} ms", *(one.detail for one in remarks)]
    if status["behind"] is not None:
        parts.append(f"this machine is {status['behind']} behind")
    parts += [
        "group {name}: {waiting} wait, {unacknowledged} are with a job".format_map(one)
        for one in status["groups"] or ()
    ]
    return worst.verdict, "; ".join(parts), worst.fix
