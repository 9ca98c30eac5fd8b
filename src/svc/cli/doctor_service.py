"""What `svc doctor` asks about the account: settings, key, connection, clock."""

from typing import Final

from svc.cli.doctor_finding import Finding, failed
from svc.cli.key_check import ask, mend
from svc.cli.session import Session
from svc.client.probe import Reached, probe
from svc.errors import NetworkError, SvcError, Unauthorized
from svc.keys.places import Place
from svc.keys.resolve import VARIABLE
from svc.spec import SIGNATURE_TOLERANCE_SECONDS

SECONDS: Final = 10.0
UNAUTHORIZED: Final = 401
_SKEW_NOTED: Final = 30.0
_NOT_THE_API: Final = "Check the address: it is the API root without /v1 (svc config get)"


def configuration(session: Session) -> Finding:
    """Whether the settings can be read, and which are in use."""
    path = session.config.path
    settings = session.settings
    where = str(path) if path.exists() else "no file, defaults"
    return Finding(
        "configuration", "ok", f"{where}; profile {settings.profile}, {settings.mode} mode"
    )


def key(session: Session) -> Finding:
    """Where the key comes from, whether it is the one that people would expect, and its age."""
    name = "key"
    found = session.key
    shown = f"{found.fingerprint} from {found.source}"
    if found.source != VARIABLE:
        return Finding(name, "ok", shown)
    settings = session.settings
    place = Place(session.base_url.origin, settings.profile, settings.mode)
    stored = session.key_facts.find(place)
    if stored is not None and stored.fingerprint != found.fingerprint:
        return Finding(
            name,
            "warning",
            f"{shown} is used, not the stored key {stored.fingerprint} of this profile",
            f"Unset {VARIABLE} to use the stored key",
        )
    return Finding(name, "ok", shown)


def service(session: Session) -> list[Finding]:
    """Whether the service answers, with how wrong a clock, and whether it takes the key."""
    try:
        session.refuse_stranger()
    except NetworkError as error:
        return [failed("service", error)]
    reached = _reached(session)
    if isinstance(reached, Finding):
        return [reached]
    answer = f"{session.base_url.origin} answered in {reached.milliseconds:.0f} ms"
    if reached.status != UNAUTHORIZED:
        what = f"{answer}, but with {reached.status} to a request without a key, not 401"
        return [Finding("service", "failed", what, _NOT_THE_API)]
    return [
        Finding("service", "ok", answer),
        clock_finding(reached.skew),
        _accepted(session),
    ]


def clock_finding(skew: float | None) -> Finding:
    """Judges how far this machine's clock is from the service's (seconds, ahead is positive)."""
    name = "clock"
    if skew is None:
        return Finding(name, "skipped", "the service tells no time")
    if abs(skew) < _SKEW_NOTED:
        return Finding(name, "ok", "agrees with the service's to a few seconds")
    way = "ahead of" if skew > 0 else "behind"
    words = f"this machine's clock is {abs(skew):.0f} s {way} the service's"
    fix = "Set the clock by network time, such as: timedatectl set-ntp true"
    if abs(skew) > SIGNATURE_TOLERANCE_SECONDS:
        also = "so that every webhook is refused as too old or too new"
        return Finding(name, "failed", f"{words}, {also}", fix)
    return Finding(name, "warning", words, fix)


def _reached(session: Session) -> Reached | Finding:
    from svc.client.proxies import chosen
    from svc.client.wire.sockets import SocketWire

    settings, address = session.settings, session.base_url
    proxy = chosen(address, settings.proxy, session.env)
    wire = SocketWire(address, clock=session.clock, proxy=proxy, ca_bundle=settings.ca_bundle)
    try:
        answer = probe(
            address,
            wire=wire,
            clock=session.clock,
            seconds=min(SECONDS, settings.max_time),
        )
    finally:
        wire.close()
    if isinstance(answer, Reached):
        return answer
    why = f"{answer.trouble.value} ({answer.detail})" if answer.detail else answer.trouble.value
    through = " through the proxy" if proxy else ""
    return Finding("service", "failed", f"{address.origin}{through}: {why}", _way_to_reach(session))


def _way_to_reach(session: Session) -> str:
    if session.settings.sandbox:
        return "Start the sandbox: svc sandbox start --detach"
    return "Check the address (svc config get), the network, --proxy and --ca-bundle"


def _accepted(session: Session) -> Finding:
    name = "key accepted"
    try:
        resolved = session.key
    except SvcError:
        return Finding(name, "skipped", "there is no key to show")
    try:
        ask(session, resolved.secret, resolved.mode)
    except Unauthorized as error:
        return Finding(
            name,
            "failed",
            f"the service refuses {resolved.fingerprint} ({error.code})",
            mend(session),
        )
    except SvcError as error:
        # No end of the other checks: that the service was reached is known already.
        fix = error.hint or "See the whole exchange: svc orders list --limit 1 --verbose"
        return Finding(name, "failed", error.message, fix)
    return Finding(name, "ok", f"the service takes {resolved.fingerprint}")
