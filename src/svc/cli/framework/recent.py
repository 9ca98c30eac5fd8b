"""Keeps the ids that commands have shown, in files that the shells' completion scripts read.

`cli.main` calls `remember` after a command has ended; `errors` asks whether an id is of the other
mode, `svc config set cache off` and the stop of a sandbox in memory have ids forgotten. Ids, their
kinds and a label of amount and status are kept, never a secret. A file that cannot be written is
left out: nothing depends on it.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING, Any, Final

from svc.money import format_amount
from svc.redaction import redact
from svc.service.facts import ID_PREFIXES
from svc.system.files import is_mine, make_private, open_private, replace_file

if TYPE_CHECKING:
    from svc.cli.framework.session import Session


_KINDS: Final = {
    **{prefix: kind for kind, prefix in ID_PREFIXES.items() if kind != "request"},
    "rq_": "recorded_request",
    "key_": "api_key",
    "flt_": "fault",
    "dlv_": "delivery",
    "eml_": "email",
}
_ID: Final = re.compile(rf"({'|'.join(_KINDS)})[0-9A-Za-z]{{1,64}}")
_WORD: Final = re.compile(r"[a-z][a-z0-9_.]{0,39}")
_DEPTH: Final = 6  # of a page: its list, its events, their data, the object, what that names
_NOT_A_FILE_NAME: Final = re.compile(r"[^A-Za-z0-9.-]")


def remember(session: "Session") -> None:
    """Keeps the ids of what this command has shown; `svc config set cache off` stops it."""
    with suppress(Exception):  # the command is done, and this must not say otherwise
        found = list(entries(session.shown))
        if not found or not session.config.cache or session.settings.address is None:
            return

        folder = session.paths.cache_dir / "recent"
        RecentFile(folder / file_name(session), str(session.settings.address)).add(found)


def find_in_other_mode(session: "Session") -> str | None:
    """An id of this command line that was shown lately with a key of the other mode.

    The journal shows requests in both modes: one that it does not know is in neither.
    """
    with suppress(Exception):  # a hint, which must never stand in the way of the error itself
        other = "live" if session.settings.mode == "test" else "test"
        path = session.paths.cache_dir / "recent" / file_name(session, other)
        known = RecentFile(path, str(session.settings.address)).ids()
        words = (word for word in session.argv if not word.startswith("rq_"))
        return next((word for word in words if word in known), None)
    return None


def file_name(session: "Session", mode: str | None = None) -> str:
    """Names the file of a profile, mode and typed address, as the shell scripts name it."""
    settings = session.settings
    typed = session.given.everywhere.base_url or session.env.get("SVC_BASE_URL") or ""
    where = f"@{_NOT_A_FILE_NAME.sub('_', typed)}" if typed else ""
    return f"{settings.profile}.{mode or settings.mode}{where}.tsv"


def entries(shown: object, depth: int = _DEPTH) -> Iterator[tuple[str, str, str]]:
    """Yields id, kind and label of every object in a result, and of the objects that it names."""
    if isinstance(shown, list):
        for item in shown if depth else ():
            yield from entries(item, depth - 1)
        return
    if not isinstance(shown, dict):
        return
    own = shown.get("id")
    if (kind := _kind(own)) is not None:
        yield str(own), kind, label(shown)
    for name, value in shown.items():
        if name != "id" and (kind := _kind(value)) is not None:
            yield value, kind, ""
        elif depth and isinstance(value, dict | list):
            yield from entries(value, depth - 1)


def label(shown: dict[str, Any]) -> str:
    """A few words to tell an object by: money and status, or the type of an event."""
    amounts = (shown.get(name) for name in ("amount_total", "amount", "total"))
    amount = next((value for value in amounts if type(value) is int), None)
    currency, money = shown.get("currency"), ""
    if amount is not None and isinstance(currency, str):
        is_code = currency.isascii() and currency.isalpha()
        money = format_amount(amount, currency) if is_code else ""
    words = [shown.get(name) for name in ("type", "status")]
    plain = [word for word in words if isinstance(word, str) and _WORD.fullmatch(word)]
    text = " ".join(filter(None, (money, *plain)))
    return text if redact(text) == text else ""


def _kind(value: object) -> str | None:
    match = _ID.fullmatch(value) if isinstance(value, str) else None
    return _KINDS[match[1]] if match else None


ENTRIES_MAX: Final = 200
FILES_MAX: Final = 32
_BYTES_MAX: Final = 64 * 1024
_COLUMNS: Final = 3

RecentEntry = tuple[str, str, str]


class RecentFile:
    """One file of lines `id TAB kind TAB label`, the latest first, below a line with the origin.

    What was kept for another origin is dropped.
    """

    def __init__(self, path: Path, origin: str) -> None:
        self._path = path
        self._head = f"# {origin}\n"

    def add(self, entries: Iterable[RecentEntry]) -> None:
        """Puts entries first; one that is known is moved, and keeps its label if it has no new one.

        Raises:
            OSError: the folder belongs to another user, or cannot be written.
        """
        old = self._text()
        kept = self._merge(entries, old)
        text = self._head + "".join("\t".join(entry) + "\n" for entry in kept)
        if text == old:
            return
        folder = self._path.parent
        make_private(folder)
        facts = folder.lstat()
        if not S_ISDIR(facts.st_mode) or not is_mine(facts):
            raise NotADirectoryError(str(folder))
        # Not synced: what a power cut takes away here, the next command brings back.
        replace_file(self._path, text.encode("ascii"), lasts=False)
        if old is None:
            # Every address of a test or a tunnel has a file: those used last stay.
            found = [(entry.stat().st_mtime, entry.path) for entry in os.scandir(self._path.parent)]
            for _, path in sorted(found, reverse=True)[FILES_MAX:]:
                Path(path).unlink(missing_ok=True)

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

    def _merge(self, entries: Iterable[RecentEntry], old: str | None) -> list[RecentEntry]:
        known: dict[str, RecentEntry] = {}
        for entry in (*entries, *self._entries(old)):
            name, kind, label = entry
            if name not in known or (label and not known[name][2]):
                known[name] = (name, kind, label)
        return list(known.values())[:ENTRIES_MAX]

    def _entries(self, old: str | None) -> list[RecentEntry]:
        if old is None or not old.startswith(self._head):
            return []
        parts = (line.split("\t") for line in old.splitlines()[1:])
        return [(part[0], part[1], part[2]) for part in parts if len(part) == _COLUMNS]


def forget_origin(folder: Path, address: str) -> None:
    """Deletes the ids that were kept for one address."""
    with suppress(OSError):
        for path in folder.glob("*.tsv"):
            if path.read_text("ascii", "replace").startswith(f"# {address}\n"):
                path.unlink()


def forget(folder: Path) -> None:
    """Removes all of it; a link is not followed."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            Path(entry.path).unlink()
        folder.rmdir()
