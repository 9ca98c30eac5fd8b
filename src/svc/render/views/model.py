"""The words that describe how one kind of object is shown; `views` holds the descriptions."""

from dataclasses import dataclass, replace
from typing import Final, Literal

FieldKind = Literal[
    "text",
    "id",
    "number",
    "counter",
    "duty_rate",
    "money",
    "time",
    "deadline",
    "status",
    "guarantee",
    "flag",
    "list",
    "digest",
    "address",
    "card",
]


@dataclass(frozen=True, slots=True)
class ViewField:
    """One value of an object, and how it reads.

    `path` is dotted, or its parts where a key may hold a dot itself.
    `currency` is the path of the currency of a `money` field, in the same object or in the outer
    one. `rank` orders the columns of a list: 0 is never left out, the highest goes first. `instead`
    is the path to read when the first has no value. `during` is the only status in which it says
    anything. What `leads` stands before the next one where there is no room for a table: a method
    before its path. A `counter` that is zero says nothing. A status that is `undone` names amounts
    that went back, each with the amount of which it is a part. A time that is `served` is of the
    service's clock, also where this program has made the object.
    """

    path: str | tuple[str, ...]
    label: str
    kind: FieldKind = "text"
    rank: int = 0
    currency: str | tuple[str, ...] = "currency"
    instead: str = ""
    during: str = ""
    leads: bool = False
    undone: tuple[tuple[str, str], ...] = ()
    served: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """A nested value with a heading: a table if it has columns, else a group of fields.

    `nested` marks a whole object that is shown by its own view.
    """

    path: str | tuple[str, ...]
    title: str
    columns: tuple[ViewField, ...] = ()
    fields: tuple[ViewField, ...] = ()
    nested: bool = False


_ID: Final = ViewField("id", "ID", "id")
_STATUS: Final = ViewField("status", "Status", "status")


@dataclass(frozen=True, slots=True)
class View:
    """How one kind of object is shown."""

    title: str
    columns: tuple[ViewField, ...] = ()
    fields: tuple[ViewField, ...] = ()
    parts: tuple[Part, ...] = ()
    status: ViewField = _STATUS


def view(
    title: str,
    listed: str,
    *fields: ViewField,
    also: tuple[ViewField, ...] = (),
    parts: tuple[Part, ...] = (),
    status: ViewField = _STATUS,
) -> View:
    """A view whose columns are `listed` by their paths: id, status, its fields, and those `also`.

    `created:1` is a column of rank 1, which is not the field's own.
    """
    known = {field.path: field for field in (_ID, _STATUS, *fields, *also)}
    named = (name.partition(":") for name in listed.split())
    columns = tuple(replace(known[path], rank=int(rank or 0)) for path, _, rank in named)
    return View(title, columns, fields, parts, status)


# How a status feels, for its colour. A word that is not here is shown without one:
# the real service may have others.
MEANINGS: Final = {
    **dict.fromkeys(("paid", "captured", "succeeded", "won", "enabled", "active"), "good"),
    **dict.fromkeys(("guaranteed", "done", "verified"), "good"),
    **dict.fromkeys(("requires_payment", "processing", "pending", "created", "sent"), "waiting"),
    **dict.fromkeys(
        ("authorized", "under_review", "evidence_submitted", "submitted", "draft"), "waiting"
    ),
    **dict.fromkeys(("needs_response", "opened", "not guaranteed"), "attention"),
    **dict.fromkeys(("unknown", "unresolved", "suspended"), "attention"),
    **dict.fromkeys(("failed", "lost", "disabled", "refused", "live mode"), "bad"),
    **dict.fromkeys(("cancelled", "test mode", "none", "not_sent"), "quiet"),
}
