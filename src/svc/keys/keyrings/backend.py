"""What the key store asks of a keyring, how long it waits, and the five ways of saying no."""

import threading
from collections.abc import Callable
from typing import Protocol, TypeVar

from svc.system import signals


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


class KeyringFailed(KeyringTrouble):
    """Anything else."""


T = TypeVar("T")


def within(seconds: float, call: Callable[[], T], more: Callable[[], float]) -> T:
    """Runs a call in a thread of its own and waits for it.

    The thread of a call that takes longer is abandoned: it ends with the process. `more` is asked
    when the time is up and may give further seconds, once.

    Raises:
        TimeoutError: the time was up.
        Stopped: a signal came.
        Exception: whatever the call raised.
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
