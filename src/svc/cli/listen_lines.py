"""Records of listening as lines: aligned for people, NDJSON for programs (cli.md, section 6)."""

import json
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Final

from svc.listen.records import EventReceived, Forwarded, Record, Rejected, TunnelDown, TunnelUp
from svc.money import format_amount
from svc.render.text import one_line, shorten

_TYPE_WIDTH: Final = 18
_MARK_WIDTH: Final = 9
_ROOM: Final = 86  # columns from which the parts of a line stand under each other
_INDENT: Final = "    "
_REPLY_WIDTH: Final = 200
_SGR: Final = {"dim": "2", "good": "32", "bad": "31", "bold": "1"}

Cell = tuple[str, str]
Write = Callable[[str], None]


def as_ndjson(record: Record) -> str:
    """Writes one record as one line; ASCII only, so that nothing in it acts on a terminal."""
    fields = record.to_dict()
    payload = fields.pop("payload_base64", None)
    line = json.dumps(fields)
    if payload is not None:  # base64 needs no escaping, and looking for it costs most of a line
        line = f'{line[:-1]}, "payload_base64": "{payload}"}}'
    return line + "\n"


class HumanLines:
    """Writes what arrives and what became of it, for a terminal of so many columns."""

    def __init__(self, *, width: int, color: bool, utc: bool, payload: bool) -> None:
        self._width = width
        self._color = color
        self._utc = utc
        self._payload = payload
        self._last = ""

    def event(self, record: EventReceived) -> str:
        """One line an event, and its payload below if that is wanted."""
        self._last = record.id
        wide = self._width >= _ROOM
        kind, mark = record.type or "(no type)", _mark(record)
        cells = [
            (self._clock(record.time), "dim"),
            (kind.ljust(_TYPE_WIDTH) if wide else kind, "bold"),
            (record.id, ""),
            (mark[0].ljust(_MARK_WIDTH) if wide and record.amount else mark[0], mark[1]),
            *_amount(record),
        ]
        return self._flow(cells) + (_shown_payload(record.payload) if self._payload else "")

    def forward(self, record: Forwarded) -> str:
        """One line an attempt; the event's id where another line stands between."""
        status: Cell = (_status(record), "good" if record.succeeded else "bad")
        cells = [
            (f"{self._clock(record.time)}  ", "dim"),
            status,
            (record.url, ""),
            (f"{record.milliseconds:.0f} ms", "dim"),
        ]
        if record.error:
            cells.append((one_line(record.error), ""))
        if record.retry_in is not None:
            cells.append((f"again in {_distance(record.retry_in)}", "dim"))
        if record.id != self._last:
            cells.append((record.id, "dim"))
        self._last = ""
        return self._flow(cells) + self._reply(record)

    def rejected(self, record: Rejected) -> str:
        """One line for what did not verify; nothing of its payload (promise R49)."""
        self._last = ""
        cells = [(self._clock(record.time), "dim"), ("rejected", "bad"), (record.reason, "")]
        return self._flow([*cells, *((word, "") for word in [one_line(record.message)])])

    def tunnel(self, record: TunnelUp | TunnelDown) -> str:
        """One line for each change of the way in."""
        self._last = ""
        up = isinstance(record, TunnelUp)
        text = record.url if isinstance(record, TunnelUp) else record.reason
        cells = [(self._clock(record.time), "dim"), ("tunnel up" if up else "tunnel down", "")]
        return self._flow([*cells, (one_line(text), "")])

    def _clock(self, seconds: float) -> str:
        parts = time.gmtime(seconds) if self._utc else time.localtime(seconds)
        milliseconds = int(seconds % 1 * 1000)
        return f"{time.strftime('%H:%M:%S', parts)}.{milliseconds:03d}"

    def _flow(self, cells: Sequence[Cell]) -> str:
        """Puts cells on as many lines as they need; none is ever cut (promise R63)."""
        shortest = sum(len(text.strip()) for text, _ in cells) + len(cells) - 1
        longest = shortest + len(cells) - 1
        gap = " " if shortest <= self._width < longest else "  "
        lines: list[str] = []
        used = 0
        for text, style in cells:
            if lines and used + len(gap) + len(text.rstrip()) <= self._width:
                lines[-1] += gap + self._styled(text, style)
                used += len(gap) + len(text)
            else:
                indent = _INDENT if lines else ""
                lines.append(indent + self._styled(text, style))
                used = len(indent) + len(text)
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def _styled(self, text: str, style: str) -> str:
        if not self._color or not style:
            return text
        return f"\x1b[{_SGR[style]}m{text}\x1b[0m"

    def _reply(self, record: Forwarded) -> str:
        """What the target said about a failure, on one line."""
        if record.succeeded or not record.reply.strip():
            return ""
        text = one_line(record.reply.decode("utf-8", "replace").strip())
        width = max(min(_REPLY_WIDTH, self._width) - len(_INDENT) - 2, 10)
        return f"{_INDENT}  {self._styled(shorten(text, width, '…'), 'dim')}\n"


def _mark(record: EventReceived) -> Cell:
    if record.wrong_mode:
        return f"{'live' if record.livemode else 'test'} mode, not forwarded", "bad"
    if record.duplicate:
        return "duplicate", "dim"
    return ("late", "dim") if record.out_of_order else ("verified", "good")


def _amount(record: EventReceived) -> list[Cell]:
    if record.amount is None or record.currency is None:
        return []
    return [(format_amount(record.amount, record.currency), "")]


def _status(record: Forwarded) -> str:
    if record.status is None:
        return "not sent" if record.milliseconds == 0 else "failed"
    try:
        return f"{record.status} {HTTPStatus(record.status).phrase}"
    except ValueError:
        return str(record.status)


def _distance(seconds: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"


def _shown_payload(payload: bytes) -> str:
    try:
        text = json.dumps(json.loads(payload), indent=2)  # ASCII only: nothing acts on a terminal
    except (ValueError, RecursionError):
        text = one_line(payload.decode("utf-8", "replace"))
    return "".join(f"{_INDENT}{line}\n" for line in text.splitlines())
