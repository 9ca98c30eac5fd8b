"""Parses the header row of a CSV, and converts the cells of each row to the fields of a request.

A header is a bracket path: `items[0][quantity]` is a member of an entry of `items`. An empty cell
leaves its field out; an empty amount is an error (promise R97). A name that ends in `:=` has JSON.

`reading` makes one `Columns` of a file's header, and asks it for the fields of each row;
`templates` asks it for `used` and `nest`. `cli.batch.rows` finds the columns of `--ignore-column`.
"""

import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from svc.batch.operations import BatchOperation, refuse_unknown
from svc.batch.rows import BadRow, RowFields, build_blank_amount, parse
from svc.client.amounts import is_in_decimals, parse_whole_number, without_zeros
from svc.client.fields import BodyPath, UnknownName, find_unknown_names
from svc.errors import UsageError
from svc.money import exponent, from_decimal_text
from svc.render.csv_format import restore
from svc.service.model import Kind

Cells: TypeAlias = Sequence[str]
Build: TypeAlias = Callable[[Cells], Any]

_PATH: Final = re.compile(r"[^\[\]]+(?:\[[^\[\]]+\])*")
_PART: Final = re.compile(r"[^\[\]]+")
_JSON_MARK: Final = ":="
# One level of names that the merchant chose: `[`, `]` and digits are letters like any other.
_FREE: Final = "metadata"
# The code of a row whose amount has decimals.
AMOUNT_IN_DECIMALS: Final = "amount_in_decimals"
_ABSENT: Final = object()
_WORDS: Final = {"true": True, "false": False}


class FieldColumn(NamedTuple):
    """A column whose cells go into the fields of a row.

    Attributes:
        place: of its cell in a row, from 0.
        kind: that of its field; None for one that the operation does not describe.
        is_text: whether a cell without quotes and escapes is taken as it is.
    """

    place: int
    path: BodyPath
    kind: Kind | None
    is_text: bool


class _Blank(NamedTuple):
    """Stands for a blank amount cell: an error unless its entry of a list is all blank."""

    name: str


@dataclass(slots=True)
class _Spelling:
    """The spelling of a column of whole numbers.

    Attributes:
        with_zeros: how many values were no whole numbers, such as `4999.0`.
        is_mixed: whether any value has another form than `N.0`.
        first: the error of the first of these values.
    """

    with_zeros: int = 0
    is_mixed: bool = False
    first: UsageError | None = None

    def add(self, text: str, error: UsageError) -> None:
        """Notes a value that is not a whole number."""
        self.first = self.first or error
        self.with_zeros += 1
        self.is_mixed |= without_zeros(text) is None


