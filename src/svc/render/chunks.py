"""Objects in pieces: enough at a time to find columns and widths, never all of them."""

from collections.abc import Iterator
from typing import Final

from svc.errors import SvcError

_SIZE: Final = 100  # the largest page of the service: a piece waits for no second request


def chunks(objects: Iterator[tuple[str, object]]) -> Iterator[list[object]]:
    """Yields lists of at most 100 parsed objects.

    When the objects end in an error, those that came before it are yielded first: what an export
    says that it has received must be on stdout.
    """
    piece: list[object] = []
    failure: SvcError | None = None
    try:
        for _, data in objects:
            piece.append(data)
            if len(piece) == _SIZE:
                yield piece
                piece = []
    except SvcError as error:
        failure = error
    if piece:
        yield piece
    if failure:
        raise failure
