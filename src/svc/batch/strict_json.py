"""JSON of the user's files, read strictly: one of two equal keys would be lost in silence.

Names come in alphabetical order, so that equal values are equal bytes.
"""

from json.decoder import JSONDecodeError, JSONDecoder
from operator import itemgetter
from typing import Any, Final

from svc.batch.rows import BadRow
from svc.client.spelled import Spelled


def parse(text: str, name: str | None = None) -> Any:
    """Reads one JSON value; numbers with a fraction keep their spelling.

    Raises:
        BadRow: it is no JSON, holds NaN, or has a key twice; `name` is the column it stands in.
    """
    what = "it" if name is None else name
    try:
        return _DECODER.decode(text)
    except JSONDecodeError as error:
        where = f"column {error.colno}"
        raise BadRow(f"{what} is not valid JSON at {where}: {error.msg}", param=name) from None
    except RecursionError:
        raise BadRow(f"{what} is nested too deeply", param=name) from None
    except ValueError as error:
        raise BadRow(f"{what} is not valid JSON: {error}", param=name) from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(sorted(pairs, key=_NAME))
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twin = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twin!r} stands twice")
    return found


_NAME: Final = itemgetter(0)
_DECODER: Final = JSONDecoder(
    parse_float=Spelled, parse_constant=_no_constant, object_pairs_hook=_no_twins
)
