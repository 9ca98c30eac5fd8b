"""What a person sees who waits, and where the cursor stands after a Ctrl-C."""

import os
import re
import threading
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from support.batches import orders_file
from support.on_terminal import OnTerminal, OpenTerminal
from support.orders import CREATE_ORDER as CREATE
from support.running import Sandbox, Svc
from support.serving import QuietHandler, serving
from svc.cli.framework.options import SharedOptions
from svc.cli.framework.progress import WaitingLine
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams


def slow(sandbox: Sandbox, path: str, **effect: object) -> None:
    sandbox.control("POST", "/faults", {"match": {"path": path}, "times": 9, "effect": effect})


def test_a_wait_is_told_with_its_attempt_and_vanishes(
    on_terminal: OnTerminal, open_terminal: OpenTerminal, svc: Svc, sandbox: Sandbox
) -> None:
    """Nothing for two seconds, then one line in place; what is printed then stands alone.

    So does the next line of --verbose.
    """
    slow(sandbox, "/v1/orders", delay_ms=2600)
    with open_terminal("orders", "list", "-v", NO_COLOR="1") as verbose:
        seen = on_terminal("orders", "list", NO_COLOR="1")
        assert verbose.end() == 0
    assert re.match(r"\rWaiting 2 s, attempt 1 of 4: GET /v1/orders *\r\r *\r(?=\S)", seen), seen
    assert seen.count("Waiting") == 1
    assert "\n" not in seen.partition("Waiting")[0]
    told = next(line for line in verbose.seen.splitlines() if "attempt 1  200" in line)
    assert told.rpartition("\r")[2].startswith("GET /v1/orders"), verbose.seen


def test_the_attempt_that_is_waited_for_is_named_with_what_came_before(
    on_terminal: OnTerminal, svc: Svc, sandbox: Sandbox
) -> None:
    """A limit that asks for three seconds: the second attempt is what one waits for."""
    effect = {"status": 429, "retry_after": 3}
    fault = {"match": {"path": "/v1/orders"}, "times": 1, "effect": effect}
    sandbox.control("POST", "/faults", fault)
    seen = on_terminal("orders", "list", NO_COLOR="1", columns=40)
    lines = [line.rstrip() for line in seen.split("\r") if "Waiting" in line]
    assert lines[0] == "Waiting 2 s, attempt 2 of 4 after 429"  # the path has no room


def test_a_wait_within_a_wait_says_nothing_of_its_own() -> None:
    """Two threads would write over each other."""

    class Watched(StringIO):
        def isatty(self) -> bool:
            return True

    stderr = Watched()
    session = Session([], {}, Streams(StringIO(), StringIO(), stderr))
    session.given = SharedOptions()
    line = WaitingLine(session.make_live_line)
    with line.until(lambda: (" for the outer",)):
        outer = line._live
        with line.until(lambda: (" for the inner",)):
            assert line._live is outer
        assert line._live is outer
    assert stderr.getvalue() == ""


STOPPED = "\nStopped.\n"


def on_screen(written: str, columns: int) -> list[str]:
    """The lines that stay on a screen of so many columns."""
    rows, column = [[" "] * columns], 0
    for mark in written:
        if mark == "\r":
            column = 0
        elif mark == "\n":
            rows.append([" "] * columns)
            column = 0
        else:
            if column == columns:
                rows.append([" "] * columns)
                column = 0
            rows[-1][column] = mark
            column += 1
    return ["".join(row).rstrip() for row in rows]


def test_ctrl_c_leaves_a_fresh_line_and_one_word(
    open_terminal: OpenTerminal, svc: Svc, sandbox: Sandbox
) -> None:
    """Nothing stays of what was waited for, nor of what the terminal shows of the keys."""
    slow(sandbox, "/v1/orders", delay_ms=20_000)
    with (
        open_terminal("orders", "list", columns=80) as wide,
        open_terminal("orders", "list", columns=40) as narrow,
    ):
        for terminal, columns in ((wide, 80), (narrow, 40)):
            terminal.read_until("Waiting 2 s")
            terminal.press_ctrl_c()
            assert terminal.end() == 130
            assert "^C" in terminal.seen
            assert on_screen(terminal.seen, columns) == ["", "Stopped.", ""]


@pytest.mark.parametrize("columns", [80, 40])
def test_ctrl_c_leaves_nothing_of_a_batchs_bar(
    open_terminal: OpenTerminal, svc: Svc, sandbox: Sandbox, tmp_path: Path, columns: int
) -> None:
    """Not even the half of `^C` that a full line would wrap."""
    slow(sandbox, "/v1/orders", delay_ms=300)
    rows = orders_file(tmp_path, range(60))
    argv = ("batch", "orders.create", str(rows), "--concurrency", "1")
    with open_terminal(*argv, columns=columns) as terminal:
        terminal.read_until(" of 60 rows")
        terminal.read_until(" left")
        terminal.press_ctrl_c()
        assert terminal.end() == 130
    assert "^C" in terminal.seen
    assert on_screen(terminal.seen, columns)[:2] == ["", "Stopped."]


def test_ctrl_c_at_a_question_says_once_that_nothing_was_sent(
    open_terminal: OpenTerminal, svc: Svc, sandbox: Sandbox
) -> None:
    with open_terminal("sandbox", "reset") as terminal:
        terminal.read_until("[y/N] ")
        terminal.press_ctrl_c()
        assert terminal.end() == 130
    assert terminal.seen.endswith("^C\nStopped. Nothing was emptied.\n")


