"""Decides which API keys and signing secrets are due to be replaced, by their age.

`svc keys remind` and the daily line at a terminal (`cli.framework.daily`) list them with
`SecretRecords`, which reads the tables of key facts and webhook endpoints, and judge each by
`assess_age`; `svc whoami` shows the `days_old` of a key. Only names and dates are read, no secret.
All times are in Unix seconds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from svc.clock import Clock
from svc.keys.places import SANDBOX_DATA
from svc.service.facts import KEY_GRACE_MAX_SECONDS, Mode

if TYPE_CHECKING:
    from svc.state import Database


What: TypeAlias = Literal["api_key", "signing_secret"]
DueStatus: TypeAlias = Literal["overdue", "due", "ok", "unknown", "sandbox"]

KEYRING: Final = "keyring"
DAY_SECONDS: Final = 86_400
MAX_AGE_SECONDS: Final = 90 * DAY_SECONDS
WARN_SECONDS: Final = 14 * DAY_SECONDS


@dataclass(frozen=True, slots=True)
class SecretRecord:
    """A secret that is in use, by its name; its text is not here.

    Attributes:
        name: a key's fingerprint, or the id of a webhook endpoint.
        since: when it was added, registered or rolled; None where that is unknown.
        old_name: the key that it took the place of, which may work until `old_ends_at`.
        test_data: whether a sandbox has made it for itself: it need never be replaced, and is gone
            once the sandbox is reset.
        variable: whether it is in the environment and not in a keyring.
        kept: where it lies otherwise: in a keyring, or with the data of a sandbox.
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
    kept: str = KEYRING

    @property
    def identity(self) -> str:
        """A text that stays the same for the place of a secret, also after it was replaced."""
        name = "" if self.what == "api_key" else self.name
        parts = (self.what, self.origin, self.profile, self.mode, name)
        return "|".join(("variable", *parts) if self.variable else parts)


@dataclass(frozen=True, slots=True)
class SecretAge:
    """A secret with its verdict.

    Attributes:
        due_at: when it is to be replaced, or None.
        age_days: whole days, or None.
        old_ends_by: when the old key ends at the latest; None where there is none that may work.
    """

    secret: SecretRecord
    status: DueStatus
    due_at: float | None
    age_days: int | None
    old_ends_by: float | None


def assess_age(secret: SecretRecord, now: float, *, max_age: float, warn: float) -> SecretAge:
    """Judges whether a secret is older than `max_age` seconds, or will be in `warn` seconds."""
    old = _compute_old_end(secret)
    ends_by = old if old is not None and old > now else None
    if secret.since is None:
        return SecretAge(secret, "unknown", None, None, ends_by)
    age = days_old(secret.since, now)
    if secret.test_data:
        return SecretAge(secret, "sandbox", None, age, ends_by)
    due_at = secret.since + max_age
    status: DueStatus = "overdue" if now >= due_at else "due" if now >= due_at - warn else "ok"
    return SecretAge(secret, status, due_at, age, ends_by)


def days_old(since: float, now: float) -> int:
    """The age in whole days; 0 if `since` is in the future, as a wrong clock may have noted."""
    return max(0, int((now - since) // DAY_SECONDS))


def _compute_old_end(secret: SecretRecord) -> float | None:
    if secret.old_name is None or secret.since is None:
        return None
    # The end is unknown: at most what the service allows (spec: Limits).
    return (
        secret.since + KEY_GRACE_MAX_SECONDS if secret.old_ends_at is None else secret.old_ends_at
    )


_KEYS: Final = (
    "SELECT * FROM key_facts WHERE slot = 'secret'"  # what is safe to expose is not due
    " ORDER BY profile, origin, mode"
)
_CLAIM: Final = (
    "INSERT INTO reminders (name, told_at) VALUES (?, ?) ON CONFLICT (name)"
    " DO UPDATE SET told_at = excluded.told_at WHERE told_at <= excluded.told_at - ?"
    " OR told_at > excluded.told_at"  # a clock that was wrong once must not silence it for ever
)


class SecretRecords:
    """The records of secrets; both methods raise LocalError where the database cannot be used.

    `signing` gives the signing secrets, whose table is that of the endpoints.
    """

    def __init__(
        self, state_file: Path, clock: Clock, signing: Callable[["Database"], list[SecretRecord]]
    ) -> None:
        self._path = state_file
        self._clock = clock
        self._signing = signing

    def list_records(self, *, profile: str | None = None) -> list[SecretRecord]:
        """Lists API keys, then signing secrets, of all profiles or of one."""
        if not self._path.exists():
            return []
        with self._open() as state:
            found = [*map(_read_key, state.rows(_KEYS)), *self._signing(state)]
        return [secret for secret in found if profile is None or secret.profile == profile]

    def claim(self, due: list[SecretRecord], now: float) -> list[SecretRecord]:
        """Returns the reminders that were not shown for a day, and records that they are shown now.

        Of two processes that ask at once, only one gets a reminder.
        """
        with self._open() as state, state.write() as tx:
            return [
                secret for secret in due if tx.execute(_CLAIM, (secret.identity, now, DAY_SECONDS))
            ]

    def _open(self) -> "Database":
        from svc.state import Database  # SQLite is loaded only where something is looked up

        return Database.open(self._path, clock=self._clock)


def _read_key(row: dict[str, Any]) -> SecretRecord:
    return SecretRecord(
        "api_key",
        row["fingerprint"],
        row["profile"],
        row["origin"],
        row["mode"],
        row["added_at"] if row["rolled_at"] is None else row["rolled_at"],
        row["old_fingerprint"],
        row["old_ends_at"],
        kept=SANDBOX_DATA if row["backend"] == SANDBOX_DATA else KEYRING,
    )
