"""Locks between processes, as POSIX has them and as the stand-in for Windows has them."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType

import pytest

from support.lacking import byte_range_locks

HOLD = (
    "import os, sys; from svc.system import locks\n"
    "handle = os.open(sys.argv[1], os.O_RDWR)\n"
    "print(locks.take(handle), flush=True)\n"
    "sys.stdin.read()\n"
)
Open = Callable[[], int]


@pytest.fixture(params=["flock", "stand_in_for_windows"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which locks there are."""
    return str(request.param)


@pytest.fixture
def locks(kind: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, as it is where there is no `fcntl`."""
    spec = find_spec("svc.system.locks")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    if kind != "flock":
        monkeypatch.setitem(sys.modules, "fcntl", None)
        monkeypatch.setitem(sys.modules, "msvcrt", byte_range_locks)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with something in it."""
    path = tmp_path / "file"
    path.write_text("what it says")
    return path


@pytest.fixture
def again(path: Path, kind: str) -> Iterator[Open]:
    """Opens the file once more, as another process would."""
    handles: list[int] = []

    def begin() -> int:
        handles.append(os.open(path, os.O_RDWR))
        return handles[-1]

    yield begin
    for handle in handles:
        try:
            os.close(handle)
        except OSError:  # closed by the test
            continue


def test_one_holds_a_lock_at_a_time(again: Open, locks: ModuleType) -> None:
    """R69: who comes second gets nothing and sees that it is held, until the first lets go."""
    first, second = again(), again()
    assert locks.take(first)
    assert not locks.take(second)
    assert not locks.is_free(second)
    os.close(first)
    assert locks.take(second)


def test_two_who_look_do_not_take_each_other_for_the_holder(again: Open, locks: ModuleType) -> None:
    """R69: and nobody takes what somebody looks at."""
    one, other, third = again(), again(), again()
    assert locks.is_free(one)
    assert locks.is_free(other)
    assert not locks.take(third)
    os.close(one)
    os.close(other)
    assert locks.take(third)


def test_one_who_may_only_read_can_look(path: Path, again: Open, locks: ModuleType) -> None:
    """What is in a locked file can be read, from where it stood."""
    assert locks.take(again())
    handle = os.open(path, os.O_RDONLY)
    try:
        assert os.read(handle, 5) == b"what "
        assert not locks.is_free(handle)
        assert os.read(handle, 100) == b"it says"
    finally:
        os.close(handle)


def test_waiting_ends_when_the_holder_lets_go(again: Open, locks: ModuleType) -> None:
    """R66: a second writer waits for the first, for longer than Windows tries by itself."""
    first, second = again(), again()
    assert locks.take(first)
    waiting = threading.Thread(target=locks.wait_for, args=(second,))
    waiting.start()
    waiting.join(0.3)
    assert waiting.is_alive()
    os.close(first)
    waiting.join(10)
    assert not waiting.is_alive()
    assert not locks.take(again())


def test_lock_goes_with_the_process(path: Path, again: Open, kind: str, locks: ModuleType) -> None:
    """R69: kill -9 leaves nothing behind that stops anybody."""
    lacking = str(Path(__file__).parents[2] / "support" / "lacking")
    env = {**os.environ, **({} if kind == "flock" else {"PYTHONPATH": lacking})}
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        mine = again()
        assert not locks.take(mine)
        holder.kill()
        holder.wait()
    assert locks.take(mine)


def test_file_goes_with_its_lock(path: Path, again: Open, locks: ModuleType) -> None:
    """Whoever lets go for good leaves nothing; one that is gone already is no error."""
    handle = again()
    assert locks.take(handle)
    locks.close_and_remove(handle, path)
    assert not path.exists()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handle)


def test_folder_has_one_holder(tmp_path: Path, kind: str, locks: ModuleType) -> None:
    """R66, R68: a folder is held by one process at a time."""
    one, other = (locks.open_folder(tmp_path, ".lock") for _ in range(2))
    try:
        assert locks.take(one)
        assert not locks.take(other)
        assert (tmp_path / ".lock").exists() == (kind != "flock")
    finally:
        os.close(one)
        os.close(other)
