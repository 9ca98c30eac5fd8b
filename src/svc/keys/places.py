"""Where a stored secret lies: what it is bound to, and the keyrings that are ours to offer."""

from typing import Final, Literal, NamedTuple, TypeAlias

from svc.service.facts import Mode

Slot: TypeAlias = Literal["secret", "publishable"]

SERVICE: Final = "svc"


class KeyPlace(NamedTuple):
    """One origin, profile and mode hold one secret or restricted key (promises R22, R37).

    A publishable key, which only the sandbox's checkout takes, lies beside it.
    """

    origin: str
    profile: str
    mode: Mode
    slot: Slot = "secret"

    @property
    def user(self) -> str:
        """The user name of the keyring item, whose service name is `svc`."""
        name = f"{self.origin}|{self.profile}|{self.mode}"
        return name if self.slot == "secret" else f"{name}|{self.slot}"

    def user_of_log(self, name: str) -> str:
        """The same for the credentials of a team's log."""
        return f"{self.origin}|{self.profile}|{self.mode}|log|{name}"

    def user_of_endpoint(self, endpoint_id: str) -> str:
        """The same for the signing secret of a webhook endpoint."""
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
    """What people call a keyring; of one that we do not know, its class."""
    return _TITLES.get(name, name)
