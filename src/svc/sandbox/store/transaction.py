"""What one call sees and changes: one mode, one moment, one open transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from svc.sandbox.clock import SECOND, micros, moment, text
from svc.sandbox.store import deliveries, documents, events, jobs
from svc.sandbox.store.documents import Doc, decode
from svc.sandbox.store.ids import IdSource
from svc.sandbox.store.settings import StoredSettings
from svc.sandbox.store.sqlite import Store
from svc.spec import IDEMPOTENCY_RETENTION_SECONDS


def read(store: Store, mode: str, currency: str) -> int:
    """The balance, 0 where none was ever kept."""
    sql = "SELECT amount FROM balances WHERE mode = ? AND currency = ?"
    row = store.one(sql, mode, currency)
    amount: int = row[0] if row else 0
    return amount


def write(store: Store, mode: str, currency: str, amount: int) -> None:
    sql = "INSERT OR REPLACE INTO balances(mode, currency, amount) VALUES(?, ?, ?)"
    store.write(sql, mode, currency, amount)


def every(store: Store, mode: str) -> dict[str, int]:
    """All balances by currency, in alphabetical order."""
    sql = "SELECT currency, amount FROM balances WHERE mode = ? ORDER BY currency"
    return {currency: amount for currency, amount in store.all(sql, mode)}  # noqa: C416  rows, not pairs


_RETENTION = IDEMPOTENCY_RETENTION_SECONDS * SECOND
_SHED = (
    "DELETE FROM results WHERE rowid IN"
    " (SELECT rowid FROM results WHERE first_used <= ? ORDER BY first_used LIMIT 2)"
)


@dataclass(frozen=True, slots=True)
class StoredResult:
    """What a key was answered with: replayed byte for byte while the key is held."""

    fingerprint: str
    status: int
    body: bytes
    first_used: datetime


def retrieve(store: Store, mode: str, key: str, now: int) -> StoredResult | None:
    """The stored result, or None; at exactly 24 h after the first use the key is free."""
    sql = "SELECT fingerprint, status, body, first_used FROM results WHERE mode = ? AND key = ?"
    row = store.one(sql, mode, key)
    if row is None or now - row[3] >= _RETENTION:
        return None
    return StoredResult(row[0], row[1], row[2], moment(row[3]))


def keep(store: Store, mode: str, key: str, result: StoredResult) -> None:
    """Stores a result; two whose time is over make room for it, so that the table stays bounded."""
    store.write(_SHED, micros(result.first_used) - _RETENTION)
    store.write(
        "INSERT OR REPLACE INTO results(mode, key, fingerprint, status, body, first_used)"
        " VALUES(?, ?, ?, ?, ?, ?)",
        mode,
        key,
        result.fingerprint,
        result.status,
        result.body,
        micros(result.first_used),
    )


def purge(store: Store, now: int) -> int:
    """Deletes what is no longer held; returns how many."""
    return store.write("DELETE FROM results WHERE first_used <= ?", now - _RETENTION)


@dataclass(slots=True)
class SharedState:
    """What all worlds share; `scheduled` is set when a job was added."""

    store: Store
    ids: IdSource
    settings: StoredSettings
    scheduled: bool = False


class Transaction:
    """One transaction's view in one mode. Everything is synchronous; nothing here waits.

    `now` is the sandbox's clock when the call began, or the due moment of the job that runs.
    """

    __slots__ = ("_ground", "emitted", "mode", "now", "now_text")

    def __init__(self, ground: SharedState, mode: str, now: int) -> None:
        self._ground = ground
        self.mode = mode
        self.now: datetime = moment(now)
        self.now_text: str = text(self.now)
        self.emitted = 0

    @property
    def livemode(self) -> bool:
        return self.mode == "live"

    @property
    def store(self) -> Store:
        """The tables themselves, for the engine's own modules."""
        return self._ground.store

    @property
    def ids(self) -> IdSource:
        return self._ground.ids

    # --- settings and identifiers -------------------------------------------------------------

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings in force (assumptions: Settings); account-wide."""
        return self._ground.settings.current

    def update_settings(self, changes: Mapping[str, Any]) -> None:
        """Stores settings that were checked (`settings.FIELDS`); KeyError for an unknown one."""
        self._ground.settings.update(changes)

    def new_id(self, prefix: str) -> str:
        """Prefix and 24 characters of `[0-9A-Za-z]`."""
        return self._ground.ids.new(prefix)

    def new_secret(self, prefix: str, length: int) -> str:
        """Prefix and `length` characters of `[0-9A-Za-z]`."""
        return self._ground.ids.new(prefix, length)

    # --- documents ----------------------------------------------------------------------------

    def add(self, doc: Doc) -> None:
        """Inserts a document; it needs `id`, `object` (its kind) and `created`."""
        documents.insert(self.store, self.mode, doc)

    def save(self, doc: Doc) -> None:
        """Replaces the stored document of this id; KeyError if there is none in this mode."""
        documents.replace(self.store, self.mode, doc)

    def remove(self, kind: str, identity: str) -> bool:
        """Deletes a document and says whether it was there."""
        return documents.remove(self.store, self.mode, kind, identity)

    def get(self, kind: str, identity: str) -> Doc | None:
        """A fresh copy of one document of this mode; an event is found for 30 days."""
        if kind == "event":
            body = events.retrieve(self.store, self.mode, identity, micros(self.now))
            return decode(body) if body else None
        return documents.retrieve(self.store, self.mode, kind, identity)

    def find(self, kind: str, **equals: str) -> list[Doc]:
        """All documents with these values of `status`, `order`, `payment`; oldest first."""
        return documents.find(self.store, self.mode, kind, equals)

    def page(
        self,
        kind: str,
        *,
        equals: Mapping[str, str] | None = None,
        bounds: Mapping[str, str] | None = None,
        limit: int,
        after: str | None = None,
    ) -> tuple[list[Doc], bool]:
        """One page, newest first, and whether more follow; `bounds` limit `created`.

        Raises:
            KeyError: `after` names no document of this kind and mode.
        """
        return documents.page(
            self.store,
            self.mode,
            kind,
            equals=equals or {},
            bounds=bounds or {},
            limit=limit,
            after=after,
        )

    # --- events and jobs ----------------------------------------------------------------------

    def emit(self, event_type: str, doc: Doc) -> Doc:
        """Stores the event of a change and queues its deliveries, in this transaction.

        It goes to every endpoint of this mode that is enabled and subscribed now.
        """
        now = micros(self.now)
        version = self.settings["pinned_version"]
        event = events.build(self.ids, self.mode, now, event_type, version, doc)
        events.insert(self.store, self.mode, now, event)
        self.emitted += 1
        for endpoint in self.find("webhook_endpoint", status="enabled"):
            if event_type in endpoint["events"]:
                self.queue_delivery(event, endpoint, now, {"step": 1})
        return event

    def queue_delivery(self, event: Doc, endpoint: Doc, due: int, chain: dict[str, Any]) -> str:
        """Adds a webhook attempt due at a moment (microseconds); returns its `dlv_` id."""
        self._ground.scheduled = True
        what, where = (event["id"], event["type"]), (endpoint["id"], endpoint["url"])
        return deliveries.queue(self.store, self.ids, self.mode, what, where, due, chain)

    def schedule(self, seconds: int, job: str, subject: str, **args: Any) -> None:
        """Has the handler of `job` run `seconds` from now on the sandbox's clock."""
        self._schedule(micros(self.now) + seconds * SECOND, job, subject, args)

    def schedule_at(self, due: datetime, job: str, subject: str, **args: Any) -> None:
        """Has the handler of `job` run at a moment of the sandbox's clock."""
        self._schedule(micros(due), job, subject, args)

    def cancel_jobs(self, job: str, subject: str) -> None:
        """Forgets the jobs of this name and subject."""
        jobs.cancel(self.store, self.mode, job, subject)

    def _schedule(self, due: int, job: str, subject: str, args: dict[str, Any]) -> None:
        self._ground.scheduled = True
        jobs.add(self.store, self.mode, due, job, subject, args)

    # --- balances and stored results ----------------------------------------------------------

    def balance(self, currency: str) -> int:
        """Minor units."""
        return read(self.store, self.mode, currency)

    def balances(self) -> dict[str, int]:
        """All balances by currency, minor units."""
        return every(self.store, self.mode)

    def set_balance(self, currency: str, amount: int) -> None:
        write(self.store, self.mode, currency, amount)

    def move_balance(self, currency: str, delta: int) -> None:
        """Adds `delta` minor units, which may be negative; the balance may become so too."""
        self.set_balance(currency, self.balance(currency) + delta)

    def get_result(self, key: str) -> StoredResult | None:
        """The result stored under an idempotency key; at exactly 24 h the key is free."""
        return retrieve(self.store, self.mode, key, micros(self.now))

    def put_result(
        self, key: str, fingerprint: str, status: int, body: bytes, first_used: datetime
    ) -> None:
        """Stores the result of a call in the same transaction as its effects (promise R82)."""
        result = StoredResult(fingerprint, status, body, first_used)
        keep(self.store, self.mode, key, result)
