"""How a field of a request is given on a command line: a row for each, and nowhere else.

A command names its rows; its options, its body, the words that complete them and the advice in an
error come of them. What no row names is given by `-d`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from svc.service.facts import CANCELLATION_REASONS, REFUND_REASONS

ValueKind: TypeAlias = Literal["text", "amount", "item", "pairs", "list", "flag"]


class RequestOption(NamedTuple):
    """One option.

    Attributes:
        name: as it is typed, such as `--postal-code`.
        path: of the field in the body, such as `("shipping", "postal_code")`.
        metavar: what stands for the value in help.
        help: its line there.
        kind: what the value is. An `amount` is in minor units; `item`, `pairs` and `list` may be
            given more than once.
        words: the set of words that may stand there, as the completions call it.
        least: the smallest amount.
        example: of a value, where a create cannot do without it: where the specification says that
            an object holds it, or we assume so. `svc post` sends whatever it is given.
        instead: of one with an example, the options that may be given together in its place, each
            with an example of its own.
    """

    name: str
    path: tuple[str, ...]
    metavar: str
    help: str
    kind: ValueKind = "text"
    words: str = ""
    least: int = 1
    example: str = ""
    instead: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """The name as a parameter of Python's."""
        return self.name.removeprefix("--").replace("-", "_")

    @property
    def is_required(self) -> bool:
        """Whether nothing can stand in its place."""
        return bool(self.example) and not self.instead


def _row(
    name: str,
    metavar: str,
    help: str,  # noqa: A002  what it is
    *,
    field: str = "",
    within: str = "",
    kind: ValueKind = "text",
    words: str = "",
    least: int = 1,
    example: str = "",
) -> RequestOption:
    """An option for the `field` of its own name, unless another is said, `within` another one."""
    last = field or name.removeprefix("--").replace("-", "_")
    path = (within, last) if within else (last,)
    return RequestOption(name, path, metavar, help, kind, words, least, example)


AMOUNT: Final = _row(
    "--amount", "N", "The amount in minor units: 12900 is 129.00 EUR.", kind="amount"
)
CURRENCY: Final = _row(
    "--currency",
    "CODE",
    "The currency, an ISO 4217 code such as EUR.",
    words="currency",
    example="EUR",
)
SETTLEMENT_CURRENCY: Final = _row(
    "--settlement-currency", "CODE", "The currency that you are settled in.", words="currency"
)
COUNTRY: Final = _row(
    "--country",
    "CODE",
    "The destination, a country code such as DE.",
    within="shipping",
    words="country",
    example="DE",
)
POSTAL_CODE: Final = _row(
    "--postal-code", "TEXT", "The destination's postal code.", within="shipping"
)
CAPTURE_METHOD: Final = _row(
    "--capture-method",
    "METHOD",
    "automatic, or manual to authorise first and capture later.",
    words="capture_method",
)
ITEM: Final = _row(
    "--item",
    "NAME=VALUE,...",
    "An item, repeatable: its name, quantity, unit_amount, hs_code, origin_country.",
    field="items",
    kind="item",
    example="name=Linen jacket,hs_code=6203.39,quantity=1,unit_amount=12900",
)
METADATA: Final = _row("--metadata", "KEY=TEXT", "A note of your own, repeatable.", kind="pairs")

