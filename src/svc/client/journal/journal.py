"""The journal of POSTs: each is committed before its first byte leaves (promises R2-R5, R12).

The order is always the same: `record` (or `lease`, to send it again), then `Client.deliver`, then
`settle`. A process that dies in between leaves the request unresolved and its lease free.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Final

from svc.client.journal.entry import Asked, Intent, Scope, Settled, intent_of
from svc.client.journal.leases import Leases
from svc.client.journal.transaction import (
    BY_ID,
    BY_KEY,
    MADE_WITH,
    RELEASE,
    SELECT,
    SETTLE,
    TWIN,
    UNRESOLVED,
    JournalTransaction,
    twin_params,
)
from svc.clock import Clock
from svc.errors import LocalError
from svc.journal import State, Tx

KEPT_SECONDS: Final = 90 * 24 * 3600
# One request in so many looks for old ones; others need not wait for it.
EVERY: Final = 256

# The condition of the index `request_settled`, word for word, so that SQLite uses it. A key of ours
# is a random UUID (version 4).
PRUNE: Final = """
DELETE FROM requests WHERE lease IS NULL AND seq IN (
  SELECT seq FROM requests WHERE settled_at < ?
    AND batch_id IS NULL AND state IN ('done', 'refused', 'not_sent')
    AND length(idempotency_key) = 36 AND substr(idempotency_key, 15, 1) = '4'
  LIMIT 1000)"""
# No letter that could be read as another one: people type these ids.
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_ID_LENGTH = 20


def fresh_id() -> str:
    """A new request id: `rq_` and 20 letters and digits (100 random bits)."""
    return "rq_" + "".join(_LETTERS[byte % 32] for byte in os.urandom(_ID_LENGTH))


class Journal:
    """The requests of one state database; every method may be called from any thread.

    `open_state` is called at the first use. Whoever records or leases a request holds its lease
    until `settle` or `release`; nobody else can send it meanwhile (promise R69).

    All methods raise LocalError where the database cannot be used.
    """

    def __init__(
        self,
        open_state: Callable[[], State],
        leases: Leases,
        clock: Clock,
        new_id: Callable[[], str] = fresh_id,
    ) -> None:
        self._open_state = open_state
        self._leases = leases
        self._clock = clock
        self._new_id = new_id
        self._opened: State | None = None
        self._lock = Lock()

    # --- before the first byte ---

    def record(self, asked: Asked, *, new_request: bool = False) -> Intent:
        """Commits a POST with one fsync and takes its lease; only then may it be sent (R2).

        The same key with the same request leases what is there instead of recording a second one.
        `new_request` says that an unresolved twin is known and another one is meant.

        Raises:
            Conflict: the same request is unresolved (R5), is being sent, or the key was used for
                another one (R12).
            OutcomeUnknown: the same key and request, but too old to send again (R4).
        """
        with self._changing() as change:
            if not new_request and change.by_key(asked) is None:
                change.refuse_twin(asked)
            return change.admit(asked)

    def record_many(self, asked: Sequence[Asked]) -> list[Intent]:
        """Commits several POSTs in one transaction, with one fsync; twins are not looked for.

        Raises:
            Conflict, OutcomeUnknown: as `record`, on the first that cannot be; none is recorded.
        """
        with self._changing() as change:
            return [change.admit(one) for one in asked]

    def lease(self, identifier: str) -> Intent:
        """Begins to send a recorded request again under its own key (R3).

        Raises:
            NotFound: no such request.
            Conflict: it is being sent now (R69), or is settled.
            OutcomeUnknown: it was sent 23 hours ago or more, or the clock runs behind (R4).
        """
        with self._changing() as change:
            return change.reopen(change.find(identifier))

    # --- afterwards ---

    def settle(self, intent: Intent, settled: Settled) -> None:
        """Keeps how a request ended, and gives its lease back."""
        self.settle_many([(intent, settled)])

    def settle_many(self, ends: Iterable[tuple[Intent, Settled]]) -> None:
        """The same for several in one transaction.

        This does not wait for the disk: what a power cut takes away is unresolved again, and
        resuming it brings the same answer. Now and then old ones are forgotten afterwards.
        """
        now = self._clock.now()
        ends = list(ends)
        with self._writing(durable=False) as tx:
            tx.many(SETTLE, [(*end, now, intent.id, end.outcome) for intent, end in ends])
            tx.many(RELEASE, [(intent.id, intent.lease) for intent, _ in ends])
        if any(intent.seq % EVERY == 0 for intent, _ in ends):
            self._forget_old(now)

    def release(self, intent: Intent) -> None:
        """Gives a lease back and leaves the request unresolved; a process that ends need not."""
        with self._writing(durable=False) as tx:
            tx.execute(RELEASE, (intent.id, intent.lease))

    def forget(self, identifier: str) -> Intent:
        """Deletes a request from the journal and returns what was known of it.

        Raises:
            NotFound: no such request.
            Conflict: it is being sent now.
        """
        with self._changing() as change:
            intent = change.find(identifier)
            change.forget(intent)
        return intent

    def hurry(self, seconds: float) -> None:
        """From now on waits no longer for other processes: this one is about to end (R78)."""
        with self._lock:
            if self._opened is not None:
                self._opened.hurry(seconds)

    # --- looking ---

    def find(self, identifier: str) -> Intent | None:
        """The request of an id."""
        rows = self._state().rows(BY_ID, (identifier,))
        return intent_of(rows[0]) if rows else None

    def by_key(self, key: str, scope: Scope) -> Intent | None:
        """The request that used an idempotency key in a scope."""
        rows = self._state().rows(BY_KEY, (key, scope.base_url, scope.mode, scope.profile))
        return intent_of(rows[0]) if rows else None

    def twin(self, asked: Asked) -> Intent | None:
        """An unresolved request with the same method, path and body in the same scope (R5)."""
        rows = self._state().rows(TWIN, twin_params(asked))
        return intent_of(rows[0]) if rows else None

    def list(
        self, *, unresolved: bool = False, batch: str | None = None, limit: int | None = None
    ) -> list[Intent]:
        """Requests, newest first; of a batch, in the order of its rows."""
        where = [UNRESOLVED] if unresolved else []
        if batch is not None:
            where.append("batch_id = ?")
        condition = f" WHERE {' AND '.join(where)}" if where else ""
        order = "seq DESC" if batch is None else "batch_row"
        params = (*(() if batch is None else (batch,)), -1 if limit is None else limit)
        sql = f"{SELECT}{condition} ORDER BY {order} LIMIT ?"
        return [intent_of(row) for row in self._state().rows(sql, params)]

    def made_with(self, key_hint: str, scope: Scope) -> tuple[str, ...]:
        """Ids of the latest objects that were made or changed with an API key in a scope."""
        place = (key_hint, scope.base_url, scope.mode)
        return tuple(row["object_id"] for row in self._state().rows(MADE_WITH, place))

    def is_in_flight(self, intent: Intent) -> bool:
        """Whether some process is sending a request now."""
        return self._leases.is_alive(intent.lease)

    # --- inside ---

    def _forget_old(self, now: float) -> None:
        with suppress(LocalError), self._writing(durable=False) as tx:  # there is a next time
            tx.execute(PRUNE, (now - KEPT_SECONDS,))

    def _state(self) -> State:
        with self._lock:
            if self._opened is None:
                self._opened = self._open_state()
            return self._opened

    @contextmanager
    def _writing(self, *, durable: bool) -> Iterator[Tx]:
        state = self._state()
        with self._lock:
            if not durable:
                state.rows("PRAGMA synchronous = NORMAL")
            try:
                with state.write() as tx:
                    yield tx
            finally:
                if not durable:
                    state.rows("PRAGMA synchronous = FULL")

    @contextmanager
    def _changing(self) -> Iterator[JournalTransaction]:
        with self._writing(durable=True) as tx:
            yield JournalTransaction(tx, self._leases, self._clock.now(), self._new_id)