def test_ctrl_c_ends_a_sandbox_with_one_word(open_terminal: OpenTerminal, svc: Svc) -> None:
    with open_terminal("sandbox", "start", "--port", "0", "--db", ":memory:") as terminal:
        terminal.read_until("Ctrl-C to stop")
        terminal.press_ctrl_c()
        assert terminal.end() == 130
    assert terminal.seen.endswith(STOPPED)


def test_ctrl_c_ends_a_listener_with_its_summary(
    open_terminal: OpenTerminal, svc: Svc, sandbox: Sandbox
) -> None:
    """The summary is the word."""
    with open_terminal("events", "listen") as terminal:
        terminal.read_until("Signing secret")
        terminal.press_ctrl_c()
        assert terminal.end() == 130
    assert terminal.seen.endswith("^C\nStopped: received 0.\n")


@pytest.mark.effect_of("refunds create", "--wait")
def test_what_settles_later_is_waited_for_by_name(
    on_terminal: OnTerminal, svc: Svc, sandbox: Sandbox
) -> None:
    """Its states are told above the line, which is gone at the end."""
    created = svc.ok("sandbox", "trigger", "order.paid")["created"]
    payment = next(one["id"] for one in created if one["object"] == "payment")
    svc.ok("sandbox", "clock", "frozen")
    argv = ("--payment", payment, "--amount", "100", "--wait", "--max-time", "5")
    seen = on_terminal("refunds", "create", *argv, "-y", NO_COLOR="1")
    assert re.search(r"is pending\n.*\rWaiting \d s for \w+ to settle +\r\r +\r", seen), seen


def test_an_export_counts_what_has_come(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, open_terminal: OpenTerminal
) -> None:
    """Only on stderr and only for a person; the line is gone at the end."""
    for _ in range(3):
        svc.ok(*CREATE)
    slow = {"match": {"path": "/v1/orders", "method": "GET"}, "times": 9}
    sandbox.control("POST", "/faults", {**slow, "effect": {"delay_ms": 1500}})
    command = ("orders", "list", "--all", "--limit", "1", "-o", "ndjson")
    with (tmp_path / "all.ndjson").open("wb") as out:
        watched = open_terminal(*command, out=out.fileno())
    with watched:
        assert watched.end() == 0
    assert "2 objects" in watched.seen
    assert watched.seen.endswith("\r")  # cleared
    assert len((tmp_path / "all.ndjson").read_text().splitlines()) == 3


@pytest.mark.effect_of("svc", "--all")
def test_an_export_into_a_log_says_nothing_of_progress(svc: Svc, sandbox: Sandbox) -> None:
    """Without a terminal stderr stays empty, however long it takes (promise R72)."""
    svc.ok(*CREATE)
    slow(sandbox, "/v1/orders", delay_ms=1200)
    result = svc("orders", "list", "--all", "-o", "ndjson")
    assert (result.code, result.err) == (0, "")


class Slow(QuietHandler):
    """A target that fails at once the first time, and takes its time from then on."""

    times = 0

    def post(self) -> None:
        self.body()
        type(self).times += 1
        if self.times > 1:
            time.sleep(3)
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


CARD = {"number": "4242424242424242", "exp_month": 12, "exp_year": 2034, "cvc": "123"}


@pytest.fixture
def order(svc: Svc, sandbox: Sandbox) -> dict[str, Any]:
    """An order that is not paid."""
    made: dict[str, Any] = svc.ok(*CREATE)
    return made


def test_it_ends_once_the_status_is_there(
    svc: Svc, sandbox: Sandbox, order: dict[str, Any]
) -> None:
    """Paid meanwhile by somebody else: exit 0, and the object as it is then."""
    body = {"client_secret": order["client_secret"], "method": "card", "card": CARD}
    given = ("POST", "/checkout/pay", body, "pk_test_sandbox")
    payer = threading.Timer(0.7, sandbox.control, given)
    payer.start()
    words = ("orders", "retrieve", order["id"])
    paid = svc.ok(*words, "--until", "paid,authorized", "--max-time", "30")
    payer.join()
    assert paid["status"] == "paid"
    assert svc.ok(*words, "--wait")["status"] == "paid"


@pytest.mark.effect_of("NOUN retrieve", "--wait", "--until")
def test_the_end_of_the_time_is_a_check_that_failed(svc: Svc, order: dict[str, Any]) -> None:
    """Exit 11, the object all the same, and what moves a sandbox on."""
    late = svc("orders", "retrieve", order["id"], "--wait", "--max-time", "2")
    assert (late.code, late.error["code"]) == (11, "not_settled")
    assert late.json["status"] == "requires_payment"
    assert "svc sandbox advance --until idle" in late.error["message"]


def test_another_end_is_a_check_that_failed(svc: Svc, order: dict[str, Any]) -> None:
    svc.ok("orders", "cancel", order["id"])
    ended = svc("orders", "retrieve", order["id"], "--until", "paid")
    assert (ended.code, ended.error["code"]) == (11, "ended_otherwise")
    assert (
        f"The order {order['id']} has ended as 'cancelled', not as paid." in ended.error["message"]
    )
    assert ended.json["status"] == "cancelled"