class Columns:
    """The columns of one file for an operation.

    Args:
        raw: the cells are not unescaped, for an export with `--raw-csv`.
        decimals: amounts have the decimals of the row's currency.
        blank_means_all: a blank amount is left out, as any other blank field.
        ignored: the paths of columns that are left out.

    Attributes:
        width: how many cells a row has.
        used: the columns whose cells go into the fields.

    Raises:
        UsageError: a header is repeated, is no bracket path, names no field of the operation, or
            is both a value and the parent of another column, as `a` and `a[b]`.
    """

    def __init__(
        self,
        head: Cells,
        operation: BatchOperation,
        *,
        raw: bool,
        decimals: bool = False,
        blank_means_all: bool,
        ignored: Container[BodyPath] = (),
    ) -> None:
        self.width = len(head)
        self._raw = raw
        self._decimals = decimals
        self._operation = operation
        self._blank_means_all = blank_means_all
        self._nameless: list[int] = []
        self._unknown: list[UnknownName] = []
        self._currency: int | None = None
        self._spellings: dict[str, _Spelling] = {}
        self._reads_decimals = False
        self.used: list[FieldColumn] = []
        tree, texts = self._plant_columns(head, ignored)
        refuse_unknown(operation, self._unknown)
        if self._reads_decimals and self._currency is None:
            raise UsageError(
                "--decimals reads an amount by the currency beside it, and the file has no column "
                "currency. Nothing was sent.",
                code="column_missing",
                param="currency",
                hint="Add a column currency, with a code such as EUR in each row",
            )
        self._build = _object(tree)
        self._build_texts = _object(texts)

    def _plant_columns(
        self, head: Cells, ignored: Container[BodyPath]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The trees of the columns: one builds the values of their kinds, the other one texts."""
        tree: dict[str, Any] = {}
        texts: dict[str, Any] = {}
        for index, text in enumerate(head):
            name = restore(text, raw=self._raw)
            if not name.strip():
                self._nameless.append(index)
            elif column_shape(name) not in ignored:
                path, plain, build = self._column(index, name)
                if len(path) == 1 or path[-1] not in self._operation.made.get(path[0], ()):
                    _plant(tree, path, plain, build)
                    _plant(texts, path, plain, _build_filled(index, str))
                    self.used.append(self._describe(index, path, is_json=name.endswith(_JSON_MARK)))
        return tree, texts

    def nest(self, cells: Cells) -> RowFields:
        """Builds the fields of a row with each cell as a text, whatever the kind of its column."""
        found = self._build_texts(cells)
        return {} if found is _ABSENT else found

    def _describe(self, index: int, path: BodyPath, *, is_json: bool) -> FieldColumn:
        kind = self._operation.kind_of(star_positions(path))
        of_kind = kind is None or kind.type not in ("object", "list", "free")
        is_decimal = self._decimals and kind is not None and kind.type == "amount"
        return FieldColumn(index, path, kind, of_kind and not is_json and not is_decimal)

    def row(self, cells: Cells) -> RowFields:
        """Builds the fields of a row; raises BadRow: a cell or the number of cells is wrong."""
        if len(cells) != self.width:
            raise BadRow(f"it has {len(cells)} cells, but the header row has {self.width}")
        if any(cells[index] for index in self._nameless):
            raise BadRow("a cell has no column name above it")
        found = self._build(cells)
        return {} if found is _ABSENT else found

    def refuse_zeros(self) -> None:
        """Refuses the file, after its last row, if every value of a column is `N.0`.

        Spreadsheets and pandas write whole numbers so: minor units and decimals look alike.

        Raises:
            UsageError: there is such a column.
        """
        for name, found in self._spellings.items():
            if found.with_zeros > 1 and not found.is_mixed and found.first is not None:
                raise UsageError(
                    f"Every value of {name} ends in .0, as spreadsheets and pandas write whole "
                    f"numbers. {found.first.message} Nothing was sent.",
                    code="column_not_whole",
                    param=name,
                    hint=found.first.hint,
                )

    def _column(self, index: int, name: str) -> tuple[BodyPath, str, Build]:
        is_json = name.endswith(_JSON_MARK)
        plain = name.removesuffix(_JSON_MARK)
        path = column_path(plain)
        if not path:
            raise UsageError(
                f"The column {name!r} is not a field path.",
                code="column_invalid",
                param=name,
                hint="Write a field inside another with brackets, such as shipping[country] or "
                "items[0][name]",
            )
        self._unknown += find_unknown_names(self._operation.columns, nest(path))
        if plain == "currency":
            self._currency = index
        shape = star_positions(path)
        build = self._cell(index, plain, shape, is_json=is_json)
        kind = self._operation.kind_of(shape)
        if kind is not None and kind.type == "amount" and not self._blank_means_all:
            build = _not_blank(index, plain, build)
        return path, plain, build

    def _cell(self, index: int, name: str, shape: BodyPath, *, is_json: bool) -> Build:
        kind = self._operation.kind_of(shape)
        if is_json or (kind is not None and kind.type in ("object", "list", "free")):
            return _build_filled(index, lambda text: parse(self._text(text), name))
        if self._decimals and kind is not None and kind.type == "amount":
            self._reads_decimals = True
            return self._in_decimals(index, name, kind)
        if kind is not None and kind.type in ("amount", "integer"):
            return self._build_whole(index, name, kind)
        if kind is not None and kind.type == "boolean":
            return _build_filled(index, lambda text: _boolean(text, name))
        return _build_filled(index, self._text)

    def _build_whole(self, index: int, name: str, kind: Kind) -> Build:
        minimum, is_money = kind.minimum, kind.type == "amount"
        spelling = self._spellings.setdefault(name, _Spelling())

        def build(cells: Cells) -> Any:
            text = cells[index].strip()
            if not text:
                return _ABSENT
            currency = None if self._currency is None else cells[self._currency]
            try:
                number = parse_whole_number(
                    text, name, minimum=minimum, currency=currency, is_text=True, is_money=is_money
                )
            except UsageError as error:
                spelling.add(text, error)
                bad = BadRow.of(error)
                if is_money and is_in_decimals(text, currency or None):
                    bad.code = AMOUNT_IN_DECIMALS
                raise bad from None
            spelling.is_mixed = True
            return number

        return build

    def _in_decimals(self, index: int, name: str, kind: Kind) -> Build:
        def build(cells: Cells) -> Any:
            text = cells[index].strip()
            if not text:
                return _ABSENT
            currency = "" if self._currency is None else cells[self._currency].strip()
            number = from_decimal_text(text, currency)
            places = exponent(currency)
            if places is None:
                why = f"{name} cannot be read with --decimals: no currency is beside it"
                raise BadRow(f"{why}, but {currency!r}" if currency else why)
            if number is None:
                pointed = text.replace(",", ".", 1)
                meant = pointed if from_decimal_text(pointed, currency) is not None else None
                raise BadRow(
                    f"{name} {text!r} has not the {places} decimals of {currency}",
                    hint=meant and f"write {meant}",
                )
            try:
                return parse_whole_number(
                    str(number), name, minimum=kind.minimum, currency=currency, is_text=True
                )
            except UsageError as error:
                raise BadRow.of(error) from None

        return build

    def _text(self, text: str) -> str:
        return restore(text, raw=self._raw)


def column_shape(name: str) -> BodyPath:
    """The path of a column's name, with `*` for each position in a list."""
    plain = name.removesuffix(_JSON_MARK)
    return star_positions(column_path(plain)) or (plain,)


def find_ignored_columns(
    names: Iterable[str], operation: BatchOperation, *, blank_means_all: bool
) -> frozenset[BodyPath]:
    """Converts the names of `--ignore-column` to paths.

    Raises:
        UsageError: it names the amount, without which the operation moves all that is left (R97).
    """
    paths = {column_shape(name): name for name in names}
    amount = paths.get(("amount",))
    if amount is not None and amount in operation.fields and not blank_means_all:
        raise UsageError(
            f"{operation.name} without amount takes all that is left.",
            code="amount_ignored",
            param="--ignore-column",
            hint="Add --blank-means-all where that is meant",
        )
    return frozenset(paths)


def _not_blank(index: int, name: str, build: Build) -> Build:
    blank = _Blank(name)
    return lambda cells: build(cells) if cells[index].strip() else blank


def column_path(name: str) -> BodyPath:
    """The parts of a bracket path; empty if the name is none."""
    if name.startswith(f"{_FREE}[") and name.endswith("]"):
        return _FREE, name[len(_FREE) + 1 : -1]
    return tuple(_PART.findall(name)) if _PATH.fullmatch(name) else ()


def nest(path: BodyPath, value: object = None) -> dict[str, Any]:
    """Builds the nested object that contains only one path."""
    inside: Any = value
    for part in reversed(path):
        inside = {part: inside}
    return dict(inside)


def _boolean(text: str, name: str) -> bool:
    word = _WORDS.get(text.strip().lower())
    if word is None:
        raise BadRow(f"{name} {text!r} is neither true nor false", param=name)
    return word


def star_positions(path: BodyPath) -> BodyPath:
    """Replaces each position in a list by `*`."""
    return tuple("*" if part.isdecimal() else part for part in path)


def _build_filled(index: int, read: Callable[[str], Any]) -> Build:
    def build(cells: Cells) -> Any:
        text = cells[index]
        return read(text) if text else _ABSENT

    return build


def _plant(tree: dict[str, Any], path: BodyPath, name: str, build: Build) -> None:
    """Adds the builder of a column to the tree of all columns."""
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
        f"The column {name!r} appears twice, or contradicts another column.",
        code="column_invalid",
        param=name,
    )


