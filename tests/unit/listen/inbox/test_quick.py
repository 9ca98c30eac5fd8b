"""The inbox that needs no thread: it keeps the same word on a disk that fails, is slow or is held."""

import asyncio
import errno
import os
import shutil
import socket
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.listening import (
    NOW,
    RunningListener,
    TargetServer,
    arrival,
    delivery,
    event,
    plan_for,
    status,
    talk,
)
from support.suite.patience import WAIT_SECONDS
from svc.errors import LocalError
from svc.listen.inbox.commit import InboxWriter
from svc.listen.inbox.event_ids import LISTED_AT_ONCE
from svc.listen.inbox.interfaces import Batch, InboundEvent, Inbox, StoreResult
from svc.listen.inbox.sqlite import QuickInbox, SqliteInbox, open_inbox
from svc.state import Database, NotSynced
from unit.listen.inspector.watched import WatchedListener, watching

WHOLE_LOG = 20 * 1024 * 1024  # what is kept of it while the database is written to, and some more


class CountingDisk:
    """A disk whose syncs are counted, and take as long or fail as they are told to."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.syncs = 0
        self.seconds = 0.0
        self.error: OSError | None = None
        self.lasts = 0  # syncs that do not fail yet
        self.threads: list[str] = []

    def sync(self, log: int) -> None:
        self.threads.append(threading.current_thread().name)
        self.clock.advance(self.seconds)
        if self.error is not None and not self.lasts:
            raise self.error
        self.lasts = max(self.lasts - 1, 0)
        os.fdatasync(log)
        self.syncs += 1


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def disk(clock: ManualClock) -> CountingDisk:
    return CountingDisk(clock)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "state.db"


@pytest.fixture
def inbox(path: Path, clock: ManualClock, disk: CountingDisk) -> Iterator[QuickInbox]:
    opened: list[Database] = []

    def open_state() -> Database:
        opened.append(Database.open(path, clock=clock))
        return opened[-1]

    made = QuickInbox(open_state, "one", clock, sync=disk.sync)
    made.store(batch(0))  # the first one finds out how quick the disk is
    yield made
    for state in opened:
        state.close()


def inbound(number: int, size: int = 0) -> InboundEvent:
    return arrival(event(number, note="x" * size), b"Content-Type: text/x\r\n")


def batch(*numbers: int, size: int = 0) -> Batch:
    return Batch([inbound(number, size) for number in numbers])


def ids(path: Path) -> list[str]:
    """What another process sees."""
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT event_id FROM inbox ORDER BY seq")]


def on_loop(
    inbox: Inbox, story: Callable[[InboxWriter], Awaitable[None]], seconds: float = WAIT_SECONDS
) -> None:
    async def whole() -> None:
        writer = InboxWriter(inbox)
        async with asyncio.timeout(seconds):
            try:
                await story(writer)
            finally:
                await writer.close()

    asyncio.run(whole())


async def until(true: Callable[[], bool]) -> None:
    while not true():  # noqa: ASYNC110  what it waits for has no event of its own
        await asyncio.sleep(0)


def test_group_is_synced_before_anybody_is_told(
    inbox: QuickInbox, disk: CountingDisk, path: Path
) -> None:
    """R50, R51: three that come together are one sync, on the loop's own thread."""
    told: list[tuple[StoreResult | LocalError, int, int]] = []

    async def story(writer: InboxWriter) -> None:
        before = disk.syncs
        for number in (1, 2, 3):
            writer.store(
                inbound(number),
                lambda kept: told.append((kept, disk.syncs - before, len(ids(path)))),
            )
        await until(lambda: len(told) == 3)

    on_loop(inbox, story)
    assert told == [(StoreResult(seq, False, False, open=True), 1, 4) for seq in (2, 3, 4)]
    assert disk.threads[-1] == "MainThread"


def test_what_is_committed_at_once_is_there_without_a_close(inbox: QuickInbox, path: Path) -> None:
    assert inbox.store_at_once(batch(1, 2)) is not None
    assert len(ids(path)) == 3


