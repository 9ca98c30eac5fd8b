"""One delivery in full: its verdict, what became of it, its payload and its headers."""

from collections.abc import Iterable
from dataclasses import dataclass

from svc.listen.framing import Header
from svc.listen.inspector import shown
from svc.listen.inspector.catalogue import Whole
from svc.listen.inspector.feed import TurnedAway
from svc.listen.inspector.forwards_view import forwards
from svc.listen.inspector.frame import Place, back, fact
from svc.listen.inspector.markup import Markup, Part, tag
from svc.listen.inspector.replay_view import Replayed, replay_form
from svc.listen.inspector.tree import tree
from svc.money import format_amount


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a delivery is authentic, and why."""

    good: bool
    text: str


def delivery(
    place: Place, whole: Whole, verdict: Verdict, query: str, replayed: Replayed
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
        _headers("Headers, as they are passed on", shown.header_lines(whole.content.headers)),
    )


def rejection(place: Place, one: TurnedAway, query: str) -> Markup:
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
    verdict = _verdict(Verdict(good=False, text=f"Rejected: {shown.masked(rejected.message)}"))
    return _detail(place, query, "Rejected delivery", facts, verdict, kept, headers)


def _detail(place: Place, query: str, title: str, *parts: Part) -> Markup:
    return tag(
        "section",
        {"id": "detail", "aria-labelledby": "detail-title"},
        back(place, query),
        tag("h2", {"id": "detail-title", "tabindex": "-1"}, title),
        *parts,
    )


def _facts(place: Place, whole: Whole) -> Markup:
    entry, facts = whole.entry, whole.facts
    mode = {True: "live", False: "test", None: None}[facts.livemode]
    lines = [
        fact("Event", tag("code", {}, entry.id)),
        fact("Received", place.times.full(entry.received_at)),
        fact("Created", facts.created) if facts.created else None,
        fact("Object", tag("code", {}, entry.object_id)) if entry.object_id else None,
        fact("Mode", mode) if mode else None,
        fact("Came again", _times(entry.copies)) if entry.copies else None,
    ]
    if facts.amount is not None and facts.currency is not None:
        lines.insert(3, fact("Amount", format_amount(facts.amount, facts.currency)))
    return tag("dl", {"class": "facts"}, lines)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _verdict(verdict: Verdict) -> Markup:
    kind, mark = ("good", "✓") if verdict.good else ("bad", "✕")
    sign = tag("span", {"class": "mark", "aria-hidden": "true"}, mark)
    return tag("p", {"class": f"verdict {kind}"}, sign, tag("span", {}, verdict.text))


def _payload(body: bytes) -> Markup:
    drawn = tree(body)
    raw = tag(
        "details",
        {"class": "raw", "open": drawn is None},
        tag("summary", {}, "Raw"),
        tag(
            "pre", {"tabindex": "0", "role": "group", "aria-label": "Raw payload"}, shown.raw(body)
        ),
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
    rows = [fact(*shown.header(pair)) for pair in pairs]
    return tag(
        "details",
        {"class": "headers", "open": True},
        tag("summary", {}, title),
        tag("dl", {"class": "code"}, rows),
    )
