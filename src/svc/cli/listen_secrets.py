"""Signing secrets of the endpoints that were registered here: where they lie, and two in rotation.

A sandbox's are public test data and lie in the state database, those of a real service in the
keyring, in one item for each endpoint and a second one for the secret before.
"""

from typing import Final

from svc.cli.session import Session
from svc.errors import KeyStoreError
from svc.journal import State
from svc.keys.places import Place
from svc.keys.signing import SigningSecrets

_BEFORE: Final = "before"
_ROTATION_SECONDS: Final = 86400  # for which the service may sign with the old one too
_ROW: Final = (
    "SELECT secret, created_at FROM endpoints WHERE endpoint_id = ?"
    " AND origin = ? AND profile = ? AND mode = ?"
    # A sandbox that was reset to its seed may give another listener's endpoint an id of before.
    " ORDER BY created_at DESC"
)


class EndpointSecrets:
    """Reads and keeps them for one origin, profile and mode."""

    def __init__(self, session: Session, state: State, place: Place) -> None:
        self._session = session
        self._state = state
        self._place = place

    def of(self, endpoint_id: str) -> tuple[str, ...]:
        """Gives the secret of an endpoint, for a day after a rotation the old one behind it."""
        rows = self._state.rows(_ROW, (endpoint_id, *self._who))
        stored: str = (rows[0]["secret"] or "") if rows else ""
        since = rows[0]["created_at"] if rows else 0.0
        fresh = self._session.clock.now() - since < _ROTATION_SECONDS
        if stored:
            found = tuple(stored.split(","))
            return found if fresh else found[:1]
        return self._from_keyring(endpoint_id, both=fresh)

    def keep(self, endpoint_id: str, secret: str) -> None:
        """Puts the first secret of an endpoint into the keyring; raises KeyStoreError."""
        self._keyring.put(endpoint_id, secret)

    def replace(self, endpoint_id: str, secret: str, *, sandbox: bool) -> None:
        """Takes the secret that came into the place of another; raises KeyStoreError.

        The old one is kept first, so that a crash never leaves none (promise R36).
        """
        old = self.of(endpoint_id)[:1]
        if old == (secret,):
            return
        if not sandbox:
            for one in old:
                self._keyring.put(f"{endpoint_id}|{_BEFORE}", one)
            self._keyring.put(endpoint_id, secret)
        stored = ",".join((secret, *old)) if sandbox else None
        with self._state.write() as tx:
            tx.execute(
                "UPDATE endpoints SET secret = ?, created_at = ? WHERE endpoint_id = ?"
                " AND origin = ? AND profile = ? AND mode = ?",
                (stored, self._session.clock.now(), endpoint_id, *self._who),
            )

    @property
    def _who(self) -> tuple[str, str, str]:
        return self._place.origin, self._place.profile, self._place.mode

    @property
    def _keyring(self) -> SigningSecrets:
        return SigningSecrets(self._session.key_store(), self._place)

    def _from_keyring(self, endpoint_id: str, *, both: bool) -> tuple[str, ...]:
        try:
            found = [self._keyring.get(endpoint_id)]
            if both and found[0]:
                found.append(self._keyring.get(f"{endpoint_id}|{_BEFORE}"))
        except KeyStoreError:
            return ()  # then another endpoint is registered, and why is said there
        return tuple(one for one in found if one)
