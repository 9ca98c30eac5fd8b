"""`--query`: applies a JMESPath expression to the whole result; loads jmespath only then.

`output` applies a `Query` before it prints; `svc events listen --where` checks events by a
`Condition`.
"""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

import jmespath
from jmespath.exceptions import JMESPathError, JMESPathTypeError, ParseError
from jmespath.functions import Functions

from svc.errors import LocalError, UsageError
from svc.render.dump import number

_HINT: Final = "The language is described at https://jmespath.org"
_NUMBER: Final = re.compile(
    r"([<>=]\s*)(-?\d+(?:\.\d+)?)\b"
)  # JMESPath has none outside of backticks


class _Spelled(float):
    """A number with its original spelling."""

    text: str


# jmespath tells a value's type by the name of its class.
_Spelled.__name__ = "float"


class Query:
    """One expression, which is checked when it is created, before a request; raises UsageError."""

    def __init__(self, expression: str, option: str = "--query") -> None:
        try:
            self._compiled = jmespath.compile(expression)
            _check(self._compiled.parsed)
        except (JMESPathError, RecursionError) as error:
            raise _mistake(option, expression, _problem(expression, error)) from error
        except _Unfit as error:
            raise _mistake(option, expression, str(error)) from None

    def search(self, data: object) -> object:
        """Applies the expression to parsed JSON; a selected number keeps its spelling.

        Raises LocalError if the data does not fit the expression; requests were sent by then.
        """
        try:
            result: object = self._compiled.search(_convert_numbers(data))
        except (JMESPathError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
            # A list was only read, so that a hint may repeat it (R120).
            is_list = isinstance(data.get("data") if isinstance(data, dict) else data, list)
            raise LocalError(
                f"--query does not fit this result: {_misfit(error)}.",
                code="query_failed",
                param="query",
                hint="Leave --query out to see the whole list" if is_list else None,
            ) from error
        return result


class Condition:
    """A condition on JSON; an invalid expression raises UsageError when it is created.

    Data that does not fit the expression, such as text in place of a number, does not meet it.
    """

    def __init__(self, expression: str, option: str) -> None:
        self._query = Query(expression, option)

    def __call__(self, body: bytes) -> bool:
        """Whether a body meets the condition; null, false and empty are false in JMESPath."""
        try:
            found = self._query.search(json.loads(body))
        except (LocalError, ValueError, RecursionError):
            return False
        return found is not None and found is not False and found not in ("", [], {})


class _Unfit(Exception):  # noqa: N818  it describes an expression
    """An error in an expression that can be parsed."""


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
    """Checks function names and argument counts, which jmespath only checks when it runs."""
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
    """Copies parsed JSON with numbers that keep their spelling and that jmespath can compute."""
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


def explain_null(whole: object, *, paged: bool) -> str:
    """The hint for a query whose result is null: where the objects are, or which object it is.

    `paged` is whether the result is a list object of the service, which has them in `data`.
    """
    where = ""
    if paged:
        where = "; the objects of a list are in data[], with --all in []"
    elif whole == []:
        where = " in an empty list"
    elif isinstance(whole, list):
        where = "; the objects of this array are in [], the first is [0]"
    elif isinstance(whole, dict) and isinstance(whole.get("id"), str):
        where = f" in {whole['id']}"
    return f"The query has found nothing{where}."
