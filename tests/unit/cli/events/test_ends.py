"""With which error a listener ends, by its options and what became of them."""

import signal
from types import SimpleNamespace
from typing import Any

import pytest

from svc.cli.events.loop import Ended
from svc.cli.events.run import conclude
from svc.errors import CheckFailed
from svc.listen.output_records import Summary
from svc.listen.progress import Until
from svc.system.signals import Stopped

COUNTS = "received duplicates rejected refused withheld forwarded failed pending".split()
GOOD: dict[str, Any] = dict.fromkeys(COUNTS, 0)
BAD = {"rejected": 2, "failed": 3, "pending": 4, "withheld": 5, "duplicates": 6, "refused": 7}
OPTIONS: dict[str, Any] = {"strict": False, "command": None, "until": None, "timeout": None}
LOST: dict[str, Any] = {"until": Until("order.paid", 1), "reached": False}
TWICE = {"until": Until("order.*", 2), "reached": False, "counts": {"pending": 1}, "away": "Full."}
ALL = {"strict": True, "missed": 1, "counts": BAD, "number": signal.SIGINT}


def end(
    counts: dict[str, int] | None = None, *, number: Any = None, code: Any = None, **how: Any
) -> None:
    reached, missed = how.pop("reached", None), how.pop("missed", 0)
    summary = Summary(0.0, 1.0, **GOOD | (counts or {}), until_reached=reached)
    screen: Any = SimpleNamespace(missed=missed, log_away=how.pop("away", None))
    options: Any = SimpleNamespace(**OPTIONS | how)
    conclude(options, Ended(summary, number, code), screen)


@pytest.mark.parametrize(
    ("how", "code", "words"),
    [
        (ALL, "strict", "Deliveries: 1 missed, 2 rejected, 12 not forwarded."),
        ({"command": "x", "code": 3}, "exec_failed", "ended with exit code 3."),
        ({"command": "x", "timeout": 0.5}, "exec_timeout", "was still running after 0.5 s."),
        (LOST, "until_not_reached", "order.paid did not come before the end."),
        (TWICE, "until_not_reached", "order.* was not forwarded 2 times before the end."),
    ],
)
def test_what_was_not_so_fails(how: dict[str, Any], code: str, words: str) -> None:
    """Exit 11: with the first of the reasons, also where a signal came."""
    with pytest.raises(CheckFailed) as caught:
        end(**how)
    error, option = caught.value, f"--{code.partition('_')[0]}"
    assert (error.code, error.param) == (code, option)
    assert error.message.removeprefix("The command of --exec ") == words
    assert error.hint == ("The log could not be read: Full." if "away" in how else None)


def test_a_signal_that_failed_nothing_is_told_by_the_summary() -> None:
    with pytest.raises(Stopped) as caught:
        end(number=signal.SIGTERM, **LOST)
    assert (caught.value.number, caught.value.told) == (signal.SIGTERM, True)


def test_what_was_as_asked_ends_well() -> None:
    """What nobody asked to be strict about is no failure, nor what comes twice."""
    end(BAD, missed=1)
    end({"duplicates": 6, "refused": 7}, strict=True)
    end(command="x", code=0, **{**LOST, "reached": True})
