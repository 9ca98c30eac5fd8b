"""The identity of a batch, and the idempotency keys of its rows (promises R16, R114).

A *batch* is a file of rows that is run until each row has an outcome. Its identity consists of
operation, mode, address, a name and a label. The name is that of `--import`, which is the same on
every machine, or else the real path of the file on this machine. The label is that of `--run`. The
contents of the file are no part of it: people append and correct rows between two runs.

The key of a row is computed from these, the digest of its exact parameters, its ordinal among equal
rows, and the number of proved refusals before. The row number is no part of it: an inserted row
would change all later numbers. Machine, profile, API key, account and time are no part either: the
service itself separates keys by account and mode. Therefore:

- a row that was carried out is never sent again, whatever its row number is now;
- a corrected row is another request with another key;
- two equal rows remain two requests;
- with `--import`, every machine computes the same keys, even if the journal is lost; within the
  service's 24 hours no row has a second effect.

`svc batch` locks its batch in a `BatchTable` while it runs; `plan.RowKeys` computes keys by
`BatchName`.
"""

import hashlib
import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import BinaryIO, Final, NamedTuple

from svc.client.request import uuid_of
from svc.client.retry import KEY_SAFE_SECONDS
from svc.clock import Clock
from svc.delivery.journal.entry import OBJECT_FAILED, Scope
from svc.delivery.journal.journal import encode_letters
from svc.delivery.journal.limits import ReadRows
from svc.delivery.journal.sender_locks import SenderLocks
from svc.delivery.journal.transaction import UNRESOLVED
from svc.delivery.likeness import effect_of, place_of, read_effect, read_folded, read_marks
from svc.errors import Conflict
from svc.state import Database, Row, Tx
from svc.system.spool import DigestIndex

_CHUNK: Final = 1024 * 1024
AGAIN: Final = "again-"
_ID: Final = re.compile("imp_[0-9a-z]{20}")
# What another batch has done so long ago counts as another occasion.
DUPLICATE_SECONDS: Final = 7 * 24 * 3600


@dataclass(frozen=True)
class BatchName:
    """The identity of a batch; `label` distinguishes repeated runs, and is empty by default."""

    name: str
    operation: str
    scope: Scope
    label: str = ""

    @cached_property
    def id(self) -> str:
        """The id: `imp_` and 20 letters and digits, equal for equal batches on every machine.

        A name that is an id is that of the batch itself, with its label: a results file has the id
        alone.
        """
        if _ID.fullmatch(self.name):
            return self.name
        parts = (self.operation, self.scope.mode, place_of(self.scope.base_url))
        return "imp_" + encode_letters(_digest("batch", *parts, self.name, self.label))

    @property
    def old_id(self) -> str:
        """The id of this batch in versions of svc without labels."""
        parts = (self.operation, self.scope.profile, self.scope.mode, self.scope.base_url)
        return "imp_" + encode_letters(_digest("import", *parts, self.name))

    def key_of(self, identity: str, ordinal: int, refusals: int = 0) -> str:
        """Computes the idempotency key of a row: a UUID of version 8 (RFC 9562).

        `identity` is the digest of the row's exact parameters, after the row's own id if it has
        one; `ordinal` counts equal rows, `refusals` the proved refusals before it.
        """
        parts = (self.id, identity, str(ordinal), str(refusals))
        return uuid_of(_digest("row", *parts)[:16], 8)


def default_name(file: str, data: BinaryIO) -> str:
    """The name of a batch without `--import`: the path of the file, or a digest of piped input."""
    if file == "-":
        data.seek(0)
        digest = hashlib.sha256()
        while piece := data.read(_CHUNK):
            digest.update(piece)
        return f"stdin:{digest.hexdigest()[:16]}"
    path = os.fsencode(os.path.realpath(file))
    return path.decode("utf-8", "backslashreplace")


def next_again_label(labels: Sequence[tuple[str, float | None]], now: float) -> str:
    """The label that `--again` uses: the newest unfinished one, else a new one with this date."""
    for label, whole_at in reversed(labels):
        if label.startswith(AGAIN):
            if whole_at is None:
                return label
            break
    stem = f"{AGAIN}{time.strftime('%Y-%m-%d', time.gmtime(now))}"
    taken = {label for label, _ in labels}
    numbers = (int(found[1]) for one in taken if (found := re.fullmatch(rf"{stem}-(\d+)", one)))
    if stem not in taken:
        return stem
    return f"{stem}-{max(numbers, default=1) + 1}"


