"""A strict JSON parser that keeps the spelling of numbers and the exact text of list entries.

Used for every answer of the service (`client.reply`, `client.refusal`), for the entries of a list
that are printed (`render.json_format`), and by `parse_given` for the JSON that a user gives
(options, bodies, rows of a batch). The listener reads payloads and other programs' texts, which are
no more than looked at, by `parse_any`.
"""

import re
from collections.abc import Callable, Iterator
from json import loads
from json.decoder import JSONDecodeError, JSONDecoder
from operator import itemgetter
from typing import Any, Self


class ExactNumber(float):
    """A number with a fraction or an exponent, with its original text.

    It compares and sorts as a float. Money and rates are formatted from `text`, without binary
    rounding.
    """

    __slots__ = ("text",)

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type["ExactNumber"], tuple[str]]:
        return ExactNumber, (self.text,)


class NotJson(ValueError):  # noqa: N818  it describes a text
    """The text is not JSON; the caller writes the message, as it knows the source of the text.

    Attributes:
        place: line and column, from 1; None if the error has no single place.
    """

    def __init__(self, message: str, place: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        self.place = place


def _refuse_constant(name: str) -> float:
    raise NotJson(f"{name} is not a JSON value")


def _parse_integer(text: str) -> int | ExactNumber:
    """Parses a whole number; `-0` becomes an `ExactNumber`, as an int has no negative zero."""
    return ExactNumber(text) if text == "-0" else int(text)


def _refuse_repeated_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        duplicate = next(key for key in keys if keys.count(key) > 1)
        raise NotJson(f"the key {duplicate!r} appears twice")
    return found


def _make_decoder(names: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> JSONDecoder:
    return JSONDecoder(
        parse_int=_parse_integer,
        parse_float=ExactNumber,
        parse_constant=_refuse_constant,
        object_pairs_hook=names,
    )


# Reads NaN and Infinity as errors: the standard library takes them, JSON does not.
_MARKS = (",", "[", "{")
_STRING_OR_MARK = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[,\[{]'
_SPACES = frozenset(" \t\n\r")
_DECODER = JSONDecoder(parse_float=ExactNumber, parse_constant=_refuse_constant)
_LISTED = JSONDecoder(
    parse_float=ExactNumber,
    parse_constant=_refuse_constant,
    object_pairs_hook=_refuse_repeated_names,
)
_GIVEN, _SORTED = (
    _make_decoder(_refuse_repeated_names),
    _make_decoder(lambda pairs: _refuse_repeated_names(sorted(pairs, key=itemgetter(0)))),
)


def has_more_values(text: str, most: int) -> bool:
    """Whether a JSON text has more than `most` values, without names; builds no values.

    It counts commas and opening brackets. Marks within strings are counted as well at first, which
    is fast, and are only excluded if the result depends on them.
    """
    if sum(map(text.count, _MARKS)) < most:
        return False
    marks = strings = 0
    for found in re.finditer(_STRING_OR_MARK, text):
        if found[0] in _MARKS:
            marks += 1
        else:
            strings += 1
        if marks >= most or strings > 2 * most:  # a name and a value for each mark
            return True
    return False


def parse(text: str) -> Any:
    """Parses a whole document.

    Raises:
        NotJson: the text is not one JSON value, or exceeds Python's limits of nesting or numbers.
    """
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def parse_given(text: str, *, in_order: bool = False) -> Any:
    """Parses JSON that a user wants to send; refuses a repeated name, as a value would be lost.

    `in_order` sorts names, so that equal values have equal bytes.

    Raises:
        NotJson: as `parse`, or a repeated name; `place` is set if it is known.
    """
    try:
        return (_SORTED if in_order else _GIVEN).decode(text)
    except JSONDecodeError as error:
        raise NotJson(error.msg, (error.lineno, error.colno)) from None
    except RecursionError:
        raise NotJson("it is nested too deeply") from None
    except ValueError as error:  # NotJson is one
        raise NotJson(str(error)) from None


def parse_any(data: bytes | str) -> Any:
    """Parses what a stranger has written as `json.loads` does.

    None for `null` and where it is no JSON, no UTF-8, or of absurd numbers or nesting.
    """
    try:
        return loads(data)
    except (ValueError, RecursionError):
        return None


def parse_list(text: str) -> tuple[Any, tuple[str, ...]]:
    """Parses a document; for a list object it also returns the exact text of each entry.

    A list object is an object with an array `data` (spec: List object). For any other value the
    second part is empty.

    Raises:
        NotJson: as `parse`, or a repeated name in an object.
    """
    start = _skip(text, 0)
    if text[start : start + 1] != "{":
        return parse_given(text), ()
    try:
        document, slices, end = _object(text, start)
    except (ValueError, RecursionError, StopIteration, IndexError) as error:
        raise NotJson(str(error)) from None
    if _skip(text, end) != len(text):
        raise NotJson("text follows the document")
    return document, slices


def _object(text: str, start: int) -> tuple[dict[str, Any], tuple[str, ...], int]:
    document: dict[str, Any] = {}
    slices: tuple[str, ...] = ()
    at = _skip(text, start + 1)
    if text[at] == "}":
        return document, slices, at + 1
    while True:
        name, at = _name(text, at)
        if name in document:
            raise NotJson(f"the key {name!r} appears twice")
        if name == "data" and text[at] == "[":
            entries = list(_entries(text, at))
            document[name] = [value for value, _, _ in entries[:-1]]
            slices = tuple(text[begin:end] for _, begin, end in entries[:-1])
            at = entries[-1][2]
        else:
            document[name], at = _LISTED.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] == "}":
            return document, slices, at + 1
        at = _expect(text, at, ",")


def _entries(text: str, start: int) -> Iterator[tuple[Any, int, int]]:
    """Yields each entry with its position, then a last item with the end of the array."""
    at = _skip(text, start + 1)
    if text[at] == "]":
        yield None, at, at + 1
        return
    while True:
        value, end = _LISTED.raw_decode(text, at)
        yield value, at, end
        at = _skip(text, end)
        if text[at] == "]":
            yield None, at, at + 1
            return
        at = _expect(text, at, ",")


def _name(text: str, at: int) -> tuple[str, int]:
    if text[at] != '"':
        raise NotJson("a name is missing")
    name, at = _DECODER.raw_decode(text, at)
    return name, _expect(text, _skip(text, at), ":")


def _expect(text: str, at: int, mark: str) -> int:
    if text[at] != mark:
        raise NotJson(f"a {mark!r} is missing")
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] in _SPACES:
        at += 1
    return at
