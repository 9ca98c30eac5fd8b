"""The state database: durable, private, shared by many processes, never silently reset."""

import errno
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.suite.patience import patient
from svc.clock import SystemClock
from svc.errors import ExitCode, LocalError
from svc.state import LOST, Database, NotSynced, Tx
from svc.state.files import folder_lock
from svc.state.opening import DAMAGED, is_damage, local_error, set_damaged_aside
from svc.state.salvage import begin_empty
from svc.state.schema import MIGRATIONS

pytestmark = pytest.mark.smoke

INSERT = (
    "INSERT INTO endpoints (origin, profile, mode, url, events, endpoint_id, created_at)"
    " VALUES ('https://api.example.com', 'default', 'test', ?, '', 'we_1', 0)"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "state.db"


@pytest.fixture
def state(path: Path) -> Iterator[Database]:
    with Database.open(path, clock=ManualClock()) as opened:
        yield opened


def urls(state: Database) -> list[str]:
    return [row["url"] for row in state.rows("SELECT url FROM endpoints ORDER BY url")]


def test_write_is_there_after_reopening(path: Path) -> None:
    """What a transaction wrote is read back by the next process, as rows with names."""
    with Database.open(path, clock=ManualClock()) as first, first.write() as tx:
        assert tx.execute(INSERT, ("a",)) == 1
        assert tx.rows("SELECT url FROM endpoints") == [{"url": "a"}]
    with Database.open(path, clock=ManualClock()) as second:
        assert urls(second) == ["a"]


def test_write_undoes_everything_after_an_error(state: Database) -> None:
    """A transaction that ends in an error leaves nothing, and the next one works."""
    with pytest.raises(LocalError, match="no such table"), state.write() as tx:
        break_off(tx)
    with state.write() as tx:
        tx.execute(INSERT, ("c",))
    assert urls(state) == ["c"]


def break_off(tx: Tx) -> None:
    tx.many(INSERT, [("a",), ("b",)])
    tx.execute("DELETE FROM nowhere")


def test_connection_is_durable(state: Database) -> None:
    """R2, R68: WAL and synchronous FULL (2), on macOS down to the disk itself; and marked as ours."""
    wanted = {"journal_mode": "wal", "synchronous": 2, "fullfsync": 1, "secure_delete": 1}
    wanted |= {"foreign_keys": 1, "auto_vacuum": 2, "application_id": 0x53766331}
    found = {name: next(iter(state.rows(f"PRAGMA {name}")[0].values())) for name in wanted}
    assert found == wanted


class Impatient(SystemClock):
    """The machine's clock, on which a moment of waiting is so many seconds."""

    def __init__(self, pause: float) -> None:
        self._pause = pause
        self._slept = 0

    def monotonic(self) -> float:
        return self._slept * self._pause

    def sleep(self, seconds: float) -> None:
        self._slept += 1


@pytest.mark.parametrize("seconds", [None, 0.5])
def test_a_busy_database_is_waited_for_in_slices(path: Path, seconds: float | None) -> None:
    """R68, R78: ten seconds in all, or less for a process that ends; never in one deaf wait."""
    clock = Impatient(pause=5.0 if seconds is None else 0.5)
    with Database.open(path, clock=clock) as state, closing(sqlite3.connect(path)) as other:
        if seconds is not None:
            state.shorten_timeout(seconds)
        other.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        with pytest.raises(LocalError, match="another svc process held it"), state.write():
            pytest.fail("the other one has it")
        assert time.monotonic() - begun < patient(1)
        assert clock.monotonic() == (seconds or 10)
        other.execute("ROLLBACK")
        with state.write() as tx:
            tx.execute(INSERT, ("a",))
        assert urls(state) == ["a"]


def test_files_are_private(path: Path, state: Database) -> None:
    """R67: the folder is 0700 and the database and its log are 0600, whatever the umask."""
    with state.write() as tx:
        tx.execute(INSERT, ("a",))
    modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in path.parent.iterdir()}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert modes["state.db"] == modes["state.db-wal"] == 0o600


