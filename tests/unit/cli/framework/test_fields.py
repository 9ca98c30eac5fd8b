"""The fields of requests as options: rows that are true, and bodies made of what was given."""

import pytest

from svc.cli.framework.fields import body_of
from svc.client import options
from svc.client.fields import fields_at
from svc.client.options import RequestOption, advice
from svc.errors import UsageError

POSTS = {
    "/v1/orders": options.ORDER,
    "/v1/orders/ord_1/cancel": options.CANCELLATION,
    "/v1/orders/ord_1/capture": options.CAPTURE,
    "/v1/refunds": options.REFUND,
    "/v1/payouts": options.PAYOUT,
    "/v1/landed-cost/quotes": options.QUOTE,
    "/v1/disputes/dp_1": options.EVIDENCE,
    "/v1/webhook_endpoints": options.ENDPOINT,
}
NOT_DOCUMENTED = {("/v1/webhook_endpoints", "--description")}


def given(rows: tuple[RequestOption, ...], **values: object) -> dict[str, object]:
    return {row.key: values.get(row.key) for row in rows}


@pytest.mark.parametrize("path", POSTS)
def test_each_option_gives_a_field_that_the_documentation_has(path: str) -> None:
    """A row with a misspelt path would send what nobody knows."""
    for row in POSTS[path]:
        fields = fields_at(path)
        for part in row.path:
            assert part in fields or (path, row.name) in NOT_DOCUMENTED, row
            fields = fields.get(part, {})


def test_what_was_given_is_laid_out_as_the_service_takes_it() -> None:
    """Objects inside, repeated options, amounts as numbers; what was not given is not there."""
    body = body_of(
        options.ORDER,
        given(
            options.ORDER,
            amount="12900",
            currency="EUR",
            country="DE",
            postal_code="10115",
            item=["name=Jacket,quantity=1,unit_amount=12900"],
            metadata=["note=", "shop=1"],
        ),
    )
    assert body == {
        "amount": 12900,
        "currency": "EUR",
        "shipping": {"country": "DE", "postal_code": "10115"},
        "items": [{"name": "Jacket", "quantity": 1, "unit_amount": 12900}],
        "metadata": {"note": "", "shop": "1"},
    }


def test_evidence_of_both_kinds_lies_in_one_object() -> None:
    """`--tracking-number` and `--evidence KEY=TEXT` give fields of the same object."""
    rows = options.EVIDENCE
    body = body_of(rows, given(rows, tracking_number="1Z", evidence=["note=late"], submit=False))
    assert body == {"evidence": {"tracking_number": "1Z", "note": "late"}}


def test_a_wrong_amount_names_its_option() -> None:
    """The refusal comes before anything is sent, in the words of the command line."""
    with pytest.raises(UsageError) as refused:
        body_of(options.CAPTURE, given(options.CAPTURE, amount="1.5"))
    assert refused.value.param == "--amount"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (("shipping", "country"), "--country CODE"),
        (("amount",), "--amount N (minor units)"),
        (("items", "0", "name"), "--item 'name=...,quantity=1,unit_amount=12900'"),
        (("metadata", "note"), "--metadata KEY=TEXT"),
        (("submit",), "--submit"),
        (("anything",), None),
    ],
)
def test_an_error_names_the_option_of_a_field(path: tuple[str, ...], words: str | None) -> None:
    """One row serves the parser and the advice."""
    assert advice(path) == words
