"""The table of events, whose bytes are made once and never change (assumptions: Events).

`Transaction.emit` inserts one. The API retrieves them for 30 days, `svc sandbox events` lists them
by `control`, and every delivery sends the stored bytes.
"""

from svc.sandbox.clock import SECOND, text_of
from svc.sandbox.store.documents import Doc, compact, public
from svc.sandbox.store.ids import IdSource
from svc.sandbox.store.sqlite import Store, Value
from svc.service.facts import ID_PREFIXES, NEWEST_VERSION

RETENTION_SECONDS = 30 * 24 * 3600
_RETENTION = RETENTION_SECONDS * SECOND
_OLDEST = "SELECT seq, id, created FROM events ORDER BY seq LIMIT 2"
_OPEN = "SELECT 1 FROM deliveries WHERE event = ? AND status = 'pending' LIMIT 1"


def insert(
    store: Store, ids: IdSource, mode: str, now: int, event_type: str, version: str | None, doc: Doc
) -> Doc:
    """Stores the event of a change with the bytes that every delivery will carry; returns it.

    It has a snapshot without private keys, which secrets are. Two events that are no longer shown
    make room for it, with the log of their deliveries, so that neither table grows for ever. What
    still has to be delivered stays.
    """
    _delete_old(store, now)
    event: Doc = {
        "id": ids.new(ID_PREFIXES["event"]),
        "object": "event",
        "type": event_type,
        "created": text_of(now),
        "livemode": mode == "live",
        "api_version": version or NEWEST_VERSION,
        "data": {"object": public(doc)},
    }
    sql = "INSERT INTO events(id, mode, type, created, body) VALUES(?, ?, ?, ?, ?)"
    store.write(sql, event["id"], mode, event_type, now, compact(event))
    return event


def retrieve(store: Store, mode: str, identity: str, now: int) -> bytes | None:
    """The event's bytes, or None; at exactly 30 days it is gone."""
    if not identity.isascii():
        return None
    sql = "SELECT body FROM events WHERE id = ? AND mode = ? AND created > ?"
    row = store.one(sql, identity, mode, now - _RETENTION)
    return row[0] if row else None


def body(store: Store, identity: str) -> bytes | None:
    """The bytes to deliver, whatever the event's age: a held attempt may be late."""
    row = store.one("SELECT body FROM events WHERE id = ?", identity)
    return row[0] if row else None


def page(
    store: Store, mode: str, now: int, *, event_type: str | None, limit: int, after: str | None
) -> tuple[list[bytes], bool]:
    """A page of events, newest first, and whether more follow; raises KeyError: no such `after`."""
    terms: dict[str, Value] = {"mode = ?": mode, "created > ?": now - _RETENTION}
    if event_type is not None:
        terms["type = ?"] = event_type
    rows, more = store.page("events", "body", terms, limit, after)
    return [row[0] for row in rows], more


def _delete_old(store: Store, now: int) -> None:
    for seq, identity, created in store.all(_OLDEST):
        if now - created < _RETENTION:
            return
        if store.one(_OPEN, identity) is None:
            store.write("DELETE FROM deliveries WHERE event = ?", identity)
            store.write("DELETE FROM events WHERE seq = ?", seq)
