"""The table of stored keys in the state database: fingerprints and dates, no secrets.

One exception, in the table `sandbox_keys`: a sandbox's rolled key, which is public test data, if
there is no keyring.

`svc keys add`, `roll` and `remove` write it beside the keyring; `list`, `doctor` and the reminders
read it, so that none of them has to open the keyring. `resolve` looks up in it which keyring has
the key.
"""

from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from svc.api_keys import ApiKey
from svc.clock import Clock
from svc.keys.places import SANDBOX_DATA, KeyPlace, Slot
from svc.service.facts import Mode

if TYPE_CHECKING:
    from svc.state import Database, Tx

_SELECT: Final = "SELECT * FROM key_facts"
_ORDER: Final = " ORDER BY profile, origin, mode, slot"
_ONE: Final = " WHERE origin = ? AND profile = ? AND mode = ? AND slot = ?"
_FORGET: Final = "DELETE FROM key_facts WHERE origin = ? AND profile = ? AND mode = ? AND slot = ?"
_KEEP: Final = "INSERT OR REPLACE INTO sandbox_keys VALUES (?, ?, ?, ?)"
_KEPT: Final = "SELECT secret FROM sandbox_keys WHERE origin = ? AND profile = ? AND mode = ?"
_DROP: Final = "DELETE FROM sandbox_keys WHERE origin = ? AND profile = ? AND mode = ?"
# With the columns in the order of the fields of `KeyFact`.
_REMEMBER: Final = "INSERT OR REPLACE INTO key_facts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class KeyFact:
    """One stored key; all times are in Unix seconds.

    Attributes:
        backend: the keyring that holds the key.
        checked_at: when the service last accepted the key, or None.
        rolled_at: when it replaced the key with `old_fingerprint`.
        old_ends_at: until when the old key works; None if that is not known.
    """

    origin: str
    profile: str
    mode: Mode
    slot: Slot
    kind: str
    fingerprint: str
    backend: str
    added_at: float
    checked_at: float | None
    rolled_at: float | None = None
    old_fingerprint: str | None = None
    old_ends_at: float | None = None

    @property
    def place(self) -> KeyPlace:
        return KeyPlace(self.origin, self.profile, self.mode, self.slot)


class KeyFacts:
    """The table of key facts; the database is opened for each use. Methods raise LocalError."""

    def __init__(self, state_file: Path, clock: Clock) -> None:
        self._path = state_file
        self._clock = clock

    def every(self, *, profile: str | None = None) -> list[KeyFact]:
        """Lists the stored keys of all profiles or of one."""
        if profile is None:
            return self._read(_SELECT + _ORDER)
        return self._read(f"{_SELECT} WHERE profile = ?{_ORDER}", profile)

    def find(self, place: KeyPlace) -> KeyFact | None:
        """Finds the key of a place, or None."""
        found = self._read(_SELECT + _ONE, *place)
        return found[0] if found else None

    def remember(self, place: KeyPlace, key: ApiKey, backend: str, *, checked: bool) -> KeyFact:
        """Records a stored key; `checked` is whether the service has just accepted it.

        A key that is added again keeps its date.
        """
        now = self._clock.now()
        with self._open() as state, state.write() as tx:
            rows = tx.rows(_SELECT + _ONE, place)
            at = now if checked else None
            fact = KeyFact(*place, key.kind, key.fingerprint, backend, now, at)
            if rows and rows[0]["fingerprint"] == key.fingerprint:
                same = KeyFact(**rows[0])
                fact = replace(same, backend=backend, checked_at=at or same.checked_at)
            tx.execute(_REMEMBER, astuple(fact))
            _drop(tx, place)
        return fact

    def note_roll(
        self,
        place: KeyPlace,
        key: ApiKey,
        backend: str,
        *,
        checked: bool,
        old: str,
        old_ends_at: float | None,
    ) -> KeyFact:
        """Records a key that replaced the one of fingerprint `old`, and until when that works.

        A sandbox's key without a keyring (`SANDBOX_DATA`) is stored in this table.
        """
        now = self._clock.now()
        at = now if checked else None
        new = key.kind, key.fingerprint, backend
        fact = KeyFact(*place, *new, now, at, now, old, old_ends_at)
        with self._open() as state, state.write() as tx:
            tx.execute(_REMEMBER, astuple(fact))
            _drop(tx, place)
            if backend == SANDBOX_DATA:
                tx.execute(_KEEP, (*place[:3], key.secret))
        return fact

    def sandbox_key(self, place: KeyPlace) -> str | None:
        """Reads a sandbox's key that is stored in this table, or None."""
        if not self._path.exists():
            return None
        with self._open(reading=True) as state:
            rows = state.rows(_KEPT, place[:3])
        return str(rows[0]["secret"]) if rows else None

    def forget(self, place: KeyPlace) -> None:
        """Deletes the record of a removed key, and a sandbox's key itself."""
        if self._path.exists():
            with self._open() as state, state.write() as tx:
                tx.execute(_FORGET, place)
                _drop(tx, place)

    def _read(self, sql: str, *values: str) -> list[KeyFact]:
        if not self._path.exists():
            return []
        with self._open(reading=True) as state:
            return [KeyFact(**row) for row in state.rows(sql, values)]

    def _open(self, *, reading: bool = False) -> "Database":
        from svc.state import Database  # SQLite is loaded only where facts are needed

        return Database.open(self._path, clock=self._clock, reading=reading)


def _drop(tx: "Tx", place: KeyPlace) -> None:
    if place.slot == "secret":
        tx.execute(_DROP, place[:3])
