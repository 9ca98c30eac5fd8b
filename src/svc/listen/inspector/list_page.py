"""The list of deliveries and the form that narrows it."""

from collections.abc import Mapping
from typing import Final

from svc.listen.inbox.history import InboxEntry
from svc.listen.inspector.feed import TurnedAway
from svc.listen.inspector.history import STATES, HistoryPage, ListedDelivery, ListFilter
from svc.listen.inspector.html import Attributes, Markup, tag
from svc.listen.inspector.page import PageFrame, status_text
from svc.money import format_amount
from svc.spec import EVENT_TYPES

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
    place: PageFrame, page: HistoryPage, wanted: ListFilter, chosen: str, now: float
) -> Markup:
    """Makes the whole list; `chosen` is the path of the delivery that is shown beside it."""
    rows = [tag("li", {}, _row(place, line, wanted, chosen, now)) for line in page.lines]
    return tag(
        "section",
        {"id": "deliveries", "aria-labelledby": "list-title"},
        tag("h2", {"id": "list-title"}, "Deliveries"),
        tag("p", {"id": "zone", "class": "hint"}, f"Times in {place.times.zone(now)}"),
        _folding(_form(place, wanted)),
        tag("p", {"id": "news", "class": "hint", "role": "status", "aria-live": "polite"}),
        tag("ol", {"id": "list"}, rows) if rows else tag("div", {"id": "list"}, _none(wanted)),
        _pages(place, page, wanted),
    )


def path_of(line: ListedDelivery | TurnedAway) -> str:
    """Gives the path of a delivery's own page."""
    if isinstance(line, ListedDelivery):
        return f"delivery/{line.entry.id}"
    return f"rejected/{line.number}"


def state_mark(state: str) -> Markup:
    """Makes the sign of a state, which stands beside its word and is not read out."""
    return tag("span", {"class": "mark", "aria-hidden": "true"}, _MARKS[state])


def _row(
    place: PageFrame, line: ListedDelivery | TurnedAway, wanted: ListFilter, chosen: str, now: float
) -> Markup:
    path = path_of(line)
    attributes = {
        "class": f"row {line.entry.state if isinstance(line, ListedDelivery) else 'rejected'}",
        "href": place.url(path, wanted.query()),
        "aria-current": "true" if path == chosen else None,
    }
    when = tag("span", {"class": "when"}, place.times.brief(line.time, now))
    if isinstance(line, TurnedAway):
        reason = line.rejected.reason.replace("_", " ")
        return tag("a", attributes, _what("rejected delivery"), when, _state("rejected", reason))
    return tag(
        "a",
        attributes,
        _what(line.entry.type or "(no type)"),
        when,
        _state(line.entry.state, _state_text(line.entry)),
        tag("span", {"class": "amount"}, _amount(line)),
        tag("span", {"class": "id"}, line.entry.id),
    )


def _what(text: str) -> Markup:
    return tag("span", {"class": "what"}, text)


def _state(state: str, text: str) -> Markup:
    return tag("span", {"class": "state"}, state_mark(state), text)


def _state_text(entry: InboxEntry) -> str:
    copies = f", came {entry.copies + 1} times" if entry.copies else ""
    match entry.state:
        case "pending":
            text = f"{status_text(entry.status)}, tried again soon" if entry.attempts else "pending"
        case "kept":
            text = "kept, no target"
        case "withheld":
            text = "not forwarded: other mode"
        case _:
            text = status_text(entry.status) if entry.attempts else entry.state
    return text + copies


def _amount(line: ListedDelivery) -> str | None:
    facts = line.facts
    if facts.amount is None or facts.currency is None:
        return None
    return format_amount(facts.amount, facts.currency)


def _none(wanted: ListFilter) -> Markup:
    text = "Nothing fits this filter." if wanted.narrows else "Nothing was received yet."
    return tag("p", {"class": "none"}, text)


def _folding(form: Markup) -> Markup:
    """Lets the filter be folded away where there is little room; the script does that first."""
    return tag("details", {"id": "fold", "open": True}, tag("summary", {}, "Filter"), form)


def _form(place: PageFrame, wanted: ListFilter) -> Markup:
    text = {
        "id": "text",
        "name": "text",
        "type": "search",
        "value": wanted.text,
        "autocomplete": "off",
        "spellcheck": "false",
    }
    clear = tag("a", {"id": "clear", "href": place.root, "hidden": not wanted.narrows}, "Clear")
    return tag(
        "form",
        {"id": "filter", "class": "filter", "action": place.root, "role": "search"},
        _field("text", "Text", tag("input", text)),
        _field(
            "type",
            "Type",
            _choice("type", "All types", _TYPES, wanted.type),
        ),
        _field("state", "State", _choice("state", "All states", STATES, wanted.state)),
        tag("p", {"class": "actions"}, tag("button", {}, "Filter"), clear),
    )


def _field(name: str, label: str, control: Markup) -> Markup:
    return tag("p", {"class": "field"}, tag("label", {"for": name}, label), control)


def _choice(name: str, everything: str, values: Mapping[str, str], chosen: str) -> Markup:
    """Makes a list to choose from, of values and what there is to say of each."""
    options = [tag("option", {"value": ""}, everything)]
    options += [
        tag("option", {"value": one, "selected": one == chosen}, f"{one}: {said}" if said else one)
        for one, said in values.items()
    ]
    return tag("select", {"id": name, "name": name}, options)


def _pages(place: PageFrame, page: HistoryPage, wanted: ListFilter) -> Markup:
    newest = wanted.before is not None
    links = []
    if newest:
        links.append(tag("a", {"href": place.url("", wanted.behind(None))}, "Newest"))
    if page.older is not None:
        older = place.url("", wanted.behind(page.older))
        links.append(tag("a", {"href": older, "rel": "next"}, "Older"))
    if page.cut:
        note = "Not all were looked through: svc events inbox --max N shows more."
        links.append(tag("span", {"class": "hint"}, note))
    attributes: Attributes = {
        "id": "pages",
        "class": "pages",
        "aria-label": "Pages",
        "hidden": not links,
    }
    return tag("nav", attributes, links)
