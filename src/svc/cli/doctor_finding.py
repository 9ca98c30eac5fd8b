"""What a check of `svc doctor` finds."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

from svc.cli.session import Session
from svc.errors import LocalError, SvcError
from svc.redaction import redact

Verdict: TypeAlias = Literal["ok", "warning", "failed", "skipped"]


class Finding(NamedTuple):
    """One finding; `fix` says what to do about what is not ok."""

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


Check: TypeAlias = Callable[[Session], Finding]


def guarded(name: str, check: Check, session: Session) -> Finding:
    """Makes a check; what the program would have refused to work with is a finding, not an end."""
    try:
        return check(session)
    except SvcError as error:
        return failed(name, error)
    except OSError as error:
        return failed(name, LocalError(f"{error.filename or name}: {error.strerror or error}."))


def failed(name: str, error: SvcError) -> Finding:
    """What an error says, always with something to do about it."""
    return Finding(name, "failed", error.message, error.hint or "Mend that, then: svc doctor")