ORDER: Final = (
    AMOUNT._replace(example="12900"),
    CURRENCY,
    COUNTRY,
    POSTAL_CODE,
    SETTLEMENT_CURRENCY,
    CAPTURE_METHOD,
    ITEM,
    METADATA,
)
ORDER_UPDATE: Final = tuple(row._replace(example="") for row in ORDER)
CANCELLATION: Final = (
    _row(
        "--reason",
        "REASON",
        f"One of {', '.join(CANCELLATION_REASONS)}.",
        field="cancellation_reason",
        words="cancellation_reason",
    ),
)
CAPTURE: Final = (AMOUNT,)
REFUND: Final = (
    _row("--payment", "ID", "The payment, pay_...", example="pay_7cXd9eYf1gZh2iWj3kPq0aVb"),
    AMOUNT,
    _row("--reason", "REASON", f"One of {', '.join(REFUND_REASONS)}.", words="refund_reason"),
    METADATA,
)
PAYOUT: Final = (
    AMOUNT._replace(example="10000"),
    CURRENCY,
    _row("--source-currency", "CODE", "The balance to debit, by its currency.", words="currency"),
    _row(
        "--country",
        "CODE",
        "The country of the receiving bank, such as DE.",
        within="destination",
        words="country",
        example="DE",
    ),
    _row(
        "--account-holder-name",
        "TEXT",
        "The name of whoever is paid.",
        within="destination",
        example="Muster GmbH",
    ),
    _row(
        "--iban",
        "IBAN",
        "The account's IBAN; where there is none, --account-number.",
        within="destination",
        example="DE89370400440532013000",
    )._replace(instead=(("--account-number", "12345678"), ("--bank-code", "110000"))),
    _row(
        "--account-number",
        "DIGITS",
        "The account's number; --bank-code goes with it.",
        within="destination",
    ),
    _row("--bank-code", "CODE", "The bank's routing or sort code.", within="destination"),
    _row("--bic", "BIC", "The bank's BIC.", within="destination"),
    _row("--bank-name", "TEXT", "The bank's name.", within="destination"),
    _row("--reference", "TEXT", "A text that the receiver is shown."),
    METADATA,
)
QUOTE: Final = (
    CURRENCY,
    COUNTRY,
    POSTAL_CODE,
    ITEM,
    _row("--ship-from-country", "CODE", "The country that it is sent from.", words="country"),
    _row("--shipping-amount", "N", "The freight in minor units.", kind="amount", least=0),
)
EVIDENCE: Final = (
    _row(
        "--tracking-number",
        "TEXT",
        "The number by which the parcel is followed.",
        within="evidence",
    ),
    _row("--shipping-carrier", "TEXT", "Who carried it.", within="evidence"),
    _row(
        "--evidence", "KEY=TEXT", "Any other evidence, repeatable.", kind="pairs", words="evidence"
    ),
    _row("--submit", "", "Submit it; without this it stays a draft.", kind="flag"),
)
ENDPOINT: Final = (
    _row("--url", "URL", "Where events are sent.", example="https://shop.example/webhooks"),
    _row(
        "--events",
        "TYPE",
        "An event type such as order.paid; repeatable, or several as a,b.",
        kind="list",
        words="event_type",
        example="order.paid",
    ),
    _row("--description", "TEXT", "A note of your own."),
)

# An item as a hint writes it: what is missing is never invented (promise R120).
ITEM_PLACEHOLDER: Final = "name=NAME,quantity=QUANTITY,unit_amount=UNIT_AMOUNT"
_EVERY: Final = (ORDER, CANCELLATION, REFUND, PAYOUT, QUOTE, EVIDENCE, ENDPOINT)
_TOGETHER: Final[dict[tuple[str, ...], str]] = {  # what is missing where a whole object is
    ("shipping",): "--country CODE",
    ("destination",): "--country CODE --account-holder-name TEXT --iban IBAN",
    ("items",): f"--item '{ITEM_PLACEHOLDER}'",
}


def advice(path: tuple[str, ...]) -> str | None:
    """The option for a field, as an error names it; None where only `-d` gives it."""
    rows = {row.path: row for each in _EVERY for row in each}
    row = rows.get(path)
    if row is None and path[:1] in rows and rows[path[:1]].kind in ("item", "pairs", "list"):
        row = rows[path[:1]]  # one option for what is inside
    if row is None or row.kind == "item":
        return _TOGETHER.get(path if row is None else row.path)
    unit = " (minor units)" if row.kind == "amount" else ""
    return f"{row.name} {row.metavar}{unit}".rstrip()


def missing_options(
    rows: Iterable[RequestOption], body: Mapping[str, Any]
) -> Iterator[RequestOption]:
    """Yields the options that a create cannot do without and that its body has no value of.

    Where one of those that may be given in place of an option is there, the others of them.
    """
    for row in rows:
        if not row.example or _is_there(body, row.path):
            continue
        by_name = {each.name: each for each in rows}
        others = [by_name[name]._replace(example=word) for name, word in row.instead]
        absent = [other for other in others if not _is_there(body, other.path)]
        yield from absent if len(absent) < len(others) else (row,)


def _is_there(body: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    return _value_at(body, path) not in (None, "")  # a variable may have been empty


def _value_at(body: Mapping[str, Any], path: tuple[str, ...]) -> object:
    """Returns what a body has at a path: None for nothing, and a value that ends it too early."""
    here: Any = body
    for part in path:
        # What is no object is for the service to refuse, in its own words.
        if not isinstance(here, Mapping):
            return here
        here = here.get(part)
        if here is None:
            return None
    return here