def test_sync_that_fails_is_the_last(inbox: QuickInbox, disk: CountingDisk) -> None:
    """R50: what is not on the disk gets no 200, nor does what comes after it, though that syncs.

    The log is a chain: what follows a page that was lost is lost with it.
    """
    disk.error = OSError(errno.EIO, "Input/output error")
    told: list[StoreResult | LocalError] = []

    async def story(writer: InboxWriter) -> None:
        for number in (1, 2):
            writer.store(inbound(number), told.append)
        with pytest.raises(NotSynced, match="did not reach the disk: input/output error"):
            await writer.broken
        disk.error = None
        writer.store(inbound(3), told.append)
        await until(lambda: len(told) == 3)

    on_loop(inbox, story)
    assert [str(one) for one in told] == [str(told[0])] * 3
    assert isinstance(told[0], LocalError)


@pytest.mark.parametrize("seconds", [0.01, 0.05, 0.2])
def test_slow_disk_is_left_to_the_thread(
    inbox: QuickInbox, disk: CountingDisk, seconds: float
) -> None:
    """One sync may hold the loop up; from then on none does until the disk is quick again."""
    disk.seconds = seconds
    assert inbox.store_at_once(batch(1)) is not None
    assert inbox.store_at_once(batch(2)) is None
    inbox.store(batch(2))
    disk.seconds = 0.0003
    for number in range(3, 60):
        inbox.store(batch(number))
    assert inbox.store_at_once(batch(60)) is not None


def test_listing_ids_is_left_to_the_thread(inbox: QuickInbox) -> None:
    """It is a few milliseconds' work; what it lists is as known as before."""
    inbox.store_at_once(batch(*range(1, LISTED_AT_ONCE)))
    assert inbox.store_at_once(batch(1)) is None
    assert inbox.store(batch(1)) == [StoreResult(2, duplicate=True, again=False, open=False)]
    assert inbox.store_at_once(batch(1)) == [
        StoreResult(2, duplicate=True, again=False, open=False)
    ]


def test_sync_that_fails_as_ids_are_listed_is_the_last(
    inbox: QuickInbox, disk: CountingDisk
) -> None:
    """R50: whatever is written behind it would be lost with it."""
    inbox.store_at_once(batch(*range(1, LISTED_AT_ONCE - 1)))
    disk.error, disk.lasts = OSError(errno.EIO, "Input/output error"), 1
    with pytest.raises(NotSynced, match="input/output error"):
        inbox.store(batch(LISTED_AT_ONCE - 1))
    with pytest.raises(NotSynced):
        inbox.store(batch(LISTED_AT_ONCE))


def test_much_to_write_is_left_to_the_thread(inbox: QuickInbox) -> None:
    """Bodies of over a megabyte in one group do not hold the loop up."""
    large = batch(*range(1, 20), size=64 * 1024)
    assert inbox.store_at_once(large) is None
    assert len(inbox.store(large)) == 19


def test_group_with_one_that_cannot_be_kept_is_left_to_the_thread(
    inbox: QuickInbox, path: Path
) -> None:
    """Nothing of it is there then; the thread parts it and keeps the others."""
    with closing(sqlite3.connect(path)) as other:
        other.execute(
            "CREATE TRIGGER odd BEFORE INSERT ON inbox WHEN NEW.event_id = 'evt_2'"
            " BEGIN SELECT RAISE(ABORT, 'odd'); END"
        )
    assert inbox.store_at_once(batch(1, 2, 3)) is None
    assert ids(path) == ["evt_0"]
    first, odd, third = inbox.store(batch(1, 2, 3))
    assert (isinstance(odd, LocalError), ids(path)) == (True, ["evt_0", "evt_1", "evt_3"])
    assert [one.seq for one in (first, third) if isinstance(one, StoreResult)] == [2, 3]


