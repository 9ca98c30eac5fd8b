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

GOOD: dict[str, Any] = dict.fromkeys(
    ("received", "duplicates", "rejected", "refused", "withheld", "forwarded", "failed", "pending"),
    0,
)
PAID, TWO = Until("order.paid", 1), Until("order.*", 2)


def end(
    *,
    number: int | None = None,
    code: int | None = None,
    missed: int = 0,
    away: str | None = None,
    reached: bool | None = None,
    counts: dict[str, int] | None = None,
    **asked: Any,
) -> None:
    summary = Summary(0.0, 1.0, **GOOD | (counts or {}), until_reached=reached)
    options: Any = SimpleNamespace(
        **{"strict": False, "command": None, "until": None, "timeout": None, **asked}
    )
    screen: Any = SimpleNamespace(missed=missed, log_away=away)
    conclude(options, Ended(summary, number, code), screen)


BAD = {"rejected": 2, "failed": 3, "pending": 4, "withheld": 5, "duplicates": 6, "refused": 7}


@pytest.mark.parametrize(
    ("how", "code", "param", "words"),
    [
        (
            {"strict": True, "missed": 1, "counts": BAD, "number": signal.SIGINT},
            "strict",
            "--strict",
            "Deliveries: 1 missed, 2 rejected, 12 not forwarded.",
        ),
        (
            {"command": "x", "code": 3},
            "exec_failed",
            "--exec",
            "The command of --exec ended with exit code 3.",
        ),
        (
            {"command": "x", "timeout": 0.5},
            "exec_timeout",
            "--exec",
            "The command of --exec was still running after 0.5 s.",
        ),
        (
            {"until": PAID, "reached": False},
            "until_not_reached",
            "--until",
            "order.paid did not come before the end.",
        ),
        (
            {"until": TWO, "reached": False, "counts": {"pending": 1}, "away": "It is full."},
            "until_not_reached",
            "--until",
            "order.* was not forwarded 2 times before the end.",
        ),
    ],
)
def test_what_was_not_so_fails(how: dict[str, Any], code: str, param: str, words: str) -> None:
    """Exit 11: with the first of the reasons, also where a signal came."""
    with pytest.raises(CheckFailed) as caught:
        end(**how)
    error = caught.value
    assert (error.code, error.param, error.message) == (code, param, words)
    away = how.get("away")
    assert error.hint == (f"The log could not be read: {away}" if away else None)


def test_a_signal_that_failed_nothing_is_told_by_the_summary() -> None:
    with pytest.raises(Stopped) as caught:
        end(number=signal.SIGTERM, until=PAID, reached=False)
    assert (caught.value.number, caught.value.told) == (signal.SIGTERM, True)


def test_what_was_as_asked_ends_well() -> None:
    """What nobody asked to be strict about is no failure, nor what comes twice."""
    end(counts=BAD, missed=1)
    end(strict=True, counts={"duplicates": 6, "refused": 7})
    end(command="x", code=0, until=PAID, reached=True)
