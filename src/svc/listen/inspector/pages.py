"""Draws the list of deliveries with its filter, and one delivery: verdict, forwards and payload.

`app` calls `deliveries` with a page of `history`, and `delivery` with what that has loaded of one;
HTML out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from svc.html import Markup
from svc.listen.http.wire import Header
from svc.listen.inbox.history import AtTarget, InboxEntry
from svc.listen.inspector import page
from svc.listen.inspector.feed import TurnedAway
from svc.listen.inspector.history import STATES, HistoryPage, ListedDelivery, ListFilter, Whole
from svc.listen.inspector.page import PageFrame, detail, el, fact, join, part, status_text, tree
from svc.service.facts import EVENT_TYPES, is_success
from svc.state import Row

_MARKS: Final = {
    "forwarded": "✓",
    "failed": "✕",
    "pending": "…",
    "kept": "○",
    "withheld": "!",
    "rejected": "✕",
}


_TYPES: Final = dict.fromkeys(EVENT_TYPES, "")


def deliveries(
    frame: PageFrame, page: HistoryPage, wanted: ListFilter, chosen: str, now: float
) -> Markup:
    """Makes the whole list; `chosen` is the path of the delivery that is shown beside it."""
    rows = [el("li", _row(frame, line, wanted, chosen, now)) for line in page.lines]
    none = "Nothing fits this filter." if wanted.narrows else "Nothing was received yet."
    return el(
        "section",
        el("h2", "Deliveries", id="list-title"),
        el("p", f"Times in {frame.times.zone(now)}", class_="hint"),
        # Folded away where there is little room; the script does that first.
        el("details", el("summary", "Filter"), _form(frame, wanted), id="fold", open=True),
        el("p", id="news", class_="hint", role="status", aria_live="polite"),
        el("ol", rows, id="list") if rows else el("div", el("p", none, class_="none"), id="list"),
        _pages(frame, page, wanted),
        id="deliveries",
        aria_labelledby="list-title",
    )


def state_mark(state: str) -> Markup:
    """Makes the sign of a state, which stands beside its word and is not read out."""
    return el("span", _MARKS[state], class_="mark", aria_hidden="true")


def _row(
    frame: PageFrame, line: ListedDelivery | TurnedAway, wanted: ListFilter, chosen: str, now: float
) -> Markup:
    path = (
        f"rejected/{line.number}" if isinstance(line, TurnedAway) else f"delivery/{line.entry.id}"
    )
    attributes = {
        "class": f"row {line.entry.state if isinstance(line, ListedDelivery) else 'rejected'}",
        "href": frame.url(path, wanted.query()),
        "aria-current": "true" if path == chosen else None,
    }
    when = el("span", frame.times.brief(line.time, now), class_="when")
    if isinstance(line, TurnedAway):
        reason = line.rejected.reason.replace("_", " ")
        return el("a", _what("rejected delivery"), when, _state("rejected", reason), **attributes)
    return el(
        "a",
        _what(line.entry.type or "(no type)"),
        when,
        _state(line.entry.state, _state_text(line.entry)),
        el("span", line.facts.price, class_="amount"),
        el("span", line.entry.id, class_="id"),
        **attributes,
    )


def _what(text: str) -> Markup:
    return el("span", text, class_="what")


def _state(state: str, text: str) -> Markup:
    return el("span", state_mark(state), text, class_="state")


def _state_text(entry: InboxEntry) -> str:
    copies = f", came {entry.copies + 1} times" if entry.copies else ""
    match entry.state:
        case "pending":
            tried = f"{status_text(entry.status)}, tried again soon"
            text = tried if entry.attempts or entry.error else STATES["pending"]
        case "kept":
            text = "kept, no target"
        case "withheld":
            text = "not forwarded: other mode"
        case _:
            text = status_text(entry.status) if entry.attempts else entry.state
    return text + copies


def _form(frame: PageFrame, wanted: ListFilter) -> Markup:
    clear = el("a", "Clear", id="clear", href=frame.root, hidden=not wanted.narrows)
    return el(
        "form",
        _field("text", "Text", _search("text", wanted.text)),
        _field("type", "Type", _choice("type", "All types", _TYPES, wanted.type)),
        _field("state", "State", _choice("state", "All states", STATES, wanted.state)),
        _field("target", "Target", _search("target", wanted.target)),
        _field("object", "Object", _search("object", wanted.object)),
        el("p", el("button", "Filter"), clear, class_="actions"),
        id="filter",
        class_="filter",
        action=frame.root,
        role="search",
    )


def _search(name: str, value: str) -> Markup:
    attributes = {"type": "search", "autocomplete": "off", "spellcheck": "false"}
    return el("input", id=name, name=name, value=value, **attributes)


def _field(name: str, label: str, control: Markup) -> Markup:
    return el("p", el("label", label, for_=name), control, class_="field")


def _choice(name: str, everything: str, values: Mapping[str, str], chosen: str) -> Markup:
    options = [el("option", everything, value="")]
    options += [
        el("option", f"{one}: {said}" if said else one, value=one, selected=one == chosen)
        for one, said in values.items()
    ]
    return el("select", options, id=name, name=name)


def _pages(frame: PageFrame, page: HistoryPage, wanted: ListFilter) -> Markup:
    newest = wanted.before is not None
    links = []
    if newest:
        links.append(el("a", "Newest", href=frame.url("", wanted.behind(None))))
    if page.older is not None:
        older = frame.url("", wanted.behind(page.older))
        links.append(el("a", "Older", href=older, rel="next"))
    if page.cut:
        note = "The search goes on with Older: it took long to come this far back."
        links.append(el("span", note, class_="hint"))
    return el("nav", links, id="pages", class_="pages", aria_label="Pages", hidden=not links)


@dataclass(frozen=True, slots=True)
class Replayed:
    """The state of a delivery's replay form; `to` and `original` are its fields as submitted.

    `fault` says what is wrong with the form, `news` how the replay went.
    """

    news: str = ""
    fault: str = ""
    to: str = ""
    original: bool = False


def replay_form(frame: PageFrame, whole: Whole, query: str, replayed: Replayed) -> Markup:
    """Draws the form that sends the delivery again; it works without a script."""
    path = f"delivery/{whole.entry.id}"
    check = {"id": "original", "name": "original", "type": "checkbox", "value": "1"}
    kept = el("label", "Keep the original signature and its time", for_="original")
    form = el(
        "form",
        _target(replayed),
        el("p", el("input", **check, checked=replayed.original), kept, class_="check"),
        el(
            "p",
            el("button", "Replay", class_="main"),
            el("a", "Copy as curl", id="curl", class_="second", href=frame.url(f"{path}/curl")),
            class_="actions",
        ),
        id="replay",
        method="post",
        action=frame.url(f"{path}/replay", query),
    )
    # A browser that is led here has the focus on what came of sending it.
    attributes = {"id": "said", "role": "status", "class": "said"}
    news = el("p", replayed.news, **attributes, tabindex="-1" if replayed.news else None)
    return part("replay", "Send again", news, form)


def _target(replayed: Replayed) -> Markup:
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
    fault = el("p", replayed.fault, id="to-fault", class_="fault", role="alert")
    return join(
        el("label", "Replay to", for_="to"),
        el("input", **field),
        fault if replayed.fault else None,
        el("p", "A port or URL of this machine.", id="to-hint", class_="hint"),
    )


def delivery(
    frame: PageFrame, whole: Whole, verdict: str, query: str, replayed: Replayed
) -> Markup:
    """Shows a delivery of the inbox; `verdict` says why it is authentic."""
    return detail(
        frame,
        query,
        whole.entry.type or "(no type)",
        _facts(frame, whole),
        _verdict(verdict, good=True),
        forwards(frame, whole),
        replay_form(frame, whole, query, replayed),
        _payload(whole.content.body),
        _headers("Headers, as they are passed on", page.header_lines(whole.content.headers)),
    )


def rejection(frame: PageFrame, one: TurnedAway, query: str) -> Markup:
    """Shows a delivery that was not accepted; its payload is not kept (promise R49)."""
    rejected = one.rejected
    facts = el(
        "dl",
        fact("Received", frame.times.full(rejected.time)),
        fact("Reason", el("code", rejected.reason)),
        fact("Size", f"{rejected.size:,} bytes"),
        class_="facts",
    )
    kept = el("p", "Nothing of its payload is kept: its sender is unknown.", class_="hint")
    headers = _headers("Headers, as they came", rejected.headers) if rejected.headers else None
    verdict = _verdict(f"Rejected: {page.mask(rejected.message)}", good=False)
    return detail(frame, query, "Rejected delivery", facts, verdict, kept, headers)


def _facts(frame: PageFrame, whole: Whole) -> Markup:
    entry, facts = whole.entry, whole.facts
    mode = {True: "live", False: "test", None: None}[facts.livemode]
    lines = [
        fact("Event", el("code", entry.id)),
        fact("State", f"{entry.state}: {STATES[entry.state]}"),
        fact("Received", frame.times.full(entry.received_at)),
        fact("Created", frame.times.format_said(facts.created)) if facts.created else None,
        fact("Object", el("code", entry.object_id)) if entry.object_id else None,
        fact("Mode", mode) if mode else None,
        fact("Came again", f"{entry.copies} times" if entry.copies > 1 else "once")
        if entry.copies
        else None,
    ]
    if facts.price is not None:
        lines.insert(4, fact("Amount", facts.price))
    return el("dl", lines, class_="facts")


def _verdict(text: str, *, good: bool) -> Markup:
    kind, mark = ("good", "✓") if good else ("bad", "✕")
    sign = el("span", mark, class_="mark", aria_hidden="true")
    return el("p", sign, el("span", text), class_=f"verdict {kind}")


def _payload(body: bytes) -> Markup:
    drawn = tree(body)
    raw = el(
        "details",
        el("summary", "Raw"),
        el("pre", page.format_raw(body), tabindex="0", role="group", aria_label="Raw payload"),
        class_="raw",
        open=drawn is None,
    )
    note = f"{len(body):,} bytes. Secrets are masked; a target gets the payload as it came."
    shown = el("div", drawn, class_="code") if drawn is not None else None
    hint = el("p", note, class_="hint")
    return part("payload", "Payload", hint, shown, raw, class_="payload")


def _headers(title: str, pairs: Iterable[Header]) -> Markup:
    rows = [fact(*page.header(pair)) for pair in pairs]
    return el(
        "details", el("summary", title), el("dl", rows, class_="code"), class_="headers", open=True
    )


_NOT_YET: Final = {
    "pending": "It was not forwarded yet.",
    "kept": "It has no target: svc events listen --forward-to URL gives it one.",
    "withheld": "It belongs to the other mode, so it was kept and not forwarded.",
}


def forwards(frame: PageFrame, whole: Whole) -> Markup:
    """Lists every attempt to forward the delivery, the newest first."""
    attempts = [_attempt(frame, row) for row in reversed(whole.forwards)]
    none = _NOT_YET.get(whole.entry.state, "It was not forwarded.")
    shown = el("ol", attempts, class_="attempts") if attempts else el("p", none)
    waiting = [el("li", _describe_waiting(frame, one)) for one in whole.targets if one.is_open]
    listed = el("ul", waiting) if waiting else None
    return part("forwards", "Forwards", listed, shown, id="forwards")


def _describe_waiting(frame: PageFrame, at: AtTarget) -> str:
    """Returns which target an event waits for, why, and when it is tried next."""
    if at.state == "waiting":
        return f"{page.mask(at.url)} gets it after an older event of the same object."
    status = f"it answered {at.status}" if at.status is not None else ""
    why = page.mask(at.error or status or "it is under way")
    when = "as soon as it can be reached"
    if at.next_at is not None:
        when = f"at {frame.times.full(at.next_at)}"
    return f"{page.mask(at.url)} waits: {why}. Next try {when}."


def _attempt(frame: PageFrame, row: Row) -> Markup:
    taken = is_success(row["status"])
    which = f"replay {row['attempt']}" if row["replay"] else f"attempt {row['attempt']}"
    state = "forwarded" if taken else "failed"
    return el(
        "li",
        el("span", state_mark(state), page.status_text(row["status"]), class_="state"),
        el("code", page.mask(row["url"]), class_="url"),
        el("span", f"{row['milliseconds']:.0f} ms", class_="took"),
        el("span", which, class_="which"),
        el("span", frame.times.full(row["started_at"]), class_="when"),
        el("p", page.mask(row["error"]), class_="error") if row["error"] else None,
        _reply(row["reply"], taken=taken),
        class_=state,
    )


def _reply(reply: bytes, *, taken: bool) -> Markup | None:
    if not reply:
        return None
    return el(
        "details",
        el("summary", "Response body"),
        el("pre", page.format_raw(reply), tabindex="0", role="group", aria_label="Response body"),
        open=not taken,
    )
