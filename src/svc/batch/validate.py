"""Turns the fields of a row into a request (`BatchRow`), or says why the row is invalid.

A value is checked for the form that the documentation states; the service decides the rest.

`cli.batch.rows` passes each row that was read to `Validator.shape`, before anything is sent;
`templates` builds its markers by `build_call`.
"""

from collections.abc import Collection
from typing import Any, Final

from svc.batch.columns import AMOUNT_IN_DECIMALS, column_path
from svc.batch.operations import KEY_COLUMN, BatchOperation, refuse_unknown
from svc.batch.rows import BadRow, Read, RowFields, build_blank_amount
from svc.client.amounts import is_in_decimals
from svc.client.call import Call, check_id
from svc.client.fields import (
    BodyPath,
    check_body,
    check_value,
    find_unknown_names,
)
from svc.client.request import check_key, encode_body
from svc.delivery.journal.entry import Scope
from svc.delivery.likeness import likenesses, read_folded, row_likeness, subject_of
from svc.delivery.plan import BatchRow, InvalidRow
from svc.errors import UsageError
from svc.money import exponent
from svc.system.spool import DigestIndex

# What two rows may not share: what they do, the code of the error, and what mends it.
_REPEATED: Final = {
    KEY_COLUMN: (
        "have the same idempotency key",
        "idempotency_key_repeated",
        "Give each row a key of its own, or leave the cell blank",
    ),
    "--row-id": (
        "have the same id",
        "row_id_repeated",
        "Give each row an id of its own, or leave --row-id out",
    ),
    "update": (
        "give one field of one object two values, of which the one that comes last stands",
        "update_contradicted",
        "Keep the value that is meant; for one after the other, put them in files of their own",
    ),
    "id": (
        "capture one order, and what the first leaves is released at once",
        "order_repeated",
        "Keep one of them, with the whole amount to be captured",
    ),
}


