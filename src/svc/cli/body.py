"""The body of a writing command, from `--body`, the typed options and `-d`."""

import re
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from svc.cli.bracket import parse_path, put
from svc.client.amounts import amount_option, whole_number
from svc.client.inputs import read_text
from svc.client.jsontext import NotJson, parse_given
from svc.errors import UsageError

_ASSIGNMENT = re.compile(r"(?P<path>[^=]+?)(?P<operator>:?=)(?P<at>@?)(?P<value>.*)", re.DOTALL)
_ITEM_FIELD = re.compile(r",(?=\s*[a-z_]+=)")
_FILE_MAX = 16 * 1024 * 1024

Body = dict[str, Any]
ReadFile = Callable[[str], str]


def build_body(*, base: str | None, typed: Body, data: Sequence[str], read: ReadFile) -> Body:
    """Merges a JSON object (`base`), the typed options that were given, then `-d` on top.

    Raises:
        UsageError: on anything that is not what it says it is; nothing was sent.
    """
    body = {} if base is None else parse_object(read(base), "--body")
    for name, value in typed.items():
        if isinstance(value, dict) and isinstance(body.get(name), dict):
            body[name].update(value)
        elif value is not None and value != {}:
            body[name] = value
    for text in data:
        path, value = parse_assignment(text, read)
        put(body, path, value)
    return body


def parse_assignment(text: str, read: ReadFile) -> tuple[list[str], Any]:
    """Reads `PATH=TEXT`, `PATH:=JSON`, `PATH=@FILE` or `PATH:=@FILE`."""
    match = _ASSIGNMENT.fullmatch(text)
    if match is None:
        raise UsageError(f"-d {text!r} has no '='.", hint="Write -d PATH=TEXT or -d PATH:=JSON")
    value: Any = read(match["value"]) if match["at"] else match["value"]
    if match["operator"] == ":=":
        value = parse_json(value, f"-d {match['path']}")
    return parse_path(match["path"]), value


def parse_object(text: str, source: str) -> Body:
    """Reads a JSON object."""
    value = parse_json(text, source)
    if not isinstance(value, dict):
        raise UsageError(f"{source} must be a JSON object, as in {{...}}.", param=source)
    return value


def parse_json(text: str, source: str) -> Any:
    """Reads JSON strictly, as rows of a batch are read; numbers keep their spelling."""
    try:
        return parse_given(text.removeprefix("\ufeff"))
    except NotJson as error:
        where = " at line {}, column {}".format(*error.place) if error.place else ""
        hint = "Text goes with '=', JSON with ':='" if source.startswith("-d") else None
        raise UsageError(
            f"{source} is not valid JSON{where}: {error}.", param=source, hint=hint
        ) from None


def parse_item(text: str, currency: str | None) -> Body:
    """Reads `name=Jacket,quantity=1,unit_amount=12900`; commas in names are fine."""
    item: Body = {}
    for part in _ITEM_FIELD.split(text):
        name, equals, value = part.strip().partition("=")
        if not equals:
            hint = "Write --item 'name=Jacket,quantity=1,unit_amount=12900'"
            raise UsageError(f"--item {text!r} is not a list of name=value.", hint=hint)
        item[name] = _item_value(name, value, currency)
    return item


def file_reader(stdin: TextIO) -> ReadFile:
    """Makes the function that reads a named file, or standard input for `-`."""
    return lambda name: read_text(name, stdin.buffer, _FILE_MAX)


def _item_value(name: str, value: str, currency: str | None) -> str | int | None:
    if name == "unit_amount":
        return amount_option(value, "unit_amount", currency, least=0)
    if name == "quantity":
        return whole_number(value, name, is_text=True, is_money=False)
    return value
