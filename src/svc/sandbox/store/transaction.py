"""`Transaction`: what one call sees and changes, in one mode at one moment.

`commit` makes one for each call and passes it to the function of `api`, `control`, `checkout` or a
job, which reads and writes objects, events, jobs, settings and balances by it. `SharedState` has
what is saved with every commit besides: where ids, clock and creation sequence stand.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from svc.errors import LocalError
from svc.sandbox.clock import SECOND, ClockMode, VirtualClock, micros, moment, text_of
from svc.sandbox.store import INTEGER_MAX, deliveries, events, jobs
from svc.sandbox.store.documents import CachedDocs, Doc, DocumentRows, decode
from svc.sandbox.store.ids import IdSource
from svc.sandbox.store.settings import StoredSettings
from svc.sandbox.store.sqlite import Store
from svc.service.facts import ID_PREFIXES, IDEMPOTENCY_RETENTION_SECONDS

_RETENTION = IDEMPOTENCY_RETENTION_SECONDS * SECOND
_PUT = (
    "INSERT OR REPLACE INTO results(mode, key, fingerprint, status, body, first_used)"
    " VALUES(?, ?, ?, ?, ?, ?)"
)
_SHED = (
    "DELETE FROM results WHERE rowid IN"
    " (SELECT rowid FROM results WHERE first_used <= ? ORDER BY first_used LIMIT 2)"
)
_STATE: Final = "state"

# Where ids, clock and creation sequence stand.
StateMark: TypeAlias = tuple[IdSource, int, tuple[ClockMode, int, int], int | None]


class StoredResult(NamedTuple):
    """The answer stored under an idempotency key: replayed byte for byte for 24 hours."""

    fingerprint: str
    status: int
    body: bytes


@dataclass(slots=True)
class SharedState:
    """What all transactions share.

    Attributes:
        cached: what `get_cached` has read, by mode and id.
        kept_since: no result of a key is older, in microseconds.
        scheduled: set when a job was added.
    """

    store: Store
    ids: IdSource
    settings: StoredSettings
    clock: VirtualClock
    cached: CachedDocs = field(default_factory=dict)
    kept_since: int = 0
    scheduled: bool = False

    def forget(self) -> None:
        """Reads anew at the next use: a transaction was taken back, or all was replaced."""
        self.settings.forget()
        self.cached.clear()
        self.kept_since = 0

    def mark(self) -> StateMark:
        """Where all stands; give it to `return_to`."""
        return self.ids, self.ids.counter, self.clock.position, self.store.sequence

    def return_to(self, mark: StateMark) -> None:
        """Takes back what calls have changed in memory since a mark."""
        self.ids, self.ids.counter, moment, self.store.sequence = mark
        self.clock.rewind(moment)
        self.forget()

    def save(self) -> None:
        """Stores ids, clock and creation sequence, inside the open transaction."""
        state = {
            "ids": self.ids.dump(),
            "clock": self.clock.dump(),
            "sequence": self.store.sequence,
        }
        self.store.set_meta(_STATE, json.dumps(state))

    def return_clock(self) -> None:
        """Sets the clock back to where the last commit saved it."""
        self.clock.load(json.loads(self.store.meta(_STATE) or "")["clock"])

    def load(self) -> None:
        """Reads ids, clock and creation sequence as of the last commit.

        Raises:
            LocalError: what is stored is no state of a clock and of ids.
        """
        shown, self.store.sequence = self.store.meta(_STATE), None
        if shown is None:
            return
        try:
            state = json.loads(shown)
            ids = self.ids.load(state["ids"])
            self.clock.load(state["clock"])
            self.store.sequence = _read_sequence(state)
        except (KeyError, TypeError, ValueError) as error:
            raise LocalError(
                f"The sandbox file {self.store.path} has an invalid state of its clock or "
                f"ids: {error}.",
                hint="Give another file with --db FILE; this one was left as it is",
            ) from error
        self.ids = ids


def _read_sequence(state: Mapping[str, Any]) -> int | None:
    """The saved creation sequence; None where an older svc has saved none."""
    sequence = state.get("sequence")
    if sequence is not None and (type(sequence) is not int or not 0 <= sequence <= INTEGER_MAX):
        raise ValueError("the documents were counted to no number")
    return sequence


class Transaction(DocumentRows):
    """One transaction's view in one mode. Everything is synchronous; nothing here waits.

    `now_micros` is the sandbox's clock when the call began, or the due moment of the job that runs.
    """

    __slots__ = ("_shared", "_whose", "emitted", "now_micros")

    def __init__(self, shared: SharedState, mode: str, now: int) -> None:
        super().__init__(shared.store, mode, shared.cached)
        self._shared = shared
        self.now_micros = now
        self.emitted = 0
        self._whose: tuple[str, ...] = ()

    @property
    def now(self) -> datetime:
        """The moment as a date and time."""
        return moment(self.now_micros)

    @property
    def now_text(self) -> str:
        """The moment as the API writes it."""
        return text_of(self.now_micros)

    @property
    def livemode(self) -> bool:
        return self.mode == "live"

    @property
    def ids(self) -> IdSource:
        return self._shared.ids

    # --- settings and identifiers -------------------------------------------------------------

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings in force (assumptions: Settings): of all, of the key and of the order."""
        return self._shared.settings.of(*self._whose)

    def is_set(self, name: str) -> bool:
        """Whether a setting that is off by default is on for all, or for one key or order."""
        return self._shared.settings.is_set(name)

    @property
    def key(self) -> str | None:
        """The id of the key that calls, where one does."""
        return self._whose[0] if self._whose else None

    def act_for(self, key: str | None, order: str | None = None) -> None:
        """From here on the settings of a key and of an order hold, by their ids."""
        self._whose = tuple(filter(None, (key, order)))

    def update_settings(self, changes: Mapping[str, Any], whose: str | None = None) -> None:
        """Stores settings that were checked (`settings.FIELDS`); KeyError for an unknown one."""
        self._shared.settings.update(changes, whose)

    def new_id(self, prefix: str) -> str:
        """Prefix and 24 characters of `[0-9A-Za-z]`."""
        return self._shared.ids.new(prefix)

    def new(self, kind: str, fields: Doc, identity: str | None = None) -> Doc:
        """A document not stored yet: its fields and what all have; its id is drawn unless given."""
        return {
            "id": identity or self.new_id(ID_PREFIXES[kind]),
            "object": kind,
            **fields,
            "created": self.now_text,
            "livemode": self.livemode,
        }

    def stored(self, kind: str, identity: str) -> Doc:
        """The document that another one refers to, so that it must be there."""
        found = self.get(kind, identity)
        assert found is not None, identity
        return found

    def get(self, kind: str, identity: str) -> Doc | None:
        """A fresh copy of one document of this mode; an event is found for 30 days."""
        if kind == "event":
            body = events.retrieve(self.store, self.mode, identity, self.now_micros)
            return decode(body) if body else None
        return super().get(kind, identity)

    # --- events and jobs ----------------------------------------------------------------------

    def emit(self, event_type: str, doc: Doc) -> Doc:
        """Stores the event of a change and queues its deliveries, in this transaction.

        It goes to every endpoint of this mode that is enabled and subscribed now.
        """
        now = self.now_micros
        version = self.settings["pinned_version"]
        event = events.insert(self.store, self.ids, self.mode, now, event_type, version, doc)
        self.emitted += 1
        for endpoint in self.find("webhook_endpoint", status="enabled"):
            if event_type in endpoint["events"]:
                self.queue_delivery(event, endpoint, now, {"step": 1})
        return event

    def queue_delivery(self, event: Doc, endpoint: Doc, due: int, chain: dict[str, Any]) -> str:
        """Adds a webhook attempt due at a moment (microseconds); returns its `dlv_` id."""
        self._shared.scheduled = True
        what, where = (event["id"], event["type"]), (endpoint["id"], endpoint["url"])
        return deliveries.queue(self.store, self.ids, self.mode, what, where, due, chain)

    def schedule(self, seconds: int, job: str, subject: str, **args: Any) -> None:
        """Schedules the handler of `job` for `seconds` from now on the sandbox's clock."""
        self.schedule_at(moment(self.now_micros + seconds * SECOND), job, subject, **args)

    def schedule_at(self, due: datetime, job: str, subject: str, **args: Any) -> None:
        """Schedules the handler of `job` for a moment of the sandbox's clock."""
        self._shared.scheduled = True
        jobs.add(self.store, self.mode, micros(due), job, subject, args)

    def cancel_jobs(self, job: str, subject: str) -> None:
        """Deletes the jobs of this name and subject."""
        jobs.cancel(self.store, self.mode, job, subject)

    # --- balances and stored results ----------------------------------------------------------

    def balance(self, currency: str) -> int:
        """Minor units, 0 where no balance was ever kept."""
        sql = "SELECT amount FROM balances WHERE mode = ? AND currency = ?"
        row = self.store.one(sql, self.mode, currency)
        return int(row[0]) if row else 0

    def balances(self) -> dict[str, int]:
        """All balances by currency in alphabetical order, minor units."""
        sql = "SELECT currency, amount FROM balances WHERE mode = ? ORDER BY currency"
        return {row[0]: row[1] for row in self.store.all(sql, self.mode)}

    def set_balance(self, currency: str, amount: int) -> None:
        sql = "INSERT OR REPLACE INTO balances(mode, currency, amount) VALUES(?, ?, ?)"
        self.store.write(sql, self.mode, currency, amount)

    def move_balance(self, currency: str, delta: int) -> None:
        """Adds `delta` minor units, which may be negative; the balance may become so too."""
        self.set_balance(currency, self.balance(currency) + delta)

    def get_result(self, key: str) -> StoredResult | None:
        """The result stored under an idempotency key; at exactly 24 h the key is free."""
        sql = "SELECT fingerprint, status, body, first_used FROM results WHERE mode = ? AND key = ?"
        row = self.store.one(sql, self.mode, key)
        if row is None or self.now_micros - row[3] >= _RETENTION:
            return None
        return StoredResult(*row[:3])

    def put_result(self, key: str, fingerprint: str, status: int, body: bytes) -> None:
        """Stores the result of a call in the same transaction as its effects (promise R82).

        Two whose time is over make room for it, so that the table stays bounded.
        """
        now, shared = self.now_micros, self._shared
        self.store.write(_PUT, self.mode, key, fingerprint, status, body, now)
        if shared.kept_since <= now - _RETENTION:
            self.store.write(_SHED, now - _RETENTION)
            ((shared.kept_since,),) = self.store.all("SELECT MIN(first_used) FROM results")
