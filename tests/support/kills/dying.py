"""Runs the real program with a death at a chosen point, as kill -9 does it.

    python dying.py POINT NTH batch orders.create ...

The points are wrapped from outside: nothing in the program itself can be made to die.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any


def main() -> None:
    """Arms the point, then starts the program as `svc` starts it."""
    point, nth = sys.argv[1], int(sys.argv[2])
    sys.argv = ["svc", *sys.argv[3:]]
    arm(point, nth)
    from svc.__main__ import main as run

    run()


def arm(point: str, nth: int) -> None:
    """Kills this very process the nth time that it comes to a point."""
    _leave_out_controls()
    owner, name, after = _places()[point]
    setattr(owner, name, _deadly(getattr(owner, name), nth, after=after))


def _places() -> dict[str, tuple[Any, str, bool]]:
    from svc.batch.results import Results
    from svc.client.wire import sockets
    from svc.client.wire.connection import Connection
    from svc.delivery.journal.journal import Journal

    return {
        "before_intent": (Journal, "record", False),
        "after_intent": (Journal, "record", True),
        "before_record": (Journal, "record_many", False),
        "after_record": (Journal, "record_many", True),
        "after_connect": (sockets, "connect", True),
        "after_bytes": (Connection, "_send", True),
        "after_reply": (sockets.SocketWire, "exchange", True),
        "before_outcome": (Journal, "settle", False),
        "before_results": (Results, "add", False),
        "before_settle": (Journal, "settle_many", False),
        "after_settle": (Journal, "settle_many", True),
        "before_finish": (Results, "finish", False),
    }


_asking_a_sandbox = False


def _leave_out_controls() -> None:
    """What is asked of a sandbox's controls, such as its clock, is no row."""
    from svc.client.sandbox import SandboxClient

    exchange = SandboxClient._exchange

    def quiet(*args: Any) -> Any:
        global _asking_a_sandbox  # noqa: PLW0603  one process, one thread asks
        _asking_a_sandbox = True
        try:
            return exchange(*args)
        finally:
            _asking_a_sandbox = False

    setattr(SandboxClient, "_exchange", quiet)  # noqa: B010  wrapped from outside


def _deadly(function: Callable[..., Any], nth: int, *, after: bool) -> Callable[..., Any]:
    """The same function, of which the nth call is the last thing that this process does."""
    calls = 0

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        if _asking_a_sandbox:
            return function(*args, **kwargs)
        calls += 1
        if calls >= nth and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*args, **kwargs)
        if calls >= nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return wrapped


if __name__ == "__main__":
    main()
