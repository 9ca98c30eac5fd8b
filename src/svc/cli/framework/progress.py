"""One live line on stderr, for a person who watches."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, Self, TextIO, TypeVar

from svc.cli.framework.session import Session
from svc.clock import Clock

EVERY_SECONDS: Final = 0.1


class LiveLine:
    """The line; nothing but carriage returns moves the cursor, so that it works without colour.

    A terminal that goes away must not stop what is under way. Without a stream nothing is said.
    """

    def __init__(self, stream: TextIO | None, clock: Clock, width: int) -> None:
        self._stream = stream
        self._clock = clock
        self._shown = 0
        self._told = clock.monotonic()
        self.width = width
        self.begun = self._told

    @classmethod
    def of(cls, session: "Session") -> Self:
        """The line of a command: only on a terminal, and neither with TERM=dumb nor --quiet."""
        stderr = session.streams.stderr
        quiet = session.given.everywhere.quiet or session.env.get("TERM") == "dumb"
        watched = stderr.isatty() and not quiet
        return cls(stderr if watched else None, session.clock, session.streams.width(session.env))

    @property
    def is_watched(self) -> bool:
        """Whether anybody sees it."""
        return self._stream is not None

    def is_due(self) -> bool:
        """Whether somebody watches and a tenth of a second has passed since the last time."""
        now = self._clock.monotonic()
        if self._stream is None or now - self._told < EVERY_SECONDS:
            return False
        self._told = now
        return True

    def seconds(self) -> float:
        """How long it has gone on."""
        return self._clock.monotonic() - self.begun

    def show(self, text: str) -> None:
        """Puts a text in place of the last one, cut to the terminal."""
        text = text[: self.width - 1]
        self._write(f"\r{text.ljust(self._shown)}")
        self._shown = len(text)

    def clear(self) -> None:
        """Leaves the line empty for what is said next."""
        if self._shown:
            self._write(f"\r{'':{self._shown}}\r")
            self._shown = 0

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._stream = None


def bar(done: int, whole: int, columns: int) -> str:
    """Draws how much of a whole is done, such as `[####    ] `; nothing where there is no room."""
    if columns < 1:
        return ""
    filled = "#" * (min(done, whole) * columns // max(whole, 1))
    return f"[{filled:<{columns}}] "


T = TypeVar("T")

_AFTER_SECONDS = 1.0  # what is over sooner needs no progress


@contextmanager
def counting(session: Session) -> Iterator[Callable[[Iterable[T]], Iterator[T]]]:
    """Gives a function that hands objects on and counts them on a line, cleared at the end.

    Where the results themselves go to the terminal, they are the progress.
    """
    live = None if session.streams.person_reads else LiveLine.of(session)
    try:
        yield lambda items: _counted(items, live)
    finally:
        if live is not None:
            live.clear()


def _counted(items: Iterable[T], live: LiveLine | None) -> Iterator[T]:
    for count, item in enumerate(items, start=1):
        yield item
        if live is not None and live.is_due() and live.seconds() >= _AFTER_SECONDS:
            live.show(f"{count:,} objects  {count / live.seconds():,.0f}/s")
