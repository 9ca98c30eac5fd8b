"""The findings of a check-up, for people: a verdict, what was found, and the remedy."""

from collections.abc import Sequence
from typing import Any, Final

from svc.render.palette import Style
from svc.render.style import Line, Screen
from svc.render.text import cells, one_line, pad, wrap

_STYLES: Final[dict[str, Style]] = {
    "ok": "good",
    "warning": "attention",
    "failed": "bad",
    "skipped": "quiet",
    # Of a secret that is to be replaced one day.
    "due": "attention",
    "overdue": "bad",
    "unknown": "attention",
    "sandbox": "quiet",
}
_GAP: Final = "  "
_BESIDE_MIN: Final = 30  # columns that a text needs beside its name


def lines(findings: Sequence[dict[str, Any]], screen: Screen) -> list[Line]:
    """Lays findings out in columns, or the text below its name where the screen is narrow."""
    verdict = max(cells(each["status"]) for each in findings)
    name = max(cells(each["name"]) for each in findings)
    beside = verdict + name + 2 * len(_GAP)
    margin = beside if screen.width - beside >= _BESIDE_MIN else 2
    return [line for each in findings for line in _finding(each, verdict, name, margin, screen)]


def _finding(
    each: dict[str, Any], verdict: int, name: int, margin: int, screen: Screen
) -> list[Line]:
    status = each["status"]
    head: Line = [(pad(status, verdict), _STYLES.get(status, "")), (_GAP, "")]
    texts = _wrapped(each["detail"], screen.width - margin)
    if margin > 2:  # noqa: PLR2004  beside the name
        head += [(pad(each["name"], name), "title"), (_GAP + texts.pop(0), "")]
    else:
        head += [(each["name"], "title")]
    rest: list[Line] = [[(" " * margin + text, "")] for text in texts]
    if each["fix"]:
        rest += [[(" " * margin + text, "hint")] for text in _remedy(each["fix"], screen, margin)]
    return [head, *rest]


def _remedy(fix: str, screen: Screen, margin: int) -> list[str]:
    """The remedy, a command at its end on a line of its own: people copy it."""
    before, colon, command = one_line(fix).rpartition(": svc ")
    if not colon or cells(fix) <= screen.width - margin:
        return _wrapped(fix, screen.width - margin)
    return [*_wrapped(f"{before}:", screen.width - margin), f"svc {command}"]


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(one_line(text), max(width, 1))
