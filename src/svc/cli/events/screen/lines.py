"""Formats the records of a listener as lines for people: events, forwards, tunnels, trouble.

`printer` passes each record of `svc events listen`, and each forward of `svc events replay`, to the
method of `HumanLines` for its kind: a record in, lines of text out.
"""

import json
import re
from dataclasses import dataclass
from typing import Final, Literal

from svc.json_text import parse_any
from svc.listen.commands import PREFIX
from svc.listen.output_records import (
    BugMet,
    EventReceived,
    Forwarded,
    LogReplaced,
    LogState,
    Missed,
    Rejected,
    StoreState,
    TargetAway,
    TunnelDown,
    TunnelUp,
    name_status,
)
from svc.money import format_amount
from svc.render.layout import LineCell, LineLayout
from svc.render.text import one_line, shorten

_REFUSED: Final = "connection refused"
_GROWN: Final = 1.5


@dataclass(frozen=True, slots=True)
class ForwardNotice:
    """What to print of an attempt to forward an event.

    `what` is `attempt` for a line about the attempt itself, `away` where the target was not reached
    and its events wait, `still` where that goes on, `nothing` where it was printed before. With
    `ask` the line asks whether the server runs. `back_after` is how many seconds a target was away.
    """

    what: Literal["attempt", "away", "still", "nothing"] = "attempt"
    ask: bool = False
    back_after: float | None = None


@dataclass(slots=True)
class _Absence:
    since: float
    delay: float


class AbsenceTracker:
    """Remembers which targets cannot be reached; with `holds` their events wait for them.

    Attempts are printed while the time between two of them grows; then none until the target
    answers.
    """

    def __init__(self, *, holds: bool) -> None:
        self._holds = holds
        self._absent: dict[str, _Absence] = {}
        self._asked: set[str] = set()

    def choose_notice(self, record: Forwarded) -> ForwardNotice:
        """Returns what to print of a record of an attempt."""
        if record.status is not None:
            return self._describe_answered(record)
        if not self._holds or record.retry_in is None:
            return ForwardNotice(ask=self._is_to_ask(record))
        absence = self._absent.get(record.url)
        if absence is None:
            self._absent[record.url] = _Absence(record.time, record.retry_in)
            return ForwardNotice("away", ask=self._is_to_ask(record))
        grown = record.retry_in > absence.delay * _GROWN
        absence.delay = max(absence.delay, record.retry_in)
        return ForwardNotice("still" if grown else "nothing")

    def _describe_answered(self, record: Forwarded) -> ForwardNotice:
        absence = self._absent.get(record.url)
        if absence and record.time - record.milliseconds / 1000 < absence.since:
            return ForwardNotice()  # it was under way before, and says nothing of now
        self._absent.pop(record.url, None)
        self._asked.discard(record.url)
        return ForwardNotice(back_after=record.time - absence.since if absence else None)

    def _is_to_ask(self, record: Forwarded) -> bool:
        """Returns whether to ask if the server runs: once, until it has answered."""
        if record.url in self._asked or not (record.error or "").startswith(_REFUSED):
            return False
        self._asked.add(record.url)
        return True


_TYPE_WIDTH: Final = 18
_LATE_SECONDS: Final = 60.0
_MARK_WIDTH: Final = 9
_REPLY_WIDTH: Final = 200
_IS_IT: Final = "Is your server running?"
_REPLAY: Final = "svc events replay"
_FAILED: Final = f"{_REPLAY} --failed"


