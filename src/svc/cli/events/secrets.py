"""Signing secrets: those given, those stored, and two in rotation.

A sandbox's are public test data and lie in the state database, those of a real service in the
keyring, in one item for each endpoint and a second one for the secret before.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from svc.api_keys import SIGNING_VARIABLE, parse_signing_secret
from svc.cli.framework.prompts import read_secret
from svc.cli.framework.session import Session
from svc.errors import KeyStoreError, UsageError
from svc.keys.places import KeyPlace
from svc.keys.store import SigningSecrets
from svc.listen.verify.diagnosis import KnownSecret
from svc.state import Database

if TYPE_CHECKING:
    from svc.state import Row


_MOST: Final = 2  # while one is being replaced (promise R48)


def from_environment(env: Mapping[str, str]) -> tuple[str, ...]:
    """Gives the secrets of SVC_WEBHOOK_SECRET, two of them with a comma between; maybe none.

    Raises:
        UsageError: one of them cannot be a signing secret, or there are more than two.
    """
    text = env.get(SIGNING_VARIABLE, "")
    return _checked(text.split(","), SIGNING_VARIABLE) if text else ()


def from_stdin(session: Session) -> tuple[str, ...]:
    """Gives the secrets on standard input, one a line.

    Raises:
        UsageError: as above, or there is none.
    """
    return _checked(
        read_secret(session, "Signing secret: ", stdin=True).split("\n"), "Standard input"
    )


def _checked(parts: Sequence[str], source: str) -> tuple[str, ...]:
    if len(parts) > _MOST:
        raise UsageError(f"{source} holds more than two signing secrets.", code="secret_invalid")
    return tuple(parse_signing_secret(part, source) for part in parts)


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

    def __init__(self, session: Session, state: Database, place: KeyPlace) -> None:
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


_MOST_READ: Final = 4  # some keyrings ask for each item


def known_elsewhere(session: Session, own: str | None) -> tuple[KnownSecret, ...]:
    """Gives the secrets of all endpoints but `own` that can be had without asking a person.

    Those of sandboxes lie in the state database; of those in the keyring only a few of the profile
    and mode in use are read (promise R38). Nothing is asked over the network.
    """
    if not session.paths.has_state:
        return ()
    rows = session.state().rows(
        "SELECT endpoint_id, secret, origin, profile, mode FROM endpoints ORDER BY created_at DESC"
    )
    others = [row for row in rows if row["endpoint_id"] != own]
    found = [
        KnownSecret(_name(row), secret)
        for row in others
        if row["secret"]
        for secret in row["secret"].split(",")
    ]
    return (*found, *_from_keyring(session, others))


def _from_keyring(session: Session, rows: list["Row"]) -> list[KnownSecret]:
    settings = session.settings
    if settings.address is None:
        return []
    ours = (settings.address.origin, settings.profile, settings.mode)
    unread = [
        row
        for row in rows
        if not row["secret"] and (row["origin"], row["profile"], row["mode"]) == ours
    ]
    if not unread:
        return []
    from svc.cli.events.endpoint import Endpoints

    endpoints = Endpoints(session, session.state(), sandbox=False)
    found: list[KnownSecret] = []
    for row in unread[:_MOST_READ]:
        secrets = endpoints.secrets_of(row["endpoint_id"])
        if not secrets:
            break  # a keyring that hangs is not asked again
        found += [KnownSecret(_name(row), secret) for secret in secrets]
    return found


def _name(row: "Row") -> str:
    return (
        f"the endpoint {row['endpoint_id']} (profile {row['profile']}, {row['mode']} mode, "
        f"{row['origin']})"
    )
