"""How a page of `svc help` is laid out for a person."""

import io
import os
import re
import shlex
import shutil
import signal

import pytest

from support.on_terminal import OnTerminal, TtyStream
from support.running import Svc
from svc.cli import help as pages
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.cli.help.page import ASSUMPTIONS, TOPICS, Page, page_of, read_shell_lines

PAGES = [topic for topic in TOPICS if topic != ASSUMPTIONS]
WORDS = Page("T", ("* order.paid order.cancelled payout.sent",))


def test_headings_and_names_are_coloured_on_a_terminal(on_terminal: OnTerminal) -> None:
    """Like those of --help (R75), and not where colour is not wanted."""
    shown = on_terminal("help", "webhooks")
    assert shown.startswith("\x1b[1;32mWebhooks\x1b[0m\n")
    assert "\x1b[1;32mTunnels\x1b[0m" in shown
    assert "\x1b[36mverify\x1b[0m    Svc-Signature" in shown
    assert "\x1b" not in on_terminal("help", "webhooks", NO_COLOR="1")
    assert "\x1b[1;32mResources\x1b[0m" in on_terminal("commands")


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("topic", PAGES)
def test_what_is_folded_for_a_person_is_the_same_command(topic: str, width: int) -> None:
    """Lines to copy go on after a backslash, so that a shell takes them as they stand."""
    page = page_of(topic)
    text = page.text(width, person=True).replace(" \\\n", " ")
    found = [line.split() for line in text.splitlines() if line.startswith("  ")]
    for part in page.parts:
        for line in read_shell_lines(part):
            assert line.startswith("#") or line.split() in found


def test_a_comment_goes_on_as_a_comment() -> None:
    """A shell would run the rest of it."""
    page = Page("T", ("  # Half a body, then the connection is closed.",))
    lines = page.text(30, person=True).splitlines()[2:]
    assert len(lines) == 2
    assert all(line.startswith("  # ") for line in lines)


@pytest.mark.parametrize(("width", "beside"), [(16, 1), (38, 2), (80, 3)])
def test_words_take_as_many_columns_as_fit(width: int, beside: int) -> None:
    """And none is broken."""
    rows = [line.split() for line in WORDS.text(width).splitlines()[2:]]
    assert len(rows[0]) == beside
    assert [word for row in rows for word in row] == [
        "order.paid",
        "order.cancelled",
        "payout.sent",
    ]


def test_a_page_in_a_pipe_has_commands_on_one_line(svc: Svc) -> None:
    """For programs that look for one, however narrow they say that they are."""
    shown = svc("help", "ci", env={"COLUMNS": "40"}).out
    exec_ = "--exec 'python3 handler.py"
    line = next(line for line in shown.splitlines() if exec_ in line and "events listen" in line)
    assert shlex.split(line)[:3] == ["svc", "events", "listen"]
    assert "== A webhook handler" in page_of("ci").parts


def test_webhooks_say_in_ten_lines_what_happens_when_something_is_away(svc: Svc) -> None:
    """Handler, svc and sender down, the disk full, the secret rolled."""
    page = svc("help", "webhooks", env={"COLUMNS": "80"}).out
    assert "60 min, then every 6 hours, for 72 hours." in " ".join(page.split())
    part = page.partition("When something is away\n")[2].partition("As a service")[0]
    lines = [line for line in part.splitlines() if line]
    assert len(lines) == 10
    names = [line[:15].strip() for line in lines if line[2] != " "]
    assert names == ["handler down", "svc down", "sender down", "disk full", "secret rolled"]


def test_the_page_for_ci_reads_no_file_that_no_page_shows() -> None:
    """What it says can be typed: README has handler.py, the page its script and workflow."""
    text = " ".join(page_of("ci").text(80).split())
    named = set(re.findall(r"[\w.]+\.(?:json|py|csv)\b", text))
    assert named <= {"handler.py", "events.ndjson", "ready.json"}
    assert "handler.py is in the README" in text


def test_each_row_of_the_comparison_says_how_it_was_seen() -> None:
    """The page says what the words mean, and when that was."""
    page = page_of("comparison")
    ways = {"ran", "help", "source", "docs"}
    rows = page.rows()
    assert len(rows) > 25
    assert {re.findall(r"\((\w+)\)\.$", row["meaning"])[0] for row in rows} == ways
    head = page.text(100).partition("\n\n")[2].partition("\n\n")[0]
    assert all(re.search(rf"\b{way}\b", head) for way in ways)
    assert "November 2026" in " ".join(head.split())


WHOLE = {"PATH": "/usr/bin:/bin"}
CAT = shutil.which("cat", path=WHOLE["PATH"])


@pytest.mark.parametrize(
    ("env", "lines", "command"),
    [
        ({"PAGER": "cat -u"}, 30, [CAT, "-u"]),
        ({"PAGER": "cat -u", "LINES": "30"}, 30, [CAT, "-u"]),
        ({"PAGER": "cat -u", "LINES": "31"}, 30, None),
        ({"PAGER": "cat -u", "LINES": "0"}, 29, None),
        ({"PAGER": "cat -u", "LINES": "x"}, 30, [CAT, "-u"]),
        ({"PAGER": "cat"}, 30, None),
        ({"PAGER": ""}, 30, None),
        ({"PAGER": "'"}, 30, None),
        ({"PAGER": "nobody-has-this"}, 30, None),
        ({"PAGER": "./cat", "PATH": "."}, 30, None),
        ({"PAGER": "cat -u", "TERM": "dumb"}, 30, None),
    ],
)
def test_a_page_that_fits_needs_no_pager(
    monkeypatch: pytest.MonkeyPatch, env: dict[str, str], lines: int, command: object
) -> None:
    """Of a terminal of 30 lines; its whole path is that of no folder one happens to stand in."""
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((80, 30)))
    there = Streams(TtyStream(), TtyStream(), TtyStream())
    with Session([], {**WHOLE, **env}, there) as session:
        assert pages._pager(session, "x\n" * lines) == command
    with Session([], {**WHOLE, **env}, there._replace(stdin=io.StringIO())) as session:
        assert pages._pager(session, "x\n" * lines) is None


def test_a_pager_that_cannot_be_started_leaves_the_page_to_svc() -> None:
    """Ctrl-C is svc's again."""
    before = signal.getsignal(signal.SIGINT)
    with Session([], WHOLE, Streams(TtyStream(), TtyStream(), TtyStream())) as session:
        assert not pages._page(session, ["/nowhere/pager"], "x\n")
    assert signal.getsignal(signal.SIGINT) is before
