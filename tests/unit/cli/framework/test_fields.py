"""The fields of requests as options: rows that are true, and bodies made of what was given."""

import re
from typing import Any

import pytest

from svc import service
from svc.cli.framework.fields import body_of
from svc.client.fields import rules_of
from svc.client.options import RequestOption, advice, options_of
from svc.errors import UsageError
from svc.sandbox.openapi.document import OPERATIONS, document

POSTS = [
    f"{noun.word}.{action.verb}"
    for noun in service.nouns()
    for action in noun.actions
    if action.method == "POST" and noun.list_given(action.verb)
]
SERVICE = document(OPERATIONS)


ORDER, EVIDENCE = options_of("orders.create"), options_of("disputes.update")
CAPTURE = options_of("orders.capture")


def taken_by_the_service(path: str) -> dict[str, Any]:
    """The schemas of the fields that a POST takes."""
    [told] = [told for name, told in SERVICE["paths"].items() if re.sub("{.*?}", "*", name) == path]
    for part in ("post", "requestBody", "content", "application/json", "schema", "properties"):
        told = told[part]
    assert told
    return dict(told)


def given(rows: tuple[RequestOption, ...], **values: object) -> dict[str, object]:
    return {row.key: values.get(row.key) for row in rows}


@pytest.mark.parametrize("name", POSTS)
def test_each_option_gives_a_field_that_the_service_takes(name: str) -> None:
    """An option with a misspelt path would send an unknown field."""
    taken = taken_by_the_service(path_of(name))
    for row in options_of(name):
        fields = taken
        for part in row.path:
            assert part in fields, row
            fields = fields[part].get("properties", {})
            if not fields:
                break  # names of anybody's own, as of metadata


def path_of(name: str) -> str:
    """The path of an operation, with `*` for the id."""
    known = service.operation(name)
    assert known is not None
    noun, action = known
    return noun.path_of(action)


@pytest.mark.parametrize("name", POSTS)
def test_each_field_that_slips_are_made_in_is_one_that_the_service_takes(name: str) -> None:
    """A name that it does not take would be proposed to people."""
    rules = rules_of(name)
    assert rules is not None
    assert set(rules.takes) <= set(taken_by_the_service(path_of(name)))


def test_what_was_given_is_laid_out_as_the_service_takes_it() -> None:
    """Objects inside, repeated options, amounts as numbers; what was not given is not there."""
    body = body_of(
        ORDER,
        given(
            ORDER,
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
    rows = EVIDENCE
    body = body_of(rows, given(rows, tracking_number="1Z", evidence=["note=late"], submit=False))
    assert body == {"evidence": {"tracking_number": "1Z", "note": "late"}}


def test_a_wrong_amount_names_its_option() -> None:
    """The refusal comes before anything is sent, in the words of the command line."""
    with pytest.raises(UsageError) as refused:
        body_of(CAPTURE, given(CAPTURE, amount="1.5"))
    assert refused.value.param == "--amount"


@pytest.mark.parametrize(
    ("operation", "path", "words"),
    [
        ("orders.create", ("shipping", "country"), "--country CODE"),
        ("orders.create", ("shipping",), "--country CODE"),
        (
            "payouts.create",
            ("destination",),
            "--country CODE --account-holder-name TEXT --iban IBAN",
        ),
        ("refunds.create", ("amount",), "--amount N (minor units)"),
        (
            "orders.create",
            ("items", "0", "name"),
            "--item 'name=NAME,quantity=QUANTITY,unit_amount=UNIT_AMOUNT'",
        ),
        ("refunds.create", ("metadata", "note"), "--metadata KEY=TEXT"),
        ("disputes.update", ("submit",), "--submit"),
        ("orders.create", ("anything",), None),
        ("", ("amount",), None),
    ],
)
def test_an_error_names_the_option_of_a_field(
    operation: str, path: tuple[str, ...], words: str | None
) -> None:
    """One row serves the parser and the advice."""
    assert advice(operation, path) == words
