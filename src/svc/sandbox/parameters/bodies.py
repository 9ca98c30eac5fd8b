"""Decodes request bodies and query strings to plain trees (assumptions: Requests and answers).

JSON keeps its types; form and query values are text until a parameter table coerces them. Whatever
cannot be decoded is the Problem `body_invalid`, never an exception of a library. `api.requests`,
the controls and the checkout decode their requests by it; `tables` checks the tree of the first
two, the checkout keeps only its text fields.
"""

import json
import re
from itertools import pairwise
from typing import Any, Final, NamedTuple, NoReturn
from urllib.parse import unquote_to_bytes

from svc.sandbox.parameters.problems import Problem, body_invalid

DecodedTree = dict[str, Any]

JSON_TYPE: Final = "application/json"
FORM_TYPE: Final = "application/x-www-form-urlencoded"
DEPTH_MAX: Final = 32  # levels; the tables need four
_SHOWN_MAX: Final = 40  # characters of a name in a message

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_BROKEN_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_NAME: Final = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])+)")
_BRACKET: Final = re.compile(r"\[([^\[\]]*)\]")


class DecodedInput(NamedTuple):
    """The parameters as they came; `textual` says that scalars are text still to be coerced."""

    tree: DecodedTree
    textual: bool


def decode_body(content_type: str | None, body: bytes) -> DecodedInput:
    """Decodes a POST body by its content type; no body and no type is no parameters.

    Raises:
        Problem: 415 for any other content type, `body_invalid` for what cannot be read.
    """
    media = (content_type or "").partition(";")[0].strip().lower()
    if media == JSON_TYPE:
        return DecodedInput(_decode_json(body) if body else {}, textual=False)
    if media == FORM_TYPE:
        return DecodedInput(decode_form(body), textual=True)
    if not media and not body:
        return DecodedInput({}, textual=True)
    raise Problem(415, "unsupported_media_type", f"Send the body as {JSON_TYPE} or as {FORM_TYPE}.")


def decode_query(query: bytes) -> DecodedInput:
    """Decodes a query string; it has the syntax of a form."""
    return DecodedInput(decode_form(query), textual=True)


def decode_form(raw: bytes) -> DecodedTree:
    """Reads `a=1&b[c]=2&d[]=3&e[0][f]=4`; indexed lists stay objects with digits as names.

    `d[][f]=…` begins a new entry when `f` comes again.

    Raises:
        Problem: `body_invalid` for what cannot be read, or names a scalar twice.
    """
    if _BROKEN_ESCAPE.search(raw):
        raise body_invalid("The parameters contain an invalid percent escape.")
    tree: DecodedTree = {}
    for pair in raw.split(b"&"):
        if pair:
            name, _, value = pair.partition(b"=")
            _insert(tree, _path(_text(name)), _text(value))
    return tree


# --- JSON ---------------------------------------------------------------------------------------


def _decode_json(body: bytes) -> DecodedTree:
    try:
        value = _JSON.decode(body.decode())
    except RecursionError:
        raise body_invalid("The JSON body is nested too deeply.") from None
    except ValueError:  # broken UTF-8, broken JSON, numbers of thousands of digits
        raise body_invalid("The body is not valid JSON in UTF-8.") from None
    if not isinstance(value, dict):
        raise body_invalid("The JSON body must be an object.")
    if b"\\u" in body or body.count(b"{") + body.count(b"[") > DEPTH_MAX:
        _check_tree(value)  # nearly every body can do without this walk
    return value


def _members(pairs: list[tuple[str, Any]]) -> DecodedTree:
    """An object; a name that comes twice says two things, and one could be the wrong amount."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _build_repeated(_find_repeated(pairs))
    return members


def _find_repeated(pairs: list[tuple[str, Any]]) -> str:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            return name
        seen.add(name)
    return ""


def _build_repeated(name: str) -> Problem:
    return body_invalid(f"The request names {name[:_SHOWN_MAX]} twice.")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


# Kept: json.loads would make one a call.
_JSON: Final = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_members)


def _check_tree(tree: DecodedTree) -> None:
    """Refuses deep nesting and lone surrogates, which no UTF-8 answer could show."""
    level: list[Any] = [tree]
    for _ in range(DEPTH_MAX):
        inside: list[Any] = []
        for value in level:
            inside += [*value, *value.values()] if isinstance(value, dict) else value
        if any(isinstance(value, str) and _SURROGATE.search(value) for value in inside):
            raise body_invalid("The JSON body contains half of a surrogate pair.")
        level = [value for value in inside if isinstance(value, dict | list)]
        if not level:
            return
    raise body_invalid(f"The JSON body is nested more than {DEPTH_MAX} levels deep.")


# --- forms --------------------------------------------------------------------------------------


def _text(part: bytes) -> str:
    try:
        return unquote_to_bytes(part.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise body_invalid("The parameters are not valid UTF-8.") from None


def _path(name: str) -> list[str]:
    """`a[b][]` as a, b and an empty segment; a name with stray brackets is one plain name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return [name]
    path = [match[1], *_BRACKET.findall(match[2])]
    if len(path) > DEPTH_MAX:
        raise body_invalid(f"A parameter is nested more than {DEPTH_MAX} levels deep.")
    return path


def _insert(tree: DecodedTree, path: list[str], value: str) -> None:
    place: DecodedTree | list[Any] = tree
    for segment, following in pairwise(path):
        place = _container(place, segment, following)
    if isinstance(place, list):
        place.append(value)
    elif path[-1] not in place:
        place[path[-1]] = value
    elif isinstance(place[path[-1]], str):
        raise _build_repeated(path[-1])
    else:
        raise _conflict(path)


def _container(
    place: DecodedTree | list[Any], segment: str, following: str
) -> DecodedTree | list[Any]:
    """The object or list that `segment` leads to; an empty following segment asks for a list."""
    fresh: DecodedTree | list[Any] = {} if following else []
    if isinstance(place, list):
        last = place[-1] if place else None
        if isinstance(last, dict) and following and following not in last:
            return last
        place.append(fresh)
        return fresh
    found = place.setdefault(segment, fresh)
    if type(found) is not type(fresh):
        raise _conflict([segment])
    return fresh if found is fresh else found


def _conflict(path: list[str]) -> Problem:
    return body_invalid(f"{path[0]} is given in two shapes that do not fit together.")
