"""Paths of fields, such as `items[0].name`: parsed, formatted, and looked up in an object.

`--fields` and the headers of CSV are paths. `human` reads the values of an object by a `Record`,
`csv_format` by `lookup` and `flatten`.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, Self

from svc.errors import UsageError

FieldPath = tuple[str, ...]

_PART: Final = re.compile(r"\[([^\[\]]*)\]|([^.\[\]]+)")
_PATH: Final = re.compile(rf"(?:{_PART.pattern}|\.)+")
_DEEPEST: Final = 32


def parse(text: str, option: str = "--fields") -> FieldPath:
    """Parses `a.b[0]`, `a[b][0]` or `a.b.0`, which are the same path. Raises UsageError."""
    if not _PATH.fullmatch(text):
        between = ", with commas between" if option == "--fields" else ""
        raise UsageError(
            f"{option}: {text!r} is not the path of a field",
            param=option.removeprefix("--"),
            hint=f"write paths like amount, shipping.country or items[0][name]{between}",
        )
    return tuple(bracketed or plain for bracketed, plain in _PART.findall(text))


def format_bracket_path(path: FieldPath) -> str:
    """Formats a path as a bracket path, such as `items[0][name]`."""
    return path[0] + "".join(f"[{part}]" for part in path[1:])


def lookup(value: object, path: FieldPath) -> object:
    """Returns the value at a path, or None."""
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def has(value: object, path: FieldPath) -> bool:
    """Whether there is a value at a path; null counts."""
    above = lookup(value, path[:-1])
    if isinstance(above, dict):
        return path[-1] in above
    return isinstance(above, list) and path[-1].isdecimal() and int(path[-1]) < len(above)


def flatten(value: object, path: FieldPath = ()) -> Iterator[tuple[FieldPath, object]]:
    """Yields every scalar in a value with its path; a value nested too deeply as a whole."""
    if isinstance(value, dict) and len(path) < _DEEPEST:
        for key, inner in value.items():
            yield from flatten(inner, (*path, str(key)))
    elif isinstance(value, list) and len(path) < _DEEPEST:
        for index, inner in enumerate(value):
            yield from flatten(inner, (*path, str(index)))
    else:
        yield path, value


class Record:
    """Reads the values of an object by path, and knows which values were not read yet.

    `outer` is the object around this one, for values that the inner one lacks, such as a currency.
    """

    def __init__(self, data: dict[str, Any], outer: Self | None = None) -> None:
        self.data = data
        self.depth: int = outer.depth + 1 if outer else 0
        self._outer = outer
        self._seen: set[FieldPath] = set()

    def inner(self, path: FieldPath, data: dict[str, Any]) -> "Record":
        """Opens the object at a path; values that were read before count as read."""
        record = Record(data, self)
        below = (seen[len(path) :] for seen in self._seen if seen[: len(path)] == path)
        record._seen.update(filter(None, below))
        return record

    @property
    def kind_data(self) -> dict[str, Any]:
        """The object whose kind this record has, or is part of."""
        return self.data if "object" in self.data or not self._outer else self._outer.kind_data

    @property
    def of_service(self) -> bool:
        """Whether this is an object of the service, or within one."""
        return "object" in self.data or bool(self._outer and self._outer.of_service)

    def take(self, path: str | FieldPath) -> object:
        """Returns the value at a dotted or parsed path and counts it as read."""
        parts = split_path(path)
        self._seen.add(parts)
        return lookup(self.data, parts)

    def take_near(self, path: str | FieldPath) -> object:
        """Returns the value at a path of this object, or else of the outer one."""
        value = self.take(path)
        return self._outer.take_near(path) if value is None and self._outer else value

    def rest(self) -> Iterator[tuple[FieldPath, object]]:
        """Yields the paths and values that were not read yet, in the service's order."""
        yield from self._rest(self.data, ())

    def _rest(self, data: dict[str, Any], above: FieldPath) -> Iterator[tuple[FieldPath, object]]:
        for key, value in data.items():
            path = (*above, str(key))
            if path in self._seen:
                continue
            if isinstance(value, dict) and any(seen[: len(path)] == path for seen in self._seen):
                yield from self._rest(value, path)
            else:
                yield path, value


def split_path(path: str | FieldPath) -> FieldPath:
    """Splits a dotted path."""
    return tuple(path.split(".")) if isinstance(path, str) else path
