"""What is known of stored keys without reading any: in the state database, nothing secret."""

from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from svc.clock import Clock
from svc.keys.kinds import ApiKey, Mode
from svc.keys.places import Place, Slot

if TYPE_CHECKING:
    from svc.journal import State

_SELECT: Final = "SELECT * FROM key_facts"
_ORDER: Final = " ORDER BY profile, origin, mode, slot"
_ONE: Final = " WHERE origin = ? AND profile = ? AND mode = ? AND slot = ?"
_FORGET: Final = "DELETE FROM key_facts WHERE origin = ? AND profile = ? AND mode = ? AND slot = ?"
_REMEMBER: Final = """
INSERT OR REPLACE INTO key_facts
  (origin, profile, mode, slot, kind, fingerprint, backend, added_at, checked_at,
   rolled_at, old_fingerprint, old_ends_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


@dataclass(frozen=True, slots=True)
class KeyFact:
    """One stored key; all times are unix seconds.

    Attributes:
        backend: the keyring that it was put into.
        checked_at: when the service last knew it, or None.
        rolled_at: when it took the place of the one with `old_fingerprint`, which works until
            `old_ends_at`.
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
    rolled_at: float | None
    old_fingerprint: str | None
    old_ends_at: float | None

    @property
    def place(self) -> Place:
        return Place(self.origin, self.profile, self.mode, self.slot)


class KeyFacts:
    """The table of key facts; the database is opened for each use and only if it is there.

    All methods raise LocalError where the database cannot be used.
    """

    def __init__(self, state_file: Path, clock: Clock) -> None:
        self._path = state_file
        self._clock = clock

    def every(self, *, profile: str | None = None) -> list[KeyFact]:
        """Lists what is stored, of all profiles or of one."""
        if profile is None:
            return self._read(_SELECT + _ORDER)
        return self._read(f"{_SELECT} WHERE profile = ?{_ORDER}", profile)

    def find(self, place: Place) -> KeyFact | None:
        """Finds the key of one place."""
        found = self._read(_SELECT + _ONE, *_values(place))
        return found[0] if found else None

    def remember(self, place: Place, key: ApiKey, backend: str, *, checked: bool) -> KeyFact:
        """Notes a key that has been stored; `checked` says that the service has known it now.

        The same key added again is as old as it was.
        """
        now = self._clock.now()
        with self._open() as state, state.write() as tx:
            rows = tx.rows(_SELECT + _ONE, _values(place))
            old = KeyFact(**rows[0]) if rows else None
            same = old if old is not None and old.fingerprint == key.fingerprint else None
            fact = KeyFact(
                *_values(place),
                key.kind,
                key.fingerprint,
                backend,
                same.added_at if same else now,
                now if checked else same.checked_at if same else None,
                same.rolled_at if same else None,
                same.old_fingerprint if same else None,
                same.old_ends_at if same else None,
            )
            tx.execute(_REMEMBER, astuple(fact))
        return fact

    def forget(self, place: Place) -> None:
        """Takes a key that has been removed off the list."""
        if self._path.exists():
            with self._open() as state, state.write() as tx:
                tx.execute(_FORGET, _values(place))

    def _read(self, sql: str, *values: str) -> list[KeyFact]:
        if not self._path.exists():
            return []
        with self._open() as state:
            return [KeyFact(**row) for row in state.rows(sql, values)]

    def _open(self) -> "State":
        from svc.journal import State  # SQLite is loaded only where facts are needed

        return State.open(self._path, clock=self._clock)


def _values(place: Place) -> tuple[str, str, Mode, Slot]:
    return place.origin, place.profile, place.mode, place.slot
