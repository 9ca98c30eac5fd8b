"""The documented fields of each POST, and what is checked of them before anything is sent.

For single commands, `svc post` and the rows of a batch. A field that nobody knows passes:
whether there is one is for the service to say. A name that is nearly a known one does not, for
`amout` in a refund would give everything back.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from svc.client import options
from svc.client.amounts import whole_number
from svc.client.operations import operation_at
from svc.client.options import RequestOption
from svc.errors import UsageError
from svc.nearest import slips
from svc.service.facts import EVIDENCE_KEYS, ID_PREFIXES

BodyPath: TypeAlias = tuple[str, ...]
# Names and what may stand inside them: `*` is any position of a list; nothing is anything.
FieldTree: TypeAlias = Mapping[str, "FieldTree"]

# The whole numbers of all requests, with the least that each may be. Those that are money are in
# minor units; an item may be free of charge, and so may its freight.
WHOLE: Final[Mapping[BodyPath, int]] = {
    ("amount",): 1,
    ("shipping_amount",): 0,
    ("items", "*", "quantity"): 1,
    ("items", "*", "unit_amount"): 0,
}
# Objects whose names the merchant chooses.
FREE: Final = frozenset({"metadata", "evidence"})
MONEY: Final = frozenset(WHOLE) - {("items", "*", "quantity")}


def fields_at(path: str) -> FieldTree:
    """The fields of a POST by its path, such as `/v1/orders/ord_1`; empty where nobody knows."""
    known = operation_at(path)
    return _BY_OPERATION.get(known[0], {}) if known else {}


def check_body(
    path: str, body: Mapping[str, Any], *, is_form: bool, typed: Sequence[str] | None
) -> None:
    """Checks the names and the whole numbers of a request (promises R97, R98).

    `typed` is what was given by `-d`, to be told as it would be right.

    Raises:
        UsageError: a name is nearly one that is documented, or an amount is none.
    """
    fields = fields_at(path)
    try:
        check_names(fields, body)
    except UsageError as error:
        error.hint = _as_typed(typed or (), str(error.param), str(error.hint)) or error.hint
        raise
    check_whole(fields, body, is_form=is_form)
    _check_codes(body)
    check_kinds(body)


def _as_typed(typed: Sequence[str], wrong: str, hint: str) -> str | None:
    """The `-d` that was typed with the right name in it; None where the name stood elsewhere."""
    for text in typed:
        path = re.split(":?=", text, maxsplit=1)[0]
        if path == wrong or path.startswith(f"{wrong}["):
            right = hint.removeprefix(_WRITE) + text.removeprefix(wrong)
            return f"-d '{right}'" if "'" not in right else None
    return None


def check_kinds(value: Mapping[str, Any]) -> None:
    """Refuses an id of another kind than the field's, such as an order's for a payment.

    Raises:
        UsageError: with the way from the one to the other, where there is one.
    """
    for name, identity in value.items():
        if name not in ID_PREFIXES or not isinstance(identity, str):
            continue
        kind = next((k for k, prefix in ID_PREFIXES.items() if identity.startswith(prefix)), name)
        if kind != name:
            leads = (name, kind) == ("payment", "order")
            raise UsageError(
                f"{name} {identity!r} is the id of {'an' if kind[0] in 'aeiou' else 'a'} "
                f"{kind.replace('_', ' ')}.",
                code="id_of_another_kind",
                param=name,
                hint=f"svc payments list --order {identity}" if leads else None,
            )


def _check_codes(value: Mapping[str, Any], within: str = "") -> None:
    """Refuses a currency or a country that is written small.

    Raises:
        UsageError: with the option as it would be right.
    """
    for name, inner in value.items():
        if isinstance(inner, Mapping) and name not in FREE:
            _check_codes(inner, _inside(within, name))
        word = next((word for word in _CODES if name.endswith(word)), "")
        if isinstance(inner, str) and _SMALL.fullmatch(inner) and len(inner) == _CODES.get(word):
            raise UsageError(
                f"A {word} is written in capitals: {inner.upper()}",
                code="code_invalid",
                param=_inside(within, name),
                hint=f"--{name.replace('_', '-')} {inner.upper()}",
            )


def check_names(fields: FieldTree, value: Any, within: str = "") -> None:
    """Refuses names that differ from a documented one by case, blanks or one letter (R97).

    Raises:
        UsageError: naming the field that was probably meant.
    """
    for unknown in unknown_names(fields, value, within):
        check_name(*unknown)


class UnknownName(NamedTuple):
    """A name that is not documented where it stands: among `fields`, inside the field `within`."""

    fields: FieldTree
    name: str
    within: str

    @property
    def path(self) -> str:
        """The name with what it stands inside, such as `items[0][colour]`."""
        return _inside(self.within, self.name)

    @property
    def is_free(self) -> bool:
        """Whether it stands in an object whose names the merchant chooses."""
        return self.within.partition("[")[0] in FREE


def unknown_names(fields: FieldTree, value: Any, within: str = "") -> Iterator[UnknownName]:
    """Yields the names in a value that are not documented; inside such a name it does not look.

    A position of a list may be a name of digits, as a bracket path has it.
    """
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from unknown_names(fields.get("*", {}), item, f"{within}[{index}]")
    elif isinstance(value, (dict, Mapping)):  # a dict is known at once, a Mapping is asked
        for name, inner in value.items():
            known = "*" if "*" in fields and name.isdecimal() else name
            if known not in fields:
                yield UnknownName(fields, name, within)
            elif not isinstance(inner, (str, int)):
                yield from unknown_names(fields[known], inner, _inside(within, name))


def check_name(fields: FieldTree, name: str, within: str) -> None:
    """Refuses one name, which stands inside the field `within`, if it is nearly a known one."""
    if name in fields:
        return
    _refuse_point(fields, name, within)
    meant = next((known for known in fields if _is_near(name, known)), None)
    if meant is None:
        return
    written = _inside(within, name)
    raise UsageError(
        f"There is no field {written!r}; nearly the same is {_inside(within, meant)!r}.",
        code="field_misspelt",
        param=written,
        hint=f"{_WRITE}{_inside(within, meant)}",
    )


def _refuse_point(fields: FieldTree, name: str, within: str) -> None:
    """Refuses `shipping.country`, which other tools write for `shipping[country]`."""
    first, *rest = name.split(".")
    first = _meant(fields, first)
    if rest and fields.get(first):
        written, inner = _inside(within, first), fields[first]
        for part in rest:
            known = part if "*" in inner else _meant(inner, part)
            written, inner = f"{written}[{known}]", inner.get("*" if "*" in inner else known, {})
        raise UsageError(
            f"There is no field {_inside(within, name)!r}; what stands inside goes in brackets.",
            code="field_misspelt",
            param=_inside(within, name),
            hint=f"{_WRITE}{written}",
        )


def _meant(fields: FieldTree, name: str) -> str:
    """The known name that one is, or nearly is; else itself."""
    near = (known for known in fields if _is_near(name, known))
    return name if name in fields else next(near, name)


def check_whole(fields: FieldTree, body: Mapping[str, Any], *, is_form: bool) -> None:
    """Checks every whole number that an operation takes (promise R98); a form has them as text.

    Raises:
        UsageError: one is none; `param` names it as the service does, `items[0][unit_amount]`.
    """
    currency = body.get("currency")
    for path, least in WHOLE.items():
        for name, value in _values(fields, body, path) if path[0] in body else ():
            whole_number(
                value,
                name,
                least=least,
                currency=currency if isinstance(currency, str) else None,
                is_text=is_form,
                is_money=path in MONEY,
            )


def _values(
    fields: FieldTree, value: Any, path: BodyPath, name: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yields what stands at a path that an operation takes, with its name."""
    if not path:
        yield name, value
    elif path[0] in fields and path[0] == "*" and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _values(fields["*"], item, path[1:], f"{name}[{index}]")
    elif path[0] in fields and isinstance(value, (dict, Mapping)) and path[0] in value:
        inner = _inside(name, path[0])
        yield from _values(fields[path[0]], value[path[0]], path[1:], inner)


