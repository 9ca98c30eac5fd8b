"""Exports the whole state as one JSON document, and restores it after checking every row.

`svc sandbox export` and `import` call it through the `engine`. A large state is sent in pieces, of
which `StateUpload` holds the rows until all have come.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, NoReturn, get_args

from svc.errors import LocalError
from svc.sandbox.clock import LAST, parse
from svc.sandbox.store import INTEGER_MAX, DeliveryStatus, jobs, settings, sqlite
from svc.sandbox.store.documents import Doc, compact
from svc.sandbox.store.sqlite import Store
from svc.service.facts import MODES, SANDBOX_EXPORT_MAX, SANDBOX_STATE
from svc.system.spool import Spool

_BLOBS: Final = {"events": ("body",), "results": ("body",)}  # JSON in UTF-8, kept as bytes
_MOMENTS: Final = {"created", "due", "started", "next", "first_used"}  # where they are integers

ExportedRow = Mapping[str, Any]


class _Column(NamedTuple):
    name: str
    type: str
    required: bool


def dump(store: Store) -> Iterator[bytes]:
    """All rows of all tables as one JSON document, in pieces; equal states give equal documents."""
    yield compact({"object": SANDBOX_STATE, "format": sqlite.VERSION})[:-1] + b',"tables":{'
    for number, table in enumerate(sqlite.DATA):
        yield b"%s%s:[" % (b"," if number else b"", compact(table))
        between = b""
        for rows in _dump_table(store, table):
            yield between + b",".join(map(compact, rows))
            between = b","
        yield b"]"
    yield b"}}"


def restore(store: Store, state: Doc, job_names: Collection[str]) -> None:
    """Replaces the state by an exported one, inside the open transaction.

    Every row is looked at first: `job_names` are the jobs that have a handler.

    Raises:
        StateInvalidError: it is none of this format, or a row cannot be worked with.
    """
    if state.get("object") != SANDBOX_STATE or state.get("format") != sqlite.VERSION:
        raise unfit(f"it is not what export gives in format {sqlite.VERSION}")
    tables = state.get("tables")
    if not isinstance(tables, dict) or set(tables) != set(sqlite.DATA):
        raise unfit(f"its tables must be: {', '.join(sqlite.DATA)}")
    store.wipe()
    for table in sqlite.DATA:
        _restore_table(store, table, tables[table], check_of(table, job_names))


def check_of(table: str, job_names: Collection[str]) -> Callable[[ExportedRow], object]:
    """Returns what looks at a row of a table beyond the types of its columns.

    Raises KeyError for a table without a rule: no row of it is restored unseen.
    """
    if table == "jobs":
        return lambda row: jobs.check(row, job_names)
    return _CHECKS[table]


class StateInvalidError(ValueError):
    """What was to be imported is no state of this format; nothing was changed."""


def unfit(why: str) -> StateInvalidError:
    return StateInvalidError(f"The state cannot be imported: {why}.")


class StateUpload:
    """The rows of an import in pieces, on the disk, until all have come.

    Its client names it: of two imports only the one that has begun last goes on.
    """

    def __init__(self) -> None:
        self._begin(None)

    def _begin(self, identity: str | None) -> None:
        self._identity = identity
        self._tables: dict[str, Spool[Any]] = {
            table: Spool(lambda record: json.loads(record[0])) for table in sqlite.DATA
        }
        self._bytes = 0

    def take(self, identity: str) -> Mapping[str, Sequence[Any]]:
        """Takes the rows of an import; raises StateInvalidError: they are not there."""
        known, tables = self._identity, self._tables
        self._begin(None)
        if known != identity:
            raise unfit("its rows did not come, or another import has begun since")
        return tables

    def add(self, identity: str, table: str, rows: Any) -> int:
        """Adds rows of a table; returns how many that table has.

        Raises:
            StateInvalidError: there is no such table, or the state is larger than any export.
        """
        if self._identity != identity:
            self._begin(identity)
        kept = self._tables.get(table)
        if kept is None or not isinstance(rows, list):
            raise unfit(f"its tables must be: {', '.join(sqlite.DATA)}")
        for row in rows:
            text = compact(row)
            self._bytes += len(text)
            if self._bytes > SANDBOX_EXPORT_MAX:
                raise unfit(f"it is larger than {SANDBOX_EXPORT_MAX} bytes")
            kept.append((text,))
        return len(kept)


def _dump_table(store: Store, table: str) -> Iterator[list[Doc]]:
    columns = [column.name for column in _columns(store, table)]
    sql = f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1, 2"  # noqa: S608  our own names
    for rows in store.read_pieces(sql):
        yield [dict(zip(columns, map(_text, row), strict=True)) for row in rows]


def _restore_table(
    store: Store, table: str, rows: Any, check: Callable[[ExportedRow], object]
) -> None:
    columns = _columns(store, table)
    names = [column.name for column in columns]
    sql = f"INSERT INTO {table}({', '.join(names)}) VALUES({', '.join('?' * len(names))})"
    for number, row in enumerate(rows if isinstance(rows, list | Spool) else [None], 1):
        if not isinstance(row, dict) or set(row) != set(names):
            raise unfit(f"a row of {table} must have: {', '.join(names)}")
        try:
            for column in columns:
                _check_value(column, row[column.name])
            check(row)
            store.write(sql, *(_value(table, name, row[name]) for name in names))
        except (LocalError, ValueError, UnicodeError, RecursionError) as error:
            if isinstance(error, LocalError) and error.code == sqlite.DISK_FULL:
                raise  # another one would not fit either
            raise unfit(f"row {number} of {table} does not fit ({_reason(error)})") from error


def _columns(store: Store, table: str) -> list[_Column]:
    rows = store.all(f"PRAGMA table_info({table})")
    return [_Column(name, kind, bool(required or key)) for _, name, kind, required, _, key in rows]


def _check_value(column: _Column, value: Any) -> None:
    if value is None:
        if column.required:
            raise ValueError(f"{column.name} is empty")
        return
    if column.type != "INTEGER":
        if not isinstance(value, str):
            raise ValueError(f"{column.name} is not text")
        if column.name == "mode" and value not in MODES:
            raise ValueError(f"mode is neither of {' and '.join(MODES)}")
        return
    if type(value) is not int or abs(value) > INTEGER_MAX:
        raise ValueError(f"{column.name} is no integer of 64 bits")
    if column.name in _MOMENTS and not 0 <= value <= LAST:
        raise ValueError(f"{column.name} is no moment between 1970 and 9999")


def _check_doc(row: ExportedRow) -> None:
    body = _object(row["body"])
    if (body.get("id"), body.get("object")) != (row["id"], row["kind"]):
        raise ValueError("its body is another object's")
    parse(row["created"])


def _check_event(row: ExportedRow) -> None:
    if _object(row["body"]).get("id") != row["id"]:
        raise ValueError("its body is another event's")


def _check_delivery(row: ExportedRow) -> None:
    if row["status"] not in get_args(DeliveryStatus):
        raise ValueError("status is none of a delivery")


def _check_meta(row: ExportedRow) -> None:
    value = _object(row["value"])
    if row["name"] in (settings.META, settings.META_OF):
        settings.check_stored(row["name"], value)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


# Kept: json.loads would make one a row.
_JSON: Final = json.JSONDecoder(parse_constant=_refuse_constant)


def _object(text: str) -> Doc:
    found = _JSON.decode(text)
    if not isinstance(found, dict):
        raise ValueError("its JSON is no object")  # noqa: TRY004  the text is wrong, no type
    return found


_CHECKS: Final[Mapping[str, Callable[[ExportedRow], object]]] = MappingProxyType(
    {
        "meta": _check_meta,
        "docs": _check_doc,
        "events": _check_event,
        "deliveries": _check_delivery,
        "results": lambda row: _object(row["body"]),
        "balances": lambda _: None,  # any amount in any currency is one
    }
)


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _value(table: str, name: str, value: Any) -> Any:
    if name in _BLOBS.get(table, ()) and isinstance(value, str):
        return value.encode()
    return value


def _reason(error: Exception) -> str:
    if isinstance(error, LocalError):
        return error.message.rstrip(".")
    return str(error) if type(error) is ValueError else "it cannot be read"
