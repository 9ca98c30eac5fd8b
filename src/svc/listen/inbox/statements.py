"""Builds SQL for many rows at once, in few sizes, so that the statements stay prepared.

The modules of the inbox that insert or look up rows in groups use it.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, TypeVar

T = TypeVar("T")

ROWS: Final = 16  # of one statement
# Each by itself: SQLite finds one end of a table at once, and both together by reading all of it.
ENDS: Final = """
SELECT COALESCE((SELECT MIN(seq) FROM inbox), 0) AS first,
  COALESCE((SELECT MAX(seq) FROM inbox), 0) AS last"""


def chunks(things: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Parts a sequence into pieces of `size` at most."""
    return (things[start : start + size] for start in range(0, len(things), size))


@lru_cache
def rows_of(start: str, width: int, rows: int) -> str:
    """Completes an INSERT with marks, so that equal ones are one object and found soon."""
    row = f"({','.join('?' * width)})"
    return start + ",".join([row] * rows)


@lru_cache
def list_of(statement: str, *values: int) -> str:
    """Completes a statement with marks for so many values, for each `%s` in it."""
    return statement % tuple(",".join("?" * count) for count in values)
