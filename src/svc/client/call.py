"""`Call`: one request to the service as a value, with what its answer must be.

`operations` and `find` build calls for `cli`, `delivery` and `batch`; `request` encodes one,
`client` sends it, the journal stores it. The functions here check the ids that go into its path.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from svc.errors import UsageError

Body: TypeAlias = Mapping[str, object]
QueryPairs: TypeAlias = tuple[tuple[str, str], ...]
Encoding: TypeAlias = Literal["json", "form"]
Method: TypeAlias = Literal["GET", "POST", "DELETE"]
QueryParams: TypeAlias = Mapping[str, object] | QueryPairs

_ID_MAX = 128
_PLACE_OF_ID = 3  # in /v1/orders/ord_1/cancel
_ID_MARKS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_ID_HINT = "An id is 1 to 128 letters, digits, _ or -, such as ord_3kPq0aVb7cXd9eYf1gZh2iWj."
_JSON_KINDS = {dict: "an object", list: "an array", bool: "true or false"}


class Call(NamedTuple):
    """A request, with the properties that a valid answer to it must have.

    The same value serves sending, `--dry-run`, `--curl`, batches and the journal.

    Attributes:
        path: begins with `/v1/`, without the path of the base URL and without a query.
        body: parameters of a POST; `None` or empty sends no body.
        expects: the values that the answer's `object` may have; empty allows any JSON (R14).
        checks: pairs of a field of the answer and the value that it must have if the answer has the
            field (promise R15).
        operation: the name of a documented POST, such as `refunds.create`.
        creates: whether its answer is a new object.
        names: the ids that it names, and a recipient's account, by field; an answer with others
            belongs to another request (promise R93).
        assumed: whether the specification does not show the call.
    """

    method: Method
    path: str
    query: QueryPairs = ()
    body: Body | None = None
    encoding: Encoding = "json"
    expects: tuple[str, ...] = ()
    checks: tuple[tuple[str, object], ...] = ()
    assumed: bool = False
    operation: str = ""
    creates: bool = False
    names: tuple[tuple[str, object], ...] = ()

    @property
    def changes(self) -> bool:
        """Whether the call may change an object of the service."""
        return self.method != "GET"


def is_id(identifier: str) -> bool:
    """Whether a text has the shape of an id: 1 to 128 ASCII letters, digits, `_`, `-` (R25)."""
    return 0 < len(identifier) <= _ID_MAX and _ID_MARKS.issuperset(identifier)


def check_id(value: object, name: str) -> str:
    """Returns an id for use in a path or a body, without surrounding blanks.

    `name` is its field or option, for the error.

    Raises:
        UsageError: the value is no text, blank, or not 1 to 128 ASCII letters, digits, `_` or `-`.
    """
    if not isinstance(value, str):
        kind = _JSON_KINDS.get(type(value), "a number")
        raise _build_id_error(f"{name} is {kind}, not an id.", name)
    text = value.strip()
    if not text:
        raise build_blank_error(name)
    if not is_id(text):
        raise _build_id_error(f"{text[:_ID_MAX]!r} is not an id.", name)
    return text


def build_blank_error(name: str) -> UsageError:
    """Builds the error of an option or a field that was given without a value."""
    return UsageError(f"{name} is blank: is a variable empty?", code="value_blank", param=name)


def _build_id_error(message: str, name: str) -> UsageError:
    return UsageError(message, code="id_invalid", param=name, hint=_ID_HINT)


def pattern_of(path: str) -> tuple[str, str]:
    """Splits a path of the API into its pattern, with `*` for the id, and the id (may be empty)."""
    parts = path.split("/")
    if len(parts) <= _PLACE_OF_ID or parts[2] == "landed-cost":
        return path, ""
    identifier, parts[_PLACE_OF_ID] = parts[_PLACE_OF_ID], "*"
    return "/".join(parts), identifier


def query_of(params: QueryParams) -> QueryPairs:
    """Converts filters such as `{"limit": 3, "created": {"gte": "..."}}` to query pairs in order.

    A filter that is None is left out. Pairs stay unchanged, so that a user's own parameters keep
    their order and spelling.
    """
    if isinstance(params, tuple):
        return params
    from svc.client.encoding import form_pairs

    return tuple(form_pairs({name: one for name, one in params.items() if one is not None}))
