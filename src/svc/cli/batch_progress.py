"""A progress bar of a batch, for a person who watches."""

from typing import Final

from svc.batch.tally import Tally
from svc.cli.live_line import LiveLine, bar

_BAR: Final = 24
_ROOM: Final = 60  # columns that the words need


class Progress:
    """How far a batch is, on one line."""

    def __init__(self, line: LiveLine) -> None:
        self._live = line
        self._skipped: int | None = None

    def tell(self, tally: Tally) -> None:
        """Shows how far the batch is, ten times a second at most."""
        if not self._live.is_due():
            return
        if self._skipped is None:
            self._skipped = tally.skipped + tally.counts["invalid"]
        self._live.show(self._line(tally, self._live.seconds()))

    def clear(self) -> None:
        """Leaves the line empty for what is said next."""
        self._live.clear()

    def _line(self, tally: Tally, seconds: float) -> str:
        ended, rows = tally.ended, max(1, tally.rows)
        speed = (ended - (self._skipped or 0)) / seconds
        words = f"{ended:,} of {tally.rows:,} rows  {speed:,.0f}/s"
        if speed > 0 and ended < rows:
            words += f"  {_time((rows - ended) / speed)} left"
        failed = tally.counts["refused"] + tally.counts["invalid"]
        if failed:
            words += f"  {failed:,} failed"
        return bar(ended, rows, min(_BAR, self._live.width - _ROOM)) + words


def _time(seconds: float) -> str:
    if seconds < 100:  # noqa: PLR2004
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.0f} h"  # noqa: PLR2004
