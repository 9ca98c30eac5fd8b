"""The head of a CSV: bracket paths, and how the cells below become the fields of a row.

`items[0][quantity]` is a part of the list `items`. An empty cell leaves its field out. A column
whose name ends in `:=` holds JSON.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from svc.batch.operations import ANSWERED_INSIDE, BOOLEANS, INTEGERS, OBJECTS, Path
from svc.batch.rows import BadRow, Given
from svc.batch.strict_json import parse
from svc.errors import UsageError
from svc.money import minor_units
from svc.render.csv_text import restore

Cells: TypeAlias = Sequence[str]
Build: TypeAlias = Callable[[Cells], Any]

_PATH: Final = re.compile(r"[^\[\]]+(?:\[[^\[\]]+\])*")
_PART: Final = re.compile(r"[^\[\]]+")
_JSON_MARK: Final = ":="
# One level of names that the merchant chose: `[`, `]` and digits are letters like any other.
_FREE: Final = "metadata"
_ABSENT: Final = object()
_WORDS: Final = {"true": True, "false": False}


class Columns:
    """The columns of one file.

    `raw` takes cells as they are, where the export was made with `--raw-csv`.

    Raises:
        UsageError: a name stands twice, is no path, or goes through another one.
    """

    def __init__(self, head: Cells, *, raw: bool) -> None:
        self._width = len(head)
        self._raw = raw
        self._nameless: list[int] = []
        self._currency: int | None = None
        tree: dict[str, Any] = {}
        for index, text in enumerate(head):
            name = restore(text.strip(), raw=raw)
            if name:
                _plant(tree, *self._column(index, name))
            else:
                self._nameless.append(index)
        self._build = _object(tree)

    def row(self, cells: Cells) -> Given:
        """Builds a row's fields.

        Raises:
            BadRow: a cell does not hold what its column says, or there are too few or too many.
        """
        if len(cells) != self._width:
            raise BadRow(f"it has {len(cells)} cells, the head has {self._width}")
        if any(cells[index] for index in self._nameless):
            raise BadRow("a cell stands under no name")
        found = self._build(cells)
        return {} if found is _ABSENT else found

    def _column(self, index: int, name: str) -> tuple[Path, str, Build]:
        is_json = name.endswith(_JSON_MARK)
        plain = name.removesuffix(_JSON_MARK)
        path = _path(plain)
        if not path:
            raise UsageError(
                f"The column {name!r} is no bracket path.",
                code="column_invalid",
                param=name,
                hint="Write it as in shipping[country] or items[0][name]",
            )
        if plain == "currency":
            self._currency = index
        return path, plain, self._cell(index, plain, _shape(path), is_json=is_json)

    def _cell(self, index: int, name: str, shape: Path, *, is_json: bool) -> Build:
        if is_json or shape in OBJECTS:
            return _filled(index, lambda text: parse(self._text(text), name))
        if shape in INTEGERS:
            return self._integer(index, name)
        if shape in BOOLEANS:
            return _filled(index, lambda text: _boolean(text, name))
        return _filled(index, self._text)

    def _integer(self, index: int, name: str) -> Build:
        def build(cells: Cells) -> Any:
            text = cells[index]
            if not text:
                return _ABSENT
            return integer(text, name, None if self._currency is None else cells[self._currency])

        return build

    def _text(self, text: str) -> str:
        plain = text[0] != "'" and "\\u{" not in text
        return text if plain else restore(text, raw=self._raw)


def integer(text: str, name: str, currency: str | None) -> int:
    """Reads a whole number; an amount is in minor units of `currency`.

    Raises:
        BadRow: with the right number in it where it can be told.
    """
    stripped = text.strip()
    digits = stripped.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) <= 15:  # noqa: PLR2004  12 are allowed
        return int(stripped)
    raise BadRow(
        f"{name} {text!r} is not a whole number",
        param=name,
        code="amount_invalid",
        hint=_hint(stripped, name, currency),
    )


def _hint(text: str, name: str, currency: str | None) -> str | None:
    if not name.endswith(("amount", "amount]")):
        return None
    minor = minor_units(text, currency)
    if minor is None:
        return "amounts are in the currency's minor unit, such as 12900 for 129.00 EUR"
    return f"{text} {currency or 'with two decimals'} is {minor} in minor units"


def _path(name: str) -> Path:
    """The parts of a bracket path; none where it is not one."""
    if name.startswith(f"{_FREE}[") and name.endswith("]"):
        return _FREE, name[len(_FREE) + 1 : -1]
    return tuple(_PART.findall(name)) if _PATH.fullmatch(name) else ()


def _boolean(text: str, name: str) -> bool:
    word = _WORDS.get(text.strip().lower())
    if word is None:
        raise BadRow(f"{name} {text!r} is neither true nor false", param=name)
    return word


def _shape(path: Path) -> Path:
    """A path with `*` for every position in a list."""
    return tuple("*" if part.isdecimal() else part for part in path)


def _filled(index: int, read: Callable[[str], Any]) -> Build:
    def build(cells: Cells) -> Any:
        text = cells[index]
        return read(text) if text else _ABSENT

    return build


def _plant(tree: dict[str, Any], path: Path, name: str, build: Build) -> None:
    """Puts a column's builder into the tree of all columns."""
    if len(path) > 1 and path[-1] in ANSWERED_INSIDE.get(path[0], ()):
        return
    here = tree
    for part in path[:-1]:
        inner = here.setdefault(part, {})
        if not isinstance(inner, dict):
            raise _clash(name)
        here = inner
    if path[-1] in here:
        raise _clash(name)
    here[path[-1]] = build


def _clash(name: str) -> UsageError:
    return UsageError(
        f"The column {name!r} stands twice, or goes through another column.",
        code="column_invalid",
        param=name,
    )


def _node(tree: dict[str, Any] | Build, name: str) -> Build:
    if not isinstance(tree, dict):
        return tree
    is_list = name != _FREE and all(part.isdecimal() for part in tree)
    return _list(tree, name) if is_list else _object(tree, name)


def _object(tree: dict[str, Any], name: str = "") -> Build:
    """Builds an object; its names are in order, so that equal rows are equal bytes."""
    parts = [(key, _node(tree[key], f"{name}[{key}]" if name else key)) for key in sorted(tree)]

    def build(cells: Cells) -> Any:
        found = {}
        for key, part in parts:
            value = part(cells)
            if value is not _ABSENT:
                found[key] = value
        return found or _ABSENT

    return build


def _list(tree: dict[str, Any], name: str) -> Build:
    parts = [_node(tree[key], f"{name}[{key}]") for key in sorted(tree, key=int)]
    if sorted(map(int, tree)) != list(range(len(tree))):
        raise UsageError(
            f"The columns of {name} leave out a position.",
            code="column_invalid",
            param=name,
            hint=f"The first is {name}[0], the next {name}[1], and so on",
        )

    def build(cells: Cells) -> Any:
        found = [part(cells) for part in parts]
        while found and found[-1] is _ABSENT:
            found.pop()
        if any(value is _ABSENT for value in found):
            raise BadRow(f"{name} leaves a position empty", param=name)
        return found or _ABSENT

    return build