class HumanLines:
    """Formats records as lines; a method for each kind of record.

    `holds`: events wait for a target that cannot be reached, so its absence is printed, not each
    attempt. `alone`: there is one target only, which is left out where there is no room. `again` is
    the command that sends failed events later. `final`: a target's first refusal that is not
    retried gets a line with the command that sends the event again.
    """

    def __init__(
        self,
        layout: LineLayout,
        *,
        payload: bool = False,
        holds: bool = False,
        alone: bool = False,
        again: str = _FAILED,
        final: bool = False,
    ) -> None:
        self._layout = layout
        self._payload = payload
        self._alone = alone
        self._ask = f"{_IS_IT} Send them again later: {again}"
        self._away = AbsenceTracker(holds=holds)
        self._final = final
        self._refusing: set[str] = set()  # targets of which the latest answers were final
        self._last = ""

    def interrupt(self) -> None:
        """Notes that something else was printed: the next forward has to name its event."""
        self._last = ""

    def event(self, record: EventReceived) -> str:
        """Formats an event as one line, with its payload below if that is wanted."""
        self._last = record.id
        layout = self._layout
        kind = record.type or "(no type)"
        cells: list[LineCell] = [
            (layout.clock(record.time), "quiet"),
            (kind if layout.narrow else kind.ljust(_TYPE_WIDTH), "strong"),
            (record.id, ""),
            *self._verdict(record),
            *_age(record),
        ]
        return layout.row(cells) + (_show_payload(record.payload) if self._payload else "")

    def forward(self, record: Forwarded) -> str:
        """Formats an attempt as one line; empty for a target that is known to be away."""
        notice = self._away.choose_notice(record)
        if notice.what == "nothing":
            return ""
        row = (
            self._attempt(record, notice)
            if notice.what == "attempt"
            else self._absence(record, notice)
        )
        self._last = ""
        text = self._layout.row(row) + self._reply(record)
        if notice.what == "away":
            ask = f"{_IS_IT} " if notice.ask else ""
            return text + self._layout.note(
                f"{self._next_try(record).capitalize()}. {ask}Events wait for it.", "waiting"
            )
        is_first = self._is_first_refusal(record)
        if notice.ask:
            return text + self._layout.note(self._ask, "waiting")
        if self._final and is_first:
            again = f"Not tried again. Send it later: {_REPLAY} {one_line(record.id)}"
            return text + self._layout.note(again, "waiting")
        return text

    def _is_first_refusal(self, record: Forwarded) -> bool:
        """Returns whether it is final, and the first that is since the target took something."""
        if record.succeeded:
            self._refusing.discard(record.url)
        if record.succeeded or record.retry_in is not None or record.url in self._refusing:
            return False
        self._refusing.add(record.url)
        return True

    def rejected(self, record: Rejected) -> str:
        """Formats a refused delivery as one line, without its payload (promise R49)."""
        self._last = ""
        layout, message = self._layout, one_line(record.message)
        cells: list[LineCell] = [
            (layout.clock(record.time), "quiet"),
            ("rejected".ljust(0 if layout.narrow else _TYPE_WIDTH), "bad"),
            (record.reason, "strong"),
        ]
        if layout.width is None:
            return layout.row([*cells, (message, "")])
        return layout.row(cells) + layout.note(message, "")

    def tunnel(self, record: TunnelUp | TunnelDown) -> str:
        """Formats a tunnel's going up or down as one line, a long reason below it."""
        if isinstance(record, TunnelUp):
            return self._change(record.time, ("tunnel up", "good"), record.url, whole=True)
        return self._change(record.time, ("tunnel down", "bad"), record.reason)

    def log(self, record: LogState | Missed | LogReplaced) -> str:
        """Formats a change of a team's log, or the number of events that it had dropped."""
        if isinstance(record, LogReplaced):
            return self._change(record.time, ("log replaced", "bad"), record.message)
        if isinstance(record, Missed):
            text = f"{record.events:,} events had been dropped for their age before they were read"
            return self._change(record.time, ("missed", "bad"), text)
        what = ("log up", "good") if record.reason is None else ("log down", "bad")
        return self._change(record.time, what, record.reason or record.address)

    def waiting(self, record: TargetAway) -> str:
        """Formats what waits for a target that is away, why and since when; it comes every 30 s."""
        many = f"{record.events:,} event{'' if record.events == 1 else 's'}"
        when = "once it can be reached"
        if record.next_in is not None:
            when = f"next try {self._layout.format_brief(record.time + record.next_in)}"
        text = f"{many} for {record.url}: {record.reason}, {distance(record.seconds)}; {when}"
        return self._change(record.time, ("waiting", "waiting"), text)

    def trouble(self, record: StoreState | BugMet) -> str:
        """Formats that deliveries cannot be stored, or can again, or that svc met a bug."""
        if isinstance(record, BugMet):
            text = f"{record.error} at {record.place}; listening goes on. Check: svc doctor"
            return self._change(record.time, ("bug in svc", "bad"), text)
        if record.reason is None:
            return self._change(record.time, ("kept again", "good"), "deliveries are answered 200")
        text = f"{record.reason} What cannot be kept is answered 503 and comes again."
        return self._change(record.time, ("not kept", "bad"), text)

    def _change(self, time: float, what: LineCell, text: str, *, whole: bool = False) -> str:
        """One line, with a long text below it unless that is to stay `whole`."""
        self._last = ""
        cells: list[LineCell] = [(self._layout.clock(time), "quiet"), what]
        row = self._layout.row([*cells, (one_line(text), "")])
        if whole or row.count("\n") == 1:
            return row
        return self._layout.row(cells) + self._layout.note(one_line(text), "")

    def _attempt(self, record: Forwarded, notice: ForwardNotice) -> list[LineCell]:
        what = (_status(record), "good" if record.succeeded else "bad")
        cells: list[LineCell] = [self._when(record), what, *self._place(record)]
        if record.error:
            cells.append((one_line(record.error), ""))
        if notice.back_after is not None:
            cells.append((f"back after {distance(notice.back_after)}", "good"))
        if record.retry_in is not None:
            cells.append((self._next_try(record), "waiting"))
        if record.signed_anew:
            cells.append(("signed anew", "quiet"))
        if record.id != self._last:
            cells.append((record.id, "quiet"))
        return cells

    def _absence(self, record: Forwarded, notice: ForwardNotice) -> list[LineCell]:
        """A line about a target, not about one event."""
        if notice.what == "away":
            what, why = "failed", (one_line(record.error or ""), "")
        else:
            what, why = "still away", (self._next_try(record), "waiting")
        return [self._when(record), (what, "bad"), (record.url, ""), why]

    def _when(self, record: Forwarded) -> LineCell:
        clock = self._layout.clock(record.time)
        return (clock if self._layout.narrow else f"{clock}  ", "quiet")

    def _next_try(self, record: Forwarded) -> str:
        return f"next try {self._layout.format_brief(record.time + (record.retry_in or 0))}"

    def _place(self, record: Forwarded) -> list[LineCell]:
        """The address and the time it took; the event has the room of an address that is known."""
        where, took = (record.url, ""), (f"{record.milliseconds:.0f} ms", "quiet")
        if self._layout.wide:
            return [where, took]
        crowded = self._layout.narrow or record.id != self._last
        if self._alone and record.succeeded and crowded:
            return [took]
        return [took, where] if self._layout.narrow else [where, took]

    def _verdict(self, record: EventReceived) -> list[LineCell]:
        """The mark and the amount; below 86 columns a tick stands for the word."""
        word, style = _mark(record)
        amount = _amount(record)
        if not self._layout.wide and amount and word == "verified":
            return [(f"{self._layout.tick} {amount}", style)]
        if not self._layout.wide and record.duplicate:
            return [(word, style)]  # the amount stood on the first one's line
        if self._layout.wide and amount:
            word = word.ljust(_MARK_WIDTH)
        return [(word, style), *([(amount, "")] if amount else [])]

    def _reply(self, record: Forwarded) -> str:
        said = "" if record.succeeded else words_of(record.reply)
        if not said:
            return ""
        layout = self._layout
        room = _REPLY_WIDTH if layout.width is None else layout.width - layout.below
        text = shorten(one_line(said), min(room, _REPLY_WIDTH), "…")
        return f"{'':{layout.below}}{layout.style(text, 'quiet')}\n"


