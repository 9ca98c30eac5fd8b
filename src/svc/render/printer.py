"""What every format prints with: how an object is given to it, and objects in chunks."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from svc.errors import SvcError

PAGE_SIZE: Final = 100  # the largest page of the service: a piece waits for no second request

Write = Callable[[str], None]
Objects = Iterator[tuple[str, object]]


class Printer:
    """One format's way to print results: `write` takes text, `warn` a sentence for people.

    An object comes as the text that was sent and the same parsed.

    Attributes:
        kind: what the objects of a list are, such as `order`; empty where that is not known.
        page_size: how many objects of a stream come at a time.
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
        raise NotImplementedError

    def value(self, data: object) -> None:
        """Prints parsed JSON of any shape."""
        raise NotImplementedError


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
            if len(piece) == PAGE_SIZE:
                yield piece
                piece = []
    except SvcError as error:
        failure = error
    if piece:
        yield piece
    if failure:
        raise failure
