"""The whole state exported as one document, and imported from one."""

from typing import Any, Final

from svc.errors import LocalError
from svc.sandbox import schema
from svc.sandbox.documents import Doc
from svc.sandbox.problems import Problem
from svc.sandbox.store import Store

OBJECT: Final = "sandbox_state"
_BLOBS: Final = {"events": ("body",), "results": ("body",)}  # JSON in UTF-8, kept as bytes


def dump(store: Store) -> Doc:
    """All rows of all tables; equal states give equal documents."""
    tables = {table: _dump_table(store, table) for table in schema.DATA}
    return {"object": OBJECT, "format": schema.VERSION, "tables": tables}


def restore(store: Store, state: Doc) -> None:
    """Puts an exported state in place of what is there, inside the open transaction.

    Raises:
        Problem: it is no state of this format, or its rows do not fit.
    """
    if state.get("object") != OBJECT or state.get("format") != schema.VERSION:
        raise _unfit(f"it is not what export gives in format {schema.VERSION}")
    tables = state.get("tables")
    if not isinstance(tables, dict) or set(tables) != set(schema.DATA):
        raise _unfit(f"its tables must be: {', '.join(schema.DATA)}")
    store.wipe()
    for table in schema.DATA:
        _restore_table(store, table, tables[table])
    store.recount()


def _dump_table(store: Store, table: str) -> list[Doc]:
    columns = _columns(store, table)
    rows = store.all(f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1, 2")  # noqa: S608
    return [dict(zip(columns, map(_text, row), strict=True)) for row in rows]


def _restore_table(store: Store, table: str, rows: Any) -> None:
    columns = _columns(store, table)
    marks = ", ".join("?" * len(columns))
    sql = f"INSERT INTO {table}({', '.join(columns)}) VALUES({marks})"
    for row in rows if isinstance(rows, list) else [None]:
        if not isinstance(row, dict) or set(row) != set(columns):
            raise _unfit(f"a row of {table} must have: {', '.join(columns)}")
        try:
            store.write(sql, *(_value(table, name, row[name]) for name in columns))
        except (LocalError, OverflowError, ValueError) as error:
            raise _unfit(f"a row of {table} does not fit") from error


def _columns(store: Store, table: str) -> list[str]:
    return [row[1] for row in store.all(f"PRAGMA table_info({table})")]


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _value(table: str, name: str, value: Any) -> Any:
    if name in _BLOBS.get(table, ()) and isinstance(value, str):
        return value.encode()
    return value


def _unfit(why: str) -> Problem:
    return Problem(400, "state_invalid", f"The state cannot be taken: {why}.")
