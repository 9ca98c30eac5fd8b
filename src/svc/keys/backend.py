"""What the key store asks of a keyring, and the five ways in which a keyring says no."""

from typing import Protocol


class Backend(Protocol):
    """One keyring; making the object opens and imports nothing.

    Attributes:
        name: the dotted name of the keyring library's class for it.
        asking: true while the keyring waits for a person, in a window of its own.
    """

    name: str
    asking: bool

    def read(self, service: str, user: str) -> str | None:
        """Gives the secret of an item, or None where there is no such item."""

    def write(self, service: str, user: str, secret: str) -> None:
        """Adds or replaces an item."""

    def erase(self, service: str, user: str) -> bool:
        """Removes an item; says whether there was one."""


class KeyringTrouble(Exception):  # noqa: N818  its kinds are words of their own
    """A keyring's refusal; the text says why in a few words. Never leaves this room."""


class Absent(KeyringTrouble):
    """There is no such keyring on this machine, or it is not running."""


class Locked(KeyringTrouble):
    """It is locked and stayed so."""


class Dismissed(KeyringTrouble):
    """A person closed its window without unlocking it or allowing access."""


class Denied(KeyringTrouble):
    """It does not allow this program."""


class Failed(KeyringTrouble):
    """Anything else."""
