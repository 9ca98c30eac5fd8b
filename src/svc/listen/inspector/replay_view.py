"""The form that sends a delivery again, and what came of the last time."""

from dataclasses import dataclass

from svc.listen.inspector.catalogue import Whole
from svc.listen.inspector.frame import Place
from svc.listen.inspector.markup import Attributes, Markup, tag


@dataclass(frozen=True, slots=True)
class Replayed:
    """What to say of a replay; `to` and `original` are what the form held.

    `fault` is what is wrong with the form, `news` what came of sending it.
    """

    news: str = ""
    fault: str = ""
    to: str = ""
    original: bool = False


def replay_form(place: Place, whole: Whole, query: str, replayed: Replayed) -> Markup:
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
