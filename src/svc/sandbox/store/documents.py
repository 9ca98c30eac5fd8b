"""The table of documents: each object as JSON, with private keys (`_...`) that no answer shows.

A `Transaction` is a `DocumentRows`: the nouns add, save and find objects by it, and read lists a
page at a time.
"""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from svc.sandbox.store.sqlite import Store

Doc = dict[str, Any]
KnownDoc = Mapping[str, Any]
CachedDocs = dict[tuple[str, str], KnownDoc]

# Encoders are kept: json.dumps builds one a call when it is given options.
_PLAIN = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
)
_ESCAPED = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)
_EXPONENT: Final = re.compile(r'"fx_rate":([0-9.]+)e-([0-9]+)')


def public(doc: Mapping[str, Any]) -> Doc:
    """The document as a GET and an event show it: without the private keys of its top level.

    Deeper keys are the user's own (metadata may begin with an underscore) and stay.
    """
    return {key: value for key, value in doc.items() if not key.startswith("_")}


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
_ALL: Final[Mapping[str, str]] = MappingProxyType({})
_ADD: Final = (
    "INSERT INTO docs(id, seq, mode, kind, created, status, ord, payment, body)"
    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SAVE: Final = (
    "UPDATE docs SET status = ?, ord = ?, payment = ?, body = ?"
    " WHERE id = ? AND mode = ? AND kind = ?"
)
_BOUNDS = {"gte": ">=", "gt": ">", "lte": "<=", "lt": "<"}


def ids_of(store: Store, mode: str, kind: str) -> list[str]:
    """The ids of all documents of a kind, outside of any transaction."""
    return [
        row[0] for row in store.all("SELECT id FROM docs WHERE mode = ? AND kind = ?", mode, kind)
    ]


class DocumentRows:
    """The documents of one mode, in the open transaction.

    `cached` holds what `get_cached` has read; a rollback empties it.
    """

    __slots__ = ("cached", "mode", "store")

    def __init__(self, store: Store, mode: str, cached: CachedDocs) -> None:
        self.store = store
        self.mode = mode
        self.cached = cached

    def add(self, doc: Doc) -> None:
        """Inserts a document; it needs `id`, `object` (its kind) and `created`."""
        place = (doc["id"], self.store.next_sequence(), self.mode, doc["object"], doc["created"])
        self.store.write(_ADD, *place, *_columns(doc), compact(doc).decode())

    def save(self, doc: Doc) -> None:
        """Puts a new version in place of the stored one; its place in lists stays.

        Raises:
            KeyError: there is no such document in this mode.
        """
        place = (doc["id"], self.mode, doc["object"])
        self.cached.pop((self.mode, doc["id"]), None)
        if not self.store.write(_SAVE, *_columns(doc), compact(doc).decode(), *place):
            raise KeyError(doc["id"])

    def remove(self, kind: str, identity: str) -> bool:
        """Deletes a document and says whether it was there."""
        sql = "DELETE FROM docs WHERE id = ? AND mode = ? AND kind = ?"
        self.cached.pop((self.mode, identity), None)
        return self.store.write(sql, identity, self.mode, kind) > 0

    def get(self, kind: str, identity: str) -> Doc | None:
        """A fresh copy of one document of this mode, or None."""
        sql = "SELECT body FROM docs WHERE id = ? AND mode = ? AND kind = ?"
        row = self.store.one(sql, _storable(identity), self.mode, kind)
        return decode(row[0]) if row else None

    def get_cached(self, kind: str, identity: str) -> KnownDoc | None:
        """One document, read once and immutable: for the few that every request asks for."""
        found = self.cached.get((self.mode, identity))
        if found is None and (doc := self.get(kind, identity)) is not None:
            found = self.cached[self.mode, identity] = _freeze(doc)
        return found

    def find(self, kind: str, **equals: str) -> list[Doc]:
        """All documents with these values of `status`, `order`, `payment`; oldest first."""
        where, args = _where(self.mode, kind, equals, {})
        sql = f"SELECT body FROM docs WHERE {where} ORDER BY created, seq"  # noqa: S608
        return [decode(row[0]) for row in self.store.all(sql, *args)]

    def page(
        self,
        kind: str,
        *,
        equals: Mapping[str, str] = _ALL,
        bounds: Mapping[str, str] = _ALL,
        limit: int,
        after: str | None = None,
    ) -> tuple[list[Doc], bool]:
        """One page, newest first, ties by creation sequence, and whether more follow.

        `bounds` limit `created`.

        Raises:
            KeyError: `after` names no document of this kind and mode.
        """
        where, args = _where(self.mode, kind, equals, bounds)
        if after is not None:
            where += " AND (created, seq) < (?, ?)"
            args += self._place(kind, after)
        sql = f"SELECT body FROM docs WHERE {where} ORDER BY created DESC, seq DESC LIMIT ?"  # noqa: S608
        rows = self.store.all(sql, *args, limit + 1)
        return [decode(row[0]) for row in rows[:limit]], len(rows) > limit

    def _place(self, kind: str, identity: str) -> list[str | int]:
        sql = "SELECT created, seq FROM docs WHERE id = ? AND mode = ? AND kind = ?"
        row = self.store.one(sql, _storable(identity), self.mode, kind)
        if row is None:
            raise KeyError(identity)
        return [row[0], row[1]]


def _freeze(value: Any) -> Any:
    """A value of JSON that cannot be changed."""
    if isinstance(value, dict):
        return MappingProxyType({name: _freeze(each) for name, each in value.items()})
    return tuple(map(_freeze, value)) if isinstance(value, list) else value


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


def _columns(doc: Doc) -> list[str | None]:
    return [doc.get(name) for name in COLUMNS]