@pytest.mark.parametrize(
    ("target", "mode", "fix"), [("file", 0o640, "600"), ("folder", 0o755, "700")]
)
def test_open_refuses_what_others_can_read(path: Path, target: str, mode: int, fix: str) -> None:
    """R67: a readable file or folder is an error that names the chmod to run."""
    Database.open(path, clock=ManualClock()).close()
    place = path if target == "file" else path.parent
    place.chmod(mode)
    with pytest.raises(LocalError) as caught:
        Database.open(path, clock=ManualClock())
    assert caught.value.exit_code == ExitCode.LOCAL
    assert caught.value.hint == f"Run: chmod {fix} '{place}'"


def test_open_refuses_another_users_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R67: whoever owns it can read it, and put another one there."""
    Database.open(path, clock=ManualClock()).close()
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    with pytest.raises(LocalError, match="belongs to another user"):
        Database.open(path, clock=ManualClock())


def test_a_sound_file_in_the_place_of_a_damaged_one_stays(path: Path) -> None:
    """R67: another process has put it there meanwhile."""
    Database.open(path, clock=ManualClock()).close()
    told = set_damaged_aside(path, ManualClock())
    assert (told.code, "was damaged and has been replaced" in told.message) == (DAMAGED, True)
    use(path)


def test_open_writes_through_no_link(path: Path, tmp_path: Path) -> None:
    """A state file or folder that is a symbolic link is refused, and its target stays as it was."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    path.parent.symlink_to(elsewhere)
    with pytest.raises(LocalError):
        Database.open(path, clock=ManualClock())
    assert list(elsewhere.iterdir()) == []
    path.parent.unlink()
    path.parent.mkdir(mode=0o700)
    (elsewhere / "file").write_text("mine")
    path.symlink_to(elsewhere / "file")
    with pytest.raises(LocalError):
        Database.open(path, clock=ManualClock())
    assert (elsewhere / "file").read_text() == "mine"


def test_open_says_why_a_folder_cannot_be_made(tmp_path: Path) -> None:
    """A state folder under a plain file ends in one clear line, not in a traceback."""
    (tmp_path / "file").write_text("")
    with pytest.raises(LocalError, match="cannot be used: "):
        Database.open(tmp_path / "file" / "svc" / "state.db", clock=ManualClock())


def damage_random(path: Path) -> None:
    path.write_bytes(b"\x07not a database" * 500)


def damage_truncated(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(4096)


def damage_empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [damage_random, damage_truncated, damage_empty])
def test_open_sets_a_damaged_file_aside(path: Path, damage: Callable[[Path], None]) -> None:
    """R67: a damaged database is kept as .corrupt-N and reported; a person says what comes then."""
    Database.open(path, clock=ManualClock()).close()
    for number in (1, 2):
        damage(path)
        kept = path.read_bytes()
        with pytest.raises(
            LocalError, match=rf"moved to state\.db\.corrupt-{number}, unchanged"
        ) as met:
            use(path)
        assert met.value.code == "state_damaged"
        assert open_files(path.parent) == []  # though the error holds what had it open
        assert not path.exists()
        assert Path(f"{path}.corrupt-{number}").read_bytes() == kept
        for _ in range(2):
            with pytest.raises(LocalError, match=r"moved to state\.db\.corrupt"):
                use(path)
        assert begin_empty(path, ManualClock())[-1].name == f"state.db.corrupt-{number}"
    with Database.open(path, clock=ManualClock()) as state:
        assert urls(state) == []


def open_files(folder: Path) -> list[str]:
    held = Path("/proc/self/fd").iterdir()
    return [name for fd in held if (name := os.path.realpath(fd)).startswith(f"{folder}/state.db")]


