"""Each check of `svc doctor`, as a function: a session in, a verdict with its remedy out.

`svc doctor` runs them one after the other by `run_guarded`, which makes a failed `Finding` of an
error, and prints them; `service` alone returns several findings. Nothing is changed.
"""

import os
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from svc.cli.framework.key_check import suggest_fix, try_key
from svc.cli.framework.session import Session
from svc.client.probe import Reached, probe
from svc.clock import utc
from svc.errors import KeyStoreError, LocalError, NetworkError, SvcError, Unauthorized, system_words
from svc.keys.places import title
from svc.keys.resolve import VARIABLE
from svc.redaction import redact
from svc.service.facts import SIGNATURE_TOLERANCE_SECONDS
from svc.state import Database

Verdict: TypeAlias = Literal["ok", "warning", "failed", "skipped"]


class Finding(NamedTuple):
    """The result of one check; `fix` is the remedy where `verdict` is not ok."""

    name: str
    verdict: Verdict
    detail: str
    fix: str | None = None

    def as_data(self) -> dict[str, Any]:
        """The finding as `-o json` shows it."""
        return {
            "object": "check",
            "name": self.name,
            "status": self.verdict,
            "detail": redact(self.detail),
            "fix": self.fix,
        }


CheckResult: TypeAlias = tuple[Verdict, str] | tuple[Verdict, str, str | None]
Check: TypeAlias = Callable[[Session], CheckResult]


def run_guarded(name: str, check: Check, session: Session) -> Finding:
    """Runs a check; an error that would end another command becomes a failed finding."""
    try:
        return Finding(name, *check(session))
    except SvcError as error:
        return build_failed(name, error)
    except OSError as error:
        return build_failed(name, LocalError(f"{error.filename or name}: {system_words(error)}."))


def build_failed(name: str, error: SvcError) -> Finding:
    """Makes a failed finding of an error, with a remedy even where the error has no hint."""
    return Finding(name, "failed", error.message, error.hint or "Mend that, then: svc doctor")


_PROBE: Final = "doctor"  # an item that is never stored; reading it opens no other
_TUNNELS: Final = ("cloudflared", "ngrok", "ssh")


def state(session: Session) -> CheckResult:
    """Whether the state database is whole and private, and whether a request waits in it."""
    from svc.cli.framework.delivering import journal_of
    from svc.state.room import room_of

    path = session.paths.state_file
    if not path.exists():
        return _state_to_be(path)
    with closing(Database.open(path, clock=session.clock)) as database:
        room = room_of(database, path)
        verdict = database.rows("PRAGMA quick_check(1)")[0]["quick_check"]
    if verdict != "ok":
        return "failed", f"{path}: {verdict}", "Copy it away and run svc again"
    with journal_of(session) as journal:
        waiting = len(journal.list(unresolved=True))
    if waiting:
        words = f"{waiting} {'request has' if waiting == 1 else 'requests have'}"
        return "warning", f"{words} no known outcome", "See them: svc requests list --unresolved"
    if room.is_worth_compacting:
        free, size = (f"{one / 1e9:.1f} GB" for one in (room.free, room.size))
        what = f"{free} of the {size} of {path} are free"
        return "warning", what, "Give them back to the disk: svc state compact"
    return "ok", f"{path}; every request has an outcome"


