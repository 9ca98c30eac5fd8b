"""What people and programs see of a delivery, line by line."""

import base64
import io
import json
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.cli.events.screen.lines import HumanLines
from svc.cli.events.screen.ndjson import JsonRecords, as_ndjson
from svc.listen.output_records import EventReceived, Forwarded, StoreState
from svc.redaction import redact, redact_bytes
from svc.render.layout import LineLayout
from svc.render.program_name import ProgramName
from svc.render.writer import Writer
from unit.cli.events.screen.records import AT, EVENT, FORWARD


def lines(
    width: int | None = 100, *, color: bool = False, payload: bool = False, holds: bool = False
) -> HumanLines:
    layout = LineLayout(width=width, color=color, utc=True, tick="✓")
    return HumanLines(layout, payload=payload, holds=holds)


@pytest.mark.parametrize(("width", "there"), [(None, 216), (300, 216), (70, 70), (40, 40)])
def test_a_long_answer_is_cut_to_the_room_that_there_is(width: int | None, there: int) -> None:
    """200 characters at the most; a log is no copy of the target's."""
    told = lines(width).forward(replace(FORWARD, status=500, reply=b"x" * 300)).splitlines()
    assert (len(told[-1]), told[-1].strip(" x")) == (there, "…")


def test_the_command_that_sends_again_is_whole_at_forty_columns() -> None:
    """It stands on a line of its own, with the name by which svc was called."""
    gone = replace(FORWARD, status=None, error="connection refused")
    program_name = ProgramName(".venv/bin/svc", "", ("events",))
    layout = LineLayout(width=40, color=False, utc=True, tick="ok", program_name=program_name)
    told = HumanLines(layout).forward(gone).splitlines()
    assert told[-1] == "  .venv/bin/svc events replay --failed"
    assert max(map(len, told)) <= 40


def test_payload_is_shown_safely() -> None:
    """`--print payload`: indented JSON; what is none is shown escaped."""
    assert lines(payload=True).event(EVENT).splitlines()[1:] == [
        "    {",
        '      "a": "\\u00e9\\u001b"',
        "    }",
    ]
    broken = replace(EVENT, payload=b"\x1b]52;c;x\x07 not JSON \xff")
    assert lines(payload=True).event(broken).splitlines()[1:] == [
        "    \\u{1b}]52;c;x\\u{7} not JSON \ufffd"
    ]


def test_color_is_modest_and_only_when_wanted() -> None:
    """R75: colours mark state; without them there is no ESC at all."""
    assert "\x1b[32mverified" in lines(color=True).event(EVENT)
    assert "\x1b" not in lines().event(EVENT) + lines().forward(FORWARD)


TIMES = st.floats(0, 4e9)
NUMBERS = st.one_of(st.none(), st.integers(0, 10**12), st.floats(0, 1e9))
EVENTS = st.builds(
    EventReceived,
    TIMES,
    st.text(),
    st.text(),
    st.text(),
    st.text(),
    st.one_of(st.none(), st.booleans()),
    st.one_of(st.none(), st.integers()),
    st.one_of(st.none(), st.text()),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.binary(),
    st.one_of(st.none(), TIMES),
    st.integers(0, 9),
)
PLAIN_TEXT = st.text().filter(lambda text: redact(text) == text)
FORWARDS = st.builds(
    Forwarded,
    TIMES,
    PLAIN_TEXT,
    PLAIN_TEXT,
    PLAIN_TEXT,
    st.one_of(st.none(), st.integers(200, 599)),
    st.floats(0, 1e9),
    st.integers(1, 99),
    st.one_of(st.none(), PLAIN_TEXT),
    st.binary().filter(lambda data: redact_bytes(data) == data),
    NUMBERS,
)


@given(st.one_of(EVENTS, FORWARDS))
def test_lines_from_templates_say_what_the_records_say(record: EventReceived | Forwarded) -> None:
    """R72: the same line, byte for byte, as the fields of the record give."""
    line = as_ndjson(record)
    assert line == json.dumps(record.to_dict(), separators=(",", ":")) + "\n"
    assert line.isascii()


@pytest.mark.parametrize(
    ("shown", "kinds", "has_payload"),
    [
        ("summary", ["event", "forward", "forward"], False),
        ("payload", ["event", "forward", "forward"], True),
        ("none", ["forward"], False),
    ],
)
def test_print_counts_for_programs_too(
    shown: Literal["summary", "payload", "none"], kinds: list[str], has_payload: bool
) -> None:
    """`--print`: `none` leaves out what went well, `payload` adds the parsed object to the bytes."""
    out = io.StringIO()
    records = JsonRecords(Writer(out), array=False, shown=shown)
    for record in (EVENT, FORWARD, replace(FORWARD, status=500)):
        records.show(record)
    found = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [one["record"] for one in found] == kinds
    events = [one for one in found if one["record"] == "event"]
    assert all("payload_base64" in one for one in events)
    assert [one.get("payload") for one in events] == [{"a": "é\x1b"} if has_payload else None][
        : len(events)
    ]


def test_a_payload_that_is_no_json_is_null() -> None:
    """Signed nonsense is an event as well."""
    out = io.StringIO()
    records = JsonRecords(Writer(out), array=True, shown="payload")
    records.show(replace(EVENT, payload=b"\xff", came_at=AT))
    records.close()
    assert json.loads(out.getvalue())[0]["payload"] is None


def test_what_a_target_says_is_masked_and_what_an_event_holds_is_whole() -> None:
    """R126: for programs; the event is the customer's, and its bytes are what was signed."""
    out = io.StringIO()
    records = JsonRecords(Writer(out), array=False)
    key, masked = "sk_live_abcdefghijklmnop", "sk_live_…mnop"
    words: dict[str, Any] = dict.fromkeys(("id", "type", "url", "error"), f"key {key}")
    records.show(replace(FORWARD, status=500, reply=f"key {key}".encode(), **words))
    records.show(replace(EVENT, id=key))
    records.show(StoreState(AT, f"key {key}"))
    first, second, third = (json.loads(line) for line in out.getvalue().splitlines())
    assert {first[name] for name in (*words, "reply")} == {f"key {masked}"}
    assert second["payload_base64"] == base64.b64encode(EVENT.payload).decode()
    assert third["reason"] == f"key {masked}"
