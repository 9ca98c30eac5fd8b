"""What a command asks of the journal reads no more rows when there are a million of them."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from support.clocks import ManualClock
from svc.delivery.journal.batches import BatchName, BatchTable
from svc.delivery.journal.entry import NewIntent, Scope, Settled, Stored
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.sender_locks import SenderLocks
from svc.state import Database

URL = "https://api.example.com"
SCOPE = Scope("default", "test", URL, "sk_test_…ary1")
BATCH = BatchName("/a/refunds.csv", "refunds.create", SCOPE)
# Not what only those without a known outcome, or of no batch, stand in; nor what running batches hold.
GROWING = re.compile(r"SCAN (requests|forgotten)\b(?! USING INDEX request_(unresolved|alone))")
NEWEST = re.compile(r"ORDER BY seq DESC\s+LIMIT \d+$")  # ends after so many rows


def refund(key: str) -> NewIntent:
    kept = Stored("/v1/refunds", "json", b'{"amount":5,"payment":"pay_1"}', key, None)
    return NewIntent(kept, SCOPE)


class Desktop:
    """A journal and its batches, and all that they ask the database for."""

    def __init__(self, folder: Path) -> None:
        clock = ManualClock()
        self.state = Database.open(folder / "state" / "state.db", clock=clock)
        self.sender_locks = SenderLocks(folder / "senders")
        self.journal = Journal(lambda: self.state, self.sender_locks, clock)
        self.batches = BatchTable(self.state, self.sender_locks, clock)
        self.asked: list[str] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        self.state._connection.set_trace_callback(self.asked.append)
        yield
        self.state._connection.set_trace_callback(None)

    def scans(self) -> list[tuple[str, str]]:
        """The statements that read a table or index from one end to the other, and which."""
        known = ("SELECT", "INSERT", "UPDATE", "DELETE")
        return [
            (" ".join(sql.split()), step["detail"])
            for sql in dict.fromkeys(one.strip() for one in self.asked)
            if sql.startswith(known) and not NEWEST.search(sql)
            for step in self.state.rows(f"EXPLAIN QUERY PLAN {sql}")
            if GROWING.match(step["detail"])
        ]


def send_one(desk: Desktop) -> None:
    """As a single command does it."""
    asked = refund("2b1f4c58-0000-4000-8000-000000000001")
    desk.journal.by_key("2b1f4c58-0000-4000-8000-000000000001", SCOPE)
    desk.journal.list_other_keys(asked)
    intent = desk.journal.record(asked, lambda likes: None)
    desk.journal.settle(intent, Settled("done", 200, "rf_1", proved=True))
    desk.journal.is_claimed_by_other(intent, "rf_1")
    desk.journal.forget_old(0.0)


def list_some(desk: Desktop) -> None:
    desk.journal.list(limit=100)
    desk.journal.list(unresolved=True)
    desk.journal.list(batch=BATCH.id)
    desk.journal.list(limit=100, path="/v1/refunds")


def run_batch(desk: Desktop) -> None:
    desk.batches.begin(BATCH)
    desk.batches.duplicates(BATCH, ["a" * 32])
    desk.batches.reserve(BATCH, ["a" * 32], lambda found: None)
    desk.batches.labels_of(BATCH)


@pytest.mark.smoke  # each SQLite has plans of its own
@pytest.mark.parametrize("work", [send_one, list_some, run_batch])
def test_no_query_reads_all_requests(tmp_path: Path, work: Callable[[Desktop], None]) -> None:
    """Whatever a command looks for is found by an index, or among the newest."""
    desk = Desktop(tmp_path)
    with closing(desk.state), closing(desk.sender_locks):
        with desk.watched():
            work(desk)
        assert len(desk.asked) > 3
        assert desk.scans() == []
