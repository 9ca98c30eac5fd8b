"""What will be gone is told to people while it still works; the table is in `registry`."""

from collections.abc import Sequence
from typing import Any

from svc.cli.framework.registry import DEPRECATIONS, Deprecation


def warn_of_deprecated(
    session: Any, command: str, rows: Sequence[Deprecation] = DEPRECATIONS
) -> None:
    """Says once on stderr that what was typed will be gone; nothing where no person reads it."""
    typed = [word.partition("=")[0] for word in session.argv]
    for row in rows:
        if command == f"svc {row.command}" and (row.option is None or row.option in typed):
            _warn(session, row)


def _warn(session: Any, row: Deprecation) -> None:
    out = session.repair_out
    if session.streams.person_watches and not out.quiet:
        out.warn(f"{row.name} is deprecated and gone in {row.gone}. Use {row.instead}")
