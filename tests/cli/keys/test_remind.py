"""`svc keys remind` through the real program, and the line that a person sees once a day."""

import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cli.keys import icalendar_reader
from support.clocks import ManualClock
from support.on_terminal import AtTerminal
from support.ring_file import FakeRing
from support.running import Svc
from svc.api_keys import parse
from svc.cli.framework.reminders import annotations
from svc.cli.keys.remind import calendar
from svc.keys.age import SecretRecord, assess_age
from svc.keys.facts import KeyFacts
from svc.keys.places import KeyPlace

DAY = 86_400
URL = "https://api.example.com"
LIVE = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"
TEST = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"

Age = Callable[[float], None]


@pytest.fixture
def state(isolated: Path) -> Path:
    return isolated / "state" / "state.db"


@pytest.fixture
def aged(fake_ring: FakeRing, state: Path) -> Age:
    """Notes a live key, as `keys add` does, that is so many days old."""

    def make(days: float) -> None:
        facts = KeyFacts(state, ManualClock(time.time() - days * DAY))
        place = KeyPlace(URL, "default", "live")
        facts.remember(place, parse(LIVE, "the test"), "fake_file_ring.Keyring", checked=False)

    return make


def change(state: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(state)) as db, db:
        db.execute(sql, values)


def endpoint(state: Path, days: float, secret: str | None = None) -> None:
    """An endpoint that was registered so many days ago; `secret` is that of a sandbox's."""
    row = (URL, "default", "live", f"https://hooks.example.com/{days}", "order.paid")
    change(
        state,
        "INSERT INTO endpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        *row,
        f"we_{days}",
        secret,
        time.time() - days * DAY,
    )


@pytest.mark.effect_of("keys remind", "--max-age", "--warn")
@pytest.mark.parametrize(
    ("days", "argv", "status", "code"),
    [
        (3, (), "ok", 0),
        (80, (), "due", 0),
        (80, ("--warn", "1d"), "ok", 0),
        (91, (), "overdue", 11),
        (91, ("--max-age", "100d"), "due", 0),
        (0, ("--max-age", "0"), "overdue", 11),
    ],
)
def test_what_is_overdue_ends_with_11(
    svc: Svc, aged: Age, days: int, argv: tuple[str, ...], status: str, code: int
) -> None:
    aged(days)
    told = svc("keys", "remind", *argv)
    assert told.code == code
    (shown,) = told.json
    assert (shown["status"], shown["age_days"], shown["mode"]) == (status, days, "live")
    due = {"ok": None}.get(status, "svc keys roll --profile default --live")
    assert shown["next"] == due
    if code:
        assert told.error["code"] == "key_overdue"


@pytest.mark.effect_of("keys remind", "--format")
def test_each_format_tells_the_same(svc: Svc, aged: Age, state: Path) -> None:
    """Keys, signing secrets and the end of an old key, in all formats; no secret in any."""
    aged(91)
    change(
        state,
        "UPDATE key_facts SET rolled_at = added_at, old_fingerprint = ?, old_ends_at = ?",
        "sk_live_…old1",
        time.time() + 3600,
    )
    endpoint(state, 80)
    endpoint(state, 400, "whsec_c2FuZGJveCBzZWNyZXQgc2FuZGJveA")
    fingerprint = "sk_live_…p7dc"

    shown = svc("keys", "remind", "--format", "json", "-o", "human").json
    assert [each["status"] for each in shown] == ["overdue", "sandbox", "due"]
    assert shown[0]["old_key"] == "sk_live_…old1"
    assert [each["gone_with_reset"] for each in shown] == [False, True, False]

    text = svc("keys", "remind", "--format", "text")
    assert text.out.startswith(f"overdue  {fingerprint}  live key of profile default")
    words = " ".join(text.out.split())
    assert "the old key sk_live_…old1 works until" in words
    assert "svc keys roll --profile default --live" in text.out
    # A sandbox that was reset does not know the secrets of before, and nobody here hears of it.
    assert "never due: the sandbox's test data, which is gone once that is reset" in words
    assert text.err.startswith("Error: 1 secret is overdue")
    assert "keyring" not in text.out + text.err  # a sandbox's secret lies in none

    marks = svc("keys", "remind", "--format", "github").out.splitlines()
    assert [mark.split("::")[1].split(" ")[0] for mark in marks] == ["error", "warning", "warning"]

    data = svc_bytes("keys", "remind", "--format", "ics")
    read = icalendar_reader.read(data)
    assert len(read.inner) == 3

    everything = text.out + "".join(marks) + data.decode() + json.dumps(shown)
    assert not {"4eC39", "whsec_"} & set(re.findall("4eC39|whsec_", everything))