def _state_to_be(path: Path) -> CheckResult:
    """Whether the database can be made, where it is not there yet."""
    nearest = next(folder for folder in path.parents if folder.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return "ok", f"{path} is made when it is first needed"
    why = "is not a folder that svc may write to"
    return "failed", f"{nearest} {why}", "Make it writable for this user"


def keyring(session: Session) -> CheckResult:
    """Whether a keyring answers; where the key comes from elsewhere, none is needed."""
    try:
        from svc.keys.keyrings.choice import backends

        known = backends(session.env, session.config.keyring_backends, sys.platform)
        store = session.key_store()
        answers = next((each.name for each in known if store.is_there(each.name)), None)
        if answers is None:
            store.get(_PROBE)  # says what was looked for
    except KeyStoreError as error:
        settings = session.settings
        elsewhere = session.env.get(VARIABLE) or settings.sandbox or settings.key_command
        return "warning" if elsewhere else "failed", error.message, error.hint
    return "ok", f"{title(answers or known[0].name)} answers"


def tunnels(session: Session) -> CheckResult:
    """Which programs can bring webhooks to this machine."""
    from svc.listen.tunnels.program import find_installed

    if session.settings.sandbox:
        return "skipped", "none is needed for a sandbox on this machine"
    path = session.env.get("PATH", "")
    found = [place for each in _TUNNELS if (place := find_installed(each, path))]
    if not found:
        fix = "Install one, or run your own and name it: svc events listen --public-url URL"
        return "warning", "cloudflared, ngrok and ssh are not installed", fix
    return "ok", ", ".join(found)


def completion(session: Session) -> CheckResult:
    """Whether the shell of this person completes svc, with this release's script."""
    from svc.cli.completion import place_of
    from svc.completion import SHELLS, read_script

    shell = Path(session.env.get("SHELL", "")).name
    if shell not in SHELLS:
        return "skipped", "SHELL names a shell that svc has no completion script for"
    path, _ = place_of(shell, session.env)
    fix = f"Install it: svc completion {shell} --install"
    if not path.is_file():
        return "skipped", f"not installed for {shell}", fix
    if path.read_text(encoding="utf-8", errors="replace") != read_script(shell):
        return "warning", f"{path} is of another release", fix
    return "ok", str(path)


SECONDS: Final = 10.0
UNAUTHORIZED: Final = 401
_SKEW_NOTED: Final = 30.0
_NOT_THE_API: Final = "Check the address: it is the API root without /v1 (svc config get)"


def configuration(session: Session) -> CheckResult:
    """Whether the settings can be read, and which are in use."""
    path = session.config.path
    settings = session.settings
    where = str(path) if path.exists() else "no file, defaults"
    return "ok", f"{where}; profile {settings.profile}, {settings.mode} mode"


def key(session: Session) -> CheckResult:
    """Where the API key comes from, and whether SVC_API_KEY hides another, stored key."""
    found = session.key
    shown = f"{found.fingerprint} from {found.source}"
    if found.source == VARIABLE:
        stored = session.key_facts.find(session.key_place())
        if stored is not None and stored.fingerprint != found.fingerprint:
            what = f"{shown} is used, not the stored key {stored.fingerprint} of this profile"
            return "warning", what, f"Unset {VARIABLE} to use the stored key"
    return "ok", shown


def service(session: Session) -> list[Finding]:
    """Whether the service answers, with how wrong a clock, and whether it takes the key."""
    try:
        session.require_own_sandbox()
    except NetworkError as error:
        return [build_failed("service", error)]
    reached = _reach_service(session)
    if isinstance(reached, Finding):
        return [reached]
    answer = f"{session.base_url.origin} answered in {reached.milliseconds:.0f} ms"
    if reached.status != UNAUTHORIZED:
        what = f"{answer}, but with {reached.status} to a request without a key, not 401"
        return [Finding("service", "failed", what, _NOT_THE_API)]
    return [
        Finding("service", "ok", answer),
        Finding("clock", *judge_clock(reached.skew, reached.turned, session.clock.now())),
        Finding("key accepted", *_check_key(session)),
    ]


def judge_clock(skew: float | None, turned: float | None = None, now: float = 0.0) -> CheckResult:
    """Judges how far this machine's clock is from the service's (seconds, ahead is positive).

    `turned` is how far a sandbox's own clock is ahead of this machine's, which shows `now`.
    """
    if turned is not None and abs(turned) >= _SKEW_NOTED:
        from svc.render.human.cells import distance

        moment = datetime.fromtimestamp(now + turned, UTC)
        words = f"the sandbox's clock was turned: it shows {utc(now + turned)}"
        return "ok", f"{words}, {distance(moment, now)} by this machine's"
    if skew is None:
        return "skipped", "the service tells no time"
    if abs(skew) < _SKEW_NOTED:
        return "ok", "agrees with the service's to a few seconds"
    way = "ahead of" if skew > 0 else "behind"
    words = f"this machine's clock is {abs(skew):.0f} s {way} the service's"
    fix = "Set the clock by network time, such as: timedatectl set-ntp true"
    if abs(skew) > SIGNATURE_TOLERANCE_SECONDS:
        also = "so that every webhook is refused as too old or too new"
        return "failed", f"{words}, {also}", fix
    return "warning", words, fix


def _reach_service(session: Session) -> Reached | Finding:
    from svc.client.ending import PROXY_HINTS
    from svc.client.wire.proxy import choose_proxy
    from svc.client.wire.sockets import SocketWire

    settings, address = session.settings, session.base_url
    proxy = choose_proxy(address, settings.proxy, session.env)
    wire = SocketWire(address, clock=session.clock, proxy=proxy, ca_bundle=settings.ca_bundle)
    try:
        seconds = min(SECONDS, settings.max_time)
        answer = probe(address, wire=wire, clock=session.clock, seconds=seconds)
    finally:
        wire.close()
    if isinstance(answer, Reached):
        return answer
    why = f"{answer.trouble.value} ({answer.detail})" if answer.detail else answer.trouble.value
    through = " through the proxy" if proxy else ""
    fix = "Check the address (svc config get), the network, --proxy and --ca-bundle"
    fix = "Start the sandbox: svc sandbox start --detach" if settings.sandbox else fix
    fix = PROXY_HINTS.get(answer.trouble) or fix
    return Finding("service", "failed", f"{address.origin}{through}: {why}", fix)


def _check_key(session: Session) -> CheckResult:
    try:
        resolved = session.key
    except SvcError:
        return "skipped", "there is no key to show"
    try:
        try_key(session, resolved.secret, resolved.mode)
    except Unauthorized as error:
        what = f"the service refuses {resolved.fingerprint} ({error.code})"
        return "failed", what, suggest_fix(session)
    except SvcError as error:
        # No end of the other checks: that the service was reached is known already.
        fix = error.hint or "See the whole exchange: svc orders list --limit 1 --verbose"
        return "failed", error.message, fix
    return "ok", f"the service takes {resolved.fingerprint}"
