"""What human output is made of, and how its styles become terminal text (promise R62)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import tzinfo

from svc.render.palette import Style, painted

Span = tuple[str, Style]
Line = list[Span]


@dataclass(frozen=True, slots=True)
class Screen:
    """The place where people read: `width` in columns, `now` in epoch seconds.

    `zone` is the local time zone, None for the machine's. `ellipsis` marks shortened prose.
    """

    width: int
    utc: bool
    now: Callable[[], float]
    zone: tzinfo | None = None
    ellipsis: str = "…"


@dataclass(frozen=True, slots=True)
class Cell:
    """One value as it reads.

    `listed` and `brief` are its shorter forms for tables. `hint` is said after it where there is
    room; the hint of an `urgent` cell is worth more than the exact form of the value: its shorter
    forms hold it. A `whole` cell is never cut or wrapped (promise R63). `money` lines up by its
    figures.
    """

    text: str
    style: Style = ""
    listed: str = ""
    brief: str = ""
    hint: str = ""
    whole: bool = False
    right: bool = False
    money: bool = False
    urgent: bool = False

    def forms(self) -> list[str]:
        """The value as it can be written, longest first."""
        last = self.hint if self.urgent else ""
        return [form for form in (self.text, self.listed, self.brief, last) if form]


def indented(lines: list[Line], by: int) -> list[Line]:
    """Moves lines to the right; empty ones stay empty."""
    return [[(" " * by, ""), *line] if line else line for line in lines]


def styled(lines: Iterable[Line], *, color: bool) -> str:
    """Joins lines to text that ends in a line feed; there is no ESC in it unless `color`."""
    return "".join(
        "".join(painted(text, style, color=color) for text, style in line) + "\n" for line in lines
    )