def test_database_that_is_held_is_not_waited_for(
    inbox: QuickInbox, path: Path, clock: ManualClock
) -> None:
    """R68: the loop goes on; the thread waits ten seconds, and then the sender hears 503."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert inbox.store_at_once(batch(1)) is None
        assert clock.slept == []
        with pytest.raises(LocalError, match="held it for over ten seconds"):
            inbox.store(batch(1))
        assert sum(clock.slept) == pytest.approx(10, abs=0.1)
        other.execute("ROLLBACK")
    assert inbox.store_at_once(batch(1)) is not None


def test_thread_that_reads_is_not_waited_for(inbox: QuickInbox) -> None:
    """While a page of the inbox is read, the next group goes to the thread behind it."""
    held, let_go = threading.Event(), threading.Event()

    def reads() -> None:
        with inbox._state._lock:
            held.set()
            assert let_go.wait(60)

    reader = threading.Thread(target=reads)
    reader.start()
    assert held.wait(60)
    assert inbox.store_at_once(batch(1)) is None
    let_go.set()
    reader.join()
    assert inbox.store_at_once(batch(1)) is not None


@pytest.mark.parametrize("group", [pytest.param(1, marks=pytest.mark.slow(seconds=5)), 32])
def test_log_stays_short(inbox: QuickInbox, path: Path, group: int) -> None:
    """As much as an hour brings at one event a second, alone and in bursts: it is copied in time."""
    longest = 0

    async def story(writer: InboxWriter) -> None:
        nonlocal longest
        for first in range(1, 3600, group):
            told: list[object] = []
            for number in range(first, first + group):
                writer.store(inbound(number, 2000), told.append)
            await until(lambda: len(told) == group)  # noqa: B023  before the next turn
            longest = max(longest, path.with_name("state.db-wal").stat().st_size)

    on_loop(inbox, story, 250)  # 3,600 syncs of a disk that others use
    assert longest < WHOLE_LOG
    assert path.stat().st_size > 3600 * 2000


def test_names_of_the_files_are_synced_once(
    path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log whose name a power cut forgets is lost with all that was synced in it."""
    Database.open(path, clock=clock).close()
    with Database.open(path, clock=clock) as state:
        state.rows("SELECT 1 FROM inbox")
        synced: list[str] = []
        monkeypatch.setattr(os, "fsync", lambda file: synced.append(f"/proc/self/fd/{file}"))
        monkeypatch.setattr(os, "close", lambda _: None)
        state.sync_by_hand(os.fdatasync, room=0)
        monkeypatch.undo()
        assert [str(Path(one).readlink()) for one in synced] == [str(path.parent)]
        os.close(int(synced[0].rpartition("/")[2]))


def log_of(path: Path) -> os.stat_result:
    return path.with_name("state.db-wal").stat()


def test_room_is_set_aside_for_the_log(inbox: QuickInbox, path: Path) -> None:
    """To sync a file that grows takes half as long again: a lone event would wait for that."""
    before = log_of(path)
    for number in range(1, 40):
        assert inbox.store_at_once(batch(number, size=2000)) is not None
    after = log_of(path)
    assert before.st_size == after.st_size
    assert before.st_blocks * 512 >= before.st_size > 39 * 6 * 4096
    assert len(ids(path)) == 40


def test_what_others_wrote_stays_where_room_is_set_aside(path: Path, clock: ManualClock) -> None:
    """Killed behind it, and before anything else is written, the log is read as before."""
    with Database.open(path, clock=clock) as state, Database.open(path, clock=clock) as other:
        with other.write() as tx:
            tx.execute("INSERT INTO listeners (scope) VALUES ('one')")
        state.sync_by_hand(os.fdatasync, room=1024 * 1024)
        assert log_of(path).st_size == 1024 * 1024
        with other.write() as tx:
            tx.execute("INSERT INTO listeners (scope) VALUES ('two')")
        copied = copied_as_it_lies(path)
    with Database.open(copied, clock=clock) as again:
        assert [row["scope"] for row in again.rows("SELECT scope FROM listeners")] == ["one", "two"]
        assert again.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]


def copied_as_it_lies(path: Path) -> Path:
    """What a kill leaves of a database, its log included; who reads it next makes the rest anew."""
    folder = path.parent.with_name("killed")
    folder.mkdir(mode=0o700)
    for name in ("state.db", "state.db-wal"):
        shutil.copy2(path.with_name(name), folder / name)
    return folder / "state.db"


