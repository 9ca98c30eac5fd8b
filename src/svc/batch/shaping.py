"""From the fields of a row to the request that it stands for.

What is checked here is what the documentation states of a value's form; whether the service takes
it is the service's to say.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from svc.batch.operations import ANSWERED_INSIDE, INTEGERS, Operation, Path
from svc.batch.rows import Bad, BadRow, Given, Read, Row
from svc.client.prepared import encoded
from svc.errors import UsageError
from svc.spec import AMOUNT_MAX, ID_PREFIXES

_CURRENCIES: Final = ("currency", "settlement_currency", "source_currency")
_CURRENCY_LENGTH: Final = 3


class Shaper:
    """Shapes the rows of one file for one operation.

    Attributes:
        left_out: fields of the file that the operation does not take, in the order met.
    """

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self.left_out: dict[str, None] = {}

    def shape(self, read: Read) -> Row | Bad:
        """Turns a row into a request, or says why it cannot be one."""
        try:
            if isinstance(read.given, BadRow):
                raise read.given
            return self._row(read, read.given)
        except BadRow as bad:
            return Bad(read.number, read.line, bad.message, bad.param, bad.code)
        except UsageError as error:  # of the client, which builds and encodes the call
            code = error.code or "row_invalid"
            return Bad(read.number, read.line, error.message, error.param, code)

    def _row(self, read: Read, given: Given) -> Row:
        identifier = _identifier(self._operation, given)
        _refuse_order_price(self._operation, given)
        body = self._body(given)
        _check(self._operation, body)
        call = self._operation.call(identifier, body)
        data = encoded(call)
        digest = hashlib.sha256(data).hexdigest()
        content = hashlib.sha256(f"{call.path}\n{digest}".encode()).digest()
        amount, currency = body.get("amount"), body.get("currency")
        return Row(
            read.number,
            read.line,
            call.path,
            data,
            digest,
            content,
            amount if isinstance(amount, int) else None,
            currency if isinstance(currency, str) else None,
        )

    def _body(self, given: Given) -> Given:
        operation, body = self._operation, {}
        for name, value in given.items():
            if name in operation.answered:
                if name != "id" or not operation.id_prefix:
                    self.left_out[name] = None
            # On create null equals an absent field; on update it clears it.
            elif value is not None or operation.id_prefix:
                body[name] = _trimmed(value, ANSWERED_INSIDE.get(name))
        return body


def _identifier(operation: Operation, given: Given) -> str:
    """The id of what is changed; empty where something is made."""
    if not operation.id_prefix:
        return ""
    found = given.get("id")
    if not isinstance(found, str) or not found:
        raise BadRow("it has no id", param="id", code="id_missing")
    _check_prefix(found, "id", operation.id_prefix)
    return found


def _refuse_order_price(operation: Operation, given: Given) -> None:
    """An order's `amount` is no amount to capture: the rest would be released for good."""
    if operation.name == "orders.capture" and {"amount", "amount_total"} <= given.keys():
        raise BadRow(
            "amount is the order's price here, not what to capture",
            param="amount",
            code="amount_ambiguous",
            hint="keep the column id alone to capture all, or id and amount",
        )


def _check_prefix(identifier: str, name: str, prefix: str) -> None:
    if not identifier.startswith(prefix):
        raise BadRow(
            f"{name} {identifier[:40]!r} does not begin with {prefix}",
            param=name,
            code="id_invalid",
        )


def _trimmed(value: Any, answered: frozenset[str] | None) -> Any:
    """A field, or the entries of one, without what is only answered."""
    if answered is None:
        return value
    if isinstance(value, list):
        return [_trimmed(item, answered) for item in value]
    if not isinstance(value, dict) or answered.isdisjoint(value):
        return value
    return {name: inner for name, inner in value.items() if name not in answered}


def _check(operation: Operation, body: Given) -> None:
    for name in operation.needs:
        if body.get(name) in (None, ""):
            raise BadRow(f"{name} is missing", param=name, code="field_missing")
    if operation.name.endswith(".update") and not body:
        raise BadRow("it changes nothing", code="row_empty")
    _check_integers(body)
    for name in _CURRENCIES:
        if name in body:
            _check_currency(name, body[name])
    payment = body.get("payment")
    if isinstance(payment, str):
        _check_prefix(payment, "payment", ID_PREFIXES["payment"])


def _check_integers(body: Given) -> None:
    for path, least in INTEGERS.items():
        if path[0] in body:
            for name, value in _values(body, path):
                _check_integer(name, value, least)


def _values(value: Any, path: Path, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yields what stands at a path, with its name; `*` goes through a list."""
    if not path:
        yield name, value
    elif path[0] == "*" and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _values(item, path[1:], f"{name}[{index}]")
    elif isinstance(value, Mapping) and path[0] in value:
        inner = f"{name}[{path[0]}]" if name else path[0]
        yield from _values(value[path[0]], path[1:], inner)


def _check_integer(name: str, value: Any, least: int) -> None:
    if type(value) is int and least <= value <= AMOUNT_MAX:
        return
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadRow(
            f"{name} {value!s} is not a whole number",
            param=name,
            code="amount_invalid",
            hint="amounts are whole numbers in the currency's minor unit, without quotes",
        )
    raise BadRow(
        f"{name} {value} is not from {least} to {AMOUNT_MAX}", param=name, code="amount_invalid"
    )


def _check_currency(name: str, value: Any) -> None:
    if value is None or value == "":
        return
    plain = isinstance(value, str) and value.isascii() and value.isalpha() and value.isupper()
    if not plain or len(value) != _CURRENCY_LENGTH:
        raise BadRow(
            f"{name} {value!s} is not three capital letters", param=name, code="currency_invalid"
        )
