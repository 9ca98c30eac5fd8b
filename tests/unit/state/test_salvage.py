"""What is taken over of a damaged state database, and what begins without it (promise R67)."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from support.clocks import ManualClock
from svc.errors import LocalError
from svc.state import Database
from svc.state.salvage import adopt, begin_empty

TABLE_LEAF = 13  # the first byte of such a page (SQLite: Database File Format)
INSERT = """
INSERT INTO reminders (name, told_at) VALUES (?, ?)"""


REQUEST = (
    "INSERT INTO requests (id, profile, mode, base_url, key_hint, idempotency_key, path, encoding,"
    " body, body_sha256, created_at, first_sent_at, last_sent_at, sendings, state)"
    " VALUES (:id, 'shop', 'test', 'https://a', 'k', :id, '/v1/refunds', 'json', x'', '', 0, 0, 0,"
    " 1, 'unknown')"
)


def keep_requests(path: Path, *names: str) -> None:
    Database.open(path, clock=ManualClock()).close()
    with closing(sqlite3.connect(path)) as state, state:
        state.executemany(REQUEST, [{"id": name} for name in names])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "state.db"


def fill(path: Path, names: range) -> None:
    with Database.open(path, clock=ManualClock()) as state:
        rows = [(f"{number:06} {'x' * 60}", float(number)) for number in names]
        state.change(lambda tx: tx.many(INSERT, rows))
        state.rows("PRAGMA wal_checkpoint(TRUNCATE)")


def names(path: Path) -> list[str]:
    with Database.open(path, clock=ManualClock()) as state:
        return [row["name"][:6] for row in state.rows("SELECT name FROM reminders ORDER BY name")]


def test_what_can_be_read_of_a_damaged_file_is_taken_over(path: Path) -> None:
    """A page in its midst is lost; what stands on either side of it is read, and it is said."""
    fill(path, range(2000))
    raw = bytearray(path.read_bytes())
    page = int.from_bytes(raw[16:18], "big")
    at = next(
        n for n in range(len(raw) // page // 2, len(raw) // page) if raw[n * page] == TABLE_LEAF
    )
    raw[at * page : (at + 1) * page] = b"\xff" * page
    damaged = path.with_name("state.db.corrupt-1")
    damaged.write_bytes(raw)
    damaged.chmod(0o600)
    path.unlink()
    rows, lost = adopt(path, damaged, ManualClock())
    kept = names(path)
    assert 1000 < len(kept) < 2000
    assert rows["reminders"] == len(kept)
    assert "reminders" in lost


def test_what_is_there_already_stays(path: Path) -> None:
    """A backup is adopted into what has gone on since; the newer word of a row counts."""
    backup = path.with_name("backup.db")
    fill(path, range(3))
    backup.write_bytes(path.read_bytes())
    fill(path, range(10, 12))
    rows, lost = adopt(path, backup, ManualClock())
    assert (rows["reminders"], lost) == (0, [])
    assert len(names(path)) == 5


def test_requests_from_before_limits_count_in_them(path: Path) -> None:
    """A backup of an older svc does not say in which group a request counts."""
    backup = path.with_name("backup.db")
    keep_requests(backup, "rq_1")
    adopt(path, backup, ManualClock())
    with Database.open(path, clock=ManualClock()) as state:
        assert [row["kind"] for row in state.rows("SELECT kind FROM requests")] == ["refunds"]


def test_nothing_begins_anew_where_nothing_is_damaged(path: Path) -> None:
    """`start-empty` takes no state away."""
    fill(path, range(3))
    with pytest.raises(LocalError, match="is there and is not damaged") as refused:
        begin_empty(path, ManualClock())
    assert refused.value.code == "state_present"
    assert len(names(path)) == 3


def test_requests_of_two_journals_are_all_kept(path: Path) -> None:
    """Both count their requests from 1: one that was lost here would be sent a second time."""
    other = path.with_name("other.db")
    keep_requests(other, "rq_1", "rq_2", "rq_3")
    keep_requests(path, "rq_2", "rq_4")
    counts = [adopt(path, other, ManualClock())[0]["requests"] for _ in range(2)]
    with Database.open(path, clock=ManualClock()) as state:
        kept = [row["id"] for row in state.rows("SELECT id FROM requests ORDER BY seq")]
    assert (kept, counts) == (["rq_2", "rq_4", "rq_1", "rq_3"], [2, 0])


@pytest.mark.parametrize("header", [b"no database at all, but some text\n", b""])
def test_a_file_of_which_no_request_can_be_read_is_refused(path: Path, header: bytes) -> None:
    """Taken over, it would be an empty journal, with which the next command is sent again."""
    other = path.with_name("other.db")
    keep_requests(other, "rq_1")
    other.write_bytes((header + b"\xff" * 4096) if header else other.read_bytes()[:8192])
    with pytest.raises(LocalError, match="No request can be read") as refused:
        adopt(path, other, ManualClock())
    assert (refused.value.code, refused.value.param) == ("state_unreadable", "FILE")
    with pytest.raises(LocalError, match="cannot be opened") as refused:
        adopt(path, path.with_name("none.db"), ManualClock())
    assert (refused.value.code, refused.value.param) == ("state_unreadable", "FILE")
    assert not path.exists()
