"""Lines to terminal text: plain without colour, through rich with it (promise R62)."""

from collections.abc import Iterable
from typing import Final

from svc.render.screen import Line

# The basic colours only: the terminal's owner has chosen them to suit a dark or a light ground.
# Yellow is left out, since most light themes make it unreadable.
STYLES: Final = {
    "title": "bold",
    "head": "dim",
    "label": "dim",
    "hint": "dim",
    "good": "green",
    "waiting": "cyan",
    "attention": "bold magenta",
    "bad": "bold red",
    "quiet": "dim",
}


def painted(lines: Iterable[Line], *, color: bool) -> str:
    """Joins lines to text that ends in a line feed; there is no ESC in it unless `color`."""
    if color:
        return _colored(lines)
    return "".join("".join(text for text, _ in line) + "\n" for line in lines)


def _colored(lines: Iterable[Line]) -> str:
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    out = StringIO()
    console = Console(
        file=out,
        color_system="standard",
        force_terminal=True,
        legacy_windows=False,
        markup=False,
        highlight=False,
        emoji=False,
        _environ={},
    )
    for line in lines:
        text = Text.assemble(*((part, STYLES.get(style, "")) for part, style in line))
        console.print(text, soft_wrap=True)
    return out.getvalue()