def _digest(*parts: str) -> bytes:
    # Lengths go in, so that no two lists of parts are the same bytes.
    return hashlib.sha256(
        b"".join(b"%d:%s" % (len(p := part.encode()), p) for part in parts)
    ).digest()


# So long after its last run a batch keeps its requests whole; then their bodies are let go of.
WHOLE_SECONDS: Final = 90 * 24 * 3600
_PIECE: Final = 500  # parameters of one statement
_BEGIN: Final = """
INSERT INTO batches
  (id, name, operation, profile, mode, base_url, key_hint, label, begun_at, last_run_at, lease)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET last_run_at = excluded.last_run_at, lease = excluded.lease,
  key_hint = excluded.key_hint, profile = excluded.profile, packed_at = NULL"""
_EVERY_BATCH: Final = """
SELECT id, name, operation, profile, mode, base_url, key_hint, label FROM batches"""
_LABELS: Final = """
SELECT label, whole_at, base_url FROM batches
WHERE name = ? AND operation = ? AND mode = ? ORDER BY begun_at"""
_ANY_OLD: Final = "SELECT 1 FROM batches WHERE label IS NULL LIMIT 1"
_ADOPT: Final = "UPDATE requests SET batch_id = ? WHERE id = ? AND batch_id IS NULL"
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
# Each part reads one row of an index.
_OTHERS: Final = """
SELECT 1 FROM requests WHERE batch_id IS NULL UNION ALL SELECT 1 FROM requests WHERE batch_id < ?
UNION ALL SELECT 1 FROM requests WHERE batch_id > ? LIMIT 1"""
# What was carried out outside a batch, and what is unresolved there.
_ELSEWHERE: Final = """
SELECT likeness, batch_id, state, id, settled_at, key_hint, profile, object_id, world,
  served_at, idempotency_key, seq, created_at FROM requests
WHERE {} AND likeness IN ({}) AND batch_id IS NOT ?"""
_DONE: Final = f"state = 'done' AND coalesce(error_code, '') != '{OBJECT_FAILED}'"
# What has updated objects, where not all of it is like a row; and what may have, elsewhere.
_UPDATED: Final = """
SELECT * FROM requests WHERE state = 'done' AND mode = ? AND path = ? || object_id
AND object_id IN (SELECT object_id FROM requests WHERE state = 'done' AND path = ? || object_id
  AND object_id IN ({0}) AND likeness NOT IN ({0}))"""
_UPDATING: Final = "SELECT * FROM requests WHERE {} AND mode = ? AND batch_id IS NOT ?"
# What other batches have moved, or may have moved, of late.
_RUN_SINCE: Final = """
SELECT id FROM batches
WHERE operation = ? AND mode = ? AND id != ? AND last_run_at >= ?"""
_MOVED: Final = """
SELECT likeness, batch_id, state, id, coalesce(settled_at, last_sent_at) AS settled_at, key_hint,
  profile, object_id, world, served_at, idempotency_key, batch_row, path, encoding, body, amount,
  currency, row_id, key_given, base_url FROM requests
WHERE ({} OR {}) AND coalesce(settled_at, last_sent_at) >= ? AND {} {}"""
_OF_BATCH: Final = "batch_id = ?"
_ALONE: Final = "batch_id IS NULL AND kind IS NOT NULL AND mode = ?"
_ANY: Final = "SELECT 1 FROM requests WHERE {} LIMIT 1"
_HELD: Final = "SELECT id, lease FROM batches WHERE lease IS NOT NULL AND id != ?"
_RESERVED: Final = """
SELECT identity AS likeness, batch_id, key_hint, profile FROM reservations
JOIN batches ON batches.id = batch_id WHERE identity IN ({}) AND batch_id != ?"""
_RESERVE: Final = "INSERT OR IGNORE INTO reservations (identity, batch_id) VALUES (?, ?)"
_LET_GO: Final = "DELETE FROM reservations WHERE batch_id = ?"
_NOT_WHOLE: Final = "UPDATE batches SET whole_at = NULL WHERE id = ?"
_WHOLE: Final = "UPDATE batches SET whole_at = ? WHERE id = ?"


