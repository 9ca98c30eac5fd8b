"""Where a delivery went, and what the targets said."""

from typing import Final

from svc.journal import Row
from svc.listen.inspector import shown
from svc.listen.inspector.catalogue import Whole
from svc.listen.inspector.frame import Place
from svc.listen.inspector.list_view import state_mark
from svc.listen.inspector.markup import Markup, tag
from svc.listen.records import is_success

_NOT_YET: Final = {
    "pending": "It was not forwarded yet.",
    "kept": "It has no target: svc events listen --forward-to URL gives it one.",
    "withheld": "It belongs to the other mode, so it was kept and not forwarded.",
}


def forwards(place: Place, whole: Whole) -> Markup:
    """Lists every attempt, the newest first."""
    attempts = [_attempt(place, row) for row in reversed(whole.forwards)]
    none = _NOT_YET.get(whole.entry.state, "It was not forwarded.")
    return tag(
        "section",
        {"id": "forwards", "aria-labelledby": "forwards-title"},
        tag("h3", {"id": "forwards-title"}, "Forwards"),
        tag("ol", {"class": "attempts"}, attempts) if attempts else tag("p", {}, none),
    )


def _attempt(place: Place, row: Row) -> Markup:
    taken = is_success(row["status"])
    which = f"replay {row['attempt']}" if row["replay"] else f"attempt {row['attempt']}"
    state = "forwarded" if taken else "failed"
    return tag(
        "li",
        {"class": state},
        tag("span", {"class": "state"}, state_mark(state), shown.status_text(row["status"])),
        tag("code", {"class": "url"}, shown.masked(row["url"])),
        tag("span", {"class": "took"}, f"{row['milliseconds']:.0f} ms"),
        tag("span", {"class": "which"}, which),
        tag("span", {"class": "when"}, place.times.clock(row["started_at"])),
        tag("p", {"class": "error"}, shown.masked(row["error"])) if row["error"] else None,
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
            shown.raw(reply),
        ),
    )
