"""`--query`: a JMESPath expression over the whole result."""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

import jmespath
from jmespath.exceptions import (
    JMESPathError,
    JMESPathTypeError,
    ParseError,
)
from jmespath.functions import Functions

from svc.errors import LocalError, UsageError
from svc.render.dump import number

_HINT: Final = "The language is described at https://jmespath.org"
_NUMBER: Final = re.compile(
    r"([<>=]\s*)(-?\d+(?:\.\d+)?)\b"
)  # JMESPath has none outside of backticks


class _Spelled(float):
    """A number that remembers how it was written."""

    text: str


# jmespath tells a value's type by the name of its class.
_Spelled.__name__ = "float"


class Query:
    """One expression, checked when it is made, before anything is sent; raises UsageError."""

    def __init__(self, expression: str, option: str = "--query") -> None:
        try:
            self._compiled = jmespath.compile(expression)
            _check(self._compiled.parsed)
        except (JMESPathError, RecursionError) as error:
            raise _mistake(option, expression, _problem(expression, error)) from error
        except _Unfit as error:
            raise _mistake(option, expression, str(error)) from None

    def search(self, data: object) -> object:
        """Applies the expression to parsed JSON; a number that is only selected stays as spelled.

        Raises LocalError when the data does not fit the expression; what was sent is not undone.
        """
        try:
            result: object = self._compiled.search(_convert_numbers(data))
        except (JMESPathError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
            raise LocalError(
                f"--query does not fit this result: {_misfit(error)}.",
                code="query_failed",
                param="query",
                hint="Leave --query out to see the whole list" if _is_listed(data) else None,
            ) from error
        return result


class Condition:
    """An expression that JSON meets or not; a mistake in it is found when it is made (UsageError).

    What does not fit the expression, as a text where it takes a number, does not meet it.
    """

    def __init__(self, expression: str, option: str) -> None:
        self._query = Query(expression, option)

    def __call__(self, body: bytes) -> bool:
        """Whether a body meets it; JMESPath's false are null, false and what is empty."""
        try:
            found = self._query.search(json.loads(body))
        except (LocalError, ValueError, RecursionError):
            return False
        return found is not None and found is not False and found not in ("", [], {})


class _Unfit(Exception):  # noqa: N818  it describes an expression
    """What is wrong with an expression that can be parsed."""


def _problem(expression: str, error: Exception) -> str:
    if isinstance(error, ParseError):
        at = error.lex_position
        found = expression[at : at + 1]
        return f"{found!r} is unexpected at character {at + 1}" if found else "it ends too early"
    return "it is empty" if not expression else "it nests too deeply"


def _mistake(option: str, expression: str, problem: str) -> UsageError:
    mended = _NUMBER.sub(r"\1`\2`", expression)
    return UsageError(
        f"{option}: {problem}, in the JMESPath expression {expression!r}",
        code="query_invalid",
        param=option.removeprefix("--"),
        hint=_HINT if mended == expression else f"Write numbers in backticks: {mended}",
    )


def _check(tree: dict[str, Any]) -> None:
    """Finds early what jmespath finds while it runs: functions, and how many values they take."""
    for parent, node in _nodes(tree):
        if node["type"] == "expref" and parent != "function_expression":
            raise _Unfit("& may stand only before a function's argument")
        if node["type"] != "function_expression":
            continue
        known = Functions.FUNCTION_TABLE.get(node["value"])
        if known is None:
            raise _Unfit(f"there is no function {node['value']}()")
        takes, given = len(known["signature"]), len(node["children"])
        many = bool(known["signature"]) and known["signature"][-1].get("variadic", False)
        if given < takes or (given > takes and not many):
            least = "at least " if many else ""
            raise _Unfit(f"{node['value']}() takes {least}{takes}, not {given}")


def _nodes(tree: dict[str, Any], parent: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield parent, tree
    for child in tree["children"]:
        if isinstance(child, dict):
            yield from _nodes(child, tree["type"])


def _convert_numbers(value: object) -> object:
    """Copies parsed JSON with every spelled number in a form that jmespath calculates with."""
    if isinstance(value, dict):
        return {key: _convert_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_convert_numbers(inner) for inner in value]
    if isinstance(value, float | Decimal):
        spelled = _Spelled(value)
        spelled.text = number(value)
        return spelled
    return value


def _misfit(error: Exception) -> str:
    if isinstance(error, JMESPathTypeError):
        expected = " or ".join(error.expected_types)
        return f"{error.function_name}() takes {expected}, not {error.actual_type}"
    if isinstance(error, RecursionError):
        return "it nests too deeply"
    return str(error)


def _is_listed(data: object) -> bool:
    """Whether a result is a list, which was read: the same command again changes nothing (R120)."""
    return isinstance(data, list) or (isinstance(data, dict) and isinstance(data.get("data"), list))


def explain_null(whole: object, *, paged: bool) -> str:
    """What to say of a query that gives null: where the objects of its result are.

    `paged` says that the result is a list object of the service, whose `data` they are.
    """
    where = ""
    if paged:
        where = "; the objects of a list are in data[], with --all in []"
    elif whole == []:
        where = " in an empty list"
    elif isinstance(whole, list):
        where = "; the objects of this array are in [], the first is [0]"
    return f"The query has found nothing{where}."