class Duplicate(NamedTuple):
    """A request outside a batch that is a duplicate of one of its rows.

    Attributes:
        batch: the batch that it belongs to; None for a single command.
        done: whether it was carried out; else its outcome is not known.
        request: its id in the journal; None if a running batch has only reserved it.
        key_fingerprint: the API key that it was sent with.
        object_id: the id of the object that it created or changed.
        world: identifies the state of the sandbox that answered.
        server_time: what a sandbox's clock said when it was sent.
        key: its idempotency key; None if a running batch has only reserved it.
        row: the number of its row.
        effect: as `likeness.effect_of` computes it; for what `BatchTable.find_moved` finds alone.
        currency: what it has moved is in.
        marks: as `likeness.read_marks` reads them, for the same.
        seq: its number in the journal; None if a running batch has only reserved it.
        created_at: when it was recorded.
    """

    likeness: str
    batch: BatchName | None
    done: bool
    request: str | None
    settled_at: float | None
    key_fingerprint: str
    profile: str
    object_id: str | None = None
    world: str | None = None
    server_time: float | None = None
    key: str | None = None
    row: int | None = None
    effect: str = ""
    currency: str | None = None
    marks: tuple[tuple[str, str], ...] = ()
    seq: int | None = None
    created_at: float = 0.0