def _inside(name: str, part: str) -> str:
    return f"{name}[{part}]" if name else part


def _is_near(name: str, known: str) -> bool:
    """Whether two names are one but for case, blanks, and one letter or two that changed places."""
    left, right = ("".join(text.split()).casefold() for text in (name, known))
    if _SHORT.get(left) == right:
        return True
    return slips(left, right, 1) <= 1


def _fields(rows: Sequence[RequestOption], **inside: str) -> FieldTree:
    """What the options of an operation give, and what else stands inside an object."""
    found: dict[str, Any] = {}
    for row in rows:
        within = found
        for name in row.path:
            within = within.setdefault(name, {})
        if row.kind == "item":
            within["*"] = ITEM
    for name, more in inside.items():
        found[name] |= {each: {} for each in more.split()}
    return found


_WRITE: Final = "Write "
_CODES: Final = {"currency": 3, "country": 2}  # their letters
_SMALL: Final = re.compile("[a-z]+")
# What people write for a field, and what no letter or two make of it.
_SHORT: Final = {
    "qty": "quantity",
    "price": "unit_amount",
    "unit_price": "unit_amount",
    "zip": "postal_code",
    "postcode": "postal_code",
}
# What options do not give of an object: only `-d` and `--body` do.
_SHIPPING: Final = "name line1 line2 city state phone"
ITEM: Final[FieldTree] = {
    name: {} for name in ("name", "hs_code", "origin_country", "quantity", "unit_amount")
}
_ORDER: Final = _fields(options.ORDER, shipping=_SHIPPING)
_BY_OPERATION: Final[Mapping[str, FieldTree]] = {
    "orders.create": _ORDER,
    "orders.update": _ORDER,
    "orders.cancel": _fields(options.CANCELLATION),
    "orders.capture": _fields(options.CAPTURE),
    "refunds.create": _fields(options.REFUND),
    "payouts.create": _fields(options.PAYOUT),
    "landed-cost-quotes.create": _fields(options.QUOTE, shipping=_SHIPPING),
    "disputes.update": _fields(options.EVIDENCE, evidence=" ".join(EVIDENCE_KEYS)),
    "webhook-endpoints.create": _fields(options.ENDPOINT),
}
