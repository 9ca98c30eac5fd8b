"""Paths of fields inside an object: `shipping.country` and `items[0][name]`."""

import re
from collections.abc import Iterator
from typing import Final

from svc.errors import UsageError

Path = tuple[str, ...]

_PART: Final = re.compile(r"\[([^\[\]]*)\]|([^.\[\]]+)")
_PATH: Final = re.compile(rf"(?:{_PART.pattern}|\.)+")
_DEEPEST: Final = 32


def parse(text: str) -> Path:
    """Reads `a.b[0]`, `a[b][0]` or `a.b.0`; the three are the same path. Raises UsageError."""
    if not _PATH.fullmatch(text):
        raise UsageError(
            f"--fields: {text!r} is not the path of a field",
            param="fields",
            hint="write paths like amount, shipping.country or items[0][name], with commas between",
        )
    return tuple(bracketed or plain for bracketed, plain in _PART.findall(text))


def bracketed(path: Path) -> str:
    """Writes a path as column heads and form fields have it: `items[0][name]`."""
    return path[0] + "".join(f"[{part}]" for part in path[1:])


def lookup(value: object, path: Path) -> object:
    """Follows a path into a value; None where it leads nowhere."""
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def has(value: object, path: Path) -> bool:
    """Tells whether a path leads to a value, null included."""
    above = lookup(value, path[:-1])
    if isinstance(above, dict):
        return path[-1] in above
    return isinstance(above, list) and path[-1].isdecimal() and int(path[-1]) < len(above)


def flatten(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """Yields every scalar in a value with its path; what nests too deeply comes as it is."""
    if isinstance(value, dict) and len(path) < _DEEPEST:
        for key, inner in value.items():
            yield from flatten(inner, (*path, str(key)))
    elif isinstance(value, list) and len(path) < _DEEPEST:
        for index, inner in enumerate(value):
            yield from flatten(inner, (*path, str(index)))
    else:
        yield path, value
