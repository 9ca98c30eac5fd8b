"""The small file of ids seen lately: bounded, private, replaced at once, and never needed."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR
from typing import Final

from svc.system.files import is_mine, make_private, open_private

ENTRIES_MAX: Final = 200
FILES_MAX: Final = 32
_BYTES_MAX: Final = 64 * 1024
_COLUMNS: Final = 3

Entry = tuple[str, str, str]


class RecentFile:
    """One file of lines `id TAB kind TAB label`, the latest first, below a line with the origin.

    What was kept for another origin is dropped.
    """

    def __init__(self, path: Path, origin: str) -> None:
        self._path = path
        self._head = f"# {origin}\n"

    def add(self, entries: Iterable[Entry]) -> None:
        """Puts entries first; one that is known is moved, and keeps its label if it has no new one.

        Raises:
            OSError: the folder is not ours, or cannot be written.
        """
        old = self._text()
        kept = self._merged(entries, old)
        text = self._head + "".join("\t".join(entry) + "\n" for entry in kept)
        if text == old:
            return
        self._check_folder()
        self._replace(text)
        if old is None:
            self._prune()

    def ids(self) -> set[str]:
        """The ids that are kept; none where there is no file."""
        return {entry[0] for entry in self._entries(self._text())}

    def _text(self) -> str | None:
        try:
            handle = open_private(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        with os.fdopen(handle, "rb") as file:
            return file.read(_BYTES_MAX).decode("ascii", "replace")

    def _merged(self, entries: Iterable[Entry], old: str | None) -> list[Entry]:
        known: dict[str, Entry] = {}
        for entry in (*entries, *self._entries(old)):
            name, kind, label = entry
            if name not in known or (label and not known[name][2]):
                known[name] = (name, kind, label)
        return list(known.values())[:ENTRIES_MAX]

    def _entries(self, old: str | None) -> list[Entry]:
        if old is None or not old.startswith(self._head):
            return []
        parts = (line.split("\t") for line in old.splitlines()[1:])
        return [(part[0], part[1], part[2]) for part in parts if len(part) == _COLUMNS]

    def _check_folder(self) -> None:
        folder = self._path.parent
        make_private(folder)
        facts = folder.lstat()
        if not S_ISDIR(facts.st_mode) or not is_mine(facts):
            raise NotADirectoryError(str(folder))

    def _replace(self, text: str) -> None:
        # Not synced: what a power cut takes away here, the next command brings back.
        fresh = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            handle = open_private(fresh, flags)
            with os.fdopen(handle, "w", encoding="ascii", newline="\n") as file:
                file.write(text)
            fresh.replace(self._path)
        except BaseException:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
            raise

    def _prune(self) -> None:
        """Leaves the files used last: every address of a test or a tunnel has one."""
        found = [(entry.stat().st_mtime, entry.path) for entry in os.scandir(self._path.parent)]
        for _, path in sorted(found, reverse=True)[FILES_MAX:]:
            Path(path).unlink(missing_ok=True)


def forget(folder: Path) -> None:
    """Removes all of it; a link is not followed."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            Path(entry.path).unlink()
        folder.rmdir()
