"""Results stored under idempotency keys, for 24 hours of the sandbox's clock."""

from dataclasses import dataclass
from datetime import datetime

from svc.sandbox.store import Store
from svc.sandbox.times import SECOND, micros, moment
from svc.spec import IDEMPOTENCY_RETENTION_SECONDS

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
