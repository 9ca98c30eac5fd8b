"""Which events are meant by their content: `--where`, `--text` and `--object`."""

import json
from collections.abc import Callable
from typing import Annotated

from svc.cli.framework.options import option
from svc.client.call import checked_id

Where = Annotated[
    str | None,
    option("EXPR", "Only events that meet this, in JMESPath: 'data.object.amount > `10000`'."),
]
Meets = Callable[[bytes], bool]


def condition(where: str | None) -> Meets | None:
    """What `--where` asks of an event's body; None where it was not given.

    Raises:
        UsageError: it is no expression.
    """
    if where is None:
        return None
    from svc.render.query import Condition

    return Condition(where, "--where")


def content_filter(where: str | None, text: str | None, object_id: str | None) -> Meets | None:
    """What all three ask of an event's body; None where none was given.

    Raises:
        UsageError: one of them cannot be.
    """
    asked = [condition(where)] if where is not None else []
    if object_id is not None:
        named = json.dumps(checked_id(object_id, "--object")).encode()
        asked.append(lambda body: named in body)
    if text is not None:
        words = text.casefold()
        asked.append(lambda body: words in _readable(body).casefold())
    every = [each for each in asked if each is not None]
    return (lambda body: all(meets(body) for meets in every)) if every else None


def _readable(body: bytes) -> str:
    """A body as a person reads it, without JSON's escapes."""
    try:
        return json.dumps(json.loads(body), ensure_ascii=False)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")