class Validator:
    """Turns the rows of one file into requests of one operation.

    Args:
        scope: the profile, mode and address of the requests.
        blank_means_all: a null amount is treated as an absent one (promise R97).
        ignored: paths of fields that are removed from each row.
        row_id: the column that holds the rows' own ids, or None.

    Attributes:
        left_out: read-only fields of the API that the file contains, in the order met.
    """

    def __init__(
        self,
        operation: BatchOperation,
        scope: Scope,
        *,
        blank_means_all: bool = False,
        ignored: Collection[BodyPath] = (),
        row_id: str | None = None,
    ) -> None:
        self.operation = operation
        self.scope = scope
        self._names = operation.columns
        self._blank_means_all = blank_means_all
        self._ignored = ignored
        self.id_column = None if row_id is None else column_path(row_id)
        self._lines = DigestIndex()  # of what one row alone may have
        self.left_out: dict[str, None] = {}
        self._whole: BatchRow | None = None  # the first row with an amount in minor units
        self._in_decimals: InvalidRow | None = None  # the first whose amount has decimals
        self._said: BatchRow | None = None  # the first row with an amount
        self._silent: BatchRow | None = None  # the first without one, which moves all that is left

    def shape(self, read: Read | BatchRow) -> BatchRow | InvalidRow:
        """Turns a row into a request, or into an `InvalidRow` with the reason why it cannot be one.

        A `BatchRow` that a template built is only checked for what another row has.

        Raises:
            UsageError: the file has an unknown column, or two rows have the same idempotency key
                or the same id, or capture one order; each concerns the whole file.
        """
        row = read if isinstance(read, BatchRow) else self._read(read)
        if isinstance(row, InvalidRow):
            if row.code == AMOUNT_IN_DECIMALS and self._in_decimals is None:
                self._in_decimals = row
        else:
            self._note_amount(row)
            once = None if self.operation.action.twice else row.subject or None
            for what, name in ((KEY_COLUMN, row.given_key), ("--row-id", row.row_id), ("id", once)):
                if name is not None:
                    self._refuse_repeated(row, what, name)
            if self.operation.name.endswith(".update"):
                for name, text in read_folded(row.path, self.operation.action.encoding, row.body):
                    self._refuse_repeated(row, "update", f"{row.path} {name}", text)
        return row

    def _note_amount(self, row: BatchRow) -> None:
        if row.amount is None:
            self._silent = self._silent or row
        else:
            self._said = self._said or row
            if self._whole is None and exponent(row.currency or "") != 0:
                self._whole = row

    def refuse_mixed_amounts(self) -> None:
        """Refuses the file, after its last row, if its rows say their amounts in two ways.

        A spreadsheet writes 100.00 as `100` and 99.50 as `99.5`: the first would be paid as 1.00.
        A program that leaves out what is empty writes a row without an amount among others that
        have one: it would move all that is left (promise R132).

        Raises:
            UsageError: some amounts have decimals and others not, or some rows have no amount.
        """
        said, silent = self._said, self._silent
        if said and silent and self.operation.action.whole and not self._blank_means_all:
            raise UsageError(
                f"Line {silent.line} has no amount, which means all that is left, and line "
                f"{said.line} has one. Nothing was sent.",
                code="amount_blank",
                param="amount",
                hint="Give each row its amount, or add --blank-means-all where that is meant",
            )
        whole, other = self._whole, self._in_decimals
        if whole is not None and other is not None:
            raise UsageError(
                f"The amount of line {other.line} has decimals, that of line {whole.line} has none "
                f"({whole.amount}): one of them is not what it looks like. Nothing was sent.",
                code="amounts_mixed",
                param="amount",
                hint=f"Write all in minor units (line {other.line}: {other.message}); or, in a CSV "
                "with a column currency, all with their decimals, and add --decimals",
            )

    def _read(self, read: Read) -> BatchRow | InvalidRow:
        if isinstance(read.given, dict):
            self._refuse_unknown(read.given)
        try:
            if isinstance(read.given, BadRow):
                raise read.given
            return self._row(read, read.given)
        except BadRow as bad:
            return _build_bad(read, bad)
        except UsageError as error:  # of the client, which checks, builds and encodes the call
            found = BadRow.of(error)
            if error.param == "amount" and isinstance(read.given, dict):
                amount, currency = read.given.get("amount"), read.given.get("currency")
                if is_in_decimals(amount, currency if isinstance(currency, str) else None):
                    found.code = AMOUNT_IN_DECIMALS
            return _build_bad(read, found)

    def _refuse_unknown(self, given: RowFields) -> None:
        for path in self._ignored:
            _drop(given, path)
        # An object in the place of a plain value is the row's mistake alone.
        unknown = (each for each in find_unknown_names(self._names, given) if each.fields)
        refuse_unknown(self.operation, unknown)

    def _refuse_repeated(
        self, row: BatchRow, what: str, name: str, value: str | None = None
    ) -> None:
        """Refuses the file if two rows share what one alone may have: one would not be sent.

        Where a value is given, rows may share the name with its value.
        """
        named = f"{what}={name}"  # no digest: of two in hexadecimal digits case tells one apart
        valued = f"{named}={value}"
        known = self._lines.find(named)
        if not known:
            self._lines.add(named, row.line)
        elif (first := known[0]) != row.line and (value is None or valued not in self._lines):
            words, code, hint = _REPEATED[what]
            told = f"Lines {first} and {row.line} {words}. Nothing was sent."
            param = what if value is None else "id"
            raise UsageError(told, code=code, param=param, hint=hint)
        if value is not None and valued not in self._lines:
            self._lines.add(valued, row.line)

    def _row_id(self, given: RowFields) -> str | None:
        """The row's own id, which `--row-id` names."""
        if self.id_column is None:
            return None
        value: Any = given
        for part in self.id_column:
            value = value.get(part) if isinstance(value, dict) else None
        text = "" if value is None or isinstance(value, dict | list) else str(value).strip()
        if not text:
            name = self.id_column[-1]
            raise BadRow(
                f"{name} is blank, but --row-id names each row by it",
                param=name,
                code="row_id_missing",
            )
        return text

    def _row(self, read: Read, given: RowFields) -> BatchRow:
        _refuse_order_price(self.operation, given)
        call, body, key = self.build_call(given)
        given_key = _read_key(key)
        row_id = self._row_id(given)
        if self.operation.name.endswith(".update") and not body:
            raise BadRow("it changes nothing", code="row_empty")
        check_body(self.operation.name, call.body or {}, is_form=call.encoding == "form")
        data = encode_body(call)
        fields = call.body or {}
        exact, alike = likenesses(self.scope.base_url, self.scope.mode, call.path, fields)
        amount, currency = body.get("amount"), given.get("currency")
        compared = _read_compared_currency(self.operation, currency)
        return BatchRow(
            read.number,
            read.line,
            call.path,
            data,
            exact,
            alike if row_id is None else row_likeness(row_id),
            amount if isinstance(amount, int) else None,
            currency if isinstance(currency, str) and currency else None,
            given_key,
            compared,
            row_id,
            alike,
            subject_of(call.path, fields),
        )

    def build_call(self, given: RowFields) -> tuple[Call, RowFields, Any]:
        """Builds the call of a row; returns it with its body and the row's own idempotency key."""
        identifier = _identifier(self.operation, given)
        body = self._body(given)
        key = body.pop(KEY_COLUMN, None)
        return self.operation.call(identifier, body), body, key

    def _body(self, given: RowFields) -> RowFields:
        operation, body = self.operation, {}
        for name, value in given.items():
            if name in operation.answered:
                if name != "id" or not operation.id_prefix:
                    self.left_out[name] = None
            elif value is not None:
                body[name] = _trim(value, operation.made.get(name))
            elif (kind := operation.kind_of((name,))) is not None and kind.type == "amount":
                if not self._blank_means_all:
                    raise build_blank_amount(name)
            # On create null equals an absent field; on update it clears it.
            elif operation.id_prefix:
                body[name] = None
        return body


