"""Signing secrets of real webhook endpoints in the keyring, one item for each endpoint."""

from dataclasses import dataclass

from svc.keys.kinds import parse_signing_secret
from svc.keys.places import Place
from svc.keys.store import KeyStore


@dataclass(frozen=True, slots=True)
class SigningSecrets:
    """The signing secrets of one origin, profile and mode (spec: they rotate apart from keys).

    Every method raises KeyStoreError where the keyring cannot be used.
    """

    store: KeyStore
    place: Place

    def get(self, endpoint_id: str) -> str | None:
        """Reads the secret of an endpoint such as `we_...`, or gives None."""
        found = self.store.get(self.place.user_of_endpoint(endpoint_id))
        return None if found is None else found.secret

    def put(self, endpoint_id: str, secret: str) -> None:
        """Stores it.

        Raises:
            UsageError: it is no signing secret (promise R48).
        """
        self.store.put(
            self.place.user_of_endpoint(endpoint_id), parse_signing_secret(secret, "The endpoint")
        )

    def remove(self, endpoint_id: str) -> bool:
        """Removes it; says whether there was one."""
        return self.store.remove(self.place.user_of_endpoint(endpoint_id))
