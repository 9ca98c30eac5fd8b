"""How many objects have come, on stderr, while an export runs."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from svc.cli.live_line import LiveLine
from svc.cli.session import Session

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
