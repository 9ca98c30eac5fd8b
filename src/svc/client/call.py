"""One request to the service as a value, and its body as bytes: JSON, or a form with brackets."""

from collections.abc import Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from math import isfinite
from typing import Literal, NamedTuple, TypeAlias

from svc.client.json import ExactNumber
from svc.errors import UsageError

Body: TypeAlias = Mapping[str, object]
Query: TypeAlias = tuple[tuple[str, str], ...]
Encoding: TypeAlias = Literal["json", "form"]
Method: TypeAlias = Literal["GET", "POST", "DELETE"]
Params: TypeAlias = Mapping[str, object] | Query

_ID_MAX = 128
_PLACE_OF_ID = 3  # in /v1/orders/ord_1/cancel
_ID_MARKS = frozenset("_-")


class Call(NamedTuple):
    """A request: what to send, and what its answer must be to count as one.

    The same value serves sending, `--dry-run`, `--curl`, batches and the journal.

    Attributes:
        path: begins with `/v1/`, without the base URL's own path and without a query.
        body: parameters of a POST; `None` or empty sends no body.
        expects: names that the answer's `object` may have; empty takes any JSON (promise R14).
        checks: pairs of a field of the answer and the value that it must have, where the answer
            has the field (promise R15).
        operation: of a documented POST, such as `refunds.create`; see `client.operations`.
        makes: whether its answer is a new object.
        names: objects that it names, by field; an answer that names others is not its answer
            (promise R93).
        assumed: true for a call that the specification does not show.
    """

    method: Method
    path: str
    query: Query = ()
    body: Body | None = None
    encoding: Encoding = "json"
    expects: tuple[str, ...] = ()
    checks: tuple[tuple[str, object], ...] = ()
    assumed: bool = False
    operation: str = ""
    makes: bool = False
    names: tuple[tuple[str, object], ...] = ()

    @property
    def changes(self) -> bool:
        """True where the call may change something at the service."""
        return self.method != "GET"


def is_id(identifier: str) -> bool:
    """Whether a text has the shape of an id: 1 to 128 ASCII letters, digits, `_`, `-` (R25)."""
    plain = all(mark.isascii() and (mark.isalnum() or mark in _ID_MARKS) for mark in identifier)
    return plain and 0 < len(identifier) <= _ID_MAX


def segment(identifier: str) -> str:
    """Returns an id that is fit to stand in a path.

    Raises:
        UsageError: unless it is 1 to 128 ASCII letters, digits, `_` or `-` (promise R25).
    """
    if not is_id(identifier):
        raise UsageError(
            f"{identifier[:_ID_MAX]!r} is not an id.",
            code="id_invalid",
            param="id",
            hint="An id is 1 to 128 letters, digits, _ or -, such as ord_3kPq0aVb7cXd9eYf1gZh2iWj.",
        )
    return identifier


def pattern_of(path: str) -> tuple[str, str]:
    """A path of the API with `*` for the id in it, and that id, which may be none."""
    parts = path.split("/")
    if len(parts) <= _PLACE_OF_ID or parts[2] == "landed-cost":
        return path, ""
    identifier, parts[_PLACE_OF_ID] = parts[_PLACE_OF_ID], "*"
    return "/".join(parts), identifier


def same(body: Body, *fields: str) -> tuple[tuple[str, object], ...]:
    """Pairs each of the fields that the request has with its value, for `Call.checks`."""
    return tuple((name, body[name]) for name in fields if body.get(name) not in (None, ""))


def query_of(params: Params) -> Query:
    """Turns filters such as `{"limit": 3, "created": {"gte": "..."}}` into query pairs in order.

    A filter that is None is left out. Pairs are taken as they are, so that a user's own parameters
    keep their order and spelling.
    """
    if isinstance(params, tuple):
        return params

    return tuple(form_pairs({name: one for name, one in params.items() if one is not None}))


Pair: TypeAlias = tuple[str, str]

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def json_bytes(body: Mapping[str, object]) -> bytes:
    """Encodes as compact UTF-8 JSON; numbers keep their spelling.

    Raises:
        UsageError: on a value that JSON cannot hold (NaN, a lone surrogate, a Python object).
    """
    return _utf8(_json(body))


def form_bytes(body: Mapping[str, object]) -> bytes:
    """Encodes as `application/x-www-form-urlencoded` with brackets.

    Raises:
        UsageError: on what a form cannot say without loss: an empty list or object, a bracket in
            a name, NaN.
    """
    return pairs_text(form_pairs(body)).encode("ascii")


def pairs_text(pairs: Iterator[Pair] | Sequence[Pair]) -> str:
    """Joins names and values to `a=1&b=2`, everything but unreserved characters escaped."""
    return "&".join(f"{quoted(name)}={quoted(value)}" for name, value in pairs)


def quoted(text: str) -> str:
    """Percent-encodes all but RFC 3986's unreserved characters."""
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in _utf8(text))


def form_pairs(body: Mapping[str, object]) -> Iterator[Pair]:
    """Spreads a nested body to pairs: `a[b]`, `list[]` for values, `list[0][c]` for objects."""
    for name, value in body.items():
        yield from _pairs(_checked_name(name), value)


def scalar_text(value: object) -> str:
    """Spells a value as a form does: `true`, `false`, nothing for `None`, digits for numbers."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    return _number(value)


def _pairs(name: str, value: object) -> Iterator[Pair]:
    if isinstance(value, Mapping):
        _refuse_empty(name, value)
        for key, inner in value.items():
            yield from _pairs(f"{name}[{_checked_name(key)}]", inner)
    elif isinstance(value, (list, tuple)):
        _refuse_empty(name, value)
        plain = not any(isinstance(item, (Mapping, list, tuple)) for item in value)
        for index, item in enumerate(value):
            yield from _pairs(f"{name}[]" if plain else f"{name}[{index}]", item)
    else:
        yield name, scalar_text(value)


def _refuse_empty(name: str, value: Mapping[str, object] | Sequence[object]) -> None:
    if not value:
        raise UsageError(
            f"{name} is empty, which a form body cannot say.",
            code="form_impossible",
            param=name,
            hint="Leave it out, or send JSON with --json-body.",
        )


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not name or "[" in name or "]" in name:
        raise UsageError(
            f"The name {name!r} cannot stand in a form body.",
            code="form_impossible",
            hint="Send JSON with --json-body.",
        )
    return name


def _json(value: object) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_key(key)}:{_json(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_json, value)) + "]"
    return _number(value)


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise UsageError(f"The name {key!r} in the body is not text.", code="body_invalid")
    return encode_basestring(key)


def _number(value: object) -> str:
    if isinstance(value, ExactNumber):
        return value.text
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and isfinite(value):
        return repr(value)
    raise UsageError(f"The body holds {value!r}, which is no value of JSON.", code="body_invalid")


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(
            "The request holds a character that is not valid Unicode (a lone surrogate).",
            code="body_invalid",
        ) from None
