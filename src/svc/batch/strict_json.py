"""JSON in the user's files: read as any JSON that is to be sent, and worded as a row's fault.

Names come in alphabetical order, so that equal values are equal bytes.
"""

from typing import Any

from svc.batch.rows import BadRow
from svc.client.jsontext import NotJson, parse_given


def parse(text: str, name: str | None = None) -> Any:
    """Reads one JSON value; numbers keep their spelling.

    Raises:
        BadRow: it is no JSON, holds NaN, or has a key twice; `name` is the column it stands in.
    """
    try:
        return parse_given(text, in_order=True)
    except NotJson as error:
        where = f" at column {error.place[1]}" if error.place else ""
        what = "it" if name is None else name
        raise BadRow(f"{what} is not valid JSON{where}: {error}", param=name) from None
