"""Builds most rows of a CSV from templates, several times as fast as one by one.

Rows with values in the same columns differ in these values alone. The first valid row of them is
read as any other row is. Then a row of markers is built and encoded by the same functions, and what
lies between the markers is the template of all rows that follow. A template takes plain values
alone: printable text without quotes, backslashes and blanks at the ends, whole numbers, codes and
ids. Any other row is left to `Validator`, so that each error has one owner.

`cli.batch.rows` makes one `RowTemplates` for a file; `reading.rows_of` calls its `build` with each
row, and `cli.batch.rows` its `learn` with what the validator made of the row.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from operator import getitem, itemgetter
from typing import Final, NamedTuple

from svc.batch.columns import Cells, Columns, FieldColumn, nest, star_positions
from svc.batch.operations import KEY_COLUMN
from svc.batch.validate import Validator, compares_currency
from svc.client.call import is_id
from svc.client.encoding import percent_encode
from svc.client.fields import BodyPath, check_value, rules_of
from svc.client.request import check_key, encode_body
from svc.delivery.likeness import (
    digest_parts,
    fold,
    format_part,
    join_names,
    list_pairs,
    list_parts_of_place,
    row_likeness,
    subject_of,
)
from svc.delivery.plan import BatchRow, InvalidRow
from svc.errors import UsageError
from svc.service.facts import AMOUNT_MAX, ID_PREFIXES
from svc.service.model import Kind

# Texts that are the same in a cell and in JSON, without blanks around them.
_PLAIN: Final = re.compile(r"[!#-&(-\[\]-~](?:[ !#-&(-\[\]-~]*[!#-&(-\[\]-~])?").fullmatch
_DIGITS_MAX: Final = len(str(AMOUNT_MAX))
_QUOTING: Final = "\"'\\"
_TEMPLATES_MAX: Final = 500  # of one file
_TRIES_MAX: Final = 20  # rows of which one has to be plain
_VALUES_MAX: Final = 256  # of one column, whose texts are kept
_WHOLE: Final = ("amount", "integer")
_CODES: Final = {"currency": 3, "country": 2}
_WORDS: Final = ("true", "false")


class _NotPlainError(Exception):
    """A value, or a set of columns, has no template."""


class _Pieces(NamedTuple):
    """A value as it stands in a body, in the digest of its parameters, and in the likeness."""

    body: str
    exact: str
    folded: str


class _PieceCache(dict[str, _Pieces]):
    """The pieces of the values of a column; those of the first few hundred values are kept."""

    def __init__(self, build: Callable[[str], _Pieces]) -> None:
        super().__init__()
        self._build = build

    def __missing__(self, text: str) -> _Pieces:
        pieces = self._build(text)
        if len(self) < _VALUES_MAX:
            self[text] = pieces
        return pieces


class _Gaps(NamedTuple):
    """A text with gaps; `fill` takes the pieces of all columns."""

    text: str  # for the operator `%`
    select: Callable[[Sequence[str]], tuple[str, ...]]

    def fill(self, pieces: Sequence[str]) -> str:
        return self.text % self.select(pieces)


class RowTemplates:
    """The templates of the rows of one file; `validator` reads all other rows."""

    def __init__(self, validator: Validator) -> None:
        self._validator = validator
        self._templates: dict[bytes, _Template | None] = {}
        self._tries: Counter[bytes] = Counter()
        self._missed: tuple[Columns, Cells, bytes] | None = None

    def build(self, columns: Columns, number: int, line: int, cells: Cells) -> BatchRow | None:
        """Builds a `BatchRow` from the cells of one line.

        None: the validator has to read it, and `learn` is given the result.
        """
        used = bytes(map(bool, cells))
        template = self._templates.get(used)
        self._missed = None
        if template is None:
            if used not in self._templates and len(self._templates) < _TEMPLATES_MAX:
                self._missed = columns, cells, used
            return None
        try:
            return template.build(number, line, cells)
        except _NotPlainError:
            return None

    def learn(self, row: BatchRow | InvalidRow) -> None:
        """Makes a template from the last row that `build` could not build, if it is valid."""
        if self._missed is None or isinstance(row, InvalidRow):
            return
        columns, cells, used = self._missed
        try:
            template = _Template(self._validator, columns, cells)
            is_equal = template.build(row.number, row.line, cells) == row
        except _NotPlainError:
            self._tries[used] += 1
            if self._tries[used] == _TRIES_MAX:
                self._templates[used] = None
        else:
            self._templates[used] = template if is_equal else None


class _Template:
    """The template of rows that have values in the same columns as a valid row.

    Raises:
        _NotPlainError: rows with values in these columns have no template, or the row itself has a
            value that no template takes.
    """

    def __init__(self, validator: Validator, columns: Columns, cells: Cells) -> None:
        self._operation = operation = validator.operation
        used = [column for column in columns.used if cells[column.place]]
        if not used or not all(column.is_text for column in used):
            raise _NotPlainError
        markers = _Markers(used, operation.id_prefix)
        call, _, _ = validator.build_call(columns.nest(markers.place(len(cells))))
        is_form = call.encoding == "form"
        scope, fields = validator.scope, call.body or {}
        pairs = list_pairs(call.path, fields)
        names = {number: path[-1] for path, text in pairs for number in markers.find_columns(text)}
        self._take = _select([column.place for column in used])
        self._values = [
            _PieceCache(self._reader(column, names.get(n), is_form=is_form))
            for n, column in enumerate(used)
        ]
        self._path = markers.split(call.path)
        has_id = bool(markers.find_columns(call.path))
        self._body = markers.split(encode_body(call).decode(), quoted=not is_form)
        place = list_parts_of_place(scope.base_url, scope.mode, "")
        self._place = "".join(map(format_part, place[:-1]))
        self._known_path = None if has_id else call.path
        self._known_place = f"{self._place}{format_part(call.path)}"
        parts = "".join(f"{format_part(join_names(path))}{text}" for path, text in pairs)
        self._digest = markers.split(parts)
        self._subject = _find_subject(subject_of(call.path, fields), markers, used)
        self._find_columns(validator, used, has_amount="amount" in fields)

    def _find_columns(
        self, validator: Validator, used: Sequence[FieldColumn], *, has_amount: bool
    ) -> None:
        self._amount = _find(used, ("amount",)) if has_amount else None
        self._currency = _find(used, ("currency",))
        self._key = _find(used, (KEY_COLUMN,))
        self._row_id = None if validator.id_column is None else _find(used, validator.id_column)
        self._is_compared = compares_currency(self._operation)

    def build(self, number: int, line: int, cells: Cells) -> BatchRow:
        """Builds a row; raises _NotPlainError: the template does not take one of its values."""
        bodies, exacts, folds = zip(*map(getitem, self._values, self._take(cells)), strict=False)
        path, place = self._known_path, self._known_place
        if path is None:
            path = self._path.fill(bodies)
            place = f"{self._place}{format_part(path)}"
        exact = alike = digest_parts(place + self._digest.fill(exacts))
        if folds != exacts:
            alike = digest_parts(place + self._digest.fill(folds))
        row_id = None if self._row_id is None else cells[self._row_id]
        currency = None if self._currency is None else cells[self._currency]
        return BatchRow(
            number,
            line,
            path,
            self._body.fill(bodies).encode(),
            exact,
            alike if row_id is None else row_likeness(row_id),
            None if self._amount is None else int(cells[self._amount]),
            currency,
            None if self._key is None else cells[self._key],
            currency if self._is_compared else None,
            row_id,
            alike,
            "" if self._subject is None else self._subject(path, cells),
        )

    def _reader(
        self, column: FieldColumn, name: str | None, *, is_form: bool
    ) -> Callable[[str], _Pieces]:
        """Returns the function that checks a value and builds its pieces; `name` is its last name.

        It has no name where it is no parameter: an id in the path, or a field that is not sent.
        """
        check = self._check(column, is_sent=name is not None)

        def build(text: str) -> _Pieces:
            if not (_PLAIN(text) or _is_plain_beyond_ascii(text)):
                raise _NotPlainError
            is_bare = check(text)
            exact = f"{len(text)}:{text}" if text.isascii() else format_part(text)
            same = text if name is None or is_bare else fold(name, text)
            folded = exact if same == text else format_part(same)
            if is_form:
                return _Pieces(percent_encode(text), exact, folded)
            return _Pieces(text if is_bare or name is None else f'"{text}"', exact, folded)

        return build

    def _check(self, column: FieldColumn, *, is_sent: bool) -> Callable[[str], bool]:
        """Returns the function that checks a value; whether JSON has it without quotes."""
        operation, path, kind = self._operation, column.path, column.kind
        rules = rules_of(operation.name)
        known = rules.kind_of(star_positions(path)) if rules is not None else None
        is_known_otherwise = known is not None and (kind is None or kind.type != known.type)
        if is_sent and is_known_otherwise:
            raise _NotPlainError
        if path == (KEY_COLUMN,):
            return lambda text: _check_by(check_key, text)
        if path == ("currency",) and compares_currency(operation):
            return lambda text: _check_by(partial(check_value, operation.name, "currency"), text)
        if path == ("id",) and operation.id_prefix:
            return lambda text: _check_id(text, operation.id_prefix)
        return (lambda _: False) if kind is None else partial(_check_kind, kind)


class _Markers:
    """Texts that stand for the values of columns, and for nothing else."""

    def __init__(self, used: Sequence[FieldColumn], id_prefix: str) -> None:
        self._used = used
        nonce = os.urandom(16).hex()
        self._texts = [
            f"{id_prefix if column.path == ('id',) else ''}{nonce}{number:06}"
            for number, column in enumerate(used)
        ]
        self._numbers = {text: number for number, text in enumerate(self._texts)}
        self._nonce = nonce

    def place(self, width: int) -> Cells:
        """Builds a row of markers."""
        cells = [""] * width
        for column, text in zip(self._used, self._texts, strict=True):
            cells[column.place] = text
        return cells

    def find_columns(self, text: str) -> list[int]:
        """The numbers of the columns whose markers a text has, in the text's order."""
        return [self._numbers[found] for found in re.findall(self._pattern(), text)]

    def split(self, text: str, *, quoted: bool = False) -> _Gaps:
        """Makes a gap of each marker, with its quotes where they are `quoted`.

        Raises:
            _NotPlainError: a marker stands in another way in the text.
        """
        pattern = f'"{self._pattern()}"' if quoted else self._pattern()
        parts = re.split(pattern, text)
        if any(self._nonce in constant for constant in parts[::2]):
            raise _NotPlainError
        constants = [constant.replace("%", "%%") for constant in parts[::2]]
        return _Gaps("%s".join(constants), _select([self._numbers[one] for one in parts[1::2]]))

    def _pattern(self) -> str:
        return f"({'|'.join(map(re.escape, self._texts))})"