def test_log_of_nothing_but_room_is_an_empty_one(path: Path, clock: ManualClock) -> None:
    """Killed before the first frame of all was written."""
    Database.open(path, clock=clock).close()
    with Database.open(path, clock=clock) as state:
        state.rows("SELECT 1 FROM inbox")
        assert log_of(path).st_size == 0
        state.sync_by_hand(os.fdatasync, room=1024 * 1024)
        copied = copied_as_it_lies(path)
    assert log_of(copied).st_size == 1024 * 1024
    with Database.open(copied, clock=clock) as again, again.write() as tx:
        tx.execute("INSERT INTO listeners (scope) VALUES ('one')")
    with Database.open(copied, clock=clock) as again:
        assert len(again.rows("SELECT * FROM listeners")) == 1


def test_no_room_is_set_aside_while_somebody_writes(path: Path, clock: ManualClock) -> None:
    """Where files cannot be set aside zeros are written, never over what comes at that moment."""
    with Database.open(path, clock=clock) as state, Database.open(path, clock=clock) as other:
        with other.write() as tx:
            tx.execute("INSERT INTO listeners (scope) VALUES ('one')")
            before = log_of(path).st_size
            state.sync_by_hand(os.fdatasync, room=1024 * 1024)
            assert log_of(path).st_size == before
        assert len(state.rows("SELECT * FROM listeners")) == 1
        with state.write() as tx:
            tx.execute("INSERT INTO listeners (scope) VALUES ('two')")


