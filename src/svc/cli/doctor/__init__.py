"""`svc doctor`: what stands between this machine and the service, each with its remedy."""

from collections.abc import Iterator
from typing import Final

import typer

from svc.cli.doctor.checks import (
    Check,
    Finding,
    completion,
    configuration,
    failed,
    guarded,
    key,
    keyring,
    service,
    state,
    tunnels,
)
from svc.cli.doctor.logs import logs
from svc.cli.framework.app import new_app, repairing
from svc.cli.framework.session import Session
from svc.errors import CheckFailed, SvcError

app = new_app()

_MACHINE: Final[tuple[tuple[str, Check], ...]] = (
    ("keyring", keyring),
    ("state", state),
    ("tunnels", tunnels),
    ("completion", completion),
)


@repairing(app)
def doctor(ctx: typer.Context) -> None:
    """Check settings, key, connection, clock, keyring, state and tunnels, each with its remedy.

    The logs that this machine reads are checked as well. Nothing is changed. Ends with 11 if a
    check failed; a warning is no failure.

    $ svc doctor
    $ svc doctor --live --max-time 5
    """
    session = Session.of(ctx)
    findings = list(_examined(session))
    out = session.repair_out
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


def _examined(session: Session) -> Iterator[Finding]:
    first = guarded("configuration", configuration, session)
    yield first
    if first.verdict == "failed":
        # Everything else would only fail with the same words.
        yield guarded("state", state, session)
        return
    yield from _account(session)
    for name, check in _MACHINE:
        yield guarded(name, check, session)
    yield from logs(session)


def _account(session: Session) -> Iterator[Finding]:
    try:
        session.base_url  # noqa: B018  a property that raises
    except SvcError as error:
        # The key belongs to an address: it would only fail with the same words.
        yield Finding("key", "skipped", "there is no address that it would be for")
        yield failed("service", error)
        return
    yield guarded("key", key, session)
    try:
        yield from service(session)
    except SvcError as error:
        yield failed("service", error)
