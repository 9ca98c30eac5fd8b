"""The script for bash: lists are strings, which bash 3.2 can search without a process."""

from collections.abc import Iterable, Iterator

from svc.completion import posix
from svc.completion.posix import quoted
from svc.completion.tables import Row, Spec, Tables, Words


def lines(tables: Tables) -> Iterator[str]:
    """The tables that the engine asks."""
    return posix.lines(tables, posix.Dialect("path", _words, _specs, _row))


def _words(words: Words) -> str:
    return f"words={quoted(' '.join(word for word, _ in words))}"


def _row(row: Row) -> Iterator[str]:
    yield f"commands={quoted(' '.join(word for word, _ in row.commands))}"
    yield f"options={_specs(row.options)}"
    yield f"arguments={quoted(' '.join(row.arguments))}"


def _specs(specs: Iterable[Spec]) -> str:
    # A blank behind the last as well: the engine looks for ` --name:`.
    return quoted("".join(f"{spec.name}:{spec.kind} " for spec in specs))
