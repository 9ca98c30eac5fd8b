"""In which line of a TOML text a name stands: for error messages only, so it may be slow."""

import tomllib
from collections.abc import Iterator
from typing import Any

Path = tuple[str, ...]


def line_of(text: str, path: Path) -> int | None:
    """Finds the line that sets a dotted name, else the table that holds it; counted from 1."""
    best: tuple[int, int] | None = None
    for number, found in _statements(text):
        depth = len(found)
        if path[:depth] == found and (best is None or depth > best[1]):
            best = number, depth
    return best[0] if best else None


def _statements(text: str) -> Iterator[tuple[int, Path]]:
    table: Path = ()
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if bare.startswith("["):
            table = _names(bare)
            yield number, table
        elif "=" in bare:
            names = _names(bare.split("=", 1)[0] + "= 0")
            if names:
                yield number, (*table, *names)


def _names(statement: str) -> Path:
    try:
        value: Any = tomllib.loads(statement)
    except ValueError:
        return ()
    names = []
    while isinstance(value, dict) and value:
        name, value = next(iter(value.items()))
        names.append(name)
    return tuple(names)
