"""Runs the real program with waits cut short, and with a death at a chosen point.

    python -m proof.faults.driver '{"kill": "after_bytes", "nth": 1}' orders create ...

The points are wrapped from outside: nothing in the program itself can be made to die.
"""

import errno
import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

from support.kills.dying import arm
from svc.system import signals

POINTS = (
    "before_intent",
    "after_intent",
    "after_connect",
    "after_bytes",
    "after_reply",
    "before_outcome",
)


def main() -> None:
    """Wraps what the orders name, then starts the program as `svc` starts it."""
    orders = json.loads(sys.argv[1])
    sys.argv = ["svc", *sys.argv[2:]]
    if "hurry" in orders:
        shorten_timeout(orders["hurry"])
    if "kill" in orders:
        arm(orders["kill"], orders.get("nth", 1))
    if "full" in orders:
        fill_disk(orders["full"])
    if "bug" in orders:
        put_bug(orders["bug"])
    from svc.__main__ import main as run

    run()


def shorten_timeout(times: float) -> None:
    """Makes every wait so many times shorter."""
    from svc.clock import SystemClock

    SystemClock.sleep = lambda self, seconds: signals.sleep(seconds / times)  # type: ignore[method-assign]


def fill_disk(when: str) -> None:
    """Lets no file of this process grow any more: from the start, or once the intent is kept.

    `results` means the results file of a batch alone.
    """
    if when == "results":
        fill_under_results()
        return
    from svc.delivery.journal.journal import Journal

    state = Path(os.environ["SVC_STATE_DIR"], "state.db-wal")

    def fill() -> None:
        size = state.stat().st_size if state.exists() else 0
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    if when == "before":
        fill()
        return
    record = Journal.record

    def recorded(*args: Any, **kwargs: Any) -> Any:
        intent = record(*args, **kwargs)
        fill()
        return intent

    Journal.record = recorded  # type: ignore[method-assign]


def fill_under_results() -> None:
    """Lets a batch begin its results file, and write no line of it."""
    from svc.batch.results import Results

    def full(self: Results, lines: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    begin = Results.begin

    def begun(self: Results, lines: Any) -> None:
        begin(self, lines)
        Results._write = full  # type: ignore[method-assign]

    Results.begin = begun  # type: ignore[method-assign]


def put_bug(text: str) -> None:
    """Puts a bug behind the reading of every answer; its words hold what they should not."""
    from svc.client import client

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{text} {os.environ['SVC_API_KEY']}")

    vars(client)["classify"] = broken


if __name__ == "__main__":
    main()