def test_the_newest_damaged_file_is_named(path: Path) -> None:
    """The tenth comes after the ninth."""
    path.parent.mkdir(mode=0o700)
    for number in (10, 9, 1):
        path.with_name(f"state.db.corrupt-{number}").touch()
    path.with_name("state.db.corrupt-10-wal").touch()
    with pytest.raises(LocalError, match=r"moved to state\.db\.corrupt-10, and") as told:
        use(path)
    assert f"svc requests adopt {path}.corrupt-10;" in str(told.value.hint)
    assert [one.name[17:] for one in begin_empty(path, ManualClock())] == ["1", "9", "10"]


def use(path: Path) -> None:
    with Database.open(path, clock=ManualClock()) as state:
        urls(state)


def test_damage_found_while_running_is_set_aside(path: Path) -> None:
    """A page that breaks under an open database is reported by the call that meets it."""
    with Database.open(path, clock=ManualClock()) as state, state.write() as tx:
        tx.many(INSERT, [(str(number) * 50,) for number in range(500)])
    half = path.stat().st_size // 8192 * 4096  # the schema is in the first pages
    with path.open("r+b") as file:
        file.seek(half)
        file.write(b"\xff" * half)
    state = Database.open(path, clock=ManualClock())
    with closing(state), pytest.raises(LocalError, match="corrupt-1"):
        state.rows("SELECT * FROM endpoints ORDER BY endpoint_id")
    assert Path(f"{path}.corrupt-1").exists()


def test_damage_that_another_met_first_is_told_as_damage(path: Path) -> None:
    """R67: of two threads or processes one moves the file; the other names the same place."""
    first, second, third = (Database.open(path, clock=ManualClock()) for _ in range(3))
    with closing(first), closing(second), closing(third):
        first.empty_log()
        version = first.rows("PRAGMA user_version")[0]["user_version"]
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (path.stat().st_size - 4096))
        third.rows(f"PRAGMA user_version = {version}")  # all read pages anew
        with pytest.raises(LocalError, match=r"moved to state\.db\.corrupt-1") as met:
            first.rows("SELECT * FROM reminders")
        for again in (second.check_in_place, lambda: second.rows("SELECT * FROM reminders")):
            with pytest.raises(LocalError) as told:
                again()
            assert (told.value.code, told.value.message) == (met.value.code, met.value.message)
    assert not Path(f"{path}.corrupt-2").exists()


def test_a_log_left_behind_is_not_played_into_a_new_database(path: Path) -> None:
    """Where state.db alone is gone, a person decides; the old log is kept aside."""
    first = Database.open(path, clock=ManualClock())
    with first.write() as tx:
        tx.execute(INSERT, ("old",))
    path.unlink()
    for _ in range(2):
        with pytest.raises(LocalError, match="but its log") as caught:
            Database.open(path, clock=ManualClock())
        assert (caught.value.code, path.exists()) == ("state_damaged", False)
    begin_empty(path, ManualClock())
    with Database.open(path, clock=ManualClock()) as second:
        assert urls(second) == []
    assert Path(f"{path}.corrupt-1-wal").exists()
    first.close()
    path.unlink()
    Path(f"{path}-wal").touch()
    use(path)  # an empty log records nothing


def test_open_refuses_a_newer_schema(path: Path) -> None:
    """A database of a newer release is refused and not touched."""
    Database.open(path, clock=ManualClock()).close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = path.read_bytes()
    with pytest.raises(LocalError, match="newer svc") as refused:
        Database.open(path, clock=ManualClock())
    assert (refused.value.code, open_files(path.parent)) == ("state_newer", [])
    assert "svc requests list --unresolved" in str(refused.value.hint)
    with Database.open(path, clock=ManualClock(), reading=True) as state:
        assert urls(state) == []
        with pytest.raises(LocalError), state.write() as tx:
            tx.execute(INSERT, ("new",))
    assert path.read_bytes() == before


