"""Lines of one pass of the event loop in one write: a burst costs a call a pass, not a line.

Nothing waits for more to come: what was written is with the system a few milliseconds later.
"""

import asyncio
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from typing import TextIO


class Sink(Protocol):
    """Somewhere to print to."""

    def write(self, text: str, /) -> object:
        """Takes a text."""

    def flush(self) -> None:
        """Passes on what was taken."""


class Gathering:
    """Keeps the order of what is written to several streams, and writes it soon."""

    def __init__(self) -> None:
        self._waiting: list[tuple[TextIO, str]] = []

    def of(self, stream: "TextIO") -> "Gathered":
        """Gives a stand-in for a stream."""
        return Gathered(self, stream)

    def add(self, stream: "TextIO", text: str) -> None:
        """Takes a text; outside of an event loop it is written at once."""
        self._waiting.append((stream, text))
        if len(self._waiting) > 1:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.write_out()
        else:
            loop.call_soon(self.write_out)

    def write_out(self) -> None:
        """Writes and flushes what waits.

        Raises:
            OSError: nobody reads a stream any more, or its disk is full; the rest is dropped.
        """
        waiting, self._waiting = self._waiting, []
        for stream, texts in groupby(waiting, key=itemgetter(0)):
            stream.write("".join(text for _, text in texts))
            stream.flush()


class Gathered:
    """A stream, as far as printing records is concerned."""

    def __init__(self, gathering: Gathering, stream: "TextIO") -> None:
        self._gathering = gathering
        self._stream = stream

    def write(self, text: str) -> None:
        """Takes a text for the stream."""
        self._gathering.add(self._stream, text)

    def flush(self) -> None:
        """Does nothing: what was taken is flushed with what else came in this pass."""
