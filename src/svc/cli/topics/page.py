"""What a help page is made of, and how it is laid out in columns of text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import wrap

_MARGIN = "  "


@dataclass(frozen=True, slots=True)
class Rows:
    """Names and what they mean, in two columns."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """Lines to copy, never wrapped."""

    lines: tuple[str, ...]


Part = str | Rows | Shown


@dataclass(frozen=True, slots=True)
class Page:
    """One topic: a title in one line and its parts; strings are paragraphs, however broken."""

    title: str
    parts: tuple[Part, ...]

    def text(self, width: int) -> str:
        """The page for people, at most `width` columns where words allow it."""
        blocks = [self.title, *("\n".join(_laid_out(part, width)) for part in self.parts)]
        return "\n\n".join(blocks) + "\n"

    def rows(self) -> list[dict[str, str]]:
        """What stands in its tables, as data."""
        tables = [part.rows for part in self.parts if isinstance(part, Rows)]
        return [{"name": name, "meaning": meaning} for table in tables for name, meaning in table]


def _laid_out(part: Part, width: int) -> Iterable[str]:
    if isinstance(part, Rows):
        return _columns(part, width)
    if isinstance(part, Shown):
        return [_MARGIN + line for line in part.lines]
    return wrap(" ".join(part.split()), width, break_long_words=False, break_on_hyphens=False)


def _columns(part: Rows, width: int) -> Iterator[str]:
    """Two columns; the first is as wide as its longest name, at most a third of the page."""
    first = min(max(len(name) for name, _ in part.rows), width // 3)
    gap = " " * (first + len(_MARGIN))
    for name, meaning in part.rows:
        lines = wrap(meaning, width - first - 2 * len(_MARGIN), break_on_hyphens=False)
        if len(name) > first:
            yield _MARGIN + name
        else:
            yield f"{_MARGIN}{name:{first}}{_MARGIN}{lines.pop(0)}".rstrip()
        for line in lines:
            yield f"{_MARGIN}{gap}{line}"
