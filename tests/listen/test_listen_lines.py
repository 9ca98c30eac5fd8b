"""What people and programs see of a delivery, line by line."""

import json
from dataclasses import replace

import pytest

from svc.cli.listen_lines import HumanLines, as_ndjson
from svc.listen.records import EventReceived, Forwarded, Rejected, TunnelDown, TunnelUp

AT = 1_790_863_402.1049
EVENT = EventReceived(
    time=AT,
    id="evt_3kPq0aVb7cXd9eYf1gZh2iWj",
    type="order.paid",
    object_id="ord_1",
    created="2026-10-01T14:03:22Z",
    livemode=False,
    amount=15708,
    currency="EUR",
    duplicate=False,
    out_of_order=False,
    wrong_mode=False,
    payload=b'{"a": "\xc3\xa9\\u001b"}',
)
FORWARD = Forwarded(
    time=AT + 0.027,
    id=EVENT.id,
    type=EVENT.type,
    url="http://localhost:3000/webhooks",
    status=200,
    milliseconds=24.2,
    attempt=1,
    error=None,
    reply=b"ok",
    retry_in=None,
)


def lines(width: int = 100, *, color: bool = False, payload: bool = False) -> HumanLines:
    return HumanLines(width=width, color=color, utc=True, payload=payload)


def test_lines_are_aligned_as_agreed() -> None:
    """The two lines of cli.md, section 6."""
    shown = lines()
    assert shown.event(EVENT) == (
        "14:03:22.104  order.paid          evt_3kPq0aVb7cXd9eYf1gZh2iWj  verified   157.08 EUR\n"
    )
    assert shown.forward(FORWARD) == (
        "14:03:22.131    200 OK  http://localhost:3000/webhooks  24 ms\n"
    )


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"duplicate": True}, "duplicate  157.08 EUR"),
        ({"out_of_order": True}, "late       157.08 EUR"),
        ({"wrong_mode": True, "livemode": True}, "live mode, not forwarded  157.08 EUR"),
        ({"amount": None}, "verified"),
        ({"currency": None}, "verified"),
        ({"amount": 1500, "currency": "JPY"}, "verified   1500 JPY"),
        ({"currency": "XXQ"}, "verified   15708 XXQ (minor units, unknown currency)"),
    ],
)
def test_event_says_what_is_special(changes: dict[str, object], expected: str) -> None:
    """Duplicates, late ones and the other mode are marked; money has its currency's decimals."""
    assert lines(140).event(replace(EVENT, **changes)).rstrip().endswith(expected)  # type: ignore[arg-type]


def test_narrow_terminals_get_more_lines() -> None:
    """R63: at 80 and 40 columns nothing is cut; what does not fit goes on the next line."""
    long = replace(EVENT, type="dispute.evidence_submitted")
    assert lines(80).event(EVENT) == (
        "14:03:22.104  order.paid  evt_3kPq0aVb7cXd9eYf1gZh2iWj  verified  157.08 EUR\n"
    )
    assert lines(80).event(replace(EVENT, type="payment.captured")) == (
        "14:03:22.104 payment.captured evt_3kPq0aVb7cXd9eYf1gZh2iWj verified 157.08 EUR\n"
    )
    assert lines(80).event(long) == (
        "14:03:22.104  dispute.evidence_submitted  evt_3kPq0aVb7cXd9eYf1gZh2iWj  verified\n"
        "    157.08 EUR\n"
    )
    assert lines(40).event(EVENT) == (
        "14:03:22.104  order.paid\n    evt_3kPq0aVb7cXd9eYf1gZh2iWj\n    verified  157.08 EUR\n"
    )


def test_forward_names_its_event_when_another_line_stands_between() -> None:
    """Parallel forwards can be told apart."""
    shown = lines(120)
    shown.event(EVENT)
    shown.event(replace(EVENT, id="evt_other"))
    assert shown.forward(FORWARD).endswith("24 ms  evt_3kPq0aVb7cXd9eYf1gZh2iWj\n")


def test_failed_forward_shows_the_answer() -> None:
    """The target's own words about a failure, on one line, without anything that acts."""
    failed = replace(FORWARD, status=500, reply=b"no such\norder \x1b[31m \x9b \xe2\x80\xae")
    shown = lines()
    shown.event(EVENT)
    first, second = shown.forward(failed).splitlines()
    assert first.endswith("500 Internal Server Error  http://localhost:3000/webhooks  24 ms")
    assert second == "      no such\\u{a}order \\u{1b}[31m � \\u{202e}"


def test_trouble_and_the_next_attempt_are_told() -> None:
    """Why nothing was sent, and when it is tried again."""
    away = replace(
        FORWARD,
        status=None,
        error="connection refused: is the server running?",
        retry_in=2.0,
        reply=b"",
    )
    shown = lines(140)
    shown.event(EVENT)
    assert shown.forward(away) == (
        "14:03:22.131    failed  http://localhost:3000/webhooks  24 ms"
        "  connection refused: is the server running?  again in 2 s\n"
    )
    assert "again in 6 h" in shown.forward(replace(away, retry_in=21600.0))


def test_rejected_and_tunnel_lines() -> None:
    """One line each, with the reason."""
    rejected = Rejected(AT, "timestamp_too_old", "It was signed 400 s ago; the limit is 300 s.", 9)
    assert lines().rejected(rejected) == (
        "14:03:22.104  rejected  timestamp_too_old  It was signed 400 s ago; the limit is 300 s.\n"
    )
    assert "tunnel up  https://t.example" in lines().tunnel(TunnelUp(AT, "https://t.example"))
    assert "tunnel down  it ended\\u{1b}" in lines().tunnel(TunnelDown(AT, "it ended\x1b"))


def test_payload_is_shown_safely() -> None:
    """`--print payload`: indented JSON; what is none is shown escaped."""
    assert lines(payload=True).event(EVENT).splitlines()[1:] == [
        "    {",
        '      "a": "\\u00e9\\u001b"',
        "    }",
    ]
    broken = replace(EVENT, payload=b"\x1b]52;c;x\x07 not JSON")
    assert "\x1b" not in lines(payload=True).event(broken)


def test_color_is_modest_and_only_when_wanted() -> None:
    """R75: colours mark state; without them there is no ESC at all."""
    assert "\x1b[32mverified" in lines(color=True).event(EVENT)
    assert "\x1b" not in lines().event(EVENT) + lines().forward(FORWARD)


@pytest.mark.parametrize("record", [EVENT, FORWARD, Rejected(AT, "x", "y\x1b\u202e", 1)])
def test_ndjson_is_the_record_in_ascii(record: EventReceived | Forwarded | Rejected) -> None:
    """R61: one line, lossless, and nothing in it that a terminal would act on."""
    line = as_ndjson(record)
    assert json.loads(line) == record.to_dict()
    assert line.isascii()
    assert line.rstrip("\n").isprintable()