def test_the_global_formats_work_as_well(svc: Svc, aged: Age, state: Path) -> None:
    """-o is what every command takes: names alone, or rows."""
    aged(91)
    endpoint(state, 80)
    names = svc("keys", "remind", "-o", "id").out.split()
    assert names == ["sk_live_…p7dc", "we_80"]
    rows = list(csv.DictReader(io.StringIO(svc("keys", "remind", "-o", "csv").out)))
    assert [row["status"] for row in rows] == ["overdue", "due"]
    assert svc("keys", "remind", "--query", "[0].status", "-o", "human").out == "overdue\n"


def svc_bytes(*argv: str) -> bytes:
    """The exact bytes on stdout."""
    return subprocess.run(
        [sys.executable, "-m", "svc", *argv], capture_output=True, check=False
    ).stdout


def test_reminding_reads_no_key(svc: Svc, aged: Age, fake_ring: FakeRing) -> None:
    """R38: some systems ask the person for every item that is read."""
    aged(91)
    before = fake_ring.calls
    svc("keys", "remind")
    assert fake_ring.calls == before


@pytest.mark.effect_of("keys remind", "--created")
@pytest.mark.parametrize(
    ("created", "status", "code"),
    [
        ("2020-01-31", "overdue", 11),
        ("2020-01-31T10:00:00+02:00", "overdue", 11),
        ("100d", "overdue", 11),
        ("yesterday", "ok", 0),
        (None, "unknown", 0),
    ],
)
def test_a_key_of_the_environment_is_as_old_as_is_said(
    svc: Svc, created: str | None, status: str, code: int
) -> None:
    """For CI, without a keyring, an address or a state database."""
    argv = () if created is None else ("--created", created)
    told = svc("keys", "remind", *argv, env={"SVC_API_KEY": TEST})
    assert told.code == code
    (shown,) = told.json
    assert (shown["status"], shown["source"], shown["origin"]) == (status, "SVC_API_KEY", None)
    assert "4eC39" not in told.out + told.err
    assert ("--created" in told.err) is (created is None)


def test_nothing_held_is_no_error(svc: Svc) -> None:
    """An empty list, a calendar that calendars take, and no database made for it."""
    told = svc("keys", "remind")
    assert (told.code, told.json) == (0, [])
    assert "No key" in told.err
    assert icalendar_reader.read(svc_bytes("keys", "remind", "--format", "ics")).inner
    assert not Path(os.environ["SVC_STATE_DIR"]).exists()


# --- words that need care ---------------------------------------------------------------------


def odd(**more: Any) -> SecretRecord:
    origin = "https://api.example.com:8443"
    return SecretRecord("api_key", "sk_live_…,;\\\nab%:12", "shop", origin, "live", 0.0, **more)


def test_annotations_are_escaped() -> None:
    """A runner reads %, line ends and, in a title, colon and comma as its own."""
    judged = assess_age(odd(), 1e9, max_age=1, warn=0)
    (mark,) = annotations([judged])
    assert mark.startswith("::error title=API key overdue::live key sk_live_…,;\\%0Aab%25:12 ")
    assert "\n" not in mark


def test_a_calendar_survives_odd_and_long_words() -> None:
    """RFC 5545: escaped, folded at 75 octets, no character broken in two."""
    held = [
        SecretRecord("api_key", "…" * size, "shop", "https://x.example", "live", 5.0, "é,;\\n", 9e9)
        for size in range(20, 90, 7)
    ]
    several = [
        assess_age(
            SecretRecord(**{**_fields(each), "profile": f"p{number}"}), 1e9, max_age=1, warn=0
        )
        for number, each in enumerate([*held, odd()])
    ]
    read = icalendar_reader.read(calendar(several, 1e9, 14 * DAY).encode())
    assert len(read.inner) == 2 * len(held) + 1
    assert read.inner[-1].values["SUMMARY"] == (r":Replace the API key sk_live_…\,\;\\\nab%:12")


