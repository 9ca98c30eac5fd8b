"""Sentences on stderr in as many lines as the terminal needs, what people copy kept whole."""

from typing import Final

from svc.render.text import cells, wrap

_INDENT: Final = 4
_COMMAND: Final = "svc "
_LABELS: Final = ("Next:", "Next page:")  # what follows one is there to be copied


def hanging(text: str, width: int | None) -> list[str]:
    """Breaks one line of text at spaces; further lines are indented by 4.

    A command is never broken: after `Next:` the line stays as it is, and in a sentence a command
    that ends it (`...: svc keys add`) begins on a line of its own. No id is broken either
    (promise R63), even where it is wider than `width` columns. Without a width, which is where no
    terminal breaks lines, the text stays on one, so that a log can be searched.
    """
    if width is None or cells(text) <= width:
        return [text]
    words, command = _split(text)
    if command and words.strip() in _LABELS:
        return [text]
    lines = _wrapped(words, width)
    return [*lines, f"{'':{_INDENT}}{command}"] if command else lines


def _split(text: str) -> tuple[str, str]:
    """Parts a sentence from the command at its end."""
    before, colon, after = text.rpartition(f": {_COMMAND}")
    return (f"{before}:", f"{_COMMAND}{after}") if colon else (text, "")


def _wrapped(text: str, width: int) -> list[str]:
    start = len(text) - len(text.lstrip(" "))
    first = wrap(text[start:], max(width - start, 1))[0]
    rest = text[start + len(first) :].strip(" ")
    others = wrap(rest, max(width - _INDENT, 1)) if rest else []
    return [f"{'':{start}}{first}", *(f"{'':{_INDENT}}{line}" for line in others)]
