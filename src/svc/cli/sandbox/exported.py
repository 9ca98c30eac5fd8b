"""Reads the file of an exported sandbox state; asks where its webhooks would leave this machine.

The file is JSON that `svc sandbox export` wrote. `svc sandbox start --import` reads it as a whole;
`svc sandbox import` sends it to the running sandbox in pieces, so that only one is in memory.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TextIO
from urllib.parse import urlsplit

from svc.cli.framework.inputs import parse_object
from svc.cli.framework.options import flag
from svc.cli.framework.prompts import confirm, will_ask
from svc.cli.framework.session import Session
from svc.errors import LocalError, UsageError, system_words
from svc.service.facts import SANDBOX_STATE, SANDBOX_STATE_MAX
from svc.system.consoles import read_to_end
from svc.system.hosts import is_loopback

ALLOW_REMOTE: Final = flag("--allow-remote", "Take a state that sends webhooks to other machines.")

_ENDPOINT: Final = "webhook_endpoint"
_SHOWN_MAX: Final = 5  # receivers in a question
_HEAD: Final = f'{{"object":"{SANDBOX_STATE}","format":'
_TABLES: Final = ',"tables":{'
_PIECE_ROWS: Final = 500
_PIECE_CHARACTERS: Final = 1024 * 1024
_ROW_MAX: Final = 64 * 1024 * 1024


def read_state(session: Session, file: str, *, allow_remote: bool) -> dict[str, Any]:
    """Reads an exported state; asks a person if its webhooks would leave this machine.

    Raises:
        LocalError: the file cannot be read.
        UsageError: the file is no JSON object, or no person confirms the webhooks.
    """
    state = parse_object(_read(session, file), file)
    if not allow_remote:
        _ask_where_it_sends(session, _receivers_elsewhere(state))
    return state


class StatePieces:
    """The rows of a file that `svc sandbox export` wrote, a few hundred at a time.

    Raises:
        ValueError: the file has another form; `read_state` says what is wrong with it.

    Attributes:
        format: the version number of the file's format.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = ""
        self._at = 0
        self._decoder = json.JSONDecoder()
        self._expect(_HEAD)
        self.format: object = self._read_value()
        self._expect(_TABLES)

    def read(self) -> Iterator[tuple[str, list[Any]]]:
        """Yields the name of a table with some of its rows, in the order of the file."""
        while True:
            table = self._read_value()
            self._expect(":[")
            rows: list[Any] = []
            while not self._follows("]"):
                rows.append(self._read_value())
                self._follows(",")
                if len(rows) == _PIECE_ROWS:
                    yield table, rows
                    rows = []
            yield table, rows
            if not self._follows(","):
                break
        self._expect("}}")
        if self._text[self._at :].strip() or self._file.read().strip():
            raise ValueError("something follows the state")

    def _read_value(self) -> Any:
        """Parses the value that is next, with as much of the file as it takes."""
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except ValueError:
                if not self._read_more():
                    raise
            else:
                # A number may go on in what was not read yet.
                if end < len(self._text) or not self._read_more():
                    self._at = end
                    return value

    def _follows(self, mark: str) -> bool:
        while len(self._text) - self._at < len(mark) and self._read_more():
            pass
        found = self._text.startswith(mark, self._at)
        self._at += len(mark) if found else 0
        return found

    def _expect(self, mark: str) -> None:
        if not self._follows(mark):
            raise ValueError(f"{mark} is missing")

    def _read_more(self) -> bool:
        more = self._file.read(_PIECE_CHARACTERS)
        self._text = self._text[self._at :] + more
        self._at = 0
        if len(self._text) > _ROW_MAX:
            raise ValueError("a row is too long")
        return bool(more)


def confirm_pieces(session: Session, path: Path, *, allow_remote: bool) -> bool:
    """Reads an exported state in pieces, and asks as `read_state` does, which raises the same.

    Returns False if the file has another form than export writes; no person is asked then.
    """
    tables: dict[str, list[Any]] = {"meta": [], "docs": []}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for table, rows in StatePieces(file).read():
                if table == "meta":
                    tables[table] += rows
                elif table == "docs":
                    tables[table] += [
                        row
                        for row in rows
                        if isinstance(row, dict) and row.get("kind") == _ENDPOINT
                    ]
    except (OSError, ValueError):
        return False
    if not allow_remote:
        _ask_where_it_sends(session, _receivers_elsewhere({"tables": tables}))
    return True


def _receivers_elsewhere(state: dict[str, Any]) -> list[str]:
    """The URLs on other machines to which the sandbox would send webhooks after the import.

    Empty for an invalid state: the sandbox refuses that with a reason.
    """
    try:
        tables = state["tables"]
        kept = {row["name"]: json.loads(row["value"]) for row in tables["meta"]}
        docs = [json.loads(row["body"]) for row in tables["docs"] if row["kind"] == _ENDPOINT]
        urls = {doc["url"] for doc in docs if doc["status"] == "enabled"}
        away = sorted(url for url in urls if not is_loopback(urlsplit(url).hostname or ""))
        return away if kept.get("settings", {}).get("allow_remote_webhooks") else []
    except (KeyError, TypeError, ValueError, AttributeError):
        return []


def _ask_where_it_sends(session: Session, receivers: list[str]) -> None:
    """Asks a person to confirm webhooks that leave this machine.

    Raises:
        UsageError: the answer is not yes, or no person can be asked; the hint names the option.
    """
    if not receivers:
        return
    plain = any(url.lower().startswith("http://") for url in receivers)
    where = f"It sends webhooks to {', '.join(receivers[:_SHOWN_MAX])}"
    why = f"{where}{', in plain text' if plain else ''}."
    if not will_ask(session):
        raise UsageError(
            f"{why} Nothing was imported.",
            code="confirmation_required",
            param="--allow-remote",
            hint="Add --allow-remote to go ahead",
        )
    confirm(session, why, otherwise="Nothing was imported.")


def _read(session: Session, file: str) -> str:
    try:
        if file == "-":
            data = read_to_end(session.streams.stdin.buffer, SANDBOX_STATE_MAX + 1)
        else:
            data = Path(file).read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise LocalError(f"{file} cannot be read: {system_words(error)}.") from None
    except UnicodeDecodeError:
        raise LocalError(f"{file} is not UTF-8 text.") from None