class BatchTable:
    """The table of batches in the state database; belongs to one thread."""

    def __init__(self, state: Database, sender_locks: SenderLocks, clock: Clock) -> None:
        self._state = state
        self._sender_locks = sender_locks
        self._clock = clock
        if state.rows(_ANY_OLD):
            state.change(_rename_old_batches)

    def begin(self, batch: BatchName) -> None:
        """Locks a batch for this process until `end`, or until the process dies.

        Raises:
            Conflict: another process is running the batch (promise R69).
        """
        now = self._clock.now()

        def begin(tx: Tx) -> None:
            known = tx.rows("SELECT lease FROM batches WHERE id = ?", (batch.id,))
            if known and self._sender_locks.is_alive(known[0]["lease"]):
                raise Conflict(
                    f"Another process is running this batch now ({batch.name}). Nothing was sent.",
                    code="batch_in_progress",
                    outcome="not_sent",
                    hint="Wait until it has ended; then run this again",
                )
            scope = (batch.scope.profile, batch.scope.mode, batch.scope.base_url)
            asked = (batch.id, batch.name, batch.operation, *scope, batch.scope.key_fingerprint)
            tx.execute(_BEGIN, (*asked, batch.label, now, now, self._sender_locks.token))

        self._state.change(begin)

    def end(self, batch: BatchName, *, whole: bool = False) -> None:
        """Releases a batch; `whole` is whether every row is done.

        Raises:
            LocalError: the database cannot be written; the end of the process releases it as well.
        """

        def end(tx: Tx) -> None:
            tx.execute(_LET_GO, (batch.id,))
            tx.execute(_END, (batch.id, self._sender_locks.token))
            if whole:
                tx.execute(_WHOLE, (self._clock.now(), batch.id))

        self._state.change(end)

    def compact_expired_batch(self) -> bool:
        """Deletes the bodies of done requests of one batch that was last run 90 days ago.

        Its refused and unsent requests are deleted as well; unresolved ones stay as they are.
        Returns False if there is no such batch. A batch whose process was killed is treated as any
        other.
        """
        now = self._clock.now()
        found = [
            row
            for row in self._state.rows(_OLD, (now - WHOLE_SECONDS,))
            if not self._sender_locks.is_alive(row["lease"])
        ]
        if not found:
            return False
        identifier, lease = found[0]["id"], found[0]["lease"]
        # In steps, so that other processes are not blocked.
        while self._state.change(lambda tx: tx.execute(_SLIM, (identifier,))):
            pass

        def pack(tx: Tx) -> None:
            tx.execute(_DROP, (identifier,))
            tx.execute(_LET_GO, (identifier,))
            tx.execute(_PACKED, (now, identifier, lease))

        self._state.change(pack)
        return True

    def find_begun_at(self, batch: BatchName) -> float | None:
        """When a batch with this label was begun (Unix seconds), or None."""
        rows = self._state.rows("SELECT begun_at FROM batches WHERE id = ?", (batch.id,))
        return rows[0]["begun_at"] if rows else None

    def labels_of(self, batch: BatchName) -> list[tuple[str, float | None]]:
        """The labels under which a batch was run, oldest first; when it was done, or None."""
        place = (batch.name, batch.operation, batch.scope.mode)
        here = place_of(batch.scope.base_url)
        return [
            (row["label"] or "", row["whole_at"])
            for row in self._state.rows(_LABELS, place)
            if place_of(row["base_url"]) == here
        ]

    def duplicates(self, batch: BatchName, likenesses: Iterable[str]) -> list[Duplicate]:
        """Finds duplicates of rows outside their batch, by likeness (promises R5, R115)."""
        return self._duplicates(self._state.rows, batch, likenesses)

    def find_moved(
        self, batch: BatchName, moves: Iterable[tuple[str, int | None]]
    ) -> list[Duplicate]:
        """Finds what has, or may have, been moved outside the batch within seven days.

        Requests of other batches of the operation and of single commands, with the effect of a row;
        of single commands since seven days before the batch was begun.
        `moves` are the subjects and amounts of rows; read only if there is such a request at all.
        """
        since, mode = self._clock.now() - DUPLICATE_SECONDS, batch.scope.mode
        begun = self.find_begun_at(batch) or self._clock.now()
        asked = (batch.operation, mode, batch.id, since - KEY_SAFE_SECONDS)
        # A label says that it is another occasion than other batches, not than what a person did.
        batches_since = () if batch.label else self._state.rows(_RUN_SINCE, asked)
        ran = [(_OF_BATCH, row["id"]) for row in batches_since]
        if self._state.rows(_ANY.format(_ALONE), (mode,)):
            ran.append((_ALONE, mode))
        if not ran:
            return []
        wanted, amounts, found = DigestIndex(), set[int](), list[Duplicate]()
        for number, (subject, amount) in enumerate(moves):
            if subject and amount is not None:
                wanted.add(effect_of(subject, amount), number)
                amounts |= {amount} if len(amounts) <= _PIECE else set()
        batches = {row["id"]: _batch_of(row) for row in self._state.rows(_EVERY_BATCH, ())}
        here = place_of(batch.scope.base_url)

        def add_if_alike(row: Row) -> None:
            effect = read_effect(row["path"], row["encoding"], row["body"], row["amount"])
            if effect and effect in wanted and place_of(row["base_url"]) == here:
                more = {"effect": effect, "currency": row["currency"], "marks": _marks_of(row)}
                found.append(_duplicate_of(row, batches)._replace(row=row["batch_row"], **more))

        few = [] if len(amounts) > _PIECE else sorted(amounts)  # else any row may be one of them
        which = f"AND amount IN ({','.join('?' * len(few))})" if few else ""
        for where, of in ran if amounts else ():
            moved = _MOVED.format(_DONE, UNRESOLVED, where, which)
            first = since if where == _OF_BATCH else min(since, begun - DUPLICATE_SECONDS)
            self._state.read_each(moved, (first, of, *few), add_if_alike)
        return found

    def find_updates(
        self, batch: BatchName, rows: Iterable[tuple[str, str]]
    ) -> dict[str, list[Duplicate]]:
        """Finds what has, or may have, updated the objects of rows with other values (R115).

        Rows are paths and likenesses. Returns by path the requests of every batch and of single
        commands, in their order; their marks are all parameters, as `read_folded` reads them.
        """
        mode, found = batch.scope.mode, dict[int, Row]()
        for row in self._state.rows(_UPDATING.format(UNRESOLVED), (mode, batch.id)):
            found[row["seq"]] = row
        left = iter(rows)
        while piece := [*islice(left, _PIECE)]:
            ids = [path.rpartition("/")[2] for path, _ in piece]
            folder, marks = piece[0][0].removesuffix(ids[0]), ",".join("?" * len(piece))
            given = (mode, folder, folder, *ids, *(likeness for _, likeness in piece))
            for row in self._state.rows(_UPDATED.format(marks), given):
                found[row["seq"]] = row
        batches = {row["id"]: _batch_of(row) for row in self._state.rows(_EVERY_BATCH, ())}
        here, updates = place_of(batch.scope.base_url), defaultdict[str, list[Duplicate]](list)
        for _, row in sorted(found.items()):
            if place_of(row["base_url"]) == here:
                said = read_folded(row["path"], row["encoding"], row["body"])
                one = _duplicate_of(row, batches)._replace(marks=tuple(said))
                updates[row["path"]].append(one)
        return updates

    def adopt(self, batch: BatchName, requests: Sequence[str]) -> None:
        """Makes requests of single commands rows of a batch permanently (`--skip-done`)."""
        self._state.change(
            lambda tx: tx.many(_ADOPT, [(batch.id, request) for request in requests])
        )

    def reserve(
        self,
        batch: BatchName,
        likenesses: Iterable[str],
        check: Callable[[Sequence[Duplicate]], None],
    ) -> None:
        """Reserves the rows that a batch is going to send, until `end` or the process dies.

        `likenesses` is iterated twice, and is fastest if sorted. `check` gets the duplicates
        outside the batch and may raise. Both happen in one transaction, so that one of two batches
        sees the other one, however close they begin (R92).
        """

        def reserve(tx: Tx) -> None:
            for identifier in (batch.id, *self._find_dead(tx.rows, batch)):
                tx.execute(_LET_GO, (identifier,))  # of a run that was killed
            check(self._duplicates(tx.rows, batch, likenesses))
            if tx.many(_RESERVE, ((likeness, batch.id) for likeness in likenesses)):
                tx.execute(_NOT_WHOLE, (batch.id,))

        self._state.check_in_place()
        self._state.change(reserve)
        self._state.check_in_place()

    def _find_dead(self, rows: ReadRows, batch: BatchName) -> list[str]:
        """Finds batches that have reserved rows and whose processes are dead."""
        held = rows(_HELD, (batch.id,))
        return [row["id"] for row in held if not self._sender_locks.is_alive(row["lease"])]

    def _duplicates(
        self, rows: ReadRows, batch: BatchName, likenesses: Iterable[str]
    ) -> list[Duplicate]:
        found: list[Duplicate] = []
        alive = {row["id"] for row in rows(_HELD, (batch.id,))} - set(self._find_dead(rows, batch))
        others = bool(rows(_OTHERS, (batch.id, batch.id)))
        if not alive and not others:
            return found
        batches = {row["id"]: _batch_of(row) for row in rows(_EVERY_BATCH, ())}
        for piece in _pieces(likenesses):
            marks, given = ",".join("?" * len(piece)), (*piece, batch.id)
            for condition in (_DONE, UNRESOLVED) if others else ():
                seen = rows(_ELSEWHERE.format(condition, marks), given)
                found += [_duplicate_of(row, batches) for row in seen]
            held = rows(_RESERVED.format(marks), given) if alive else []
            found += [_duplicate_of(row, batches) for row in held if row["batch_id"] in alive]
        return list(dict.fromkeys(found))  # equal rows may stand in two pieces


