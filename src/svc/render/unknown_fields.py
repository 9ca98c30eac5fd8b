"""A word about `--fields` that name nothing: a mistyped name must not read as an empty column."""

from collections.abc import Sequence
from typing import Any, Final

from svc.render.columns import known_paths
from svc.render.fieldpaths import Path, has

_NAMED: Final = 40


def warning(objects: Sequence[object], names: Sequence[Path]) -> str | None:
    """Says which paths no object of the first page has and no kind is known to have.

    It is no error: a service may add a field that only some objects have.
    """
    found = [data for data in objects if isinstance(data, dict)]
    if not found or not names:
        return None
    known = known_paths(found[0])
    missing = [name for name in names if not _there(name, found, known)]
    if not missing:
        return None
    plural = "s" if len(missing) > 1 else ""
    said = ", ".join(map(".".join, missing))
    return f"No object has the field{plural} {said}; fields are: {_keys(found)}"


def _there(name: Path, found: Sequence[dict[str, Any]], known: Sequence[Path]) -> bool:
    plain = tuple(part for part in name if not part.isdecimal())
    described = plain and any(path[: len(plain)] == plain for path in known)
    return bool(described) or any(has(data, name) for data in found)


def _keys(found: Sequence[dict[str, Any]]) -> str:
    keys = list(dict.fromkeys(str(key) for data in found for key in data))
    more = ["..."] if len(keys) > _NAMED else []
    return ", ".join([*keys[:_NAMED], *more])
