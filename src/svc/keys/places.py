"""The names under which secrets are stored in a keyring, and the keyrings that svc supports.

A `KeyPlace` (origin, profile, mode, slot) names the keyring item of an API key, of an endpoint's
signing secret or of a log's credentials. `store`, `facts`, `resolve`, `svc keys` and `svc events`
use it; `svc doctor` takes `title`.
"""

from typing import Final, Literal, NamedTuple, TypeAlias

from svc.service.facts import Mode

Slot: TypeAlias = Literal["secret", "publishable"]

SERVICE: Final = "svc"


class KeyPlace(NamedTuple):
    """The place of one stored key: at most one secret or restricted key each (R22, R37).

    The slot "publishable" holds a publishable key, which only the sandbox's checkout uses.
    """

    origin: str
    profile: str
    mode: Mode
    slot: Slot = "secret"

    @property
    def user(self) -> str:
        """The user name of the keyring item of the key; the service name is `svc`."""
        name = f"{self.origin}|{self.profile}|{self.mode}"
        return name if self.slot == "secret" else f"{name}|{self.slot}"

    def user_of_log(self, name: str) -> str:
        """The user name of the keyring item with the credentials of a team's log."""
        return f"{self.origin}|{self.profile}|{self.mode}|log|{name}"

    def user_of_endpoint(self, endpoint_id: str) -> str:
        """The user name of the keyring item with an endpoint's signing secret."""
        return f"{self.origin}|{self.profile}|{self.mode}|{endpoint_id}"


SECRET_SERVICE: Final = "keyring.backends.SecretService.Keyring"  # noqa: S105  a class
KWALLET: Final = "keyring.backends.kwallet.DBusKeyring"
MACOS: Final = "keyring.backends.macOS.Keyring"
WINDOWS: Final = "keyring.backends.Windows.WinVaultKeyring"
# No keyring: where a rolled key of a sandbox lies on a machine that has none.
SANDBOX_DATA: Final = "state database"

_TITLES: Final = {
    SECRET_SERVICE: "Secret Service",
    KWALLET: "KWallet",
    MACOS: "macOS Keychain",
    WINDOWS: "Windows Credential Manager",
}

OURS: Final = tuple(_TITLES)


def title(name: str) -> str:
    """The product name of a keyring backend; for an unknown backend its class."""
    return _TITLES.get(name, name)
