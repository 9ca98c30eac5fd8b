"""The live line on stderr that shows a person what a command waits for, or how far it is.

`sending` and `events audit` count objects with it, `svc batch` its rows, `svc sandbox compare` its
requests, `svc sandbox advance` the sandbox's clock. `invocation` has a client, and a tunnel, show
how long they wait for an answer.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Final, TextIO, TypeVar

from svc.client.retry import ATTEMPTS
from svc.clock import Clock

if TYPE_CHECKING:
    from svc.render.writer import Writer

EVERY_SECONDS: Final = 0.1


class LiveLine:
    """A line of text that is overwritten in place, by carriage returns alone.

    A terminal that goes away does not stop the command. Without a stream nothing is shown.
    """

    def __init__(self, stream: "Writer | TextIO | None", clock: Clock, width: int) -> None:
        self._stream = stream
        self._clock = clock
        self._shown = False
        self._told = clock.monotonic()
        self.width = width
        self.begun = self._told

    @property
    def is_watched(self) -> bool:
        """Whether the line is shown to a person at all."""
        return self._stream is not None

    def is_due(self) -> bool:
        """Whether progress is shown and a tenth of a second has passed since the last time."""
        now = self._clock.monotonic()
        if self._stream is None or now - self._told < EVERY_SECONDS:
            return False
        self._told = now
        return True

    def seconds(self) -> float:
        """Seconds since this line was made."""
        return self._clock.monotonic() - self.begun

    def show(self, *parts: str) -> None:
        """Shows a text in place of the last one; where room is short its last parts are left out.

        What a terminal shows of a Ctrl-C then stands in the first columns: behind the text it would
        wrap into a line that is not cleared.
        """
        columns = self.width - 1
        text, *more = parts
        for part in more:
            if len(text) + len(part) > columns:
                break
            text += part
        self._write(f"\r{text[:columns]:{self.width - 1}}\r")
        self._shown = True

    def clear(self) -> None:
        """Clears the line, so that other output can follow."""
        if self._shown:
            self._write(f"\r{'':{self.width - 1}}\r")
            self._shown = False

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
def count_shown(live: LiveLine | None) -> Iterator[Callable[[Iterable[T]], Iterator[T]]]:
    """Yields a function that passes objects on and counts them on a line, cleared at the end.

    `live` is None where the results themselves go to the terminal: then nothing is counted.
    """
    try:
        yield lambda items: _count(items, live)
    finally:
        if live is not None:
            live.clear()


def _count(items: Iterable[T], live: LiveLine | None) -> Iterator[T]:
    for count, item in enumerate(items, start=1):
        yield item
        if live is not None and live.is_due() and live.seconds() >= _AFTER_SECONDS:
            live.show(f"{count:,} objects", f"  {count / live.seconds():,.0f}/s")


_WAITING_SECONDS: Final = 2.0  # until a person wonders
_AGAIN_SECONDS: Final = 1.0


class WaitingLine:
    """Shows what a command waits for after two seconds; cleared when the wait is over.

    A command has one: a wait within another wait shows nothing. Only waits of the main thread are
    shown, because a command with other threads prints meanwhile.
    """

    def __init__(self, new_line: Callable[[], LiveLine]) -> None:
        self._new_line = new_line
        self._live: LiveLine | None = None

    @contextmanager
    def request(self, method: str, path: str) -> Iterator[Callable[[int, int | None], None]]:
        """Shows the wait for an answer of the service; yields the callback for each attempt.

        The callback takes the attempt's number and the HTTP status of the attempt before, or None.
        """
        what: tuple[str, ...] = (", attempt 1",)

        def told(number: int, status: int | None) -> None:
            nonlocal what
            after = "" if status is None else f" after {status}"
            what = (f", attempt {number} of {ATTEMPTS}", after)

        with self.until(lambda: (*what, f": {method} {path}")):
            yield told

    @contextmanager
    def sandbox(self, method: str, path: str) -> Iterator[Callable[[int, int | None], None]]:
        """Shows the wait for an answer of a sandbox's controls, which are asked once."""
        with self.until(lambda: (" for the sandbox", f": {method} {path}")):
            yield lambda _number, _status: None

    @contextmanager
    def until(self, what: Callable[[], Sequence[str]]) -> Iterator[None]:
        """Shows the seconds that have gone by, and then `what` in parts, while the block runs."""
        live = self._new_line()
        if self._live is not None or not live.is_watched or current_thread() is not main_thread():
            yield
            return
        self._live = live
        try:
            with beside(live, lambda over: self._tell(live, what, over)):
                yield
        finally:
            self._live = None

    def hide(self) -> None:
        """Clears the line for other output; it is shown again a second later."""
        if self._live is not None:
            self._live.clear()

    def _tell(self, live: LiveLine, what: Callable[[], Sequence[str]], over: Event) -> None:
        pause = _WAITING_SECONDS
        while not over.wait(pause):
            pause = _AGAIN_SECONDS
            live.show(f"Waiting {int(live.seconds())} s", *what())


@contextmanager
def beside(
    live: LiveLine, tell: Callable[[Event], None], seconds: float | None = None
) -> Iterator[None]:
    """Runs `tell` in a thread while the block runs; then sets the event that `tell` was given.

    The thread has `seconds` to end, and the live line is cleared.
    """
    over = Event()
    thread = Thread(target=tell, args=(over,), daemon=True)
    with suppress(RuntimeError):  # no thread is to be had: what is waited for matters more
        thread.start()
    try:
        yield
    finally:
        over.set()
        if thread.ident is not None:
            thread.join(seconds)
        live.clear()
