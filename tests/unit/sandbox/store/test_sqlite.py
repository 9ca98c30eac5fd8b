"""The sandbox's file: durable, private, and never anybody else's."""

import contextlib
import errno
import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox
from svc.errors import LocalError
from svc.sandbox.store import export, sqlite
from svc.sandbox.store.sqlite import Store
from svc.system import spool


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "sandbox.db"


def make(path: Path) -> None:
    Store.open(str(path)).close()


def test_store_commits_to_disk_before_it_goes_on(path: Path) -> None:
    """WAL with synchronous FULL: every commit is an fsync (R82); and the file is marked as ours."""
    store = Store.open(str(path))
    wanted = {"journal_mode": "wal", "synchronous": 2, "locking_mode": "exclusive"}
    wanted |= {"temp_store": 2, "wal_autocheckpoint": 4000, "application_id": 0x53564342}
    assert {name: store.one(f"PRAGMA {name}") for name in wanted} == {
        name: (value,) for name, value in wanted.items()
    }
    store.close()


def test_store_file_is_its_owners_alone(path: Path) -> None:
    """The file is created with mode 0600, and an existing one is brought to it."""
    make(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    make(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_store_in_memory_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    store = Store.open(":memory:")
    assert store.is_new
    assert set(tmp_path.iterdir()) == before
    store.close()


def test_store_refuses_a_newer_file(path: Path) -> None:
    """A file of a later format is refused in one line that says what to do, and not changed."""
    make(path)
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {sqlite.VERSION + 1}")
    db.close()
    before = path.read_bytes()
    with pytest.raises(LocalError) as caught:
        Store.open(str(path))
    assert f"format {sqlite.VERSION + 1}" in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hint is not None
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"name,amount\nA,1\n", b"SQLite", b"\x00" * 4096], ids=["text", "short", "zeros"]
)
def test_store_refuses_what_is_no_database(path: Path, content: bytes) -> None:
    """Some other file given by mistake is refused and left as it is."""
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(LocalError, match="not a sandbox file"):
        Store.open(str(path))
    assert path.read_bytes() == content


def test_store_refuses_anothers_database(path: Path) -> None:
    """A SQLite file of another program is refused and gets no tables."""
    path.parent.mkdir()
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE mine(x)")
    db.commit()
    db.close()
    with pytest.raises(LocalError, match="not a sandbox file"):
        Store.open(str(path))
    db = sqlite3.connect(path)
    assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]
    db.close()


@pytest.mark.parametrize("left", [6000, 16], ids=["cut short", "a head alone"])
def test_store_refuses_a_damaged_file(path: Path, left: int) -> None:
    """Overwritten from some byte on it is reported as damaged, never silently begun anew."""
    make(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:left] + (b"\xff" * len(whole) if left < 100 else b""))
    with pytest.raises(LocalError, match="is damaged: "):
        Store.open(str(path))


def test_store_refuses_a_file_that_is_in_use(path: Path) -> None:
    """Two sandboxes on one file would each believe in their own clock: the second is refused."""
    first = Store.open(str(path))
    with pytest.raises(LocalError, match="in use by another sandbox") as caught:
        Store.open(str(path), busy_ms=10)
    assert caught.value.code == "sandbox_file_in_use"
    first.close()
    make(path)


def test_store_names_a_folder_it_cannot_use(tmp_path: Path) -> None:
    """A path under a file gives one clear line."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(LocalError, match=r"cannot be opened: not a directory\."):
        Store.open(str(tmp_path / "file" / "sandbox.db"))


def test_store_tells_of_a_transaction_that_is_lost(path: Path) -> None:
    """What would be written after it is kept at once, and taken back by no rollback."""
    store = Store.open(str(path))
    store.begin()
    store.write("INSERT INTO meta(name, value) VALUES('gone', '')")
    store.refuse_lost()
    store.rollback()
    with pytest.raises(LocalError, match="is full, or cannot be written") as caught:
        store.refuse_lost()
    assert caught.value.code == "disk_full"
    assert store.is_new
    store.close()


def test_every_table_has_a_check_of_its_rows_before_it_is_restored() -> None:
    """One that nobody has decided about is refused, not restored unseen."""
    for table in sqlite.DATA:
        assert callable(export.check_of(table, ()))
    with pytest.raises(KeyError):
        export.check_of("a_new_table", ())


def test_full_folder_for_temporary_files_is_said_in_words(
    make_sandbox: Callable[..., AsgiSandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There the rows of an import are kept until all have come; nothing was done."""

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    sandbox = make_sandbox()
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    monkeypatch.setattr(spool, "_MEMORY_MAX", 0)
    rows = [{"id": str(number)} for number in range(1000)]
    refused = sandbox.control("/import", {"upload": "a", "table": "docs", "rows": rows})
    assert (refused.status, refused.code) == (507, "storage_full")
    assert "no space left on device. Nothing was done" in refused.json["message"]


def with_many_orders(state: dict[str, Any]) -> dict[str, Any]:
    docs = state["tables"]["docs"]
    order = next(row for row in docs if row["kind"] == "order")
    for number in range(1000):
        name = f"ord_{number:024}"
        body = order["body"].replace(order["id"], name)
        docs.append({**order, "seq": 10_000 + number, "id": name, "body": body})
    return state


def test_full_disk_is_said_in_words(
    make_sandbox: Callable[..., AsgiSandbox],
    monkeypatch: pytest.MonkeyPatch,
    path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """SQLite may not grow: 507 with a sentence on every surface, nothing is done, reads go on.

    The log has a line of each and no traceback.
    """
    connect = sqlite3.connect

    def small(*args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)
        connection.execute("PRAGMA max_page_count = 60")
        return connection

    monkeypatch.setattr(sqlite3, "connect", small)
    sandbox = make_sandbox(path=str(path))
    with contextlib.closing(sandbox):
        answers = [sandbox.post("/v1/orders", sandbox.order_params) for _ in range(100)]
        full = next(answer for answer in answers if answer.status != 200)
        assert (full.status, full.code, full.json["type"]) == (507, "storage_full", "api_error")
        assert "disk" in full.json["message"]
        assert "Nothing was done" in full.json["message"]
        done = sum(answer.status == 200 for answer in answers)
        assert len(sandbox.get("/v1/orders", limit=100).json["data"]) == done
        state = with_many_orders(sandbox.control("/export", method="GET").json)
        for called, sent in (("/events/trigger", {"type": "order.paid"}), ("/import", state)):
            control = sandbox.control(called, sent)
            assert (control.status, control.code) == (507, "storage_full")
        assert len(sandbox.get("/v1/orders", limit=100).json["data"]) == done
        told = [record for record in caplog.records if "is full" in record.getMessage()]
        assert len(told) > len(answers) - done
        assert not any(record.exc_info for record in told)
