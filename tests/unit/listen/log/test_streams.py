"""The streams of a log: what is asked for, where a reader goes on, and what may be changed."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from support.suite.golden import hold_golden
from svc.errors import NotFound
from svc.listen.inbox.interfaces import Position
from svc.listen.log import streams
from svc.listen.log.connection import Message
from svc.listen.log.errors import LogDown, LogMissing, LogRefusal
from svc.listen.log.streams import Start
from unit.listen.log.fake_log import ADDRESS, MADE, STREAM, FakeLog, message


def log_of(*numbers: int, **state: Any) -> Any:
    return FakeLog({number: message(number) for number in numbers}, **state)


def test_streams_and_queues_are_asked_for_as_agreed() -> None:
    log = log_of()
    log.told[f"CONSUMER.CREATE.{STREAM}.g_ci"] = {}
    start = {"deliver_policy": "all"}
    assert asyncio.run(streams.make_group(log, "test", "ci", start))
    log.told[f"CONSUMER.INFO.{STREAM}.g_ci"] = {}
    assert not asyncio.run(streams.make_group(log, "test", "ci", start))
    wanted = [
        streams.events_stream(ADDRESS, "test", "https://api.example.com", 3, 1 << 30, "logkey_a"),
        streams.describe_failed_stream(ADDRESS, "test", 3),
        streams.readers_stream(ADDRESS, "test", 3),
        *log.asked,
    ]
    told = "".join(json.dumps(one, indent=1) + "\n" for one in wanted)
    hold_golden(Path(__file__).with_name("streams.txt"), told)


@pytest.mark.parametrize(
    ("position", "wanted"),
    [
        ((0, ""), Start(3, MADE, 5, 7)),
        ((0, f"{MADE} "), Start(3, MADE, 5, 7, missed=2)),
        ((1, f"{MADE} evt_1"), Start(3, MADE, 5, 7, missed=1)),
        ((2, f"{MADE} evt_2"), Start(3, MADE, 5, 7, missed=0)),
        ((3, f"{MADE} evt_3"), Start(4, MADE, 4, 7)),
        ((7, f"{MADE} evt_7"), Start(8, MADE, 0, 7)),
        ((7, f"{MADE} evt_6"), Start(3, MADE, 5, 7, other=True, gone=0)),
        ((9, f"{MADE} evt_9"), Start(3, MADE, 5, 7, other=True, gone=2)),
        ((3, "2025-10-01T00:00:00Z evt_3"), Start(3, MADE, 5, 7, other=True, gone=0)),
        ((8, "evt_8"), Start(3, MADE, 5, 7, other=True, gone=1)),
    ],
)
def test_reading_goes_on_behind_a_position(position: tuple[int, str], wanted: Start) -> None:
    """R130: the number alone says nothing, in a log that may have been made anew or restored."""
    log = log_of(3, 4, 5, 6, 7)
    assert asyncio.run(streams.find_start(log, "test", Position(*position))) == wanted


def test_an_empty_log_is_read_from_its_first_event() -> None:
    assert asyncio.run(streams.find_start(log_of(), "test", Position(0, ""))) == Start(
        1, MADE, 0, 0
    )
    begun = Position(0, streams.mark_of(MADE, ""))
    assert asyncio.run(streams.find_start(log_of(), "test", begun)) == Start(1, MADE, 0, 0)
    assert asyncio.run(streams.end_of(log_of(), "test")) == begun


@pytest.mark.parametrize(
    ("numbers", "first_since", "wanted"),
    [
        ((1, 2, 3), 3, (2, "evt_2")),
        ((1, 2, 3), 2, (1, "evt_1")),
        ((1, 2, 3), 1, None),
        ((5, 6), 5, None),  # the one before was dropped for its age
        ((1, 2, 3), 9, (3, "evt_3")),  # nothing is so new: the end
    ],
)
def test_a_moment_is_a_place_behind_the_event_before_it(
    numbers: Sequence[int], first_since: int, wanted: tuple[int, str] | None
) -> None:
    log = log_of(*numbers)
    log.told["start_time"] = first_since
    found = asyncio.run(streams.before(log, "test", 1_790_812_800.5))
    assert found == (
        Position(0, "") if wanted is None else Position(wanted[0], f"{MADE} {wanted[1]}")
    )


def test_no_stream_of_a_log_is_told_by_what_is_the_matter() -> None:
    """A stream without a leader is not answered for, or by a number of its own."""
    told: list[tuple[type[Exception], str | None]] = []
    verb = f"STREAM.INFO.{STREAM}"
    down = LogDown("no answer", code="log_unavailable")
    refusals = (
        LogMissing(404, 10059, "a"),
        LogRefusal(503, 10008, "b"),
        LogRefusal(503, 10009, "c"),
    )
    for answer, is_connected in (*((one, True) for one in refusals), (down, True), (down, False)):
        log = log_of()
        log.told[verb], log.client.is_connected = answer, is_connected
        try:
            asyncio.run(streams.stream_info(log, "test"))
        except (LogRefusal, LogDown, NotFound) as error:
            told.append((type(error), error.code))
    majority = (LogDown, "log_no_majority")
    missing = (NotFound, "log_stream_missing")
    assert told == [missing, majority, (LogRefusal, None), majority, (LogDown, "log_unavailable")]


def made(found: dict[str, Any], *change: str) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """What is said of a stream that is there with `found`, and what is asked besides."""
    wanted = streams.events_stream(ADDRESS, "test", "https://a", 3, 500, "logkey_a")
    log = log_of()
    config = {**wanted, **found}
    log.told[f"STREAM.INFO.{STREAM}"] = {"config": config}
    log.told[f"STREAM.UPDATE.{STREAM}"] = {"config": {**config, **{n: wanted[n] for n in change}}}
    return asyncio.run(streams.make(log, wanted, change)), log.asked[1:]


def test_a_stream_that_is_there_is_changed_only_where_that_was_asked_for() -> None:
    """What else is not as it would be made is told, with both values."""
    same = {"name": STREAM, "made": False, "changed": [], "differs": []}
    assert made({}, "max_bytes", "metadata") == (same, [])
    assert made({"description": "of the team"}) == (same, [])
    size = {"field": "max_bytes", "wanted": 500, "found": 400}
    assert made({"max_bytes": 400}) == ({**same, "differs": [size]}, [])
    age = {"field": "max_age", "wanted": 7 * 86400 * 10**9, "found": 1}
    done, asked = made({"max_bytes": 400, "max_age": 1}, "max_bytes")
    assert done == {**same, "changed": ["max_bytes"], "differs": [age]}
    [(verb, config)] = asked
    assert (verb, config["max_bytes"], config["max_age"]) == (f"STREAM.UPDATE.{STREAM}", 500, 1)
    done, asked = made({"metadata": {"svc-origin": "https://a", "svc-mode": "test"}}, "metadata")
    assert done["changed"] == ["svc-key"]
    assert asked[0][1]["metadata"].keys() == {"svc-origin", "svc-mode", "svc-key"}
    assert streams.key_fingerprint(asked[0][1]) == asked[0][1]["metadata"]["svc-key"]
    differs = {one["field"] for one in made(dict.fromkeys(STRICT))[0]["differs"]}
    assert differs == STRICT


# What a log must have so that it loses nothing and keeps nothing for ever.
STRICT = {
    *("subjects", "storage", "num_replicas", "max_age", "max_bytes", "discard", "republish"),
    *("duplicate_window", "deny_delete", "deny_purge", "allow_direct"),
}


def test_a_missing_stream_is_made() -> None:
    log = log_of()
    log.told = {f"STREAM.CREATE.{STREAM}": {}}
    wanted = streams.events_stream(ADDRESS, "test", "https://a", 3, 500, "logkey_a")
    told = asyncio.run(streams.make(log, wanted, ["max_bytes"]))
    assert told == {"name": STREAM, "made": True, "changed": [], "differs": []}
    assert log.asked[-1] == (f"STREAM.CREATE.{STREAM}", wanted)


def test_a_laptop_reports_how_far_it_is_under_its_own_name() -> None:
    log = log_of()
    log.told["reader.shop.test.anna"] = Message("", "", {}, b"")
    asyncio.run(streams.report(cast("Any", log), "test", "anna", 7, 1.5))
    assert log.asked == [("reader.shop.test.anna", (b'{"seq": 7, "time": 1.5}',))]


def test_times_are_read_as_a_log_writes_them_and_written_as_it_reads_them() -> None:
    assert streams.time_text(1_790_812_800.25) == "2026-10-01T00:00:00.250000+00:00"
    for fraction, seconds in (("", 0.0), (".5", 0.5), (".123456789", 0.123456)):
        assert streams.moment(f"2026-10-01T00:00:00{fraction}Z") == 1_790_812_800 + seconds
