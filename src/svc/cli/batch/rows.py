"""Reads the whole file of `svc batch` before anything is sent: valid and bad rows.

`run` calls `read_input`: options in, a `BatchInput` out; the parsing is in `svc.batch.reading` and
`svc.batch.validate`. Rows of a large file are kept in a temporary file.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final
from unicodedata import normalize

from svc.api_keys import refuse_secrets
from svc.batch.columns import column_path, column_shape, find_ignored_columns
from svc.batch.operations import BatchOperation, find_operation
from svc.batch.reading import SIZE_MAX, format_of, rows_of
from svc.batch.templates import RowTemplates
from svc.batch.validate import Validator
from svc.cli.batch.options import BatchOptions
from svc.cli.framework.prompts import NOTHING_SENT
from svc.cli.framework.session import Session
from svc.client.call import build_blank_error
from svc.client.fields import BodyPath
from svc.delivery.journal.batches import BatchName, default_name
from svc.delivery.journal.entry import Scope
from svc.delivery.plan import BatchRow, InvalidRow
from svc.errors import AuthError, LocalError, UsageError
from svc.inputs import STDIN, is_read_once, open_twice
from svc.system.spool import Spool

_PIECE: Final = 500  # rows that are searched for secrets at once
_BAD_WIDTH: Final = len(InvalidRow._fields)


@dataclass(frozen=True, slots=True)
class BatchInput:
    """The rows of a file for one operation.

    Attributes:
        batch: the name by which runs on this file know each other's rows.
        rows: valid and invalid rows, in the order of the file.
        left_out: columns of the file that are not sent.
    """

    operation: BatchOperation
    batch: BatchName
    rows: Spool[BatchRow | InvalidRow]
    left_out: tuple[str, ...]


def read_input(session: Session, options: BatchOptions, scope: Scope) -> BatchInput:
    """Reads the whole file, before anything is sent.

    Raises:
        UsageError: the operation is unknown, or the file or its header row is invalid.
        LocalError: there is no room to keep what was read; the message says that nothing was sent.
    """
    try:
        return _read_input(session, options, scope)
    except LocalError as error:
        text = f"{error.message} {NOTHING_SENT}"
        raise LocalError(text, code=error.code, outcome="not_sent", hint=error.hint) from error


def _read_input(session: Session, options: BatchOptions, scope: Scope) -> BatchInput:
    operation = _with_row_id(find_operation(options.operation), options.row_id)
    names, blank = options.ignore_column or (), options.blank_means_all
    ignored = find_ignored_columns(names, operation, blank_means_all=blank)
    if options.row_id is not None:
        ignored -= _read_for_its_id(options.row_id, operation, ignored)
    shaper = Validator(
        operation, scope, blank_means_all=blank, ignored=ignored, row_id=options.row_id
    )
    templates, rows = RowTemplates(shaper), Spool(_row_of)
    with open_twice(options.file, session.streams.stdin.buffer, SIZE_MAX, "FILE") as file:
        for read in rows_of(
            file,
            format_of(options.file, file),
            operation,
            raw=options.raw_csv,
            decimals=options.decimals,
            blank_means_all=blank,
            ignored=ignored,
            quick=templates.build,
        ):
            row = shaper.shape(read)
            templates.learn(row)
            rows.append(row)
        shaper.refuse_mixed_amounts()
        named_so = normalize("NFC", (options.name or "").strip())
        if options.name is not None and not named_so:
            raise build_blank_error("--import")
        name = named_so or default_name(STDIN if is_read_once(options.file) else options.file, file)
    batch = BatchName(name, operation.name, scope)
    left_out = dict.fromkeys((*shaper.left_out, *names))
    if options.decimals:
        left_out.pop("currency", None)  # it was read: amounts are by it
    return BatchInput(operation, batch, rows, tuple(left_out))


def _row_of(record: tuple[Any, ...]) -> BatchRow | InvalidRow:
    if len(record) == _BAD_WIDTH:
        return tuple.__new__(InvalidRow, record)
    return tuple.__new__(BatchRow, record)  # `_make` takes twice as long


def _with_row_id(operation: BatchOperation, column: str | None) -> BatchOperation:
    """The operation with the column that names a row, which is not sent unless it is a field."""
    path = column_path(column) if column is not None else ()
    if column is not None and not path:
        raise UsageError(f"--row-id {column!r} is not a column of the file.", param="--row-id")
    if not path or path[0] in operation.fields:
        return operation
    columns = {**operation.columns, path[0]: {}}
    return replace(operation, answered=operation.answered | {path[0]}, columns=columns)


def _read_for_its_id(
    column: str, operation: BatchOperation, ignored: frozenset[BodyPath]
) -> set[BodyPath]:
    """The ignored column that names the rows: it is read all the same, and not sent.

    Raises:
        UsageError: it is a field too, which would be sent if it was read.
    """
    shape = column_shape(column)
    if shape in ignored and shape[0] in operation.fields:
        raise UsageError(
            f"--ignore-column {column} leaves out what --row-id {column} reads. Nothing was sent.",
            param="--row-id",
            hint=f"Name the rows by a column that is no field of {operation.name}",
        )
    return {shape}


def refuse_secrets_in(batch_input: BatchInput, key: str) -> None:
    """Refuses a batch of which a row holds a secret, such as the API `key` (R28, R45, R100).

    Raises:
        AuthError: a row holds a secret; the error names its line.
    """
    left = (row for row in batch_input.rows if isinstance(row, BatchRow))
    while piece := list(islice(left, _PIECE)):
        # Nearly always there is none in all of them together, which takes no time to see.
        with suppress(AuthError):
            refuse_secrets(key, *[row.body for row in piece], *{row.path for row in piece})
            continue
        for row in piece:
            try:
                refuse_secrets(key, row.body, row.path)
            except AuthError as error:
                error.message = f"Line {row.line} holds a secret."
                raise