def _select(numbers: Sequence[int]) -> Callable[[Sequence[str]], tuple[str, ...]]:
    """Returns the function that takes the entries with some numbers from a sequence."""
    if len(numbers) > 1:
        return itemgetter(*numbers)
    return lambda entries: tuple(entries[number] for number in numbers)


def _find(used: Sequence[FieldColumn], path: BodyPath) -> int | None:
    """The place of the cell of a column in a row, or None."""
    return next((column.place for column in used if column.path == path), None)


def _find_subject(
    subject: str, markers: _Markers, used: Sequence[FieldColumn]
) -> Callable[[str, Cells], str] | None:
    """Returns the function that reads the subject from a row's path and cells; None if it has none.

    Raises:
        _NotPlainError: more than one value is in it.
    """
    if not subject:
        return None
    found = markers.find_columns(subject)
    if len(found) != 1:
        raise _NotPlainError
    column = used[found[0]]
    return lambda path, cells: subject_of(path, nest(column.path, cells[column.place]))


def _is_plain_beyond_ascii(text: str) -> bool:
    is_quoted = any(map(text.__contains__, _QUOTING))
    is_printable = not text.isascii() and text.isprintable()
    return is_printable and not is_quoted and text == text.strip()


def _check_by(check: Callable[[str], object], text: str) -> bool:
    try:
        check(text)
    except UsageError:
        raise _NotPlainError from None
    return False


def _check_id(text: str, prefix: str) -> bool:
    if not is_id(text) or not text.startswith(prefix):
        raise _NotPlainError
    return False


def _check_kind(kind: Kind, text: str) -> bool:
    """Checks a value of a field; returns whether JSON has it without quotes."""
    if kind.type in _WHOLE:
        is_whole = text.isascii() and text.isdigit() and (text[0] != "0" or text == "0")
        if not is_whole or len(text) > _DIGITS_MAX or not kind.minimum <= int(text) <= AMOUNT_MAX:
            raise _NotPlainError
        return True
    if kind.type == "boolean":
        if text not in _WORDS:
            raise _NotPlainError
        return True
    if kind.type == "identifier":
        return _check_id(text, ID_PREFIXES[kind.of])
    letters = _CODES.get(kind.type)
    if letters and not (
        text.isascii() and text.isalpha() and text.isupper() and len(text) == letters
    ):
        raise _NotPlainError
    return False
