"""A time limit for calls that cannot be interrupted (promise R35)."""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T], more: Callable[[], float]) -> T:
    """Runs a call in a thread of its own and waits for it.

    The thread of a call that takes longer is abandoned: it ends with the process. `more` is asked
    when the time is up and may give further seconds, once.

    Raises:
        TimeoutError: the time was up.
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
    if not ended.wait(seconds) and not ended.wait(more()):
        raise TimeoutError
    if errors:
        raise errors[0]
    return results[0]
