"""Stores secrets in the OS keyring, with a time limit; every change is verified (R33-R38).

`svc keys add`, `roll` and `remove` use `KeyStore` for API keys, `svc events` uses `SigningSecrets`
for endpoints, `resolve` reads the key of a command. Below it are the backends of `keyrings`.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from svc.api_keys import parse_signing_secret
from svc.errors import AuthError, KeyStoreError
from svc.keys.keyrings.backend import Absent, Backend, KeyringTrouble, Locked, within
from svc.keys.places import SERVICE, KeyPlace, title

T = TypeVar("T")

CALL_SECONDS: Final = 3.0
PERSON_SECONDS: Final = 60.0
_NEW: Final = "|new"
_TIMEOUT: Final = "keyring_timeout"
_UNLOCK: Final = "Unlock it and run the command again"
_PROBE: Final = "nothing"  # an item that is never stored; reading it opens no other
_COPIES_MAX: Final = 8  # items of one name that other programs may have made


@dataclass(frozen=True, slots=True, repr=False)
class StoredSecret:
    """A secret and the keyring that it came from."""

    secret: str = field(repr=False)
    backend: str


class KeyStore:
    """Reads and writes secrets in the first keyring that is available.

    Args:
        backends: the keyrings to try, in order.
        seconds: the time limit of one call.
        person_seconds: how much longer a call may take while the keyring's window is open;
            0 without a terminal.
        refused: returns the names of keyrings that are installed and not allowed.

    Every method raises KeyStoreError (exit 4) if all keyrings are absent, or one is locked, does
    not answer or refuses; the message names SVC_API_KEY (promise R34).
    """

    def __init__(
        self,
        backends: Sequence[Backend],
        *,
        seconds: float = CALL_SECONDS,
        person_seconds: float = 0.0,
        refused: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._backends = tuple(backends)
        self._seconds = seconds
        self._person_seconds = person_seconds
        self._refused = refused

    @classmethod
    def of_system(
        cls,
        env: Mapping[str, str],
        *,
        allowed: Sequence[str],
        platform: str,
        person: bool,
    ) -> "KeyStore":
        """Creates the store of this machine; `person` is whether a person can use its windows."""
        from svc.keys.keyrings.choice import backends, list_refused_modules

        return cls(
            backends(env, allowed, platform),
            person_seconds=PERSON_SECONDS if person else 0.0,
            refused=lambda: list_refused_modules(allowed),
        )

    def get(self, user: str, *, prefer: str | None = None) -> StoredSecret | None:
        """Reads a secret or returns None; `prefer` names the keyring to try first."""
        backend, secret = self._first_present(user, prefer)
        if secret is None:
            # A replacement that was cut off between the two (promise R36).
            secret = self._read(backend, user + _NEW)
        return None if secret is None else StoredSecret(secret, backend.name)

    def load_left_over(self, user: str) -> str | None:
        """Reads the new secret that an interrupted `put` has left under its temporary name."""
        return self._first_present(user + _NEW, None)[1]

    def put(self, user: str, secret: str, *, instead_of: str | None = None) -> str:
        """Stores a secret, verifies it by reading it, and returns the name of the keyring.

        While a secret is replaced, the old or the new one can be read at any time (promise R36).

        Raises:
            AuthError: the stored secret is no longer `instead_of`, if that is given.
        """
        backend, old = self._first_present(user, None)
        if instead_of is not None and old not in (None, instead_of, secret):
            raise AuthError(
                "Nothing was stored: another key has taken the old one's place meanwhile.",
                code="key_changed",
                outcome="not_sent",
                hint="svc keys list shows it; if yours is the newer one, run the command again",
            )
        if old is not None and old != secret:
            self._write(backend, user + _NEW, secret)
        try:
            self._write(backend, user, secret)
        except KeyStoreError as error:
            if error.code != _TIMEOUT:  # what hangs is not asked again
                with suppress(KeyStoreError):
                    self._tidy(backend, user)
            raise
        self._tidy(backend, user)
        return backend.name

    def remove(self, user: str) -> bool:
        """Removes a secret from all keyrings and verifies it; returns whether there was one.

        A keyring that is absent is skipped (promise R37).
        """
        found, present = False, False
        for backend in self._backends:
            with suppress(Absent):
                for name in (user + _NEW, user):
                    found |= self._erase(backend, name)
                present = True
        if not present:
            raise self._no_keyring()
        return found

    def is_there(self, name: str) -> bool | None:
        """Whether a keyring is available; None if it may not be used."""
        for backend in self._backends:
            if backend.name == name:
                with suppress(Absent):
                    self._try(backend, partial(backend.read, SERVICE, _PROBE))
                    return True
                return False
        return None

    def _tidy(self, backend: Backend, user: str) -> None:
        """Removes the temporary copy of a new secret after the secret itself is stored."""
        if self._read(backend, user) is not None:
            self._call(backend, partial(backend.erase, SERVICE, user + _NEW))

    def _write(self, backend: Backend, user: str, secret: str) -> None:
        self._call(backend, partial(backend.write, SERVICE, user, secret))
        if self._read(backend, user) != secret:
            raise _error(
                f"{_name_keyring(backend)} accepted the secret but does not give it back.",
                "keyring_lost",
            )

    def _erase(self, backend: Backend, user: str) -> bool:
        found = False
        for _ in range(_COPIES_MAX):
            if not self._try(backend, partial(backend.erase, SERVICE, user)):
                break
            found = True
        if self._read(backend, user) is not None:
            raise _error(f"{_name_keyring(backend)} still holds the secret.", "keyring_kept")
        return found

    def _read(self, backend: Backend, user: str) -> str | None:
        return self._call(backend, partial(backend.read, SERVICE, user))

    def _first_present(self, user: str, prefer: str | None) -> tuple[Backend, str | None]:
        """Reads a secret from the first keyring that is not absent."""
        for backend in sorted(self._backends, key=lambda each: each.name != prefer):
            with suppress(Absent):
                return backend, self._try(backend, partial(backend.read, SERVICE, user))
        raise self._no_keyring()

    def _call(self, backend: Backend, call: Callable[[], T]) -> T:
        try:
            return self._try(backend, call)
        except Absent as trouble:
            raise _error(
                f"{_name_keyring(backend)} went away: {trouble}.", "keyring_absent"
            ) from trouble

    def _try(self, backend: Backend, call: Callable[[], T]) -> T:
        try:
            return within(
                self._seconds, call, lambda: self._person_seconds if backend.asking else 0.0
            )
        except Absent:
            raise
        except TimeoutError:
            raise self._timeout(backend) from None
        except KeyringTrouble as trouble:
            raise _refusal(backend, trouble) from trouble

    def _timeout(self, backend: Backend) -> KeyStoreError:
        if backend.asking:
            return _error(
                f"{_name_keyring(backend)} is locked, and its window was not answered in time.",
                "keyring_locked",
                _UNLOCK,
            )
        return _error(
            f"{_name_keyring(backend)} did not answer within {self._seconds:g} s.", _TIMEOUT
        )

    def _no_keyring(self) -> KeyStoreError:
        refused = self._refused()
        also = f"; installed, but not allowed: {', '.join(refused)}" if refused else ""
        names = ", ".join(title(backend.name) for backend in self._backends)
        return _error(f"There is no usable keyring (looked for {names}{also}).", "keyring_absent")


def _refusal(backend: Backend, trouble: KeyringTrouble) -> KeyStoreError:
    hint = _UNLOCK if isinstance(trouble, Locked) else ""
    what = f"{_name_keyring(backend)} {trouble.said.format(trouble)}."
    return _error(what, trouble.code, hint)


def _error(message: str, code: str, hint: str = "") -> KeyStoreError:
    way = "set SVC_API_KEY, or profiles.NAME.key_command (svc config set): it prints the key"
    return KeyStoreError(
        message,
        code=code,
        outcome="not_sent",
        hint=f"{hint}, or {way}" if hint else f"Without a keyring, {way}",
    )


def _name_keyring(backend: Backend) -> str:
    return f"The keyring ({title(backend.name)})"


@dataclass(frozen=True, slots=True)
class SigningSecrets:
    """The signing secrets of one origin, profile and mode; every method raises KeyStoreError."""

    store: KeyStore
    place: KeyPlace

    def get(self, endpoint_id: str) -> str | None:
        """Reads the signing secret of an endpoint such as `we_...`, or returns None."""
        found = self.store.get(self.place.user_of_endpoint(endpoint_id))
        return None if found is None else found.secret

    def put(self, endpoint_id: str, secret: str) -> None:
        """Stores a signing secret; raises UsageError: the text is none (promise R48)."""
        self.store.put(
            self.place.user_of_endpoint(endpoint_id), parse_signing_secret(secret, "The endpoint")
        )

    def remove(self, endpoint_id: str) -> bool:
        """Removes a signing secret; returns whether there was one."""
        return self.store.remove(self.place.user_of_endpoint(endpoint_id))
