"""Small helpers that turn options into body fields."""

from collections.abc import Sequence
from typing import Any

from svc.cli.body import Body
from svc.errors import UsageError


def present(**fields: Any) -> Body:
    """Keeps what was given: neither None nor an empty object or list."""
    return {name: value for name, value in fields.items() if value not in (None, {}, [])}


def pairs_of(texts: Sequence[str] | None, option: str) -> dict[str, str]:
    """Reads repeated `KEY=TEXT` options; an empty text is kept, since it clears a field."""
    found: dict[str, str] = {}
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageError(f"{option} {text!r} is not KEY=TEXT.", param=option)
        found[key] = value
    return found


def metadata_of(texts: list[str] | None) -> dict[str, str]:
    """Reads `--metadata KEY=TEXT`."""
    return pairs_of(texts, "--metadata")
