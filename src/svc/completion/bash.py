"""The script for bash: every table is a `case`, which bash 3.2 has and no process is needed for."""

from collections.abc import Iterator

from svc.completion.tables import Row, Spec, Tables


def lines(tables: Tables) -> Iterator[str]:
    """The tables that the engine asks."""
    yield "_svc_long_name() {"
    yield "  case $path in"
    for short, name in tables.long_names.items():
        yield f"    {short}) path={name} ;;"
    yield from ("  esac", "}", "", "_svc_words() {", "  case $1 in")
    for name, words in tables.words.items():
        yield f"    {name}) words={quoted(' '.join(word for word, _ in words))} ;;"
    yield from ("    *) words= ;;", "  esac", "}", "", "_svc_command() {", "  case $1 in")
    for row in tables.rows:
        yield from _row(row)
    yield from ("  esac", "  case $shared in")
    for groups in dict.fromkeys(row.shared for row in tables.rows):
        specs = [spec for group in groups for spec in tables.shared[group]]
        yield f"    {quoted(' '.join(groups))}) shared={_specs(specs)} ;;"
    yield from ("  esac", "}", "")


def _row(row: Row) -> Iterator[str]:
    yield f"    {quoted(row.path)})"
    yield f"      commands={quoted(' '.join(word for word, _ in row.commands))}"
    yield f"      options={_specs(row.options)}"
    yield f"      arguments={quoted(' '.join(row.arguments))}"
    yield f"      shared={quoted(' '.join(row.shared))}"
    yield "      ;;"


def _specs(specs: "tuple[Spec, ...] | list[Spec]") -> str:
    # A blank behind the last as well: the engine looks for ` --name:`.
    return quoted("".join(f"{spec.name}:{spec.kind} " for spec in specs))


def quoted(text: str) -> str:
    """Single quotes, as every POSIX shell reads them."""
    return "'" + text.replace("'", "'\\''") + "'"
