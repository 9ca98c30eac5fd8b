"""A state database of each released schema: what was unresolved, listed and received is still there.

`released/N.sql` is what a database of schema N held. A step that was released is never edited, so
none of these files ever changes. A new step brings a new one: `tests/support/release_schema.py`
writes it, and the gate asks for it.
"""

import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from support.listeners import Listen
from support.listening import TargetServer, event
from support.running import Sandbox, Svc
from svc.clock import SystemClock
from svc.state import Database
from svc.state.schema import MIGRATIONS

pytestmark = pytest.mark.smoke

RELEASED = Path(__file__).with_name("released")
VERSIONS = sorted(int(path.stem) for path in RELEASED.glob("*.sql"))
WITH_REQUESTS, WITH_BATCHES = 2, 3
SINGLE = ["rq_00000000000000000001", "rq_00000000000000000002"]
OF_BATCH = "rq_00000000000000000003"
EVENT = "evt_3kPq0aVb7cXd9eYf1gZh2iWj"


def state_file() -> Path:
    return Path(os.environ["SVC_STATE_DIR"]) / "state.db"


def left_by(version: int, url: str) -> None:
    """Puts the database of a schema where `svc` keeps its own, as if left a minute ago."""
    path = state_file()
    path.parent.mkdir(mode=0o700)
    text = (RELEASED / f"{version}.sql").read_text(encoding="utf-8")
    text = text.replace("http://sandbox.invalid", url)
    text = text.replace("1700000000.0", str(time.time() - 60))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(text)
    for file in path.parent.iterdir():
        file.chmod(0o600)


def tables(path: Path) -> list[tuple[str, str]]:
    """Every table and index as it was made, spaces folded."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return sorted((name, " ".join(sql.split())) for name, sql in rows)


def test_each_released_schema_is_kept() -> None:
    """The first six were there when this was written; none is left out."""
    assert list(range(1, max(6, len(VERSIONS)) + 1)) == VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_steps_so_far_make_the_released_schema(version: int, tmp_path: Path) -> None:
    """None of them was edited."""
    left_by(version, "http://sandbox.invalid")
    path, steps = tmp_path / "new" / "state.db", MIGRATIONS[:version]
    with Database.open(path, clock=SystemClock(), steps=steps):
        pass
    assert tables(state_file()) == tables(tmp_path / "new" / "state.db")


@pytest.mark.parametrize("version", VERSIONS)
def test_opening_brings_it_to_the_newest_schema(version: int, tmp_path: Path) -> None:
    """With the very tables of a new database."""
    left_by(version, "http://sandbox.invalid")
    for path in (state_file(), tmp_path / "new" / "state.db"):
        with Database.open(path, clock=SystemClock()):
            pass
    assert tables(state_file()) == tables(tmp_path / "new" / "state.db")


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_left_is_used(version: int, sandbox: Sandbox, svc: Svc) -> None:
    """Unresolved requests, those of a batch too, are sent once more, each with its own key.

    The inbox is read, and a new request is recorded beside the old ones.
    """
    left_by(version, sandbox.url)
    known = SINGLE if version >= WITH_REQUESTS else []
    known = [*known, OF_BATCH] if version >= WITH_BATCHES else known
    found = svc.ok("requests", "list", "--unresolved", "-o", "json")
    listed = found["data"] if isinstance(found, dict) else found
    assert sorted(each["id"] for each in listed) == known
    for identifier, amount in zip(known, (700, 800, 900), strict=False):
        assert svc.ok("requests", "resume", identifier, "-o", "json")["amount"] == amount
    sent = [each["idempotency_key"] for each in sandbox.control("GET", "/requests")["data"]]
    keys = [f"{first}8a8c958-3bc2-43d8-b189-ad18cd574b83" for first in "234"]
    assert sorted(sent) == keys[: len(known)]
    assert svc("requests", "list", "--unresolved", "-o", "id").out == ""

    assert svc("events", "inbox", "-o", "id").out.split() == [EVENT]
    shown = svc.ok("events", "inbox", "show", EVENT, "-o", "json")
    assert shown["type"] == "order.paid"
    svc.ok(
        *("orders", "create", "--amount", "500", "--currency", "EUR", "--country", "DE"),
        *("--item", "name=A,quantity=1,unit_amount=500", "-o", "json"),
    )
    assert len(svc("requests", "list", "-o", "id").out.split()) == len(known) + 1


def keep_more(routes: list[str], target: str) -> None:
    """Adds to what schema 10 held: events in each state that its listener left them in."""
    new, tried, refused, taken, noted = range(2, 7)
    ended = {refused: "failed", taken: "forwarded"}
    attempts = {tried: (503, 0), refused: (422, 1), taken: (200, 1), noted: (200, 1)}
    with closing(sqlite3.connect(state_file(), isolation_level=None)) as connection:
        connection.execute("UPDATE listeners SET targets = ?", (json.dumps(routes),))
        connection.execute("DELETE FROM endpoints")  # else the sandbox counts as one that was reset
        connection.execute("UPDATE forwards SET target = ?", (f"{target}/x",))
        for seq in (new, tried, refused, taken, noted):
            kind, way = ("payout.paid", "/y") if seq == tried else ("order.paid", "/x")
            connection.execute(
                "INSERT INTO inbox VALUES (?, 1, ?, ?, ?, ?, 0, ?, 0)",
                (seq, f"evt_{seq}", kind, f"ord_{seq}", time.time(), ended.get(seq)),
            )
            connection.execute("INSERT INTO event_ids VALUES (?, ?)", (f"evt_{seq}", seq))
            connection.execute("INSERT INTO payloads VALUES (?, X'', ?)", (seq, event(seq, kind)))
            if seq in attempts:
                connection.execute(
                    "INSERT INTO forwards VALUES (?, ?, 0, 1, ?, 1.0, ?, NULL, X'', ?)",
                    (seq, target + way, time.time(), *attempts[seq]),
                )


def test_what_waited_before_there_was_a_ledger_is_forwarded_as_it_was_owed(
    sandbox: Sandbox, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """R50, R124: to the target of its type, marked where it was tried; what had ended stays so."""
    left_by(10, sandbox.url)
    with TargetServer() as target:
        url = f"http://127.0.0.1:{target.port}"
        routes = [f"payout.*={url}/y", f"{url}/x"]
        keep_more(routes, url)
        to = [part for route in routes for part in ("--forward-to", route)]
        with listen(tmp_path, "--events", "order.paid", *to) as running:
            running.wait("forward", 3)
            running.end()
    got = {
        json.loads(one.body)["id"]: (one.head.split()[1], one.header("svc-redelivered"))
        for one in target.received
    }
    assert got == {EVENT: (b"/x", [b"1"]), "evt_2": (b"/x", []), "evt_3": (b"/y", [b"1"])}
    states = {one["id"]: one["state"] for one in svc.ok("events", "inbox")}
    assert states == {**dict.fromkeys((EVENT, "evt_2", "evt_3"), "forwarded")} | {
        "evt_4": "failed",
        "evt_5": "forwarded",
        "evt_6": "forwarded",
    }
