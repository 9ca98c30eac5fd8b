"""Which list of rows a file is, and which idempotency key a row has (promise R16).

An *import* is a list of rows that belong together from run to run. Its id is made of operation,
profile, mode, address and a name: the file's full path, or what `--import` says. Not of the file's
contents, since people append rows and correct some of them between two runs.

A row's key is made of the import's id, what the row's request says and an ordinal among equal
rows. Not of the row's place in the file, since a row inserted above would move all others. So:

- a row that was carried out is never sent again, wherever it stands now;
- a corrected row is another request with another key;
- two equal rows are two requests, and stay two;
- the same file gives the same keys on another machine, or when the journal is lost; within the
  service's 24 hours nothing is done twice even then.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple

from svc.client.request import uuid_of
from svc.clock import Clock
from svc.delivery.journal.journal import KEPT_SECONDS, lettered
from svc.delivery.journal.leases import Leases
from svc.delivery.journal.stored import Scope
from svc.delivery.journal.transaction import UNRESOLVED, ReadRows
from svc.errors import Conflict
from svc.state import Database, Row, Tx


@dataclass(frozen=True)
class Import:
    """A list of rows that belong together, for one operation and one account."""

    name: str
    operation: str
    scope: Scope

    @cached_property
    def id(self) -> str:
        """`imp_` and 20 letters and digits, the same for the same list on every machine."""
        parts = (self.operation, self.scope.profile, self.scope.mode, self.scope.base_url)
        return "imp_" + lettered(_digest("import", *parts, self.name))


def default_name(file: str, data: bytes) -> str:
    """The name of a list for which the user gives none: where it lies, or what was piped in."""
    if file == "-":
        return f"stdin:{hashlib.sha256(data).hexdigest()[:16]}"
    path = os.fsencode(os.path.realpath(file))
    return path.decode("utf-8", "backslashreplace")


def key_of(import_id: str, identity: str, ordinal: int) -> str:
    """An idempotency key in the form of a UUID (version 8, RFC 9562: made by our own rule)."""
    return uuid_of(_digest("row", import_id, identity, str(ordinal))[:16], 8)


def _digest(*parts: str) -> bytes:
    # Lengths go in, so that no two lists of parts are the same bytes.
    return hashlib.sha256(
        b"".join(b"%d:%s" % (len(p := part.encode()), p) for part in parts)
    ).digest()


_PIECE: Final = 500  # parameters of one statement
_BEGIN: Final = """
INSERT INTO batches
  (id, name, operation, profile, mode, base_url, key_hint, begun_at, last_run_at, lease)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET last_run_at = excluded.last_run_at, lease = excluded.lease,
  key_hint = excluded.key_hint, packed_at = NULL"""
_OF_ID: Final = """
SELECT name, operation, profile, mode, base_url, key_hint FROM batches WHERE id = ?"""
_OLD: Final = """
SELECT id, lease FROM batches WHERE last_run_at < ? AND packed_at IS NULL"""
# Of a row that was carried out everything stays but its body: it keeps the row from being sent once
# more. A key that the service calls used by something else is no reason for a second one.
_SLIM: Final = """
UPDATE requests SET body = x'' WHERE seq IN (
  SELECT seq FROM requests WHERE batch_id = ? AND state = 'done' AND length(body) > 0
  LIMIT 500)"""
_DROP: Final = """
DELETE FROM requests WHERE batch_id = ? AND state IN ('refused', 'not_sent') AND lease IS NULL
  AND coalesce(error_code, '') NOT IN ('idempotency_key_reused', 'idempotency_error')"""
_PACKED: Final = "UPDATE batches SET packed_at = ?, lease = NULL WHERE id = ? AND lease IS ?"
_END: Final = "UPDATE batches SET lease = NULL WHERE id = ? AND lease = ?"
_OTHERS: Final = "SELECT 1 FROM requests WHERE batch_id IS NOT ? LIMIT 1"
# What was carried out in another list, and what is unresolved anywhere else.
_ELSEWHERE: Final = """
SELECT identity, batch_id, state, id, settled_at, key_hint, profile FROM requests
WHERE {} AND identity IN ({}) AND batch_id IS NOT ?"""
_DONE: Final = "batch_id IS NOT NULL AND state = 'done'"
_HELD: Final = """
SELECT DISTINCT batches.id, lease FROM reservations JOIN batches ON batches.id = batch_id
WHERE batch_id != ?"""
_RESERVED: Final = """
SELECT identity, batch_id, key_hint, profile FROM reservations JOIN batches ON batches.id = batch_id
WHERE identity IN ({}) AND batch_id != ?"""
_RESERVE: Final = "INSERT OR IGNORE INTO reservations (identity, batch_id) VALUES (?, ?)"
_LET_GO: Final = "DELETE FROM reservations WHERE batch_id = ?"
_NOT_WHOLE: Final = "UPDATE batches SET whole_at = NULL WHERE id = ?"
_WHOLE: Final = "UPDATE batches SET whole_at = coalesce(?, whole_at, ?) WHERE id = ?"


class Elsewhere(NamedTuple):
    """A request outside a list that says the same as one of its rows.

    Attributes:
        name: of the list that it belongs to; None for a single command's.
        done: whether it was carried out; else nobody knows.
        request: the journal's id of it; None where a running list is about to make it.
        key_hint: the API key that it was sent with.
    """

    identity: str
    name: str | None
    done: bool
    request: str | None
    settled_at: float | None
    key_hint: str
    profile: str


class ImportTable:
    """The table of lists in the state database; belongs to one thread."""

    def __init__(self, state: Database, leases: Leases, clock: Clock) -> None:
        self._state = state
        self._leases = leases
        self._clock = clock

    def begin(self, what: Import) -> None:
        """Takes a list for this process until `end`, or until it dies.

        Raises:
            Conflict: another process is running it now (promise R69).
        """
        now = self._clock.now()

        def begin(tx: Tx) -> None:
            known = tx.rows("SELECT lease FROM batches WHERE id = ?", (what.id,))
            if known and self._leases.is_alive(known[0]["lease"]):
                raise Conflict(
                    f"Another process is running this list now ({what.name}). Nothing was sent.",
                    code="batch_in_progress",
                    outcome="not_sent",
                    hint="Wait until it has ended; then run this again",
                )
            scope = (what.scope.profile, what.scope.mode, what.scope.base_url)
            asked = (what.id, what.name, what.operation, *scope, what.scope.key_hint)
            tx.execute(_BEGIN, (*asked, now, now, self._leases.token))

        self._state.change(begin)

    def end(self, what: Import, *, whole: bool = False, changed: bool = False) -> None:
        """Gives a list back; `whole` says that every row is done, `changed` that one was just now.

        Raises:
            LocalError: it cannot be kept; the end of the process gives the list back as well.
        """

        def end(tx: Tx) -> None:
            tx.execute(_LET_GO, (what.id,))
            tx.execute(_END, (what.id, self._leases.token))
            if whole:
                now = self._clock.now()
                tx.execute(_WHOLE, (now if changed else None, now, what.id))

        self._state.change(end)

    def pack_an_old_one(self) -> None:
        """Lets go of the bodies of one list that was last run 90 days ago, if there is any left.

        What is unresolved stays whole. A list whose process was killed is as good as any other.
        """
        now = self._clock.now()
        found = [
            row
            for row in self._state.rows(_OLD, (now - KEPT_SECONDS,))
            if not self._leases.is_alive(row["lease"])
        ]
        if not found:
            return
        identifier, lease = found[0]["id"], found[0]["lease"]
        while self._slimmed(identifier):
            pass

        def pack(tx: Tx) -> None:
            tx.execute(_DROP, (identifier,))
            tx.execute(_LET_GO, (identifier,))
            tx.execute(_PACKED, (now, identifier, lease))

        self._state.change(pack)

    def _slimmed(self, identifier: str) -> bool:
        """One piece at a time, so that other processes get their turn."""
        return self._state.change(lambda tx: tx.execute(_SLIM, (identifier,))) > 0

    def of_id(self, identifier: str | None) -> Import | None:
        """The list of an id, if it was run with this state database."""
        found = self._state.rows(_OF_ID, (identifier,))
        if not found:
            return None
        name, operation, *scope = found[0].values()
        return Import(name, operation, Scope(*scope))

    def whole_at(self, what: Import) -> float | None:
        """When the last row of a list was done (unix seconds); None while one is not."""
        rows = self._state.rows("SELECT whole_at FROM batches WHERE id = ?", (what.id,))
        return rows[0]["whole_at"] if rows else None

    def elsewhere(self, what: Import, identities: Sequence[str]) -> list[Elsewhere]:
        """Requests outside the list that say what one of these does (promises R5, R91)."""
        return self._elsewhere(self._state.rows, what, identities)

    def reserve(
        self,
        what: Import,
        identities: Sequence[str],
        check: Callable[[Sequence[Elsewhere]], None],
    ) -> None:
        """Holds what a list is going to send until `end`, or until this process dies.

        `check` is given what says the same elsewhere, and raises where that is too much; all in one
        transaction, so that of two lists one sees the other, however close they begin (R92).
        """

        def reserve(tx: Tx) -> None:
            for identifier in (what.id, *self._dead(tx.rows, what)):
                tx.execute(_LET_GO, (identifier,))  # of a run that was killed
            check(self._elsewhere(tx.rows, what, identities))
            if identities:
                tx.execute(_NOT_WHOLE, (what.id,))
            tx.many(_RESERVE, [(identity, what.id) for identity in identities])

        self._state.check_in_place()
        self._state.change(reserve)
        self._state.check_in_place()

    def _dead(self, rows: ReadRows, what: Import) -> list[str]:
        """Lists that hold something although nobody runs them any more."""
        held = rows(_HELD, (what.id,))
        return [row["id"] for row in held if not self._leases.is_alive(row["lease"])]

    def _elsewhere(
        self, rows: ReadRows, what: Import, identities: Sequence[str]
    ) -> list[Elsewhere]:
        found: list[Elsewhere] = []
        alive = {row["id"] for row in rows(_HELD, (what.id,))} - set(self._dead(rows, what))
        others = bool(rows(_OTHERS, (what.id,)))
        if not alive and not others:
            return found
        names = {row["id"]: row["name"] for row in rows("SELECT id, name FROM batches", ())}
        for piece in _pieces(identities):
            marks, given = ",".join("?" * len(piece)), (*piece, what.id)
            for condition in (_DONE, UNRESOLVED) if others else ():
                seen = rows(_ELSEWHERE.format(condition, marks), given)
                found += [_seen(row, names) for row in seen]
            held = rows(_RESERVED.format(marks), given) if alive else []
            found += [_seen(row, names) for row in held if row["batch_id"] in alive]
        return found


def _seen(row: Row, names: Mapping[str, str]) -> Elsewhere:
    """A row of `_ELSEWHERE`, or of `_RESERVED`, which has neither state nor id."""
    return Elsewhere(
        row["identity"],
        names.get(row["batch_id"], row["batch_id"]),
        row.get("state") == "done",
        row.get("id"),
        row.get("settled_at"),
        row["key_hint"],
        row["profile"],
    )


def _pieces(values: Sequence[str]) -> Iterator[tuple[str, ...]]:
    left = iter(values)
    while piece := tuple(islice(left, _PIECE)):
        yield piece
