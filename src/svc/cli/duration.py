"""Durations as people write them: `3d`, `1d12h`, `90s`."""

import re
from typing import Final

from svc.errors import UsageError

_SECONDS: Final = {"w": 7 * 86400, "d": 86400, "h": 3600, "m": 60, "s": 1}
_WHOLE: Final = re.compile(r"[0-9]{1,9}|(?:[0-9]{1,9}[wdhms]){1,5}")
_LONGEST: Final = 100 * 366 * 86400
_SHOWN_MAX: Final = 40
_PART: Final = re.compile(r"([0-9]+)([wdhms])")


def seconds_of(text: str, what: str) -> int:
    """Reads a duration as seconds; a bare number is seconds.

    Raises:
        UsageError: when it is no duration; `what` names the argument.
    """
    if not _WHOLE.fullmatch(text):
        raise UsageError(
            f"{what} {text[:_SHOWN_MAX]!r} is no duration.",
            param=what,
            hint="Write a number and w, d, h, m or s, as in 3d, 1d12h or 90s",
        )
    if text.isdigit():
        return _checked(int(text), what)
    parts = _PART.findall(text)
    return _checked(sum(int(number) * _SECONDS[unit] for number, unit in parts), what)


def _checked(seconds: int, what: str) -> int:
    if seconds > _LONGEST:
        raise UsageError(f"{what} is more than a hundred years.", param=what)
    return seconds
