"""Bracket paths such as `items[0][name]`: reading them and setting values by them."""

import re
from typing import Any

from svc.errors import UsageError

_PATH = re.compile(r"(?P<head>[^\[\]=:]+)(?P<rest>(?:\[[^\[\]]*\])*)")
_PART = re.compile(r"\[([^\[\]]*)\]")


def parse_path(text: str) -> list[str]:
    """Splits `items[0][name]` into `["items", "0", "name"]`; `events[]` ends with an empty part.

    Raises:
        UsageError: when the brackets do not pair.
    """
    match = _PATH.fullmatch(text)
    if match is None:
        raise UsageError(
            f"{text!r} is not a field path.",
            hint="Write it as in shipping[country] or items[0][name]",
        )
    return [match["head"], *_PART.findall(match["rest"])]


def put(body: dict[str, Any], path: list[str], value: Any) -> None:
    """Sets one value, making the objects and lists on the way.

    Raises:
        UsageError: when a path runs through a plain value or leaves a gap in a list.
    """
    here: Any = body
    for part, following in zip(path, [*path[1:], None], strict=True):
        fresh = value if following is None else ([] if _is_index(following) else {})
        if isinstance(here, list):
            here = _into_list(here, part, fresh, path, last=following is None)
        elif isinstance(here, dict):
            if following is None or not isinstance(here.get(part), dict | list):
                here[part] = fresh
            here = here[part]
        else:
            raise UsageError(f"{shown(path)} goes through a plain value.")


def shown(path: list[str]) -> str:
    """Writes a path with its brackets."""
    return path[0] + "".join(f"[{part}]" for part in path[1:])


def _is_index(part: str) -> bool:
    return part == "" or (part.isascii() and part.isdigit())


def _into_list(here: list[Any], part: str, fresh: Any, path: list[str], *, last: bool) -> Any:
    if not _is_index(part):
        raise UsageError(f"{shown(path)}: {part!r} is no position in a list.")
    index = int(part) if part else len(here)
    if index > len(here):
        raise UsageError(f"{shown(path)} leaves a gap: position {len(here)} comes first.")
    if index == len(here):
        here.append(fresh)
    elif last or not isinstance(here[index], dict | list):
        here[index] = fresh
    return here[index]
