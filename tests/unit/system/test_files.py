"""Private files: made for the user alone, put in their place whole."""

import errno
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from svc.system import files
from svc.system.files import make_private


def test_private_folder_and_what_is_made_above_it_are_the_users_alone(tmp_path: Path) -> None:
    """R67: whichever command runs first, the state folder can be used by the next."""
    make_private(tmp_path / "state" / "reports")
    for folder in (tmp_path / "state", tmp_path / "state" / "reports"):
        assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("moves", [True, False])
def test_a_file_that_is_put_in_place_is_written_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moves: bool
) -> None:
    """Windows renames no file that is open: it is closed for that, and opened at its end."""
    monkeypatch.setattr(files, "_MOVES_OPEN_FILES", moves)
    fresh, place = tmp_path / "fresh", tmp_path / "place"
    place.write_text("old")
    began = fresh.open("w+b")
    began.write(b"one ")
    with files.put_open_in_place(began, fresh, place) as placed:
        assert (began.closed, place.read_text(), fresh.exists()) == (not moves, "one ", False)
        placed.write(b"two")
    assert place.read_text() == "one two"


@pytest.mark.parametrize("knows", [True, False])
def test_macos_is_asked_for_a_sync_that_reaches_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knows: bool
) -> None:
    """`fsync` leaves the bytes in the disk's own memory there; a share may know nothing more."""
    asked: list[int] = []

    def fcntl(handle: int, what: int) -> None:
        asked.append(what)
        if not knows:
            raise OSError(errno.ENOTSUP, "no")

    monkeypatch.setitem(sys.modules, "fcntl", SimpleNamespace(F_FULLFSYNC=51, fcntl=fcntl))
    monkeypatch.setattr(os, "fsync", lambda handle: asked.append(0))
    with (tmp_path / "file").open("wb") as file:
        files.sync(file.fileno())
    assert asked == ([51] if knows else [51, 0])


@pytest.mark.parametrize("can", [True, False])
def test_content_alone_is_synced_where_the_system_can(
    monkeypatch: pytest.MonkeyPatch, can: bool
) -> None:
    """The times of a file are not worth a second write of the disk; all of it is where it cannot."""
    asked: list[str] = []
    monkeypatch.setattr(files, "sync", lambda handle: asked.append(f"all of {handle}"))
    monkeypatch.delattr(os, "fdatasync", raising=False)
    if can:
        content = lambda handle: asked.append(f"content of {handle}")  # noqa: E731
        monkeypatch.setattr(os, "fdatasync", content, raising=False)
    files.sync_data(7)
    assert asked == ["content of 7" if can else "all of 7"]


@pytest.mark.parametrize(
    ("number", "word"),
    [
        *((errno.ENOSPC, "Free some space"), (errno.EMFILE, "ulimit -n")),
        *((errno.ENFILE, "try again later"), (errno.EACCES, "writable for this user")),
        *((errno.EROFS, "Make it writable."), (errno.EIO, None), (None, None)),
    ],
)
def test_what_can_be_done_about_a_disk_is_advised(number: int | None, word: str | None) -> None:
    """Where it cannot be helped, nothing is."""
    advice = files.advice(OSError() if number is None else OSError(number, "no"))
    assert (word is None) if advice is None else str(word) in advice


@pytest.mark.parametrize("fails", [1, 19, 20, 21])
def test_windows_is_not_asked_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    """An indexer has the file open for a moment; after a second the error is told."""
    fresh, place = tmp_path / "fresh", tmp_path / "place"
    fresh.write_text("new")
    monkeypatch.setattr(files, "_MOVES_OPEN_FILES", False)
    replace, pauses, asked = Path.replace, list[float](), list[int]()

    def busy(path: Path, target: Path) -> Path:
        asked.append(1)
        if len(asked) <= fails:
            raise PermissionError
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", busy)
    if fails > 20:
        with pytest.raises(PermissionError):
            files._replace(fresh, place, pauses.append)
    else:
        files._replace(fresh, place, pauses.append)
        assert place.read_text() == "new"
    assert sum(pauses) == pytest.approx(0.05 * min(fails, 20))
