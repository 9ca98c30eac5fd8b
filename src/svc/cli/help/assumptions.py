"""`svc help assumptions`: prints what the sandbox assumes where the specification is silent.

Each row of the fidelity table, `svc.sandbox.fidelity`, is such an assumption, with the test that
proves it; `svc help` prints the table as text or data.
"""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from typing import Any

from svc.cli.framework.help_page import wrap_words
from svc.errors import build_wrong_choice
from svc.sandbox.fidelity import ROWS, FidelityRow

_MARKS = {"says": "says ", "chose": "CHOSE"}
_MARGIN = " " * 9  # below a mark
_INTRODUCTION = (
    "What the specification says, and what it does not show and we CHOSE. The sandbox does all of "
    "it; below the rows stands the test that proves them. A program that works "
    "with the sandbox may need changes against the real service where it relies on a choice."
)


def rows(part: str = "") -> list[dict[str, Any]]:
    """The table as data: subject, name, what, mark (says or chose), source, test."""
    return [asdict(row) for row in _part(part)]


def _part(part: str) -> list[FidelityRow]:
    """The rows of one subject, by its first word or all of them, in the singular or plural.

    Raises:
        UsageError: there is no such subject.
    """
    found = [row for row in ROWS if row.subject.lower().startswith(part.lower().removesuffix("s"))]
    if not found:
        raise build_wrong_choice("PART", part, dict.fromkeys(row.subject.lower() for row in ROWS))
    return found


def text(width: int, part: str = "") -> str:
    """The table for people, grouped by subject; a test is named once for the rows it proves."""
    shown = _part(part)
    said = sum(row.mark == "says" for row in shown)
    lines = ["Assumptions", "", *wrap_words(_INTRODUCTION, width), ""]
    lines.append(f"{len(shown)} rows: {said} said, {len(shown) - said} chosen.")
    for subject, group in groupby(shown, key=lambda row: row.subject):
        lines += ["", subject.upper(), *_subject(list(group), width)]
    return "\n".join(lines) + "\n"


def _subject(found: list[FidelityRow], width: int) -> Iterator[str]:
    for test, proved in groupby(found, key=lambda row: row.test):
        for row in proved:
            first, *others = wrap_words(f"{row.name}: {row.what}", width - len(_MARGIN))
            yield f"  {_MARKS[row.mark]}  {first}"
            yield from (_MARGIN + line for line in others)
        yield _MARGIN + test.partition("::")[2]
