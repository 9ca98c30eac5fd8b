"""Draws the list of deliveries and the form that filters it.

`app` calls `deliveries` with a page of `history`; HTML out.
"""

from collections.abc import Mapping
from typing import Final

from svc.html import Markup
from svc.listen.inbox.history import InboxEntry
from svc.listen.inspector.feed import TurnedAway
from svc.listen.inspector.history import STATES, HistoryPage, ListedDelivery, ListFilter
from svc.listen.inspector.page import PageFrame, el, status_text
from svc.service.facts import EVENT_TYPES

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
        el("p", f"Times in {frame.times.zone(now)}", id="zone", class_="hint"),
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
    """Makes a list to choose from, of values and what there is to say of each."""
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