def _node(tree: dict[str, Any] | Build, name: str) -> Build:
    if not isinstance(tree, dict):
        return tree
    is_list = name != _FREE and all(part.isdecimal() for part in tree)
    return _list(tree, name) if is_list else _object(tree, name)


def _object(tree: dict[str, Any], name: str = "") -> Build:
    """Returns the builder of an object with sorted names, so that equal rows have equal bytes."""
    parts = [(key, _node(tree[key], f"{name}[{key}]" if name else key)) for key in sorted(tree)]

    def build(cells: Cells) -> Any:
        found, blank = {}, None
        for key, part in parts:
            value = part(cells)
            if type(value) is _Blank:
                blank = value
            elif value is not _ABSENT:
                found[key] = value
        # An entry of a list whose cells are all blank is not there: other rows have more of them.
        if blank is not None and (found or not name):
            raise build_blank_amount(blank.name)
        return found or _ABSENT

    return build


def _list(tree: dict[str, Any], name: str) -> Build:
    parts = [_node(tree[key], f"{name}[{key}]") for key in sorted(tree, key=int)]
    if sorted(map(int, tree)) != list(range(len(tree))):
        raise UsageError(
            f"The columns of {name} skip a position.",
            code="column_invalid",
            param=name,
            hint=f"The first is {name}[0], the next {name}[1], and so on",
        )

    def build(cells: Cells) -> Any:
        found = [part(cells) for part in parts]
        while found and found[-1] is _ABSENT:
            found.pop()
        if any(value is _ABSENT for value in found):
            raise BadRow(f"{name} skips a position", param=name)
        return found or _ABSENT

    return build
