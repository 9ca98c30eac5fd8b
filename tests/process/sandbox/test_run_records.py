"""Run records: who runs, and who does not any more."""

import json
import os
from pathlib import Path

import pytest

from svc.errors import LocalError
from svc.sandbox.process.records import RunRecord, hold, is_running, list_running


def record(port: int = 4242, pid: int | None = None) -> RunRecord:
    """A record of this process unless told otherwise."""
    return RunRecord(
        pid=os.getpid() if pid is None else pid,
        port=port,
        url=f"http://127.0.0.1:{port}",
        db=":memory:",
        started="2026-10-01T09:00:00.000000Z",
        log="/tmp/log",
    )


def test_held_record_is_running_until_its_block_ends(folder: Path) -> None:
    """A record is found while it is held, and its file is gone afterwards."""
    with hold(folder, record()):
        assert list_running(folder) == [record()]
        assert is_running(folder, record())
    assert list_running(folder) == []
    assert list(folder.iterdir()) == []


def test_record_is_for_its_owner_only(folder: Path) -> None:
    """R67: the folder, those made above it, and the record are private, whatever the umask."""
    below = folder / "state" / "sandbox"
    before = os.umask(0)
    try:
        with hold(below, record()):
            assert {each.stat().st_mode & 0o777 for each in (folder, *folder.glob("**/"))} == {
                0o700
            }
            assert (below / "run-4242.json").stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_record_of_a_dead_process_is_stale(folder: Path) -> None:
    """A record that nobody holds is no running sandbox, though its pid is somebody's."""
    folder.mkdir()
    path = folder / "run-4242.json"
    path.write_text(json.dumps(record(pid=os.getpid())._asdict()))
    assert list_running(folder) == []
    assert not path.exists()


def test_stale_record_is_replaced(folder: Path) -> None:
    """A new sandbox on the port of one that died takes its record over."""
    folder.mkdir()
    (folder / "run-4242.json").write_text("x" * 5000)
    with hold(folder, record()):
        assert list_running(folder) == [record()]


def test_records_come_by_port(folder: Path) -> None:
    """Several sandboxes are listed in the order of their ports."""
    with hold(folder, record(5001)), hold(folder, record(80)):
        assert [each.port for each in list_running(folder)] == [80, 5001]


def test_other_process_on_the_same_port_is_another_sandbox(folder: Path) -> None:
    """A record found earlier is not running when another process has its port now."""
    with hold(folder, record()):
        assert not is_running(folder, record(pid=os.getpid() + 1))


def test_record_that_is_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    """R65: a symbolic link in the place of a record is neither read nor written through."""
    folder.mkdir()
    target = tmp_path / "precious"
    target.write_text("keep")
    (folder / "run-4242.json").symlink_to(target)
    assert list_running(folder) == []
    with pytest.raises(LocalError), hold(folder, record()):
        pass
    assert target.read_text() == "keep"


def test_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    """A state folder in the place of a file is a local error that names the record."""
    (tmp_path / "file").write_text("")
    refused = pytest.raises(LocalError, match=r"run-4242\.json cannot be written")
    with refused, hold(tmp_path / "file", record()):
        pass


def test_no_folder_means_nothing_runs(tmp_path: Path) -> None:
    """Nothing was ever started here."""
    assert list_running(tmp_path / "nowhere") == []
