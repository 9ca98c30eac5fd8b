"""The script for zsh: words with what they mean, as `_describe` shows them."""

from collections.abc import Iterable, Iterator

from svc.completion import posix
from svc.completion.posix import quoted
from svc.completion.tables import Row, Spec, Tables, Words


def lines(tables: Tables) -> Iterator[str]:
    """The tables that the engine asks."""
    return posix.lines(tables, posix.Dialect("path_", _words, _specs, _row))


def _words(words: Words) -> str:
    return f"fitting=({_described(words)})"


def _row(row: Row) -> Iterator[str]:
    yield f"commands=({_described(row.commands)})"
    yield f"options={_specs(row.options)}"
    yield f"arguments=({' '.join(map(quoted, row.arguments))})"


def _specs(specs: Iterable[Spec]) -> str:
    """Name, kind and help of each, one after the other, a line an option."""
    lines = (f"\n        {spec.name} {quoted(spec.kind)} {quoted(spec.help)}" for spec in specs)
    return f"({''.join(lines)})"


def _described(words: Words) -> str:
    """`word:meaning`; a colon of either is escaped."""
    parts = ((part.replace(":", "\\:") for part in pair if part) for pair in words)
    return " ".join(quoted(":".join(pair)) for pair in parts)
