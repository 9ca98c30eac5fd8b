"""What bash and zsh have in common: every table is a `case` in a function."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from svc.completion.tables import Row, Spec, Tables, Words


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one shell writes them.

    Attributes:
        path: the variable that holds the words of the command.
        words: the assignment of a set of words.
        specs: a list of options as a value.
        row: the assignments that describe a command, but for its shared options.
    """

    path: str
    words: Callable[[Words], str]
    specs: Callable[[Iterable[Spec]], str]
    row: Callable[[Row], Iterable[str]]


def lines(tables: Tables, dialect: Dialect) -> Iterator[str]:
    """The functions that an engine asks."""
    arms = [f"{short}) {dialect.path}={name} ;;" for short, name in tables.long_names.items()]
    yield from _function("_svc_long_name", f"${dialect.path}", arms)
    arms = [f"{name}) {dialect.words(words)} ;;" for name, words in tables.words.items()]
    yield from _function("_svc_words", "$1", [*arms, f"*) {dialect.words(())} ;;"])
    arms = [line for row in tables.rows for line in _row(row, dialect)]
    yield from _function("_svc_own", "$1", arms)
    arms = [
        f"{quoted(' '.join(groups))}) "
        f"shared={dialect.specs(spec for group in groups for spec in tables.shared[group])} ;;"
        for groups in dict.fromkeys(row.shared for row in tables.rows)
    ]
    yield from _function("_svc_shared", "$shared", arms)
    yield from ("_svc_command() {", '  _svc_own "$1"', "  _svc_shared", "}", "")


def _row(row: Row, dialect: Dialect) -> Iterator[str]:
    yield f"{quoted(row.path)})"
    yield from (f"  {line}" for line in dialect.row(row))
    yield f"  shared={quoted(' '.join(row.shared))}"
    yield "  ;;"


def _function(name: str, asked: str, arms: Iterable[str]) -> Iterator[str]:
    yield from (f"{name}() {{", f"  case {asked} in")
    yield from (f"    {arm}" for arm in arms)
    yield from ("  esac", "}", "")


def quoted(text: str) -> str:
    """Single quotes, as every POSIX shell reads them."""
    return "'" + text.replace("'", "'\\''") + "'"