def _batch_of(row: Row) -> BatchName:
    scope = Scope(row["profile"], row["mode"], row["base_url"], row["key_hint"])
    return BatchName(row["name"], row["operation"], scope, row["label"] or "")


def _duplicate_of(row: Row, batches: Mapping[str, BatchName]) -> Duplicate:
    """Builds a duplicate from a row of `_ELSEWHERE` or of `_RESERVED`, without state and id."""
    return Duplicate(
        row["likeness"],
        batches.get(row["batch_id"]),
        row.get("state") == "done",
        row.get("id"),
        row.get("settled_at"),
        row["key_hint"],
        row["profile"],
        row.get("object_id"),
        row.get("world"),
        row.get("served_at"),
        row.get("idempotency_key"),
        seq=row.get("seq"),
        created_at=row.get("created_at") or 0.0,
    )


def _marks_of(row: Row) -> tuple[tuple[str, str], ...]:
    key = row["idempotency_key"] if row["key_given"] else None
    return read_marks(row["path"], row["encoding"], row["body"], row_id=row["row_id"], key=key)


def _rename_old_batches(tx: Tx) -> None:
    """Migrates batches of versions without labels to their present ids."""
    for row in tx.rows(f"{_EVERY_BATCH} WHERE label IS NULL"):
        new = _batch_of(row).id
        if not tx.rows("SELECT 1 FROM batches WHERE id = ?", (new,)):
            tx.execute("UPDATE batches SET id = ?, label = '' WHERE id = ?", (new, row["id"]))
        else:  # of another profile: its rows tell by their keys whose they are
            tx.execute("DELETE FROM batches WHERE id = ?", (row["id"],))
        tx.execute("UPDATE requests SET batch_id = ? WHERE batch_id = ?", (new, row["id"]))
        tx.execute("DELETE FROM reservations WHERE batch_id = ?", (row["id"],))


def _pieces(values: Iterable[str]) -> Iterator[tuple[str, ...]]:
    left = iter(values)
    while piece := tuple(islice(left, _PIECE)):
        yield piece