def test_what_a_full_disk_had_room_for_is_given_back(
    path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ext4 keeps what it could set aside; with it gone nobody could write a file there."""

    def half(file: int, start: int, length: int) -> None:
        os.truncate(file, start + length // 2)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Database.open(path, clock=clock) as state:
        state.rows("SELECT 1 FROM inbox")
        monkeypatch.setattr(os, "posix_fallocate", half)
        state.sync_by_hand(os.fdatasync, room=1024 * 1024)
        assert log_of(path).st_size == 0
        with state.write() as tx:
            tx.execute("INSERT INTO listeners (scope) VALUES ('one')")
        assert 0 < log_of(path).st_size < 1024 * 1024


@pytest.mark.parametrize(("times", "size"), [(15, 0), (16, 1024 * 1024)])
def test_a_disk_that_is_nearly_full_is_left_to_others(
    path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, times: int, size: int
) -> None:
    """The database, too, has to grow by what comes."""
    room = 1024 * 1024
    with Database.open(path, clock=clock) as state:
        state.rows("SELECT 1 FROM inbox")
        facts = list(os.statvfs(path))
        facts[1], facts[4] = 4096, times * room // 4096  # a fragment's size, fragments for anybody
        monkeypatch.setattr(os, "fstatvfs", lambda file: os.statvfs_result(facts))
        state.sync_by_hand(os.fdatasync, room=room)
        assert log_of(path).st_size == size


def test_log_is_emptied_at_the_end(inbox: QuickInbox, path: Path) -> None:
    inbox.store_at_once(batch(1, 2, 3))
    inbox.close(0.2)
    assert path.with_name("state.db-wal").stat().st_size == 0
    assert len(ids(path)) == 4


@pytest.mark.parametrize(("platform", "kind"), [("linux", QuickInbox), ("darwin", SqliteInbox)])
def test_each_system_has_the_inbox_that_is_safe_there(
    path: Path, clock: ManualClock, platform: str, kind: type[SqliteInbox]
) -> None:
    """A plain sync on macOS leaves data in the disk's memory: SQLite's own way is kept there."""
    opened = [Database.open(path, clock=clock) for _ in range(2)]
    waiting = list(opened)
    assert type(open_inbox(waiting.pop, "one", clock, platform=platform)) is kind
    for state in opened:
        state.close()


class SlowDisk:
    """Syncs that take 50 ms, by the clock that is asked, and wait where they are told to."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.may_sync = threading.Event()
        self.syncing = threading.Event()
        self.may_sync.set()

    def sync(self, log: int) -> None:
        self.syncing.set()
        assert self.may_sync.wait(60)
        self._clock.advance(0.05)
        os.fdatasync(log)

    def stop(self) -> None:
        self.may_sync.clear()
        self.syncing.clear()


class SlowDiskListener(RunningListener):
    """A listener on a slow disk."""

    def make_inbox(self) -> Inbox:
        assert isinstance(self._clock, ManualClock)
        self.disk = SlowDisk(self._clock)
        return QuickInbox(self.open_state, "test", self._clock, sync=self.disk.sync)


@pytest.fixture
def stuck(tmp_path: Path, clock: ManualClock) -> Iterator[tuple[SlowDiskListener, TargetServer]]:
    with TargetServer() as target:
        listener = SlowDiskListener(tmp_path / "state" / "state.db", plan_for(target.port), clock)
        listener.start()
        yield listener, target
        listener.disk.may_sync.set()
        listener.stop()


def test_others_are_answered_while_the_disk_is_slow(
    stuck: tuple[SlowDiskListener, TargetServer],
) -> None:
    """A stranger hears 404 and a forgery 400 at once; the delivery hears 200 after its sync."""
    listener, target = stuck
    assert listener.send(event(1)) == 200
    listener.disk.stop()
    with listener.peer() as waiting:
        waiting.sendall(delivery(event(2)))
        assert listener.disk.syncing.wait(60)
        assert status(talk(listener.port, b"GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")) == 404
        assert listener.send(event(3), secret="whsec_of_somebody_else") == 400
        assert [b"evt_2" in one.body for one in target.received].count(True) == 0
        listener.disk.may_sync.set()
        assert b" 200 " in waiting.recv(1000)


class Failing(RunningListener):
    """A listener whose disk fails with the first sync of a delivery."""

    def make_inbox(self) -> Inbox:
        begun: list[int] = []

        def sync(log: int) -> None:
            if not begun:  # the run itself is noted
                begun.append(log)
                return
            raise OSError(errno.EIO, os.strerror(errno.EIO), log)

        return QuickInbox(self.open_state, "test", self._clock, sync=sync)


def test_listener_ends_with_the_disk(path: Path, clock: ManualClock) -> None:
    """R50: the sender hears 503, nothing is forwarded, and the listener says why it ends."""
    answers: list[int] = []
    with TargetServer() as target:
        listener = Failing(path, plan_for(target.port), clock)
        sender = threading.Thread(target=lambda: answers.append(listener.send(event(1))))
        sender.start()  # its connection waits for the listener
        with pytest.raises(NotSynced) as ended:
            listener.run_here()
        sender.join()
        assert (answers, target.received) == ([503], [])
    assert ended.value.message.endswith("state.db did not reach the disk: input/output error.")
    assert [one.reason for one in listener.rejected()] == ["not_stored"]


def test_page_is_shown_while_the_disk_is_slow(
    tmp_path: Path, clock: ManualClock, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The inspector reads beside the sync: what was kept before is there, what waits is not."""
    disk = SlowDisk(clock)
    with ExitStack() as stack:

        def open_state() -> Database:
            return stack.enter_context(Database.open(path, clock=clock))

        def make_inbox(watched: WatchedListener) -> Inbox:
            return QuickInbox(open_state, watched.scope, clock, sync=disk.sync)

        monkeypatch.setattr(WatchedListener, "make_inbox", make_inbox)
        watched = stack.enter_context(watching(tmp_path, clock=clock))
        stack.callback(disk.may_sync.set)
        assert watched.send(event(1)) == 200
        disk.stop()
        with socket.create_connection(("127.0.0.1", watched.port), 60) as waiting:
            waiting.sendall(delivery(event(2)))
            assert disk.syncing.wait(60)
            shown = watched.get()
            assert (shown.status, "evt_1" in shown.body) == (200, True)
            disk.may_sync.set()
            assert b" 200 " in waiting.recv(1000)
