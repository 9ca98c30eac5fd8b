"""One delivery in full: its verdict, what became of it, its payload and its headers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from svc.listen.inspector import page
from svc.listen.inspector.feed import TurnedAway
from svc.listen.inspector.history import STATES, Whole
from svc.listen.inspector.html import Attributes, Markup, Part, tag
from svc.listen.inspector.json_tree import tree
from svc.listen.inspector.list_page import state_mark
from svc.listen.inspector.page import PageFrame, back, fact
from svc.listen.receiver.http import Header
from svc.listen.records import is_success
from svc.money import format_amount
from svc.state import Row


@dataclass(frozen=True, slots=True)
class Replayed:
    """What to say of a replay; `to` and `original` are what the form held.

    `fault` is what is wrong with the form, `news` what came of sending it.
    """

    news: str = ""
    fault: str = ""
    to: str = ""
    original: bool = False


def replay_form(place: PageFrame, whole: Whole, query: str, replayed: Replayed) -> Markup:
    """Makes the form; it works without a script."""
    path = f"delivery/{whole.entry.id}"
    field = {
        "id": "to",
        "name": "to",
        "type": "text",
        "value": replayed.to,
        "placeholder": "where it went",
        "autocomplete": "off",
        "spellcheck": "false",
        "aria-describedby": "to-hint to-fault" if replayed.fault else "to-hint",
        "aria-invalid": "true" if replayed.fault else None,
    }
    box: Attributes = {
        "id": "original",
        "name": "original",
        "type": "checkbox",
        "value": "1",
        "checked": replayed.original,
    }
    curl = {"id": "curl", "class": "second", "href": place.url(f"{path}/curl")}
    form = tag(
        "form",
        {"id": "replay", "method": "post", "action": place.url(f"{path}/replay", query)},
        tag("label", {"for": "to"}, "Replay to"),
        tag("input", field),
        _fault(replayed),
        tag("p", {"id": "to-hint", "class": "hint"}, "A port or URL of this machine."),
        tag(
            "p",
            {"class": "check"},
            tag("input", box),
            tag("label", {"for": "original"}, "Keep the original signature and its time"),
        ),
        tag(
            "p",
            {"class": "actions"},
            tag("button", {"class": "main"}, "Replay"),
            tag("a", curl, "Copy as curl"),
        ),
    )
    return tag(
        "section",
        {"aria-labelledby": "replay-title"},
        tag("h3", {"id": "replay-title"}, "Send again"),
        _said(replayed.news),
        form,
    )


def _said(news: str) -> Markup:
    """Says what came of sending it; a browser that is led here has the focus on it."""
    attributes = {"id": "said", "role": "status", "class": "said"}
    return tag("p", {**attributes, "tabindex": "-1" if news else None}, news)


def _fault(replayed: Replayed) -> Markup | None:
    if not replayed.fault:
        return None
    return tag("p", {"id": "to-fault", "class": "fault", "role": "alert"}, replayed.fault)


@dataclass(frozen=True, slots=True)
class SignatureVerdict:
    """Whether a delivery is authentic, and why."""

    good: bool
    text: str


def delivery(
    place: PageFrame, whole: Whole, verdict: SignatureVerdict, query: str, replayed: Replayed
) -> Markup:
    """Shows a delivery of the inbox."""
    return _detail(
        place,
        query,
        whole.entry.type or "(no type)",
        _facts(place, whole),
        _verdict(verdict),
        forwards(place, whole),
        replay_form(place, whole, query, replayed),
        _payload(whole.content.body),
        _headers("Headers, as they are passed on", page.header_lines(whole.content.headers)),
    )


def rejection(place: PageFrame, one: TurnedAway, query: str) -> Markup:
    """Shows a delivery that was not accepted; its payload is not kept (promise R49)."""
    rejected = one.rejected
    facts = tag(
        "dl",
        {"class": "facts"},
        fact("Received", place.times.full(rejected.time)),
        fact("Reason", tag("code", {}, rejected.reason)),
        fact("Size", f"{rejected.size:,} bytes"),
    )
    kept = tag("p", {"class": "hint"}, "Nothing of its payload is kept: nobody knows who wrote it.")
    headers = _headers("Headers, as they came", rejected.headers) if rejected.headers else None
    verdict = _verdict(
        SignatureVerdict(good=False, text=f"Rejected: {page.masked(rejected.message)}")
    )
    return _detail(place, query, "Rejected delivery", facts, verdict, kept, headers)


def _detail(place: PageFrame, query: str, title: str, *parts: Part) -> Markup:
    return tag(
        "section",
        {"id": "detail", "aria-labelledby": "detail-title"},
        back(place, query),
        tag("h2", {"id": "detail-title", "tabindex": "-1"}, title),
        *parts,
    )


def _facts(place: PageFrame, whole: Whole) -> Markup:
    entry, facts = whole.entry, whole.facts
    mode = {True: "live", False: "test", None: None}[facts.livemode]
    lines = [
        fact("Event", tag("code", {}, entry.id)),
        fact("State", f"{entry.state}: {STATES[entry.state]}"),
        fact("Received", place.times.full(entry.received_at)),
        fact("Created", place.times.said(facts.created)) if facts.created else None,
        fact("Object", tag("code", {}, entry.object_id)) if entry.object_id else None,
        fact("Mode", mode) if mode else None,
        fact("Came again", _times(entry.copies)) if entry.copies else None,
    ]
    if facts.amount is not None and facts.currency is not None:
        lines.insert(4, fact("Amount", format_amount(facts.amount, facts.currency)))
    return tag("dl", {"class": "facts"}, lines)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _verdict(verdict: SignatureVerdict) -> Markup:
    kind, mark = ("good", "✓") if verdict.good else ("bad", "✕")
    sign = tag("span", {"class": "mark", "aria-hidden": "true"}, mark)
    return tag("p", {"class": f"verdict {kind}"}, sign, tag("span", {}, verdict.text))


def _payload(body: bytes) -> Markup:
    drawn = tree(body)
    raw = tag(
        "details",
        {"class": "raw", "open": drawn is None},
        tag("summary", {}, "Raw"),
        tag("pre", {"tabindex": "0", "role": "group", "aria-label": "Raw payload"}, page.raw(body)),
    )
    note = f"{len(body):,} bytes. Secrets are masked; a target gets the payload as it came."
    return tag(
        "section",
        {"class": "payload", "aria-labelledby": "payload-title"},
        tag("h3", {"id": "payload-title"}, "Payload"),
        tag("p", {"class": "hint"}, note),
        tag("div", {"class": "code"}, drawn) if drawn is not None else None,
        raw,
    )


def _headers(title: str, pairs: Iterable[Header]) -> Markup:
    rows = [fact(*page.header(pair)) for pair in pairs]
    return tag(
        "details",
        {"class": "headers", "open": True},
        tag("summary", {}, title),
        tag("dl", {"class": "code"}, rows),
    )


_NOT_YET: Final = {
    "pending": "It was not forwarded yet.",
    "kept": "It has no target: svc events listen --forward-to URL gives it one.",
    "withheld": "It belongs to the other mode, so it was kept and not forwarded.",
}


def forwards(place: PageFrame, whole: Whole) -> Markup:
    """Lists every attempt, the newest first."""
    attempts = [_attempt(place, row) for row in reversed(whole.forwards)]
    none = _NOT_YET.get(whole.entry.state, "It was not forwarded.")
    return tag(
        "section",
        {"id": "forwards", "aria-labelledby": "forwards-title"},
        tag("h3", {"id": "forwards-title"}, "Forwards"),
        tag("ol", {"class": "attempts"}, attempts) if attempts else tag("p", {}, none),
    )


def _attempt(place: PageFrame, row: Row) -> Markup:
    taken = is_success(row["status"])
    which = f"replay {row['attempt']}" if row["replay"] else f"attempt {row['attempt']}"
    state = "forwarded" if taken else "failed"
    return tag(
        "li",
        {"class": state},
        tag("span", {"class": "state"}, state_mark(state), page.status_text(row["status"])),
        tag("code", {"class": "url"}, page.masked(row["url"])),
        tag("span", {"class": "took"}, f"{row['milliseconds']:.0f} ms"),
        tag("span", {"class": "which"}, which),
        tag("span", {"class": "when"}, place.times.full(row["started_at"])),
        tag("p", {"class": "error"}, page.masked(row["error"])) if row["error"] else None,
        _reply(row["reply"], taken=taken),
    )


def _reply(reply: bytes, *, taken: bool) -> Markup | None:
    if not reply:
        return None
    return tag(
        "details",
        {"open": not taken},
        tag("summary", {}, "Response body"),
        tag(
            "pre",
            {"tabindex": "0", "role": "group", "aria-label": "Response body"},
            page.raw(reply),
        ),
    )
