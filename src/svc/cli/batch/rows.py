"""What a batch was asked to do, and the file that it was given, understood."""

import os
from dataclasses import dataclass
from pathlib import Path

from svc.batch.imports import Import, default_name
from svc.batch.operations import BatchOperation, named
from svc.batch.reading import SIZE_MAX, format_of, rows_of
from svc.batch.rows import Bad, BatchRow
from svc.batch.validate import Validator
from svc.cli.batch import BatchOptions
from svc.cli.framework.session import Session
from svc.client.inputs import STDIN, read_bytes
from svc.client.journal.stored import Scope
from svc.errors import UsageError

_ENDING = ".results.ndjson"


def results_path(asked: BatchOptions) -> Path:
    """Where the results go: beside the file unless they were given a name of their own.

    Raises:
        UsageError: there is no file to lie beside, or it is the file itasked.
    """
    if asked.results is None and asked.file == STDIN:
        raise UsageError(
            "The results of rows from standard input need a file.",
            param="--results",
            hint="Add --results FILE",
        )
    # Not Path.resolve, which ends with an error of its own where links lead in a circle.
    file = Path(os.path.realpath(asked.file))
    if asked.results is None:
        return file.with_name(file.name + _ENDING)
    path = Path(asked.results).absolute()
    if Path(os.path.realpath(path)) == file:
        raise UsageError("The results would overwrite the rows.", param="--results")
    return path


@dataclass(frozen=True, slots=True)
class BatchInput:
    """A file's rows for an operation.

    Attributes:
        what: the list that they are.
        left_out: fields of the file that the operation does not take.
    """

    operation: BatchOperation
    what: Import
    rows: list[BatchRow | Bad]
    left_out: tuple[str, ...]


def read_input(session: Session, asked: BatchOptions, scope: Scope) -> BatchInput:
    """Reads the whole file, before anything is sent.

    Raises:
        UsageError: the operation, the file or its head is not what it should be.
    """
    operation = named(asked.operation)
    data = read_bytes(asked.file, session.streams.stdin.buffer, SIZE_MAX, "FILE")
    form, blank = format_of(asked.file, data), asked.blank_means_all
    shaper = Validator(operation, scope, blank_means_all=blank)
    found = rows_of(data, form, operation, raw=asked.raw_csv, blank_means_all=blank)
    rows = [shaper.shape(read) for read in found]
    name = asked.name or default_name(asked.file, data)
    what = Import(name, operation.name, scope)
    return BatchInput(operation, what, rows, tuple(shaper.left_out))
