"""Rows of a CSV that are built from templates: each is what the validator makes of it (R91, R114)."""

import csv
import io
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.suite.drawing import examples
from svc.batch.columns import find_ignored_columns
from svc.batch.operations import find_operation, names
from svc.batch.reading import rows_of
from svc.batch.templates import RowTemplates
from svc.batch.validate import Validator
from svc.delivery.journal.entry import Scope
from svc.delivery.plan import BatchRow
from svc.errors import UsageError

SCOPE: Final = Scope("default", "test", "https://api.example.com")
# What a column may have in a file: first what is right, then what is read in another way or wrong.
VALUES: Final[dict[str, list[str]]] = {
    "id": ["ord_1", "dp_1", "pay_1", "ord_x-Y_9", " ord_2", "ord_\u00e9", "1", "we_1"],
    "amount": ["12900", "1", "99999999999999", "0", "007", "1.0", " 5", "5 ", "-1", "\u0665", "x"],
    "currency": ["EUR", "JPY", "eur", "EU", " EUR", "EUR ", "\u20ac"],
    "payment": ["pay_1", "pay_2", "ord_1", " pay_1", "pay_\u00e9"],
    "reason": ["requested_by_customer", "a=b&c", "100%", "it's", 'say "no"', "a\\b", "\u00e4 %s"],
    "shipping[country]": ["DE", "FR", "de", "Germany", ""],
    "shipping[postal_code]": ["10115", "SW1A 1AA", "00100", "'=1", "\\u{41}"],
    "items[0][name]": [
        "Linen jacket",
        "LINEN  jacket",
        "Stra\u00dfe",
        "\u30b8\u30e3",
        "a\tb",
        "x\u00a0",
    ],
    "items[0][quantity]": ["1", "2", "0", "one"],
    "items[0][unit_amount]": ["12900", "5.00"],
    "items[1][name]": ["Coat", ""],
    "items[1][quantity]": ["3", ""],
    "items[1][unit_amount]": ["1", ""],
    "metadata[ref]": [
        "A-1",
        "A-2",
        "%d %%",
        "{}",
        "\U0001f600",
        " \u00fc ",
        '\u00fc"',
        "=\u00fc",
        "'=\u00fc",
        "\u00fc\\u{41}",
        "a,b",
        "0",
        "true",
    ],
    "metadata[\u00fc x]": ["1", "", "\u00fc"],
    "metadata:=": ['{"a":1}', "{}", "null", "1"],
    "destination[country]": ["DE"],
    "destination[account_holder_name]": ["Ana", "ANA  M", "\u00c9va"],
    "destination[iban]": ["DE89370400440532013000", "de89 3704", "DE 1"],
    "destination[account_number]": ["123", "1 2"],
    "created": ["2026-10-01T09:00:00Z", "x'"],
    "status": ["paid", ""],
    "idempotency_key": ["k1", "k2", "k3", "a b", "\u00e9", "k'4"],
    "invoice": ["I-1", "I-2", " I-3", "I'4", "I-5 ", ""],
    "submit": ["true", "false", "TRUE", "1"],
    "evidence[tracking_number]": ["Z1", "Z 2"],
    "": ["", "", "x"],
}


class Counted(RowTemplates):
    """Templates that count the rows that they have built."""

    built = 0

    def build(self, *asked: Any) -> BatchRow | None:
        row = super().build(*asked)
        self.built += row is not None
        return row


def read(data: str, operation: str, *, quick: bool, **options: Any) -> tuple[list[Any], Any, int]:
    """The rows of a file, or its error, and how many a template has built."""
    known = find_operation(operation)
    row_id, ignored = options.pop("row_id", None), options.pop("ignored", ())
    blank = options.get("blank_means_all", False)
    paths = find_ignored_columns(ignored, known, blank_means_all=True)
    shaper = Validator(known, SCOPE, blank_means_all=blank, ignored=paths, row_id=row_id)
    templates = Counted(shaper)
    rows: list[Any] = []
    file = io.BytesIO(data.encode())
    if quick:
        options["quick"] = templates.build
    try:
        for one in rows_of(file, "csv", known, ignored=paths, **options):
            rows.append(shaper.shape(one))
            templates.learn(rows[-1])
    except UsageError as error:
        return rows, (error.message, error.param, error.hint), templates.built
    return rows, list(shaper.left_out), templates.built


