"""Which columns a list of objects has: those asked for, else the kind's, else what is there."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from svc.render import guess, inbox_views, sandbox_views
from svc.render.fieldpaths import Path, lookup
from svc.render.journal_views import SENT_REQUEST
from svc.render.record import ready
from svc.render.text import one_line
from svc.render.view import Field, View
from svc.render.views import VIEWS

_UNKNOWN_RANK: Final = 9


def choose(objects: Sequence[dict[str, Any]], names: Sequence[Path]) -> tuple[Field, ...]:
    """Gives the columns of a list; `names` are the paths of `--fields`. Raises UsageError."""
    first = objects[0] if objects else {}
    view = view_of(first)
    if not names:
        return view.columns if view else guess.fields(objects)
    known = dict(_known(view)) if view else {}
    return tuple(_asked(name, known, first) for name in names)


def view_of(data: dict[str, Any]) -> View | None:
    """Finds how the service's kind of object is shown, or the sandbox's, or our own."""
    kind = data.get("object")
    if not isinstance(kind, str):
        return None
    if kind == "request" and "operation" in data:
        return SENT_REQUEST  # ours; the sandbox's log has another of the name
    return VIEWS.get(kind) or sandbox_views.VIEWS.get(kind) or inbox_views.VIEWS.get(kind)


def known_paths(data: dict[str, Any]) -> tuple[Path, ...]:
    """Gives the paths that the kind of an object is known to have, list indexes left out."""
    view = view_of(data)
    return tuple(path for path, _ in _known(view)) if view else ()


def extended(columns: tuple[Field, ...], objects: Sequence[dict[str, Any]]) -> tuple[Field, ...]:
    """Adds columns for what the objects hold and nobody described, the first to go."""
    described = {ready(column.path)[0] for column in columns}
    more = [field for field in guess.fields(objects) if field.path[0] not in described]
    return columns + tuple(
        replace(field, label=one_line(field.path[0]), rank=_UNKNOWN_RANK) for field in more
    )


def _known(view: View) -> Iterator[tuple[Path, Field]]:
    for part in view.parts:
        above = ready(part.path)
        for field in part.columns:
            yield (*above, *ready(field.path)), field
        for field in part.fields:
            path = (*above, *ready(field.path))
            yield path, replace(field, currency=(*above, *ready(field.currency)))
    for field in (*view.fields, *view.columns):
        yield ready(field.path), field


def _asked(path: Path, known: dict[Path, Field], first: dict[str, Any]) -> Field:
    """Describes one column of `--fields`: by the view, else by the first object's value."""
    field = known.get(tuple(part for part in path if not part.isdecimal()))
    if field:
        return replace(field, path=path, rank=0, instead="")
    around = lookup(first, path[:-1])
    data = around if isinstance(around, dict) else {}
    guessed = guess.field(path[-1], data.get(path[-1]), data)
    return replace(
        guessed,
        path=path,
        label=one_line(".".join(path)),
        currency=(*path[:-1], *ready(guessed.currency)),
    )
