"""A progress bar on stderr, for a person who watches."""

from typing import Final, TextIO

from svc.batch.tally import Tally
from svc.clock import Clock

_EVERY_SECONDS: Final = 0.1
_BAR: Final = 24
_ROOM: Final = 60  # columns that the words need


class Progress:
    """One line that is written over again and again, and cleared at the end.

    Nothing but carriage returns moves the cursor, so that it works without colour, too. A terminal
    that goes away must not stop a batch.
    """

    def __init__(self, stream: TextIO | None, clock: Clock, width: int) -> None:
        self._stream = stream
        self._clock = clock
        self._width = width
        self._begun = self._told = clock.monotonic()
        self._skipped: int | None = None
        self._shown = 0

    def tell(self, tally: Tally) -> None:
        """Shows how far the batch is, ten times a second at most."""
        now = self._clock.monotonic()
        if self._stream is None or now - self._told < _EVERY_SECONDS:
            return
        if self._skipped is None:
            self._skipped = tally.skipped + tally.counts["invalid"]
        self._told = now
        self._write(self._line(tally, now - self._begun))

    def clear(self) -> None:
        """Leaves the line empty for what is said next."""
        if self._shown:
            self._write("")
            self._write("")

    def _line(self, tally: Tally, seconds: float) -> str:
        ended, rows = tally.ended, max(1, tally.rows)
        speed = (ended - (self._skipped or 0)) / seconds
        words = f"{ended:,} of {tally.rows:,} rows  {speed:,.0f}/s"
        if speed > 0 and ended < rows:
            words += f"  {_time((rows - ended) / speed)} left"
        failed = tally.counts["refused"] + tally.counts["invalid"]
        if failed:
            words += f"  {failed:,} failed"
        room = min(_BAR, self._width - _ROOM)
        if room < 1:
            return words[: self._width - 1]
        filled = "#" * (ended * room // rows)
        return f"[{filled:<{room}}] {words}"[: self._width - 1]

    def _write(self, line: str) -> None:
        assert self._stream is not None
        padded = line.ljust(self._shown)
        self._shown = len(line)
        try:
            self._stream.write(f"\r{padded}\r" if not line else f"\r{padded}")
            self._stream.flush()
        except OSError:
            self._stream = None


def _time(seconds: float) -> str:
    if seconds < 100:  # noqa: PLR2004
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.0f} h"  # noqa: PLR2004
