"""`--set PATH=VALUE`: an event that is changed on purpose before it is sent again."""

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from svc.errors import UsageError
from svc.listen.inbox.history import Content
from svc.render.paths import FieldPath, parse

CHANGED_HEADER: Final = "Svc-Changed"
_KEPT: Final = ("id", "type")  # which headers of the delivery name as well


class EventChange(NamedTuple):
    """A new value at a path of an event."""

    path: FieldPath
    value: object


def changes_of(texts: Sequence[str]) -> tuple[EventChange, ...]:
    """Reads each `PATH=VALUE`; a value that is JSON is that, any other a text.

    Raises:
        UsageError: a text has no `=`, no path, or names what says which event it is.
    """
    return tuple(map(_change_of, texts))


def _change_of(text: str) -> EventChange:
    name, mark, value = text.partition("=")
    if not name or not mark:
        raise UsageError(
            f"--set {text!r} has no PATH=VALUE.", param="--set", hint="--set data.object.amount=1"
        )
    path = parse(name, "--set")
    if len(path) == 1 and path[0] in _KEPT:
        raise UsageError(f"The {path[0]} of an event stays as it is.", param="--set")
    try:
        return EventChange(path, json.loads(value))
    except ValueError:
        return EventChange(path, value)


def changed(content: Content, changes: Sequence[EventChange]) -> Content:
    """The event with other values, and a header that names their paths; itself without changes.

    Raises:
        UsageError: the event has nothing that a path leads through.
    """
    if not changes:
        return content
    event = json.loads(content.body)
    for change in changes:
        _put(event, change)
    names = ", ".join(".".join(change.path) for change in changes)
    header = f"{CHANGED_HEADER}: {names}\r\n".encode("ascii", "backslashreplace")
    body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
    return Content(content.headers + header, body)


def _put(event: Any, change: EventChange) -> None:
    *around, last = change.path
    for part in around:
        event = _inside(event, part, change)
    if isinstance(event, dict):
        event[last] = change.value
    elif isinstance(event, list) and last.isdecimal() and int(last) < len(event):
        event[int(last)] = change.value
    else:
        raise _leads_nowhere(change)


def _inside(value: Any, part: str, change: EventChange) -> Any:
    if isinstance(value, dict) and part in value:
        return value[part]
    if isinstance(value, list) and part.isdecimal() and int(part) < len(value):
        return value[int(part)]
    raise _leads_nowhere(change)


def _leads_nowhere(change: EventChange) -> UsageError:
    name = ".".join(change.path)
    return UsageError(f"The event has nothing at {name}.", param="--set", code="path_unknown")
