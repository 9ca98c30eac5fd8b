"""The table of webhook deliveries: one row for each attempt, made or still to be made.

`Transaction` queues an attempt for each event and endpoint; `webhooks.attempts` writes how it went
and queues retries; `resources.webhook_endpoints` drops those of a disabled endpoint. `svc sandbox
deliveries` lists the table by `control`, and `lint` reads it.
"""

from typing import Any, NamedTuple

from svc.sandbox.clock import text_of
from svc.sandbox.store import DeliveryStatus, jobs
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.ids import IdSource
from svc.sandbox.store.sqlite import Store, Value

_FIELDS = "id, event, type, endpoint, url, attempt, status, due, started, code, error, ms, next"
DELIVERY_PREFIX = "dlv_"
FILTERS = ("event", "endpoint", "status")
_INSERT = (
    "INSERT INTO deliveries(id, mode, event, type, endpoint, url, attempt, status, due)"
    " VALUES(?, ?, ?, ?, ?, ?, ?, 'pending', ?)"
)


class DeliveryRow(NamedTuple):
    """One attempt; moments in microseconds, `ms` the real duration in milliseconds."""

    id: str
    event: str
    type: str
    endpoint: str
    url: str
    attempt: int
    status: DeliveryStatus
    due: int
    started: int | None
    code: int | None
    error: str | None
    ms: int | None
    next: int | None

    def build_view(self, mode: str) -> Doc:
        """The delivery as the control surface shows it."""
        return {
            "id": self.id,
            "object": "delivery",
            "event": self.event,
            "event_type": self.type,
            "endpoint": self.endpoint,
            "url": self.url,
            "attempt": self.attempt,
            "status": self.status,
            "scheduled_at": text_of(self.due),
            "started_at": _show_moment(self.started),
            "response_code": self.code,
            "error": self.error,
            "duration_ms": self.ms,
            "next_attempt": _show_moment(self.next),
            "livemode": mode == "live",
        }


def queue(
    store: Store,
    ids: IdSource,
    mode: str,
    event: tuple[str, str],
    endpoint: tuple[str, str],
    due: int,
    chain: dict[str, Any],
) -> str:
    """Adds a pending attempt and its job; `event` is id and type, `endpoint` id and address.

    The ids are derived, not drawn: how fast receivers answer must not change the ids of objects.
    """
    sql = "SELECT IFNULL(MAX(attempt), 0) + 1 FROM deliveries WHERE event = ? AND endpoint = ?"
    ((attempt,),) = store.all(sql, event[0], endpoint[0])
    identity = ids.derive(DELIVERY_PREFIX, event[0], endpoint[0], attempt)
    store.write(_INSERT, identity, mode, *event, *endpoint, attempt, due)
    jobs.add(store, mode, due, jobs.ATTEMPT, identity, chain, endpoint[0])
    return identity


def add_made(store: Store, mode: str, delivery: DeliveryRow) -> None:
    """Adds a copy of an attempt that a fault rule made; `finish` writes how it went."""
    event, endpoint = (delivery.event, delivery.type), (delivery.endpoint, delivery.url)
    store.write(_INSERT, delivery.id, mode, *event, *endpoint, delivery.attempt, delivery.due)


def retrieve(store: Store, identity: str) -> DeliveryRow | None:
    row = store.one(f"SELECT {_FIELDS} FROM deliveries WHERE id = ?", identity)  # noqa: S608
    return DeliveryRow(*row) if row else None


def find_pending(store: Store, event: str, endpoint: str) -> DeliveryRow | None:
    """The attempt that is still to be made for this event and endpoint, if any."""
    sql = (
        f"SELECT {_FIELDS} FROM deliveries"  # noqa: S608
        " WHERE event = ? AND endpoint = ? AND status = 'pending' ORDER BY seq LIMIT 1"
    )
    row = store.one(sql, event, endpoint)
    return DeliveryRow(*row) if row else None


def put_before(store: Store, identity: str, later: DeliveryRow) -> None:
    """Gives an attempt the number of a later one, and the later one the next number."""
    sql = "UPDATE deliveries SET attempt = ? WHERE id = ?"
    store.write(sql, later.attempt, identity)
    store.write(sql, later.attempt + 1, later.id)


def finish(
    store: Store,
    identity: str,
    status: DeliveryStatus,
    started: int,
    answer: tuple[int | None, str | None, int],
) -> None:
    """Writes down how an attempt went; the answer is its code, its error and the milliseconds."""
    sql = "UPDATE deliveries SET status = ?, started = ?, code = ?, error = ?, ms = ? WHERE id = ?"
    store.write(sql, status, started, *answer, identity)


def set_next(store: Store, identity: str, due: int) -> None:
    store.write("UPDATE deliveries SET next = ? WHERE id = ?", due, identity)


def drop(store: Store, endpoint: str, event: str | None = None) -> None:
    """Drops the pending attempts of an endpoint, or of one event of it."""
    if event is not None and find_pending(store, event, endpoint) is None:
        return  # as with almost every event
    where = "endpoint = ? AND status = 'pending'"
    args = [endpoint]
    if event is not None:
        where += " AND event = ?"
        args.append(event)
    store.write(
        "DELETE FROM jobs WHERE name = ?"  # noqa: S608
        f" AND subject IN (SELECT id FROM deliveries WHERE {where})",
        jobs.ATTEMPT,
        *args,
    )
    store.write(f"UPDATE deliveries SET status = 'dropped' WHERE {where}", *args)  # noqa: S608


def page(
    store: Store, mode: str, *, equals: dict[str, str], limit: int, after: str | None
) -> tuple[list[DeliveryRow], bool]:
    """One page of the log, newest first, and whether more follow.

    Raises:
        KeyError: `after` names no delivery of this mode.
    """
    terms: dict[str, Value] = {"mode = ?": mode}
    for name, value in equals.items():
        assert name in FILTERS, name
        terms[f"{name} = ?"] = value
    rows, more = store.page("deliveries", _FIELDS, terms, limit, after)
    return [DeliveryRow(*row) for row in rows], more


def _show_moment(micros: int | None) -> str | None:
    return None if micros is None else text_of(micros)