@st.composite
def files(draw: Any) -> tuple[str, str, dict[str, Any]]:
    """A file, its operation and options: some right rows in most, some wrong ones in some."""
    operation = draw(st.sampled_from(names()))
    head = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=10, unique=True))
    worst = draw(st.sampled_from([1, 1, 2, 3, 99]))
    cells = [st.sampled_from([*VALUES[name][:worst], ""]) for name in head]
    rows = draw(st.lists(st.tuples(*cells), min_size=2, max_size=8))
    file = io.StringIO()
    csv.writer(file).writerows([head, *rows])
    options = {name: draw(st.booleans()) for name in ("raw", "blank_means_all")}
    options["row_id"] = draw(st.sampled_from([None, None, "metadata[ref]", "reason"]))
    options["ignored"] = ("invoice", "evidence[tracking_number]")[: draw(st.integers(0, 2))]
    return file.getvalue(), operation, options


@given(files())
@settings(max_examples=examples(10))
@example(
    ("payment,amount,reason\npay_1,5,x\npay_2,6,it's\npay_3,,x\npay_4,07,x\n", "refunds.create", {})
)
@example(("id,amount\nord_1,5\nord_2,6\n", "orders.capture", {}))
def test_a_template_builds_what_the_validator_makes_of_a_row(file: tuple[str, str, Any]) -> None:
    """Whatever a file has, each row is the same, and so is the error that stops it."""
    data, operation, options = file
    *slow, _ = read(data, operation, quick=False, **options)
    *fast, _ = read(data, operation, quick=True, **options)
    assert fast == slow


ORDER: Final = (
    "amount,currency,shipping[country],items[0][name],items[0][quantity],items[0][unit_amount]"
)
FULL: Final = {
    "orders.create": (
        f"{ORDER},metadata[ref],status",
        "{n},EUR,DE,Linen jacket,1,{n},\u00fc-{n},paid",
    ),
    "refunds.create": ("payment,amount,currency,reason", "pay_{n},{n},EUR,returned {n}%"),
    "payouts.create": (
        "amount,currency,destination[country],destination[account_holder_name],destination[iban]",
        "{n},EUR,DE,Ana Mar\u00eda,DE8937040044053201{n}",
    ),
    "orders.capture": ("id,amount", "ord_{n},{n}"),
    "orders.cancel": ("id", "ord_{n}"),
}


@pytest.mark.parametrize("operation", FULL)
@pytest.mark.parametrize("row_id", [None, "idempotency_key"])
def test_all_rows_but_the_first_are_built_from_a_template(
    operation: str, row_id: str | None
) -> None:
    """A plain file of any operation takes the short way, also with ids and keys of its rows."""
    head, line = FULL[operation]
    extra = ("", "") if row_id is None else (f",{row_id}", ",k-{n}")
    rows = "\n".join(f"{line}{extra[1]}".format(n=number) for number in range(1000, 1040))
    data = f"{head}{extra[0]}\n{rows}\n"
    slow, _, _ = read(data, operation, quick=False)
    fast, _, built = read(data, operation, quick=True)
    assert fast == slow
    assert built == len(fast) - 1
    assert all(isinstance(row, BatchRow) for row in fast)


