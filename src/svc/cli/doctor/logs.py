"""The check of a team's logs: each that a listener of this profile has read or filled."""

import re
import time
from collections.abc import Iterator
from typing import Final

from svc.cli.doctor.checks import Finding, failed
from svc.cli.framework.session import Session
from svc.errors import LocalError, SvcError
from svc.listen.inbox.sqlite import positions

_FILLED: Final = " "  # a receiver's way says to which log
_ADDRESS: Final = re.compile(r"([| ])(nats(?:\+tls)?://[^| ]+)")
_WORSE: Final = ("ok", "warning", "failed")


def logs(session: Session) -> Iterator[Finding]:
    """One finding for each log; none, and nothing loaded, where no log was ever used."""
    try:
        known = _known(session)
    except (LocalError, OSError):  # the check of the state has said so
        return
    for address, fills in known.items():
        try:
            yield _looked_at(session, address, fills=fills)
        except SvcError as error:
            yield failed("log", error)


def _known(session: Session) -> dict[str, bool]:
    """Gives the logs that were used here, and whether by a receiver."""
    settings = session.settings
    if not session.paths.has_state or settings.address is None:
        return {}
    scopes = positions(session.state(), settings.address.origin, settings.profile, settings.mode)
    found = map(_ADDRESS.search, scopes)
    logs: dict[str, bool] = {}
    for match in found:
        if match is not None:
            logs[match[2]] = logs.get(match[2], False) or match[1] == _FILLED
    return logs


def _looked_at(session: Session, text: str, *, fills: bool) -> Finding:
    from svc.cli.events.log import position_here
    from svc.cli.events.team import open_log
    from svc.listen.log import checks
    from svc.listen.log.address import LogAddress
    from svc.listen.log.status import look
    from svc.listen.log.streams import stream_info
    from svc.spec import WEBHOOK_BODY_MAX

    address, mode = LogAddress.parse(text, "--from"), session.settings.mode
    position = position_here(session, address)
    started = time.monotonic()
    with open_log(session, address) as connection:
        took = (time.monotonic() - started) * 1000
        info = connection.run(stream_info(connection, mode))
        remarks = [
            checks.version(connection),
            checks.payload(connection, WEBHOOK_BODY_MAX),
            checks.replicas(info),
            checks.limits(info),
            checks.sync(None),
            checks.clock(info, session.clock.now()),
        ]
        if not fills:
            remarks.append(connection.run(checks.rights(connection, mode)))
        status = connection.run(look(connection, mode, position, session.clock.now()))
    worst = max(remarks, key=lambda one: _WORSE.index(one.verdict))
    parts = [f"{address} answered in {took:.0f} ms", *(one.detail for one in remarks)]
    if status.behind is not None:
        parts.append(f"this machine is {status.behind} behind")
    parts += [
        f"group {one.name}: {one.waiting} wait, {one.unacknowledged} are with a job"
        for one in status.groups or ()
    ]
    parts += [f"{status.failed} failed"] if status.failed else []
    return Finding("log", worst.verdict, "; ".join(parts), worst.fix)
