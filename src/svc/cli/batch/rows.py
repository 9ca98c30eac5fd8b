"""What a batch was asked to do, and the file that it was given, understood."""

from dataclasses import dataclass

from svc.batch.operations import BatchOperation, named
from svc.batch.reading import SIZE_MAX, format_of, rows_of
from svc.batch.rows import Bad, BatchRow
from svc.batch.validate import Validator
from svc.cli.batch.options import BatchOptions
from svc.cli.framework.session import Session
from svc.client.journal.lists import Import, default_name
from svc.client.journal.stored import Scope
from svc.inputs import read_bytes


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
