"""How a field of a request is given on a command line: a row for each, and nowhere else.

A command names its rows; its options, its body, the words that complete them and the advice in an
error come of them. What no row names is given by `-d`.
"""

from typing import Final, Literal, NamedTuple, TypeAlias

from svc.spec import CANCELLATION_REASONS, REFUND_REASONS

Kind: TypeAlias = Literal["text", "amount", "item", "pairs", "list", "flag"]


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
    """

    name: str
    path: tuple[str, ...]
    metavar: str
    help: str
    kind: Kind = "text"
    words: str = ""
    least: int = 1
    example: str = ""

    @property
    def key(self) -> str:
        """The name as a parameter of Python's."""
        return self.name.removeprefix("--").replace("-", "_")

    def required(self, example: str) -> "RequestOption":
        """The same where a create cannot do without it."""
        return self._replace(example=example)

    def optional(self) -> "RequestOption":
        """The same where it can be left out."""
        return self._replace(example="")


AMOUNT: Final = RequestOption(
    "--amount", ("amount",), "N", "The amount in minor units: 12900 is 129.00 EUR.", "amount"
)
CURRENCY: Final = RequestOption(
    "--currency",
    ("currency",),
    "CODE",
    "The currency, an ISO 4217 code such as EUR.",
    words="currency",
    example="EUR",
)
SETTLEMENT_CURRENCY: Final = RequestOption(
    "--settlement-currency",
    ("settlement_currency",),
    "CODE",
    "The currency that you are settled in.",
    words="currency",
)
COUNTRY: Final = RequestOption(
    "--country",
    ("shipping", "country"),
    "CODE",
    "The destination, a country code such as DE.",
    words="country",
    example="DE",
)
POSTAL_CODE: Final = RequestOption(
    "--postal-code", ("shipping", "postal_code"), "TEXT", "The destination's postal code."
)
CAPTURE_METHOD: Final = RequestOption(
    "--capture-method",
    ("capture_method",),
    "METHOD",
    "automatic, or manual to authorise first and capture later.",
    words="capture_method",
)
ITEM: Final = RequestOption(
    "--item",
    ("items",),
    "NAME=VALUE,...",
    "An item, repeatable: its name, quantity, unit_amount, hs_code, origin_country.",
    "item",
    example="name=Linen jacket,hs_code=6203.39,quantity=1,unit_amount=12900",
)
METADATA: Final = RequestOption(
    "--metadata", ("metadata",), "KEY=TEXT", "A note of your own, repeatable.", "pairs"
)

ORDER: Final = (
    AMOUNT.required("12900"),
    CURRENCY,
    COUNTRY,
    POSTAL_CODE,
    SETTLEMENT_CURRENCY,
    CAPTURE_METHOD,
    ITEM,
    METADATA,
)
ORDER_UPDATE: Final = tuple(row.optional() for row in ORDER)
CANCELLATION: Final = (
    RequestOption(
        "--reason",
        ("cancellation_reason",),
        "REASON",
        f"One of {', '.join(CANCELLATION_REASONS)}.",
        words="cancellation_reason",
    ),
)
CAPTURE: Final = (AMOUNT,)
REFUND: Final = (
    RequestOption(
        "--payment",
        ("payment",),
        "ID",
        "The payment, pay_...",
        example="pay_7cXd9eYf1gZh2iWj3kPq0aVb",
    ),
    AMOUNT,
    RequestOption(
        "--reason",
        ("reason",),
        "REASON",
        f"One of {', '.join(REFUND_REASONS)}.",
        words="refund_reason",
    ),
    METADATA,
)
PAYOUT: Final = (
    AMOUNT.required("10000"),
    CURRENCY,
    RequestOption(
        "--source-currency",
        ("source_currency",),
        "CODE",
        "The balance to debit, by its currency.",
        words="currency",
    ),
    RequestOption(
        "--country",
        ("destination", "country"),
        "CODE",
        "The country of the receiving bank, such as DE.",
        words="country",
        example="DE",
    ),
    RequestOption(
        "--account-holder-name",
        ("destination", "account_holder_name"),
        "TEXT",
        "The name of whoever is paid.",
        example="Muster GmbH",
    ),
    RequestOption(
        "--iban",
        ("destination", "iban"),
        "IBAN",
        "The account's IBAN; where there is none, --account-number.",
    ),
    RequestOption(
        "--account-number",
        ("destination", "account_number"),
        "DIGITS",
        "The account's number; --bank-code goes with it.",
    ),
    RequestOption(
        "--bank-code", ("destination", "bank_code"), "CODE", "The bank's routing or sort code."
    ),
    RequestOption("--bic", ("destination", "bic"), "BIC", "The bank's BIC."),
    RequestOption("--bank-name", ("destination", "bank_name"), "TEXT", "The bank's name."),
    RequestOption("--reference", ("reference",), "TEXT", "A text that the receiver is shown."),
    METADATA,
)
QUOTE: Final = (
    CURRENCY,
    COUNTRY,
    POSTAL_CODE,
    ITEM,
    RequestOption(
        "--ship-from-country",
        ("ship_from_country",),
        "CODE",
        "The country that it is sent from.",
        words="country",
    ),
    RequestOption(
        "--shipping-amount",
        ("shipping_amount",),
        "N",
        "The freight in minor units.",
        "amount",
        least=0,
    ),
)
EVIDENCE: Final = (
    RequestOption(
        "--tracking-number",
        ("evidence", "tracking_number"),
        "TEXT",
        "The number by which the parcel is followed.",
    ),
    RequestOption(
        "--shipping-carrier", ("evidence", "shipping_carrier"), "TEXT", "Who carried it."
    ),
    RequestOption(
        "--evidence",
        ("evidence",),
        "KEY=TEXT",
        "Any other evidence, repeatable.",
        "pairs",
        words="evidence",
    ),
    RequestOption("--submit", ("submit",), "", "Submit it; without this it stays a draft.", "flag"),
)
ENDPOINT: Final = (
    RequestOption(
        "--url",
        ("url",),
        "URL",
        "Where events are sent.",
        example="https://shop.example/webhooks",
    ),
    RequestOption(
        "--events",
        ("events",),
        "TYPE",
        "An event type such as order.paid; repeatable, or several as a,b.",
        "list",
        words="event_type",
        example="order.paid",
    ),
    RequestOption("--description", ("description",), "TEXT", "A note of your own."),
)

_EVERY: Final = (ORDER, CANCELLATION, REFUND, PAYOUT, QUOTE, EVIDENCE, ENDPOINT)
_TOGETHER: Final[dict[tuple[str, ...], str]] = {  # what is missing where a whole object is
    ("shipping",): "--country CODE",
    ("destination",): "--country CODE --account-holder-name TEXT --iban IBAN",
    ("items",): "--item 'name=...,quantity=1,unit_amount=12900'",
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
