"""Holds the rows of a state that is imported in pieces, on the disk, until all have come.

`svc sandbox import` sends a large state so; the `engine` then puts the rows in place of the present
state at once, through `export`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from svc.sandbox.store import sqlite
from svc.sandbox.store.documents import compact
from svc.sandbox.store.export import unfit
from svc.service.facts import SANDBOX_EXPORT_MAX
from svc.system.spool import Spool


class StateUpload:
    """The rows of one import by table; `identity` is what its client calls it."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self._tables: dict[str, Spool[Any]] = {table: Spool(_parse) for table in sqlite.DATA}
        self._bytes = 0

    @property
    def tables(self) -> Mapping[str, Sequence[Any]]:
        """The rows so far."""
        return self._tables

    def add(self, table: str, rows: Any) -> int:
        """Adds rows of a table; returns how many that table has.

        Raises:
            StateInvalidError: there is no such table, or the state is larger than any export.
        """
        kept = self._tables.get(table)
        if kept is None or not isinstance(rows, list):
            raise unfit(f"its tables must be: {', '.join(sqlite.DATA)}")
        for row in rows:
            text = compact(row)
            self._bytes += len(text)
            if self._bytes > SANDBOX_EXPORT_MAX:
                raise unfit(f"it is larger than {SANDBOX_EXPORT_MAX} bytes")
            kept.append((text,))
        return len(kept)


def _parse(record: tuple[bytes]) -> Any:
    return json.loads(record[0])
