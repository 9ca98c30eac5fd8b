"""Writing into a shell's own folders: whole or not at all, never through a link (R65, R66)."""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from svc.errors import LocalError
from svc.system.files import make_folder, put_in_place

_OURS: Final = "svc completion for "
_HEAD: Final = 200
_FOLDER: Final = 0o755  # the user's shell may not be the only one that reads it (promise R104)
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")


def put(path: Path, text: str, *, force: bool) -> bool:
    """Writes one of our scripts and says whether anything had to change.

    Raises:
        LocalError: it cannot be written, is or lies in a link, or is not ours (without `force`).
    """
    old = _read(path)
    if old == text.encode():
        return False
    if old is not None and _OURS.encode() not in old[:_HEAD] and not force:
        raise LocalError(
            f"{path} is not a file of ours; it is as it was.", hint="Replace it: add --force"
        )
    _write(path, text.encode())
    return True


def put_line(path: Path, line: str) -> bool:
    """Adds a line to a profile, once; says whether it had to.

    Raises:
        LocalError: it cannot be written, is or lies in a link, or is not in UTF-8.
    """
    old = _read(path) or b""
    if old.startswith(_UTF16):
        raise LocalError(f"{path} is in UTF-16; it is as it was.", hint=f"Add this line: {line}")
    if line.encode() in old.splitlines():
        return False
    gap = b"" if not old or old.endswith(b"\n") else b"\n"
    _write(path, old + gap + line.encode() + b"\n")
    return True


def take_away(path: Path) -> bool:
    """Removes one of our scripts and says whether there was one.

    Raises:
        LocalError: it cannot be removed, is or lies in a link, or is not ours.
    """
    old = _read(path)
    if old is None:
        return False
    if _OURS.encode() not in old[:_HEAD]:
        raise LocalError(f"{path} is not a file of ours; it is as it was.")
    try:
        path.unlink()
    except OSError as error:
        raise LocalError(f"{path} cannot be removed: {error.strerror}.") from error
    return True


def take_line(path: Path, line: str) -> bool:
    """Takes our line out of a profile; says whether it was there.

    Raises:
        LocalError: it cannot be written, or is or lies in a link.
    """
    lines = (_read(path) or b"").splitlines(keepends=True)
    kept = [each for each in lines if each.rstrip(b"\r\n") != line.encode()]
    if len(kept) == len(lines):
        return False
    _write(path, b"".join(kept))
    return True


def _read(path: Path) -> bytes | None:
    """What is there; refuses what is not a plain file in a plain folder."""
    _refuse_link(path.parent, stat.S_ISDIR, "folder")
    _refuse_link(path, stat.S_ISREG, "file")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _failed(path, "read", error) from error


def _refuse_link(path: Path, is_plain: Callable[[int], bool], what: str) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise _failed(path, "read", error) from error
    if stat.S_ISLNK(mode) or not is_plain(mode):
        kind = "a symbolic link" if stat.S_ISLNK(mode) else f"no plain {what}"
        raise LocalError(
            f"{path} is {kind}; nothing was written through it.",
            hint="Print it instead: svc completion SHELL > FILE",
        )


def _write(path: Path, data: bytes) -> None:
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
        make_folder(path.parent, _FOLDER)
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        put_in_place(fresh, path)
    except OSError as error:
        raise _failed(path, "written", error) from error
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def _failed(path: Path, done: str, error: OSError) -> LocalError:
    return LocalError(f"{path} cannot be {done}: {(error.strerror or str(error)).lower()}.")
