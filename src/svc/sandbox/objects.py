"""The rows of documents: insert, replace, retrieve, find, page. Keyset paging, never OFFSET."""

from collections.abc import Mapping

from svc.sandbox.documents import Doc, compact, decode
from svc.sandbox.store import Store

# Top-level fields that have a column of their own and can be asked for.
COLUMNS = {"status": "status", "order": "ord", "payment": "payment"}
_BOUNDS = {"gte": ">=", "gt": ">", "lte": "<=", "lt": "<"}


def insert(store: Store, mode: str, doc: Doc) -> None:
    """Adds a document; it needs `id`, `object` and `created`."""
    store.write(
        "INSERT INTO docs(id, seq, mode, kind, created, status, ord, payment, body)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
        doc["id"],
        store.next_sequence(),
        mode,
        doc["object"],
        doc["created"],
        *_columns(doc),
        compact(doc).decode(),
    )


def replace(store: Store, mode: str, doc: Doc) -> None:
    """Puts a new version in place of the stored one; its place in lists stays.

    Raises:
        KeyError: there is no such document in this mode.
    """
    touched = store.write(
        "UPDATE docs SET status = ?, ord = ?, payment = ?, body = ?"
        " WHERE id = ? AND mode = ? AND kind = ?",
        *_columns(doc),
        compact(doc).decode(),
        doc["id"],
        mode,
        doc["object"],
    )
    if not touched:
        raise KeyError(doc["id"])


def remove(store: Store, mode: str, kind: str, identity: str) -> bool:
    """Deletes a document and says whether it was there."""
    sql = "DELETE FROM docs WHERE id = ? AND mode = ? AND kind = ?"
    return store.write(sql, identity, mode, kind) > 0


def retrieve(store: Store, mode: str, kind: str, identity: str) -> Doc | None:
    """A fresh copy of one document of this mode, or None."""
    sql = "SELECT body FROM docs WHERE id = ? AND mode = ? AND kind = ?"
    row = store.one(sql, _storable(identity), mode, kind)
    return decode(row[0]) if row else None


def find(store: Store, mode: str, kind: str, equals: Mapping[str, str]) -> list[Doc]:
    """All documents with these values of `status`, `order`, `payment`; oldest first."""
    where, args = _where(mode, kind, equals, {})
    rows = store.all(f"SELECT body FROM docs WHERE {where} ORDER BY created, seq", *args)  # noqa: S608
    return [decode(row[0]) for row in rows]


def page(
    store: Store,
    mode: str,
    kind: str,
    *,
    equals: Mapping[str, str],
    bounds: Mapping[str, str],
    limit: int,
    after: str | None,
) -> tuple[list[Doc], bool]:
    """One page, newest first, ties by creation sequence, and whether more follow.

    Raises:
        KeyError: `after` names no document of this kind and mode.
    """
    where, args = _where(mode, kind, equals, bounds)
    if after is not None:
        where += " AND (created, seq) < (?, ?)"
        args += _place(store, mode, kind, after)
    rows = store.all(
        f"SELECT body FROM docs WHERE {where} ORDER BY created DESC, seq DESC LIMIT ?",  # noqa: S608
        *args,
        limit + 1,
    )
    return [decode(row[0]) for row in rows[:limit]], len(rows) > limit


def _place(store: Store, mode: str, kind: str, identity: str) -> list[str | int]:
    sql = "SELECT created, seq FROM docs WHERE id = ? AND mode = ? AND kind = ?"
    row = store.one(sql, _storable(identity), mode, kind)
    if row is None:
        raise KeyError(identity)
    return [row[0], row[1]]


def _where(
    mode: str, kind: str, equals: Mapping[str, str], bounds: Mapping[str, str]
) -> tuple[str, list[str | int]]:
    terms, args = ["mode = ?", "kind = ?"], [mode, kind]
    for name, value in equals.items():
        terms.append(f"{COLUMNS[name]} = ?")
        args.append(_storable(value))
    for name, value in bounds.items():
        terms.append(f"created {_BOUNDS[name]} ?")
        args.append(value)
    return " AND ".join(terms), [*args]


def _storable(text: str) -> str:
    """A lone surrogate fits into no column: written out, it matches nothing that is stored."""
    return text.encode(errors="backslashreplace").decode()


def _columns(doc: Doc) -> tuple[str | None, str | None, str | None]:
    status, order, payment = (doc.get(name) for name in COLUMNS)
    return (
        status if isinstance(status, str) else None,
        order if isinstance(order, str) else None,
        payment if isinstance(payment, str) else None,
    )
