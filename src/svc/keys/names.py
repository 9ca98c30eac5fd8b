"""The keyrings that are ours to offer: their classes in the keyring library, and their names."""

from typing import Final

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
