"""Lays out the lines of running commands for people: cells, line breaks, colours, time of day.

`svc events listen` and `svc sandbox start` print what happens with it, a line each; tables of
results are laid out by `human`.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from svc.render.style import paint
from svc.render.text import cells, wrap_beside

if TYPE_CHECKING:
    from typing import TextIO

    from svc.render.program_name import ProgramName

_WIDE: Final = 86  # columns from which every cell has a place of its own
_MEDIUM: Final = 64

LineCell = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LineLayout:
    """A terminal of so many columns, or, without `width`, a file whose lines are never broken.

    `tick` marks a verified delivery where there is no room for the word; suggested commands begin
    with `program_name`.
    """

    width: int | None
    color: bool
    utc: bool
    tick: str
    program_name: "ProgramName | None" = None

    @classmethod
    def of(
        cls,
        stream: "TextIO",
        *,
        width: int | None,
        color: bool,
        utc: bool,
        program_name: "ProgramName | None" = None,
    ) -> "LineLayout":
        """Creates the layout for a stream, with the characters of its encoding."""
        tick = "✓" if (stream.encoding or "").lower().replace("-", "") == "utf8" else "ok"
        return cls(width, color=color, utc=utc, tick=tick, program_name=program_name)

    @property
    def wide(self) -> bool:
        return self.width is None or self.width >= _WIDE

    @property
    def narrow(self) -> bool:
        return self.width is not None and self.width < _MEDIUM

    @property
    def below(self) -> int:
        """The indent of text that belongs to the line above."""
        return 2 if self.narrow else 16

    def clock(self, seconds: float) -> str:
        """Formats the time of day, local or UTC, with milliseconds."""
        return f"{self.format_brief(seconds)}.{int(seconds % 1 * 1000):03d}"

    def format_brief(self, seconds: float) -> str:
        """Formats the time of day without milliseconds."""
        parts = time.gmtime(seconds) if self.utc else time.localtime(seconds)
        return time.strftime("%H:%M:%S", parts)

    def row(self, row: Sequence[LineCell]) -> str:
        """Writes cells on one line, or on several if they do not fit."""
        lines: list[str] = []
        used = 0
        for text, style in row:
            if lines and self._fits(used + 2 + cells(text.rstrip())):
                lines[-1] += "  " + self.style(text, style)
                used += 2 + cells(text)
            else:
                indent = self.below if lines else 0
                lines.append(" " * indent + self.style(text, style))
                used = indent + cells(text)
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def note(self, text: str, style: str) -> str:
        """Writes a sentence below a line, wrapped to the width of the terminal."""
        room = None if self.width is None else max(self.width - self.below, 20)
        lines = wrap_beside(text, room or len(text), self.program_name)
        return "".join(f"{'':{self.below}}{self.style(line, style)}\n" for line in lines)

    def style(self, text: str, style: str) -> str:
        """Colours text, if colours are on (promise R75)."""
        return paint(text, style, color=self.color)

    def _fits(self, columns: int) -> bool:
        return self.width is None or columns <= self.width