def _drop(value: Any, path: BodyPath) -> None:
    """Removes the value at a path from a row; `*` in the path is every entry of a list."""
    name, *inside = path
    if isinstance(value, list):
        for item in value if name == "*" and inside else ():
            _drop(item, tuple(inside))
    elif isinstance(value, dict):
        if inside:
            _drop(value.get(name), tuple(inside))
        else:
            value.pop(name, None)


def _build_bad(read: Read, bad: BadRow) -> InvalidRow:
    return InvalidRow(read.number, read.line, bad.message, bad.param, bad.code)


def _identifier(operation: BatchOperation, given: RowFields) -> str:
    """The id of the object that a row changes; empty if the operation creates an object."""
    if not operation.id_prefix:
        return ""
    found = given.get("id")
    if found is None or found == "":
        raise BadRow("it has no id", param="id", code="id_missing")
    identifier = check_id(found, "id")
    if not identifier.startswith(operation.id_prefix):
        raise BadRow(
            f"id {identifier[:40]!r} does not begin with {operation.id_prefix}",
            param="id",
            code="id_invalid",
        )
    return identifier


def _read_key(value: Any) -> str | None:
    """The row's own idempotency key, checked as `--idempotency-key` is; None if it is blank."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise BadRow(f"{KEY_COLUMN} is not text", param=KEY_COLUMN, code="idempotency_key_invalid")
    return check_key(value)


def compares_currency(operation: BatchOperation) -> bool:
    """Whether a currency column is compared with the object's: a refund sends only an amount."""
    return "amount" in operation.fields and "currency" not in operation.fields


def _read_compared_currency(operation: BatchOperation, currency: Any) -> str | None:
    if not compares_currency(operation) or currency in (None, ""):
        return None
    check_value(operation.name, "currency", currency)
    return str(currency)


def _refuse_order_price(operation: BatchOperation, given: RowFields) -> None:
    """Refuses a row of an exported order for `orders.capture`.

    Its `amount` is the order's price; a capture of less than the total releases the rest for good.
    """
    if operation.name == "orders.capture" and {"amount", "amount_total"} <= given.keys():
        raise BadRow(
            "amount is the order's price here, not what to capture",
            param="amount",
            code="amount_ambiguous",
            hint="keep the column id alone to capture all, or id and amount",
        )


def _trim(value: Any, answered: frozenset[str] | None) -> Any:
    """A copy of a field, or of the entries of a list, without the read-only members."""
    if answered is None:
        return value
    if isinstance(value, list):
        return [_trim(item, answered) for item in value]
    if not isinstance(value, dict) or answered.isdisjoint(value):
        return value
    return {name: inner for name, inner in value.items() if name not in answered}
