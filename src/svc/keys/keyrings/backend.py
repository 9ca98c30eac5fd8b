"""The interface of a keyring: read, write, erase; its errors; and calls with a time limit.

`library` and `secret_service` implement `Backend`, `choice` selects among them, and `keys.store`
calls them. A keyring that hangs is given up after the limit of `within`.
"""

import threading
from collections.abc import Callable
from typing import Protocol, TypeVar

from svc.system import signals


class Backend(Protocol):
    """One keyring; creating the object opens and imports nothing.

    Attributes:
        name: the dotted name of the keyring library's class for it.
        asking: true while the keyring waits for a person, in a window of its own.
    """

    name: str
    asking: bool

    def read(self, service: str, user: str) -> str | None:
        """Returns the secret of an item, or None if there is no such item."""

    def write(self, service: str, user: str, secret: str) -> None:
        """Adds or replaces an item."""

    def erase(self, service: str, user: str) -> bool:
        """Removes an item; returns whether there was one."""


class KeyringTrouble(Exception):  # noqa: N818  its kinds are words of their own
    """An error of a keyring; its text is a short reason. It never leaves the room `keys`.

    Attributes:
        code: of the error that a command ends with.
        said: what is said of the keyring, with the reason in it.
    """

    code = "keyring_failed"
    said = "failed ({})"


class Absent(KeyringTrouble):
    """There is no such keyring on this machine, or it is not running."""


class Locked(KeyringTrouble):
    """The keyring is locked and was not unlocked."""

    code = "keyring_locked"
    said = "is locked: {}"


class Dismissed(Locked):
    """A person closed the keyring's window without unlocking it or allowing access."""

    code = "keyring_dismissed"


class Denied(KeyringTrouble):
    """The keyring does not allow access to this program."""

    code = "keyring_denied"
    said = "does not allow svc to use it ({})"


T = TypeVar("T")


def within(seconds: float, call: Callable[[], T], more: Callable[[], float]) -> T:
    """Runs a call in a thread of its own with a time limit, and returns its result.

    A thread that exceeds the limit is abandoned and ends with the process. `more` is called once
    when the time is up, and returns further seconds.

    Raises:
        TimeoutError: the time is up.
        Stopped: a signal came.
        Exception: the exception of the call.
    """
    ended = threading.Event()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001  carried over to the waiting thread
            errors.append(error)
        finally:
            ended.set()

    threading.Thread(target=run, name="svc-keyring", daemon=True).start()
    if not signals.wait(ended.wait, seconds) and not signals.wait(ended.wait, more()):
        raise TimeoutError
    if errors:
        raise errors[0]
    return results[0]
