"""What a person sees on stderr while something takes longer than a second."""

import os
import re
import time
from io import StringIO
from pathlib import Path
from threading import Event, Thread

import pytest

from support.on_terminal import OpenTerminal
from support.running import Sandbox, Svc
from support.serving import Handler, serving
from svc.cli.framework.progress import LiveLine, bar, beside
from svc.clock import ManualClock

ITEM = "name=J,hs_code=6203.39,quantity=1,unit_amount=12900"


def orders(svc: Svc, count: int) -> None:
    for _ in range(count):
        made = svc(
            *("orders", "create", "--amount", "15708", "--currency", "EUR", "--country", "DE"),
            *("--postal-code", "10115", "--item", ITEM),
        )
        assert made.code == 0, made.err


def test_an_export_counts_what_has_come(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, open_terminal: OpenTerminal
) -> None:
    """Only on stderr and only for a person; the line is gone at the end."""
    orders(svc, 3)
    slow = {"match": {"path": "/v1/orders", "method": "GET"}, "times": 9}
    sandbox.control("POST", "/faults", {**slow, "effect": {"delay_ms": 600}})
    command = ("orders", "list", "--all", "--limit", "1", "-o", "ndjson")
    with (tmp_path / "all.ndjson").open("wb") as out:
        watched = open_terminal(*command, out=out.fileno())
    with watched:
        assert watched.end() == 0
    assert "2 objects" in watched.seen
    assert watched.seen.endswith("\r")  # cleared
    assert len((tmp_path / "all.ndjson").read_text().splitlines()) == 3


def test_an_export_into_a_log_says_nothing_of_progress(svc: Svc, sandbox: Sandbox) -> None:
    """Without a terminal stderr stays empty (promise R72)."""
    orders(svc, 1)
    result = svc("orders", "list", "--all", "-o", "ndjson")
    assert (result.code, result.err) == (0, "")


class Slow(Handler):
    """A target that fails at once the first time, and takes its time from then on."""

    times = 0

    def post(self) -> None:
        self.body()
        type(self).times += 1
        if self.times > 1:
            time.sleep(1.7)
        self.answer(500 if self.times == 1 else 200)


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [
        ("advance", "2m"),
        ("advance", "--until", "next"),
        ("advance", "--until", "idle"),
        ("advance", "--to", "2036-01-01T00:00:00Z"),
        ("clock", "frozen", "--to", "2036-01-01T00:00:00Z"),
    ],
    ids=" ".join,
)
def test_a_long_advance_shows_the_clock(
    form: tuple[str, ...], svc: Svc, sandbox: Sandbox, open_terminal: OpenTerminal
) -> None:
    """A webhook is tried again on the way; meanwhile the sandbox is asked for its time."""
    Slow.times = 0
    with serving(Slow) as url:
        svc.ok("webhook-endpoints", "create", "--url", url, "--events", "order.paid")
        svc.ok("sandbox", "trigger", "order.paid")
        with Path(os.devnull).open("wb") as out:
            watched = open_terminal("sandbox", *form, out=out.fileno())
        with watched:
            code = watched.end()
    assert code == 0
    assert Slow.times >= 2
    line = r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d, jobs: \d+, attempts: \d  \d s"
    assert re.search(line, watched.seen)
    assert watched.seen.endswith("\r")


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


class Gone(StringIO):
    """A terminal whose window was closed."""

    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


def test_a_terminal_that_goes_away_stops_nothing() -> None:
    """What is under way matters more than who watches."""
    live = LiveLine(Gone(), ManualClock(), 80)
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
