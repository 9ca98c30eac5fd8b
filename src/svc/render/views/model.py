"""The types that describe how a kind of object is shown; the modules beside hold the views.

`human` reads a `View` with its `ViewField`s to lay an object out.
"""

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
    "second",
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
    """One value of an object, and how it is formatted.

    Attributes:
        path: dotted, or a tuple of its parts where a key may contain a dot.
        kind: the format. A `counter` that is zero is not shown; a `second` is a time that lists
            show with its seconds.
        rank: which columns of a list are dropped where there is no room: never one of rank 0, and
            the highest rank first.
        currency: the path of the currency of a `money` field, in this object or the outer one.
        fallback: the path to read if `path` has no value.
        during: the only status in which the value is shown; empty for every status.
        leads: without room for a table the value is joined to the next one, as `POST` to its path.
        undone: for a status: pairs of an amount that was returned, such as a refund, and the
            amount of which it is a part.
        served: the time comes from the service's clock, also in an object that svc has made.
    """

    path: str | tuple[str, ...]
    label: str
    kind: FieldKind = "text"
    rank: int = 0
    currency: str | tuple[str, ...] = "currency"
    fallback: str = ""
    during: str = ""
    leads: bool = False
    undone: tuple[tuple[str, str], ...] = ()
    served: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """A nested value with a heading: a table if it has columns, else a group of fields.

    Attributes:
        nested: the value is an object of the API and is shown by the view of its kind.
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
    """Builds a view.

    Args:
        title: the name of the kind of object.
        listed: the paths of the columns of a list, in order, each of `fields`, `also`, the id or
            the status. `created:1` gives the column rank 1; without a number the rank is 0.
        fields: the fields of the view of one object.
        also: fields that only appear as columns.
        parts: the nested values of the view of one object.
        status: replaces the field `status`.
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
