"""The script for zsh: words with what they mean, as `_describe` shows them."""

from collections.abc import Iterable, Iterator

from svc.completion.bash import quoted
from svc.completion.tables import Row, Spec, Tables, Words


def lines(tables: Tables) -> Iterator[str]:
    """The tables that the engine asks."""
    yield "_svc_long_name() {"
    yield "  case $path_ in"
    for short, name in tables.long_names.items():
        yield f"    {short}) path_={name} ;;"
    yield from ("  esac", "}", "", "_svc_words() {", "  case $1 in")
    for name, words in tables.words.items():
        yield f"    {name}) fitting=({_described(words)}) ;;"
    yield from ("  esac", "}", "", "_svc_command() {", "  case $1 in")
    for row in tables.rows:
        yield from _row(row)
    yield from ("  esac", "  case $shared in")
    for groups in dict.fromkeys(row.shared for row in tables.rows):
        yield f"    {quoted(' '.join(groups))})"
        yield "      shared=("
        for group in groups:
            yield from _specs(tables.shared[group])
        yield from ("      )", "      ;;")
    yield from ("  esac", "}", "")


def _row(row: Row) -> Iterator[str]:
    yield f"    {quoted(row.path)})"
    yield f"      commands=({_described(row.commands)})"
    yield "      options=("
    yield from _specs(row.options)
    yield "      )"
    yield f"      arguments=({' '.join(map(quoted, row.arguments))})"
    yield f"      shared={quoted(' '.join(row.shared))}"
    yield "      ;;"


def _specs(specs: Iterable[Spec]) -> Iterator[str]:
    for spec in specs:
        yield f"        {spec.name} {quoted(spec.kind)} {quoted(spec.help)}"


def _described(words: Words) -> str:
    """`word:meaning`; a colon of either is escaped."""
    parts = ((part.replace(":", "\\:") for part in pair if part) for pair in words)
    return " ".join(quoted(":".join(pair)) for pair in parts)