WHOLE: Final = {
    "orders.create": f"{ORDER},shipping[postal_code],metadata[ref],metadata[\u00fc x],status",
    "refunds.create": "payment,amount,currency,reason,metadata[ref]",
    "payouts.create": (
        "amount,currency,destination[country],destination[account_holder_name],destination[iban],"
        "metadata[ref]"
    ),
    "orders.capture": "id,amount,status",
    "disputes.update": "id,submit,evidence[tracking_number]",
}


@pytest.mark.parametrize("operation", WHOLE)
@pytest.mark.parametrize("raw", [False, True])
def test_a_template_leaves_alone_every_value_that_it_might_read_otherwise(
    operation: str, raw: bool
) -> None:
    """A valid row is followed by rows that have one value of each kind in one column of each."""
    head = [*WHOLE[operation].split(","), "idempotency_key"]
    valid = [VALUES[name][0] for name in head[:-1]]
    if operation == "disputes.update":
        valid[0] = "dp_1"
    rows = [valid]
    for place, name in enumerate(head[:-1]):
        rows += [[*valid[:place], value, *valid[place + 1 :]] for value in VALUES[name]]
    if head[0] == "id":  # an order is captured once, and a dispute changed to one value
        rows = [
            [f"{valid[0]}of{number}" if row[0] == valid[0] else row[0], *row[1:]]
            for number, row in enumerate(rows)
        ]
    file = io.StringIO()
    csv.writer(file).writerows([head, *([*row, f"k{number}"] for number, row in enumerate(rows))])
    *slow, _ = read(file.getvalue(), operation, quick=False, raw=raw)
    *fast, built = read(file.getvalue(), operation, quick=True, raw=raw)
    assert fast == slow
    assert built > len(head)


def test_a_first_row_that_is_not_plain_is_only_the_first() -> None:
    """The template is made of the first plain row; a file of others makes none."""
    head, line = FULL["refunds.create"]
    rows = [line.format(n=number) for number in range(1, 21)]
    odd = [line.format(n=number).replace("returned", "it's") for number in range(1, 41)]
    assert read("\n".join([head, odd[0], *rows]), "refunds.create", quick=True)[2] == 19
    assert read("\n".join([head, *odd, *rows]), "refunds.create", quick=True)[2] == 0


@pytest.mark.parametrize("amounts", [("3000", "7000"), ("3000", "3000")])
def test_an_order_is_captured_by_one_row(amounts: tuple[str, str]) -> None:
    """R115: which of two is carried out would be chance, and what it leaves is gone for good."""
    lines = [f"ord_{n},{amount}" for n, amount in zip((1, 2, 1), ("5", *amounts), strict=True)]
    for quick in (False, True):
        _, error, _ = read("\n".join(["id,amount", *lines]), "orders.capture", quick=quick)
        assert error[0].startswith("Lines 2 and 4 capture one order")
        _, left_out, _ = read("id\nord_1\nord_1", "orders.cancel", quick=quick)
        assert left_out == []


def test_names_of_rows_that_differ_in_case_alone_are_two() -> None:
    """As two keys of 32 hexadecimal digits may; the third is that of the first row."""
    head, line = FULL["refunds.create"]
    keys = ["ab" * 16, "AB" * 16, "ab" * 16]
    rows = [f"{line.format(n=n)},{key}" for n, key in enumerate(keys, 1)]
    data = "\n".join([f"{head},idempotency_key", *rows])
    _, error, _ = read(data, "refunds.create", quick=True)
    assert error[0] == "Lines 2 and 4 have the same idempotency key. Nothing was sent."


def test_equal_ids_of_rows_are_refused_wherever_they_come_from() -> None:
    """A row from a template and one from the validator may not have one key."""
    head, line = FULL["refunds.create"]
    rows = [f"{line.format(n=n)},{key}" for n, key in enumerate("abcb", 1)]
    _, error, built = read(
        "\n".join([f"{head},idempotency_key", *rows]), "refunds.create", quick=True
    )
    assert built == 3
    assert error[0] == "Lines 3 and 5 have the same idempotency key. Nothing was sent."
