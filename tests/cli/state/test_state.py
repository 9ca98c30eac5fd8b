"""`svc state`: what takes the room on this machine, and giving it back."""

import json
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.running import Svc
from svc.cli import state
from svc.delivery.journal.journal import Journal
from svc.state import Database, room

DAY = 24 * 3600
FORWARDED = "INSERT INTO inbox (listener, event_id, type, object_id, received_at) VALUES (1, ?, 'x', 'y', ?)"


@pytest.fixture
def old_events(isolated: Path) -> None:
    """A month of events with no target, which are due to be forgotten, and one of today."""
    clock = ManualClock(0)
    with Database.open(isolated / "state" / "state.db", clock=clock) as kept, kept.write() as tx:
        tx.many(FORWARDED, [(f"evt_{number}", DAY) for number in range(1200)])
        tx.many(
            "INSERT INTO payloads (inbox_seq, headers, body) SELECT seq, x'', zeroblob(2000) FROM"
            " inbox WHERE ? = ?",
            [(1, 1)],
        )


def test_state_shows_what_takes_the_room_and_compact_gives_it_back(
    svc: Svc, isolated: Path, old_events: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By kinds; what is due is forgotten first, and the file is shorter afterwards."""
    shown = svc.ok("state")
    assert shown["kinds"][0]["name"] == "events"
    assert (shown["kinds"][0]["rows"], shown["kinds"][0]["bytes"] > 2_000_000) == (1200, True)
    done = svc.ok("state", "compact")
    assert (done["events_forgotten"], done["requests_forgotten"]) == (1200, 0)
    assert done["bytes"] < done["bytes_before"] / 4
    assert (isolated / "state" / "state.db").stat().st_size <= done["bytes"]


def test_doctor_says_when_it_is_worth_it(
    svc: Svc, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A warning with the command, where much of the file is free; `svc state` hints at it too."""
    monkeypatch.setattr(room, "WORTH_BYTES", 1)
    with Database.open(isolated / "state" / "state.db", clock=ManualClock()) as kept:
        with kept.write() as tx:
            tx.execute("INSERT INTO payloads (headers, body) VALUES (x'', zeroblob(2000000))")
        with kept.write() as tx:
            tx.execute("DELETE FROM payloads")
    assert "svc state compact" in svc("state").err
    found = next(
        one for one in json.loads(svc("doctor", "-o", "json").out) if one["name"] == "state"
    )
    assert (found["status"], found["fix"]) == (
        "warning",
        "Give them back to the disk: svc state compact",
    )


def test_state_is_shown_to_people_in_words(svc: Svc, old_events: None) -> None:
    """The heads and labels are no keys of JSON."""
    shown = svc("state", "-o", "human").out
    assert "free_bytes" not in shown
    assert ("Free bytes" in shown, "What it holds" in shown) == (True, True)


def test_a_file_that_can_give_room_back_in_pieces_is_not_written_anew(
    svc: Svc, old_events: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is forgotten is counted over all pieces."""
    pieces, returned = [3, 2, 0], []
    monkeypatch.setattr(Journal, "forget_old", lambda *_: pieces.pop(0))
    monkeypatch.setattr(state, "can_return_pages", lambda _: True)
    monkeypatch.setattr(state, "return_pages", lambda *given: returned.append(given))
    monkeypatch.setattr(state, "rebuild", None)
    assert svc.ok("state", "compact")["requests_forgotten"] == 5
    assert len(returned) == 1