HOSTILE = (
    "\rATTACH:https://evil.example",
    "\x85END:VEVENT",
    "\u2028BEGIN:VALARM",
    "\x0bX",
    "\x0cX",
    "\x00",
    "\x1b]0;title\x07",
    "\u202etxt.exe",
    "\ud800",
    "\r\nEND:VCALENDAR",
)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_a_name_adds_no_line_to_a_calendar(text: str) -> None:
    """Whatever a server called it; programs differ in what they take for a line's end."""
    held = SecretRecord("signing_secret", f"we_1{text}", "shop", "https://x.example", "live", 5.0)
    judged = assess_age(held, 1e9, max_age=1, warn=0)
    data = calendar([judged], 1e9, 60).encode()
    (found,) = icalendar_reader.read(data).inner
    assert set(found.values) == {*("UID", "DTSTAMP", "DTSTART", "SUMMARY", "DESCRIPTION", "TRANSP")}
    lines = data.decode().replace("\r\n ", "").removesuffix("\r\n")
    assert lines.splitlines() == lines.split("\r\n")
    assert all(char.isprintable() for line in lines.split("\r\n") for char in line)


def _fields(held: SecretRecord) -> dict[str, Any]:
    return {name: getattr(held, name) for name in held.__slots__}


def test_a_newer_calendar_moves_its_events() -> None:
    """The same key, rolled: the same UID, so that nothing is there twice."""
    first, second = (
        icalendar_reader.read(
            calendar(
                [
                    assess_age(
                        SecretRecord("api_key", name, "shop", URL, "live", since),
                        1e9,
                        max_age=1,
                        warn=0,
                    )
                ],
                1e9,
                60,
            ).encode()
        )
        .inner[0]
        .values
        for name, since in (("sk_live_…ab12", 5.0), ("sk_live_…cd34", 9e8))
    )
    assert first["UID"] == second["UID"]
    assert first["DTSTART"] != second["DTSTART"]


# --- the line of the day ----------------------------------------------------------------------

COMMAND = ("requests", "list")  # any that needs no service


def test_a_person_is_reminded_once_a_day(at_terminal: AtTerminal, aged: Age, state: Path) -> None:
    """One line on stderr, naming the command; not again until tomorrow."""
    aged(91)
    first = at_terminal("", *COMMAND)
    assert first.code == 0
    words = " ".join(first.out.split())
    assert "Reminder: live key sk_live_…p7dc of profile default" in words
    assert "91 days old" in words
    assert words.endswith("svc keys roll --profile default --live")
    assert "Reminder" not in at_terminal("", *COMMAND).out


def test_several_are_one_line(at_terminal: AtTerminal, aged: Age, state: Path) -> None:
    """Nobody reads ten reminders."""
    aged(91)
    endpoint(state, 80)
    assert at_terminal("", *COMMAND).out.count("Reminder: 2 keys or signing secrets") == 1


def test_a_pipe_is_not_told(svc: Svc, aged: Age, state: Path) -> None:
    """It costs a program nothing: nothing is even looked up."""
    aged(91)
    assert "Reminder" not in svc(*COMMAND, "-o", "human").err
    assert not (state.parent / "reminders.looked").exists()


def test_a_fresh_key_is_not_mentioned(at_terminal: AtTerminal, aged: Age, state: Path) -> None:
    """And is, once it is due, when a day has passed since the last look."""
    aged(3)
    assert "Reminder" not in at_terminal("", *COMMAND).out
    change(state, "UPDATE key_facts SET added_at = added_at - ?", 100 * DAY)
    os.utime(state.parent / "reminders.looked", (time.time() - DAY,) * 2)
    assert "Reminder" in at_terminal("", *COMMAND).out


def test_a_reminder_never_fails_a_command(at_terminal: AtTerminal, aged: Age, state: Path) -> None:
    """A damaged database is no error of a command that does not need it; that it was moved is said."""
    aged(91)
    state.write_bytes(b"no database" * 999)
    done = at_terminal("", "config", "path")
    assert done.code == 0
    assert "Error" not in done.out
    assert "state.db.corrupt-1" in "".join(done.out.split())


def test_no_reminder_is_a_table_of_its_columns(svc: Svc) -> None:
    """A sheet that is read every day has the same columns on a day without any."""
    told = svc("keys", "remind", "-o", "csv", env={"SVC_API_KEY": ""})
    assert told.code == 0
    assert told.out.startswith("object,type,name,status,profile,origin,mode,source,")
    assert len(told.out.splitlines()) == 1
