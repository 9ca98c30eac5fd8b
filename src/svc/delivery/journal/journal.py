"""The journal of POSTs: each is committed before its first byte is sent (promises R2-R5, R12).

The order is always `record` (or `lease`, to send it again), `Client.deliver`, `settle`. A process
that dies in between leaves the request unresolved and its lease free.

`send` uses it for single commands, `rows` for batches; `svc requests` lists, shows and deletes with
it. Most statements are in `transaction`; the table `requests` is in the state database.
"""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from threading import Lock
from typing import Final, TypeVar

from svc.clock import Clock
from svc.delivery.journal.entry import Intent, NewIntent, Scope, Settled, intent_of
from svc.delivery.journal.limits import NO_LIMITS, LimitBook, LimitRules, group_of
from svc.delivery.journal.refusals import FormatCommand, format_full_command
from svc.delivery.journal.sender_locks import SenderLocks
from svc.delivery.journal.transaction import (
    ANY_OLD,
    DUPLICATES,
    MADE_WITH,
    RESERVED,
    SELECT,
    UNRESOLVED,
    JournalTransaction,
    Like,
    by_id,
    by_key,
    is_claimed_by_other,
)
from svc.errors import LocalError
from svc.state import Database, Tx

Found = TypeVar("Found")

# A settled request is kept so long; the rows of a batch are for `batches` to let go of.
KEPT_SECONDS: Final = 90 * 24 * 3600
_ABOUT_MOST: Final = 1_000  # requests of one story
# One request in so many looks for old ones; others need not wait for it.
EVERY: Final = 256

# The condition of the index `request_settled`, word for word, so that SQLite uses it.
PRUNE: Final = """
DELETE FROM requests WHERE lease IS NULL AND seq IN (
  SELECT seq FROM requests WHERE settled_at < ?
    AND batch_id IS NULL AND state IN ('done', 'refused', 'not_sent') AND key_given = 0
    AND (kind IS NULL OR boot IS NOT ? OR uptime < ?)
  LIMIT 1000)"""
# No letter that could be read as another one: people type these ids.
_LETTERS = b"0123456789abcdefghjkmnpqrstvwxyz" * 8  # by byte value
_ID_LENGTH = 20


def make_id() -> str:
    """Makes a new request id: `rq_` and 20 letters and digits (100 random bits)."""
    return "rq_" + encode_letters(os.urandom(_ID_LENGTH))


def encode_letters(random: bytes) -> str:
    """Encodes at least 20 bytes as 20 letters and digits."""
    return random[:_ID_LENGTH].translate(_LETTERS).decode("ascii")


