"""The script for PowerShell: hash tables of words with what they mean."""

from collections.abc import Iterable, Iterator

from svc.completion.tables import Row, Spec, Tables, Words


def lines(tables: Tables) -> Iterator[str]:
    """The tables that the engine asks."""
    yield "$script:SvcLongNames = @{"
    for short, name in tables.long_names.items():
        yield f"    {quoted(short)} = {quoted(name)}"
    yield "}"
    yield "$script:SvcWords = @{"
    for name, words in tables.words.items():
        yield f"    {quoted(name)} = {_pairs(words)}"
    yield "}"
    yield "$script:SvcShared = @{"
    for group, specs in tables.shared.items():
        yield f"    {quoted(group)} = {_specs(specs)}"
    yield "}"
    yield "$script:SvcCommands = @{"
    for row in tables.rows:
        yield from _row(row)
    yield "}"


def _row(row: Row) -> Iterator[str]:
    yield f"    {quoted(row.path)} = @{{"
    yield f"        Commands = {_pairs(row.commands)}"
    yield f"        Options = {_specs(row.options)}"
    yield f"        Arguments = {_list(map(quoted, row.arguments))}"
    yield f"        Shared = {_list(map(quoted, row.shared))}"
    yield "    }"


def _pairs(words: Words) -> str:
    return _list(f"@({quoted(word)}, {quoted(meaning)})" for word, meaning in words)


def _specs(specs: Iterable[Spec]) -> str:
    return _list(
        f"@({quoted(spec.name)}, {quoted(spec.kind)}, {quoted(spec.help)})" for spec in specs
    )


def _list(items: Iterable[str]) -> str:
    """A list of lists; the comma keeps PowerShell from unrolling one of a single item."""
    found = list(items)
    return f"@(,{found[0]})" if len(found) == 1 else f"@({', '.join(found)})"


def quoted(text: str) -> str:
    """Single quotes, doubled inside."""
    return "'" + text.replace("'", "''") + "'"