def test_open_refuses_what_became_newer_while_it_waited(path: Path) -> None:
    """Two releases begin at once: the older one does not write its own number over the newer's."""
    Database.open(path, clock=ManualClock()).close()
    newer, held = len(MIGRATIONS) + 2, ExitStack()
    held.enter_context(folder_lock(path.parent, ManualClock()))

    class Waiting(ManualClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            with closing(sqlite3.connect(path)) as raw:
                raw.execute(f"PRAGMA user_version = {newer}")
            held.close()

    older = (*MIGRATIONS, ("CREATE TABLE later (x)",))
    with held, pytest.raises(LocalError, match="newer svc"):
        Database.open(path, clock=Waiting(), steps=older)
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (newer,)


def test_open_refuses_another_programs_database(path: Path) -> None:
    """A SQLite file that is not ours is neither changed nor moved."""
    path.parent.mkdir(mode=0o700)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE theirs (x)")
        raw.commit()
    path.chmod(0o600)
    before = path.read_bytes()
    with pytest.raises(LocalError, match="another program"):
        Database.open(path, clock=ManualClock())
    assert path.read_bytes() == before


def test_open_applies_only_the_missing_steps(path: Path) -> None:
    """An older database gets the steps that it lacks, in order, and keeps its rows."""
    with Database.open(path, clock=ManualClock()) as state, state.write() as tx:
        tx.execute(INSERT, ("kept",))
    more = (*MIGRATIONS, ("CREATE TABLE one (x)",), ("ALTER TABLE one ADD COLUMN y",))
    with Database.open(path, clock=ManualClock(), steps=more) as state:
        assert urls(state) == ["kept"]
        assert state.rows("SELECT x, y FROM one") == []


def test_a_failed_step_leaves_the_old_schema(path: Path) -> None:
    """A step that cannot run undoes the whole upgrade."""
    Database.open(path, clock=ManualClock()).close()
    broken = (*MIGRATIONS, ("CREATE TABLE one (x)", "CREATE TABLE one (x)"))
    with pytest.raises(LocalError):
        Database.open(path, clock=ManualClock(), steps=broken)
    with Database.open(path, clock=ManualClock()) as state:
        assert state.rows("SELECT name FROM sqlite_master WHERE name = 'one'") == []


def test_a_full_disk_is_one_clear_line(state: Database) -> None:
    """R70: when the file cannot grow, the write is undone and says so."""
    pages = state.rows("PRAGMA page_count")[0]["page_count"]
    state.rows(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(LocalError, match="disk is full"), state.write() as tx:
        tx.many(INSERT, [("x" * 4000 + str(number),) for number in range(50)])
    assert urls(state) == []


@pytest.mark.parametrize(
    ("code", "why", "step"),
    [
        ("SQLITE_FULL", "the disk is full", "Free some space"),
        ("SQLITE_READONLY_DIRECTORY", "it is read-only", "Make the file and its folder writable"),
        ("SQLITE_CANTOPEN_ISDIR", "it cannot be opened", "Check the folder's permissions"),
        ("SQLITE_BUSY_SNAPSHOT", "another svc process held it for over ten sec", "Try again"),
        ("SQLITE_IOERR_FSYNC", "the disk failed to read or write", "Check the disk"),
        ("SQLITE_TOOBIG", "as SQLite says", ""),
        ("SQLITE_CORRUPT_VTAB", "as SQLite says", ""),
        ("SQLITE_NOTADB", "as SQLite says", ""),
    ],
)
def test_each_trouble_is_told_with_what_to_do(code: str, why: str, step: str) -> None:
    """Damage alone moves the file aside."""
    error = sqlite3.OperationalError("as SQLite says")
    error.sqlite_errorcode = getattr(sqlite3, code)
    told = local_error(error)
    assert told.message.startswith(f"The state database cannot be used: {why}")
    assert str(told.hint or "").startswith(step)
    assert bool(told.hint) == bool(step)
    assert is_damage(error) == (code in ("SQLITE_CORRUPT_VTAB", "SQLITE_NOTADB"))


def test_what_the_module_says_itself_is_damage_where_it_is_about_the_file() -> None:
    """It has no code of SQLite's."""
    assert is_damage(sqlite3.DatabaseError("file is empty"))
    assert not is_damage(sqlite3.ProgrammingError("Cannot operate on a closed database."))
    assert not is_damage(OSError())


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_files_that_are_gone_are_noticed(path: Path, state: Database, suffix: str) -> None:
    """R102: what goes into a deleted file is gone with the process; it can be copied until then."""
    with state.write() as tx:
        tx.execute(INSERT, ("kept",))
    state.check_in_place()
    Path(f"{path}{suffix}").unlink()
    with pytest.raises(LocalError, match="was deleted or replaced") as told:
        state.check_in_place()
    assert told.value.code == "state_replaced"
    assert told.value.code in LOST
    assert state.save_copy(5.0) == f"{path}.saved-1"
    with closing(sqlite3.connect(f"{path}.saved-1")) as saved:
        assert saved.execute("SELECT url FROM endpoints").fetchall() == [("kept",)]
    assert stat.S_IMODE(Path(f"{path}.saved-1").stat().st_mode) == 0o600


def test_a_copy_that_takes_too_long_is_given_up(path: Path) -> None:
    """The program is to end."""

    class Late(ManualClock):
        def monotonic(self) -> float:
            self.advance(3)
            return super().monotonic()

    with Database.open(path, clock=Late()) as state:
        assert state.save_copy(3.0) == f"{path}.saved-1"
        assert state.save_copy(2.9) is None
    assert [one.name for one in path.parent.glob("*saved*")] == ["state.db.saved-1"]


def test_after_a_sync_that_failed_nothing_counts_as_kept(state: Database) -> None:
    """R68: the system may have thrown the data away, so that a later sync proves nothing."""
    asked = []

    def fail(_: int) -> None:
        asked.append(1)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    state.sync_by_hand(fail, room=0)
    for url in "ab":
        with (
            pytest.raises(NotSynced, match="did not reach the disk: ") as told,
            state.write() as tx,
        ):
            tx.execute(INSERT, (url,))
        assert told.value.code == "state_not_synced"
    assert asked == [1]


def test_threads_take_turns(state: Database) -> None:
    """One State serves several threads without mixing their transactions."""

    def work(name: int) -> None:
        for number in range(20):
            with state.write() as tx:
                tx.execute(INSERT, (f"{name}-{number}",))

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(urls(state)) == 80


CHILD = """
import sys
from pathlib import Path
from svc.clock import SystemClock
from svc.state.salvage import begin_empty
from svc.state import Database, Tx
from svc.state.files import folder_lock
path, name = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.read(1)
for number in range(10):
    with Database.open(path, clock=SystemClock()) as state, state.write() as tx:
        tx.execute(sys.argv[3], (name + "-" + str(number),))
"""


@pytest.mark.parametrize("count", [8, pytest.param(32, marks=pytest.mark.slow)])
def test_processes_lose_nothing(path: Path, count: int) -> None:
    """R68: processes that create, open and write at the same moment: no lock error, no lost row."""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path), str(name), INSERT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ.copy(),
        )
        for name in range(count)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write(b"\n")
        child.stdin.flush()
    errors = [child.communicate()[1].decode() for child in children]
    assert errors == [""] * count
    with Database.open(path, clock=ManualClock()) as state:
        assert len(urls(state)) == 10 * count
        assert state.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]


def test_sqlite_stays_out_of_simple_imports() -> None:
    """Nothing that a start-up imports pulls the state database in."""
    code = "import sys, svc.paths, svc.errors, svc.signature; print('sqlite3' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code]) == b"False\n"