class Journal:
    """The requests of one state database; every method may be called from any thread.

    `open_state` is called at the first use. The process that records or leases a request holds its
    lease until `settle` or `release`; no other process can send it meanwhile (promise R69).
    `format_command` formats the command lines of hints.

    All methods raise LocalError if the database cannot be used.
    """

    def __init__(
        self,
        open_state: Callable[[], Database],
        sender_locks: SenderLocks,
        clock: Clock,
        new_id: Callable[[], str] = make_id,
        format_command: FormatCommand = format_full_command,
        rules: LimitRules = NO_LIMITS,
    ) -> None:
        self._open_state = open_state
        self._sender_locks = sender_locks
        self._clock = clock
        self._new_id = new_id
        self._format_command = format_command
        self._rules = rules
        self._opened: Database | None = None
        self._lock = Lock()

    # --- before the first byte ---

    def record(
        self,
        asked: NewIntent,
        choose: Callable[[Sequence[Like]], Intent | None] | None = None,
        *,
        new_request: bool = False,
    ) -> Intent:
        """Commits a POST with one fsync and takes its lease; only then may it be sent (R2).

        If the same request is on record with the same key, it is leased and not recorded again.
        `choose` gets the duplicates in the same transaction: it raises, or returns the one whose
        key is sent again. With `new_request` duplicates are allowed.

        Raises:
            Conflict: a duplicate is unresolved (R5) or being sent, or the key was used for another
                request (R12).
            OutcomeUnknown: the same request is on record with the key, and too old to be sent
                again (R4).
        """

        def admit(change: JournalTransaction) -> Intent:
            known = change.by_key(asked)
            if not new_request and (known is None or known.begins_anew):
                earlier = None if choose is None else choose(change.likes(asked))
                change.refuse_reserved(asked)
                if earlier is not None:
                    return change.take_up(earlier, asked)
            return change.admit([asked])[0]

        return self._change(admit)

    def record_many(self, asked: Sequence[NewIntent]) -> list[Intent]:
        """Commits several POSTs in one transaction, with one fsync.

        Duplicates are not looked for: that was done when the batch reserved its rows (R92).

        Raises:
            Conflict, OutcomeUnknown: as `record`, for the first such request; none is recorded.
        """
        return self._change(lambda change: change.admit(asked))

    def keep_known_from_results(self, told: Sequence[tuple[NewIntent, Settled | None]]) -> None:
        """Records requests that only a results file has, each with the time when it was sent.

        Such a request was sent by another machine, or before the journal was lost. With None for
        its outcome it is unresolved.
        """
        if told:
            self._change(lambda change: change.keep_known_from_results(told))

    def lease(
        self,
        identifier: str,
        *,
        key_fingerprint: str | None = None,
        server_time: float | None = None,
    ) -> Intent:
        """Begins to send a recorded request again under its own idempotency key (R3).

        `key_fingerprint` is that of the API key in use, if it is not that of the first sending.
        `server_time` is as in `NewIntent`, for a request whose 24 hours begin anew.

        Raises:
            NotFound: there is no such request.
            Conflict: the request is being sent now (R69), or is settled.
            OutcomeUnknown: it was sent 23 hours ago or more, or the clock is behind (R4).
        """
        return self._change(
            lambda change: change.reopen(change.find(identifier), key_fingerprint, server_time)
        )

    # --- afterwards ---

    def settle(self, intent: Intent, settled: Settled) -> bool:
        """Records the outcome of a request and releases its lease.

        Returns False if the answer belongs to another request: its object is on record under
        another idempotency key. The outcome of this request is then not known (promise R93).
        """
        return not self.settle_many([(intent, settled)])

    def settle_many(self, ends: Iterable[tuple[Intent, Settled]]) -> frozenset[str]:
        """Settles several requests in one transaction; returns the ids for which `settle` is False.

        It does not wait for the disk: after a power failure the requests are unresolved again, and
        resuming them brings the same answers. Now and then it deletes old requests as well.
        """
        ends = list(ends)
        taken = self._change(lambda change: change.settle(ends), durable=False)
        if any(intent.seq % EVERY == 0 for intent, _ in ends):
            with suppress(LocalError):  # there is a next time
                self.forget_old(self._clock.now())
        return taken

    def release(self, intent: Intent) -> None:
        """Releases the lease of a request that stays unresolved; the end of a process does too."""
        self._change(lambda change: change.release([intent]), durable=False)

    def forget(self, identifier: str) -> Intent:
        """Deletes a request, also from SQLite's log, and returns it.

        Raises:
            NotFound: there is no such request.
            Conflict: the request is being sent now.
        """

        def forget(change: JournalTransaction) -> Intent:
            found = change.find(identifier)
            change.forget(found)
            return found

        intent = self._change(forget)
        with suppress(LocalError):  # it is deleted; the next command empties the log
            self._state().empty_log()
        return intent

    def forget_old(self, now: float) -> int:
        """Deletes single commands' requests settled 90 days before `now`, at most 1,000; counts.

        It keeps those with a key of the user's own, and those that a limit may still count.
        """
        # A clock that was put ahead makes nothing old that a limit counts.
        boot, uptime = self._rules.uptime() or ("", 0.0)
        old = (now - KEPT_SECONDS, boot, uptime - KEPT_SECONDS)
        return self._change(lambda change: change.tx.execute(PRUNE, old), durable=False)

    def shorten_timeout(self, seconds: float) -> None:
        """From now on waits no longer for other processes: this one is about to end (R78)."""
        with self._lock:
            if self._opened is not None:
                self._opened.shorten_timeout(seconds)

    # --- looking ---

    def find(self, identifier: str) -> Intent | None:
        """The request with an id, or None."""
        return by_id(self._state().rows, identifier)

    def by_key(self, key: str, scope: Scope) -> Intent | None:
        """The request that used an idempotency key in a scope, or None."""
        return by_key(self._state().rows, key, scope)

    def list_other_keys(self, asked: NewIntent) -> frozenset[str]:
        """The fingerprints of other API keys with which a duplicate was, or will be, begun."""
        rows = [
            *self._state().rows(DUPLICATES, (asked.likeness,)),
            *self._state().rows(RESERVED, (asked.likeness,)),
        ]
        return frozenset(row["key_hint"] for row in rows if not asked.is_own(row["key_hint"]))

    def list(
        self,
        *,
        unresolved: bool = False,
        batch: str | None = None,
        limit: int | None = None,
        since: float | None = None,
        about: str | None = None,
        path: str | None = None,
    ) -> list[Intent]:
        """Lists requests, newest first; those of a batch in the order of its rows.

        `since` (Unix seconds) leaves out requests recorded before; `about` is the id of an object
        that they created or name; in a `path`, `*` stands for one id.
        """
        where: dict[str, tuple[str | float, ...]] = {UNRESOLVED: ()} if unresolved else {}
        if batch is not None:
            where["batch_id = ?"] = (batch,)
        if since is not None:
            where["created_at >= ?"] = (since,)
        if about is not None:
            where["(object_id = ? OR instr(path, ?) OR instr(body, ?))"] = (about,) * 3
        if path is not None:
            deeper = path.replace("*", "*/*") if "*" in path else ""
            where["path GLOB ? AND path NOT GLOB ?"] = (path, deeper)
        condition = f" WHERE {' AND '.join(where)}" if where else ""
        order = "seq DESC" if batch is None else "batch_row"
        most = -1 if limit is None else min(limit, sys.maxsize)
        params = (*(value for values in where.values() for value in values), most)
        sql = f"{SELECT}{condition} ORDER BY {order} LIMIT ?"
        return self._state().read(sql, params, intent_of)

    def read_batch(self, batch: str, use: Callable[[Intent], object]) -> None:
        """Calls a function with each request of a batch, in the order of its rows."""
        sql = f"{SELECT} WHERE batch_id = ? ORDER BY batch_row"
        self._state().read_each(sql, (batch,), lambda row: use(intent_of(row)))

    def about(self, object_ids: Sequence[str]) -> tuple[Intent, ...]:
        """Lists requests that created, changed or name one of these objects, oldest first."""
        named = " OR ".join(["instr(path || ' ' || CAST(body AS TEXT), ?)"] * len(object_ids))
        made = f"object_id IN ({', '.join('?' * len(object_ids))})"
        sql = f"{SELECT} WHERE {made} OR {named or 'FALSE'} ORDER BY seq LIMIT {_ABOUT_MOST}"
        return tuple(map(intent_of, self._state().rows(sql, (*object_ids, *object_ids))))

    def list_forgotten_keys(self) -> frozenset[str]:
        """Lists the idempotency keys of requests that a person has deleted."""
        rows = self._state().rows("SELECT idempotency_key FROM forgotten")
        return frozenset(row["idempotency_key"] for row in rows)

    def list_made_with(self, key_fingerprint: str, scope: Scope) -> tuple[str, ...]:
        """Lists the ids of the newest objects created or changed with an API key in a scope."""
        place = (key_fingerprint, scope.base_url, scope.mode)
        return tuple(row["object_id"] for row in self._state().rows(MADE_WITH, place))

    def is_claimed_by_other(self, intent: Intent, object_id: str, world: str | None = None) -> bool:
        """Whether the object of an answer is on record as that of another request (R93).

        `world` identifies the state of the sandbox that answered, see `contradiction.world_of`.
        """
        return is_claimed_by_other(self._state().rows, intent, object_id, world)

    def is_in_flight(self, intent: Intent) -> bool:
        """Whether a process is sending a request now."""
        return self._sender_locks.is_alive(intent.lease)

    def is_limited(self, scope: Scope, path: str) -> bool:
        """Whether a limit of the configuration applies to POSTs to a path."""
        return bool(self._rules.limits_for(scope, group_of(path)))

    def limits(self) -> LimitBook:
        """The limits of the configuration with their present use."""
        return LimitBook(self._state().rows, self._rules, self._clock.now())

    # --- inside ---

    def _state(self) -> Database:
        with self._lock:
            if self._opened is None:
                self._opened = self._open_state()
                if self._opened.rows(ANY_OLD):
                    self._opened.change(lambda tx: self._transaction(tx).read_old())
            return self._opened

    def _change(
        self, step: Callable[[JournalTransaction], Found], *, durable: bool = True
    ) -> Found:
        """Runs a step in one transaction, and releases the lock if a signal interrupts it.

        The lock is needed again: while the signal is handled, the outcome is recorded.
        """
        state = self._state()

        def change() -> Found:
            return state.change(lambda tx: step(self._transaction(tx)))

        with self._lock:
            state.check_in_place()
            found = change() if durable else _change_unsynced(state, change)
            state.check_in_place()  # what went into a file that is gone is not kept
        return found

    def _transaction(self, tx: Tx) -> JournalTransaction:
        now = self._clock.now()
        return JournalTransaction(
            tx, self._sender_locks, now, self._new_id, self._format_command, self._rules
        )


def _change_unsynced(state: Database, change: Callable[[], Found]) -> Found:
    """Runs a change without a sync to the disk."""
    try:
        state.rows("PRAGMA synchronous = NORMAL")
        found = change()
    except BaseException:
        with suppress(LocalError):  # the database may be gone; the first reason is told
            state.rows("PRAGMA synchronous = FULL")
        raise
    state.rows("PRAGMA synchronous = FULL")
    return found
