"""The line of progress: what it writes, how often, and where it does not."""

from io import StringIO
from threading import Event, Thread

import pytest

from support.clocks import ManualClock
from svc.cli.framework.progress import LiveLine, bar, beside


def test_the_line_overwrites_itself_and_stays_on_the_terminal() -> None:
    """A shorter text leaves nothing of a longer one; no text reaches the last column."""
    out = StringIO()
    live = LiveLine(out, ManualClock(), 20)
    live.show("a" * 30)
    live.show("bb")
    live.clear()
    live.clear()
    assert out.getvalue() == f"\r{'a' * 19}\r\rbb{' ' * 17}\r\r{' ' * 19}\r"


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (80, "2027-01-29 14:11:30 UTC, jobs: 12, attempts: 3  4 s"),
        (52, "2027-01-29 14:11:30 UTC, jobs: 12, attempts: 3  4 s"),
        (51, "2027-01-29 14:11:30 UTC, jobs: 12, attempts: 3"),
        (40, "2027-01-29 14:11:30 UTC, jobs: 12"),
        (20, "2027-01-29 14:11:30"),
    ],
)
def test_what_has_no_room_goes_in_whole_parts(columns: int, shown: str) -> None:
    """Half a number is another number; the rest goes with it, so that nothing stands alone."""
    out = StringIO()
    live = LiveLine(out, ManualClock(), columns)
    live.show("2027-01-29 14:11:30 UTC", ", jobs: 12", ", attempts: 3", "  4 s")
    assert out.getvalue().strip() == shown


def test_the_line_is_due_ten_times_a_second() -> None:
    """A fast loop does not spend its time on the terminal."""
    clock = ManualClock()
    live = LiveLine(StringIO(), clock, 80)
    due = []
    for _ in range(30):
        clock.advance(0.0625)
        due.append(live.is_due())
    assert due.count(True) == 15
    assert not LiveLine(None, clock, 80).is_due()


class ClosedTerminal(StringIO):
    """A terminal whose window was closed."""

    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


def test_a_terminal_that_goes_away_stops_nothing() -> None:
    """What is under way matters more than who watches."""
    live = LiveLine(ClosedTerminal(), ManualClock(), 80)
    live.show("12 objects")
    assert not live.is_watched
    live.show("13 objects")


@pytest.mark.parametrize(
    ("done", "whole", "columns", "drawn"),
    [
        (0, 4, 4, "[    ] "),
        (2, 4, 4, "[##  ] "),
        (9, 4, 4, "[####] "),
        (0, 0, 2, "[  ] "),
        (1, 2, 0, ""),
    ],
)
def test_a_bar_is_never_longer_than_its_room(
    done: int, whole: int, columns: int, drawn: str
) -> None:
    """More than the whole is the whole; a list that is empty is not divided by."""
    assert bar(done, whole, columns) == drawn


def test_what_waits_goes_on_where_no_thread_is_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that moves the sandbox's time must not fail for want of a line that tells of it."""

    def refuse(thread: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refuse)
    done: list[Event | None] = []
    with beside(LiveLine(StringIO(), ManualClock(), 80), done.append):
        done.append(None)
    assert done == [None]
