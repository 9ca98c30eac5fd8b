"""The keyring backend that uses one class of the `keyring` library, chosen by svc (R33).

It serves macOS, Windows and KWallet, and writes and erases for `secret_service`; `choice` creates
it.
"""

from typing import Any

from svc.errors import translate_errors
from svc.keys.keyrings.backend import Absent, Denied, Dismissed, KeyringTrouble, Locked

_KINDS: dict[str, type[KeyringTrouble]] = {
    "KeyringLocked": Locked,
    "LockedException": Locked,
    "PromptDismissedException": Dismissed,
    "NoKeyringError": Absent,
    "SecretServiceNotAvailableException": Absent,
    "PasswordSetError": Denied,
    "PasswordDeleteError": Denied,
}
# On macOS the library says the same of a locked keychain and of one that a person keeps shut.
_WORDS: dict[type[KeyringTrouble], str] = {Locked: "it stayed locked, or access was denied"}


class LibraryBackend:
    """One keyring class of the library, or of a package that the user has allowed.

    The library's own discovery is not used: it would import every installed keyring.
    """

    def __init__(self, name: str, *, needs: str | None = None) -> None:
        self.name = name
        self.asking = False
        self._needs = needs
        self._keyring: Any = None

    def read(self, service: str, user: str) -> str | None:
        with translate_errors(Exception, _sort_error):
            secret = self._open().get_password(service, user)
            return None if secret is None else str(secret)

    def write(self, service: str, user: str, secret: str) -> None:
        with translate_errors(Exception, _sort_error):
            self._open().set_password(service, user, secret)

    def erase(self, service: str, user: str) -> bool:
        with translate_errors(Exception, _sort_error):
            keyring = self._open()
            if keyring.get_password(service, user) is None:
                return False
            keyring.delete_password(service, user)
            return True

    def _open(self) -> Any:
        if self._keyring is None:
            self._keyring = self._class()()
        return self._keyring

    def _class(self) -> Any:
        from importlib import import_module
        from importlib.util import find_spec

        if self._needs is not None and find_spec(self._needs) is None:
            raise Absent(f"it needs the Python package {self._needs}")
        module, _, name = self.name.rpartition(".")
        try:
            found = getattr(import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise Absent("it is not installed") from error
        try:
            _ = found.priority  # says by raising whether it can work here
        except RuntimeError as error:
            raise Absent("it does not work on this machine") from error
        return found


def _sort_error(error: Exception) -> Exception:
    """Converts an exception of the library by its name; its text may contain a secret."""
    if isinstance(error, KeyringTrouble | TimeoutError):
        return error
    names = [kind.__name__ for kind in type(error).__mro__]
    kind = next((_KINDS[name] for name in names if name in _KINDS), KeyringTrouble)
    return kind(_WORDS.get(kind, names[0]))
