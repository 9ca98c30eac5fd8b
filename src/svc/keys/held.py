"""Which secrets are held for the user: from the state database, without reading any of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from svc.clock import Clock
from svc.keys.due import DAY_SECONDS, Held

if TYPE_CHECKING:
    from svc.journal import State

_KEYS: Final = (
    "SELECT * FROM key_facts WHERE slot = 'secret'"  # what is safe to expose is not due
    " ORDER BY profile, origin, mode"
)
# An endpoint may be listed for several event lists; it has one secret.
_ENDPOINTS: Final = (
    "SELECT endpoint_id, profile, origin, mode, MIN(created_at) AS created_at,"
    " MAX(secret IS NOT NULL) AS test_data FROM endpoints"
    " GROUP BY endpoint_id, profile, origin, mode ORDER BY profile, origin, mode, created_at"
)
_CLAIM: Final = (
    "INSERT INTO reminders (name, told_at) VALUES (?, ?) ON CONFLICT (name)"
    " DO UPDATE SET told_at = excluded.told_at WHERE told_at <= excluded.told_at - ?"
    " OR told_at > excluded.told_at"  # a clock that was wrong once must not silence it for ever
)


class HeldSecrets:
    """What is held, by name; both methods raise LocalError where the database cannot be used."""

    def __init__(self, state_file: Path, clock: Clock) -> None:
        self._path = state_file
        self._clock = clock

    def every(self, *, profile: str | None = None) -> list[Held]:
        """Lists API keys, then signing secrets, of all profiles or of one."""
        if not self._path.exists():
            return []
        with self._open() as state:
            keys, endpoints = state.rows(_KEYS), state.rows(_ENDPOINTS)
        found = [*map(_key, keys), *map(_endpoint, endpoints)]
        return [held for held in found if profile is None or held.profile == profile]

    def claim(self, due: list[Held], now: float) -> list[Held]:
        """Gives those that nobody was told of for a day, and notes that somebody is now.

        Of two processes that ask at once, one gets each.
        """
        with self._open() as state, state.write() as tx:
            return [held for held in due if tx.execute(_CLAIM, (held.identity, now, DAY_SECONDS))]

    def _open(self) -> "State":
        from svc.journal import State  # SQLite is loaded only where something is looked up

        return State.open(self._path, clock=self._clock)


def _key(row: dict[str, Any]) -> Held:
    return Held(
        "api_key",
        row["fingerprint"],
        row["profile"],
        row["origin"],
        row["mode"],
        row["added_at"] if row["rolled_at"] is None else row["rolled_at"],
        row["old_fingerprint"],
        row["old_ends_at"],
    )


def _endpoint(row: dict[str, Any]) -> Held:
    return Held(
        "signing_secret",
        row["endpoint_id"],
        row["profile"],
        row["origin"],
        row["mode"],
        row["created_at"],
        test_data=bool(row["test_data"]),
    )
