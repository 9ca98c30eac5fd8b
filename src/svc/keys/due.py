"""When keys and signing secrets are due to be replaced: pure, all times in unix seconds."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from svc.keys.kinds import Mode
from svc.spec import KEY_GRACE_MAX_SECONDS

What: TypeAlias = Literal["api_key", "signing_secret"]
Status: TypeAlias = Literal["overdue", "due", "ok", "unknown", "sandbox"]

DAY_SECONDS: Final = 86_400
MAX_AGE_SECONDS: Final = 90 * DAY_SECONDS
WARN_SECONDS: Final = 14 * DAY_SECONDS


@dataclass(frozen=True, slots=True)
class Held:
    """A secret that is in use, by its name; its text is not here.

    Attributes:
        name: a key's fingerprint, or the id of a webhook endpoint.
        since: when it was added, registered or rolled; None where nobody has said.
        old_name: the key that it took the place of, which may work until `old_ends_at`.
        test_data: it was made by a sandbox for itself and need never be replaced.
        variable: it is in the environment and not in a keyring.
    """

    what: What
    name: str
    profile: str
    origin: str
    mode: Mode
    since: float | None
    old_name: str | None = None
    old_ends_at: float | None = None
    test_data: bool = False
    variable: bool = False

    @property
    def identity(self) -> str:
        """The same for as long as the secret has its place, and after it was replaced."""
        name = "" if self.what == "api_key" else self.name
        parts = (self.what, self.origin, self.profile, self.mode, name)
        return "|".join(("variable", *parts) if self.variable else parts)


@dataclass(frozen=True, slots=True)
class Judged:
    """A secret with its verdict.

    Attributes:
        due_at: when it is to be replaced, or None.
        age_days: whole days, or None.
        old_ends_by: when the old key ends at the latest; None where there is none that may work.
    """

    held: Held
    status: Status
    due_at: float | None
    age_days: int | None
    old_ends_by: float | None


def judge(held: Held, now: float, *, max_age: float, warn: float) -> Judged:
    """Says whether a secret is older than `max_age` seconds, or will be in `warn` seconds."""
    old = _old_end(held)
    ends_by = old if old is not None and old > now else None
    if held.since is None:
        return Judged(held, "unknown", None, None, ends_by)
    age = days_old(held.since, now)
    if held.test_data:
        return Judged(held, "sandbox", None, age, ends_by)
    due_at = held.since + max_age
    status: Status = "overdue" if now >= due_at else "due" if now >= due_at - warn else "ok"
    return Judged(held, status, due_at, age, ends_by)


def days_old(since: float, now: float) -> int:
    """Whole days; 0 of what a clock that was wrong has put into the future."""
    return max(0, int((now - since) // DAY_SECONDS))


def _old_end(held: Held) -> float | None:
    if held.old_name is None or held.since is None:
        return None
    # Nobody has said until when: not beyond what the service allows (spec: Limits).
    return held.since + KEY_GRACE_MAX_SECONDS if held.old_ends_at is None else held.old_ends_at
