"""Encodes the body of a request: fields to JSON bytes, or to a form with bracket paths.

`request` calls it once for each request; `call` flattens filters to a query string with it.
"""

from collections.abc import Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from math import isfinite
from typing import TypeAlias

from svc.errors import UsageError
from svc.json_text import ExactNumber

FormPair: TypeAlias = tuple[str, str]

UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def json_bytes(body: Mapping[str, object]) -> bytes:
    """Encodes as compact UTF-8 JSON; numbers keep their spelling.

    Raises:
        UsageError: a value is not valid in JSON (NaN, a lone surrogate, a Python object).
    """
    return _utf8(_json(body))


def form_bytes(body: Mapping[str, object]) -> bytes:
    """Encodes as `application/x-www-form-urlencoded` with brackets.

    Raises:
        UsageError: a form cannot represent a value: an empty list or object, a bracket in a name,
            NaN.
    """
    return pairs_text(form_pairs(body)).encode("ascii")


def pairs_text(pairs: Iterator[FormPair] | Sequence[FormPair]) -> str:
    """Joins names and values to `a=1&b=2`, with all but unreserved characters escaped."""
    return "&".join(f"{percent_encode(name)}={percent_encode(value)}" for name, value in pairs)


def percent_encode(text: str) -> str:
    """Percent-encodes all but RFC 3986's unreserved characters."""
    return "".join(
        mark if (mark := chr(byte)) in UNRESERVED else f"%{byte:02X}" for byte in _utf8(text)
    )


def form_pairs(body: Mapping[str, object]) -> Iterator[FormPair]:
    """Flattens a nested body to pairs: `a[b]`, `list[]` for values, `list[0][c]` for objects."""
    for name, value in body.items():
        yield from _pairs(_check_name(name), value)


def scalar_text(value: object) -> str:
    """Formats a value for a form: `true`, `false`, empty for `None`, digits for numbers."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    return _number(value)


def _pairs(name: str, value: object) -> Iterator[FormPair]:
    if isinstance(value, Mapping):
        _refuse_empty(name, value)
        for key, inner in value.items():
            yield from _pairs(f"{name}[{_check_name(key)}]", inner)
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
            f"{name} is empty, which a form body cannot express.",
            code="form_impossible",
            param=name,
            hint="Leave it out, or send JSON with --json-body.",
        )


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not name or "[" in name or "]" in name:
        raise UsageError(
            f"The name {name!r} cannot be sent in a form body.",
            code="form_impossible",
            hint="Send JSON with --json-body.",
        )
    return name


def _json(value: object) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if type(value) is int:
        return str(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, Mapping)):  # a dict is known at once, a Mapping is asked
        pairs = [
            f"{_key(key)}:{encode_basestring(one) if type(one) is str else _json(one)}"
            for key, one in value.items()
        ]
        return "{" + ",".join(pairs) + "}"
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
    raise UsageError(f"The body holds {value!r}, which is not a JSON value.", code="body_invalid")


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(
            "The request holds a character that is not valid Unicode (a lone surrogate).",
            code="body_invalid",
        ) from None
