"""Documents: plain JSON objects as a GET shows them, plus private keys that begin with `_`.

Their rows are paged by key, never by OFFSET.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from svc.sandbox.store.sqlite import Store

Doc = dict[str, Any]

# Encoders are kept: json.dumps builds one a call when it is given options.
_PLAIN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_ESCAPED = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_EXPONENT: Final = re.compile(r'"fx_rate":([0-9.]+)e-([0-9]+)')
_SHOWN_ONCE = frozenset({"client_secret", "secret"})


def public(doc: Mapping[str, Any]) -> Doc:
    """The document as a GET shows it: without the private keys of its top level.

    Deeper keys are the user's own (metadata may begin with an underscore) and stay.
    """
    return {key: value for key, value in doc.items() if not key.startswith("_")}


def snapshot(doc: Mapping[str, Any]) -> Doc:
    """What an event carries: the public document without secrets (assumptions: Events)."""
    return {key: value for key, value in public(doc).items() if key not in _SHOWN_ONCE}


def compact(value: object) -> bytes:
    """Compact JSON in UTF-8; a lone surrogate, which UTF-8 cannot hold, stays an escape.

    Exchange rates are plain decimals: 0.00004, not 4e-05 (assumptions: Payout).
    """
    text = _PLAIN.encode(value)
    # A quote inside a string is escaped, so this finds the number of that name and no text.
    if '"fx_rate":' in text:
        text = _EXPONENT.sub(_plain, text)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _ESCAPED.encode(value).encode()


def decode(stored: str | bytes) -> Doc:
    """Reads what `compact` wrote; every call makes a fresh object."""
    doc: Doc = json.loads(stored)
    return doc


def _plain(match: re.Match[str]) -> str:
    digits = match[1].replace(".", "")
    return '"fx_rate":0.' + "0" * (int(match[2]) - 1) + digits


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
