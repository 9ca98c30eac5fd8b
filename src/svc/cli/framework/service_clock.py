"""What time it is for a sandbox, whose clock can be turned (promises R4, R101)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from svc.cli.framework.session import Session
from svc.client.exchange import Deadline
from svc.client.journal.key_ages import KeyAges, clock_of, key_ages
from svc.client.sandbox import SandboxClient
from svc.errors import SvcError

if TYPE_CHECKING:
    from svc.client.journal.commands import Say
    from svc.client.journal.entry import Intent

_SECONDS: Final = 3.0
_FRESH_SECONDS: Final = 1.0
_Found = TypeVar("_Found")


def refuse_expired_key(session: Session, intent: "Intent", say: "Say") -> None:
    """Asks a sandbox on this machine how old a request's key is by its clock.

    Only of a request that may have been carried out, since the 24 hours of any other begin anew.

    Raises:
        OutcomeUnknown, Conflict: it is too old to be sent again; nothing was sent.
    """
    if not (intent.is_unresolved or intent.state == "done"):
        return
    ages = sandbox_key_ages(session)
    refusal = None if ages is None else ages.refusal(intent, say)
    if refusal is not None:
        raise refusal


def sandbox_key_ages(session: Session) -> KeyAges | None:
    """What a sandbox on this machine knows of keys; None where the service is no sandbox."""
    return _asked(session, key_ages) if session.base_url.is_loopback else None


class ServedClock:
    """What a sandbox's clock says, asked again when a second has passed.

    A clock that is turned within that second makes a request look older than it is, never younger.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._is_sandbox = is_sandbox(session)
        self._said: float | None = None
        self._asked_at = float("-inf")

    def now(self) -> float | None:
        """Unix seconds on the sandbox's clock; None of any other service."""
        if not self._is_sandbox:
            return None
        now = self._session.clock.monotonic()
        if now - self._asked_at >= _FRESH_SECONDS:
            self._asked_at = now
            self._said = _asked(self._session, clock_of)
            self._is_sandbox = self._said is not None
        return self._said


def served_now(session: Session) -> float | None:
    """What a sandbox's clock says now; None of any other service."""
    return _asked(session, clock_of) if is_sandbox(session) else None


def is_sandbox(session: Session) -> bool:
    """Whether the key or the settings say that the address is a sandbox's; nobody is asked."""
    from svc.keys.resolve import ROLLED_SOURCE
    from svc.spec import SANDBOX_KEYS

    if not session.base_url.is_loopback:
        return False
    key = session.key
    constant = key.secret in SANDBOX_KEYS.values()
    return session.settings.sandbox or constant or key.source == ROLLED_SOURCE


def _asked(session: Session, ask: Callable[[SandboxClient], _Found]) -> _Found | None:
    if not session.expected():
        return None
    limit = Deadline(session.clock, _SECONDS)
    bundle = session.settings.ca_bundle
    with SandboxClient(
        session.base_url, deadline=limit, clock=session.clock, ca_bundle=bundle
    ) as control:
        try:
            session.refuse_stranger()
            return ask(control)
        except (SvcError, LookupError, TypeError, ValueError):
            return None  # whatever it is, it has no clock that can be turned, or tells no time
