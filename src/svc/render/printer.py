"""`Printer`: the interface of all output formats, which `output` calls.

`human`, `csv_format` and `json_format` implement it.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from svc.errors import SvcError

PAGE_SIZE: Final = 100  # the largest page of the service: a piece waits for no second request

Write = Callable[[str], None]
Objects = Iterator[tuple[str, object]]


class Printer:
    """Prints results in one format; `write` prints text, `warn` a sentence for people.

    An object is passed as the text of the answer and as the parsed value.

    Attributes:
        kind: the kind of the objects of a list, such as `order`; empty if it is not known.
        page_size: how many objects of a stream arrive at once.
    """

    kind: str = ""
    page_size: int = PAGE_SIZE

    def __init__(self, write: Write, warn: Write) -> None:
        self._write = write
        self._warn = warn

    def one(self, text: str, data: object) -> None:
        """Prints one object."""
        del text
        self.value(data)

    def page(self, text: str, data: dict[str, Any]) -> None:
        """Prints the objects of a list object."""
        del text
        self.value(data["data"])

    def stream(self, objects: Objects) -> None:
        """Prints objects as they arrive."""

    def value(self, data: object) -> None:
        """Prints parsed JSON of any shape."""


def chunks(objects: Iterator[tuple[str, object]]) -> Iterator[list[object]]:
    """Yields lists of at most 100 parsed objects.

    If an error ends the objects, those before it are yielded first: an export must print all
    objects that it reports as received.
    """
    piece: list[object] = []
    failure: SvcError | None = None
    try:
        for _, data in objects:
            piece.append(data)
            if len(piece) == PAGE_SIZE:
                yield piece
                piece = []
    except SvcError as error:
        failure = error
    if piece:
        yield piece
    if failure:
        raise failure