def distance(seconds: float) -> str:
    """Writes a span of time in its largest unit: `38 s`, `12 min`, `6 h`."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"


def _age(record: EventReceived) -> list[LineCell]:
    """Says how late an event of a log was fetched, and whether another reader may have had it."""
    if record.came_at is None:
        return []
    late = record.time - record.came_at
    cells: list[LineCell] = []
    if late >= _LATE_SECONDS:
        cells.append((f"fetched {distance(late)} after it came", "quiet"))
    if record.redelivered:
        cells.append(("redelivered", "waiting"))
    return cells


def _mark(record: EventReceived) -> LineCell:
    if record.wrong_mode:
        return f"{'live' if record.livemode else 'test'} mode, not forwarded", "attention"
    if record.duplicate:
        return "duplicate", "quiet"
    return ("late", "waiting") if record.out_of_order else ("verified", "good")


def _amount(record: EventReceived) -> str:
    if record.amount is None or record.currency is None:
        return ""
    return format_amount(record.amount, record.currency)


def _status(record: Forwarded) -> str:
    if record.status is None:
        return "failed"
    if record.url.startswith(PREFIX):  # its error tells the exit code
        return "exit code 0" if record.succeeded else "failed"
    return name_status(record.status)


def _show_payload(payload: bytes) -> str:
    found = parse_any(payload)
    text = json.dumps(found, indent=2)  # ASCII only: nothing acts on a terminal
    if found is None:
        text = one_line(payload.decode("utf-8", "replace"))
    return "".join(f"    {line}\n" for line in text.splitlines())


_PAGE: Final = re.compile(r"(?is)<(?:!doctype html|html|head|body|title|h1|pre|p)\b")
_TITLE: Final = re.compile(r"(?is)<title[^>]*>(.*?)(?:</title|$)")
_BODY: Final = re.compile(r"(?is)<(?:body|h1|pre|p)\b.*")
_UNSEEN: Final = re.compile(
    r"(?is)<(script|style|head|title|svg)\b.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)"
)
_BREAK: Final = re.compile(
    r"(?i)<(?:br|/?(?:p|h[1-6]|li|div|pre|tr|table|ul|ol|center|hr))\b[^>]*>"
)
_TAG: Final = re.compile(r"(?s)<[^>]*(?:>|$)")
_VAGUE: Final = ("", "error", "internal server error", "server error")
_SAYING: Final = ("message", "detail", "error", "error_description", "title", "reason")


def words_of(reply: bytes) -> str:
    """Returns in one line what an answer says: a page's title or text, a JSON error's message."""
    text = reply.decode("utf-8", "replace").strip()
    if _PAGE.search(text[:1024]):
        return _words_of_page(text)
    if text.startswith("{") and (said := _message_of(text)):
        text = said
    lines = text.splitlines()
    return lines[0].rstrip() if lines else ""


def _words_of_page(text: str) -> str:
    title = _TITLE.search(text)
    said = _strip_markup(title[1]) if title else ""
    if said.lower() not in _VAGUE:
        return said
    body = _BODY.search(text)
    visible = _BREAK.sub("\n", _UNSEEN.sub(" ", body[0] if body else text))
    lines = [line for line in map(_strip_markup, visible.splitlines()) if line]
    telling = [line for line in lines if line.lower() not in _VAGUE]
    return next(iter([*telling, *lines]), said)


def _strip_markup(markup: str) -> str:
    from html import unescape

    return " ".join(unescape(_TAG.sub(" ", markup)).split())


def _message_of(text: str) -> str:
    found = parse_any(text)
    while isinstance(found, dict):
        found = next((found[name] for name in _SAYING if name in found), "")
    return found if isinstance(found, str) else ""
