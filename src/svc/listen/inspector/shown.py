"""What others wrote, fit to be shown: secrets masked, long runs shortened (promises R39, R45)."""

import re
import time
from http import HTTPStatus
from typing import Final

from svc.listen.framing import Header
from svc.redaction import redact

_RUN_MAX: Final = 1000  # masking takes time by the square of a run's length
_RAW_MAX: Final = 256 * 1024
_RUNS: Final = re.compile(r'([^"\n]+)')
_PRIVATE: Final = frozenset(("authorization", "cookie", "proxy-authorization", "set-cookie"))


def masked(text: str) -> str:
    """Gives one text with its secrets masked, and only the beginning of a very long one.

    Its end would not do as well: half of a secret there has lost what it is known by.
    """
    if len(text) <= _RUN_MAX:
        return redact(text)
    return f"{redact(text[:_RUN_MAX])} … {len(text) - _RUN_MAX:,} characters left out"


def raw(body: bytes) -> str:
    r"""Gives a body as it came, masked; bytes that are no UTF-8 as `\x..`."""
    text = body[:_RAW_MAX].decode("utf-8", "backslashreplace")
    shown = _RUNS.sub(lambda run: masked(run[1]), text)
    rest = len(body) - _RAW_MAX
    return f"{shown}\n… {rest:,} more bytes" if rest > 0 else shown


def header_lines(block: bytes) -> list[Header]:
    """Reads header lines as the inbox keeps them."""
    pairs = [line.partition(b": ") for line in block.split(b"\r\n") if line]
    return [(name, value) for name, _, value in pairs]


def header(pair: Header) -> tuple[str, str]:
    """Gives a header's name and value; credentials are not shown."""
    name, value = (part.decode("latin-1") for part in pair)
    return masked(name), "…" if name.lower() in _PRIVATE else masked(value)


def status_text(status: int | None) -> str:
    """Names an HTTP status; None is an answer that never came."""
    if status is None:
        return "No answer"
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


class Times:
    """Writes times as the terminal does: local unless UTC was asked for; all in unix seconds."""

    def __init__(self, *, utc: bool) -> None:
        self._utc = utc

    def clock(self, seconds: float) -> str:
        """The time of day with milliseconds."""
        return f"{time.strftime('%H:%M:%S', self._parts(seconds))}.{int(seconds % 1 * 1000):03d}"

    def full(self, seconds: float) -> str:
        """The same with its date."""
        day = time.strftime("%Y-%m-%d", self._parts(seconds))
        return f"{day} {self.clock(seconds)}{' UTC' if self._utc else ''}"

    def brief(self, seconds: float, now: float) -> str:
        """The time of day, with the date if it is not today's."""
        today = self._parts(seconds)[:3] == self._parts(now)[:3]
        return self.clock(seconds) if today else self.full(seconds).removesuffix(" UTC")

    def _parts(self, seconds: float) -> time.struct_time:
        return time.gmtime(seconds) if self._utc else time.localtime(seconds)
