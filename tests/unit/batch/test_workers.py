"""What a worker asks the service before it sends a row, and whose object an answer names."""

from types import SimpleNamespace
from typing import Any

import pytest

from support.calls import orders, refunds
from svc.batch.workers import Created, check_before_sending
from svc.client.call import Call
from svc.delivery.journal.entry import Stored
from svc.errors import NotFound

REFUND = refunds.create({"payment": "pay_1", "amount": 5})
CAPTURE = orders.capture("ord_1", {"amount": 5})
SUCCEEDED = {"object": "refund", "status": "succeeded"}


def job(
    call: Call = REFUND,
    currency: str | None = "EUR",
    failed: str | None = None,
    *,
    sent_before: bool = False,
) -> Any:
    intent, row = SimpleNamespace(sent_before=sent_before), SimpleNamespace()
    row.compared_currency = currency
    return SimpleNamespace(intent=intent, row=row, call=call, failed=failed)


@pytest.mark.parametrize(
    ("one", "data", "asked", "told"),
    [
        (job(), {"currency": "EUR"}, "/v1/payments/pay_1", None),
        (job(CAPTURE), {"currency": "EUR"}, "/v1/orders/ord_1", None),
        (
            job(),
            {"currency": "USD"},
            "/v1/payments/pay_1",
            (
                "currency_mismatch currency: The row says EUR, and pay_1 is in USD. "
                "Correct the row: pay_1 is moved in its own currency"
            ),
        ),
        (
            job(CAPTURE, "JPY"),
            {},
            "/v1/orders/ord_1",
            (
                "currency_mismatch currency: The row says JPY, and ord_1 does not say its currency. "
                "Correct the row: ord_1 is moved in its own currency"
            ),
        ),
        (job(currency=None), {}, None, None),
        (job(failed="rf_1", sent_before=True), {}, None, None),
        (
            job(currency=None, failed="rf_1"),
            {**SUCCEEDED, "status": "failed"},
            "/v1/refunds/rf_1",
            None,
        ),
        (
            job(currency=None, failed="rf_1"),
            SUCCEEDED,
            "/v1/refunds/rf_1",
            "object_not_failed None: rf_1 has not failed: it is succeeded. See it: svc get rf_1",
        ),
        (
            job(),
            NotFound("No such payment.", code="resource_missing"),
            "/v1/payments/pay_1",
            "resource_missing None: No such payment. None",
        ),
    ],
)
def test_a_row_is_compared_with_what_it_is_about(
    one: Any, data: Any, asked: str | None, told: str | None
) -> None:
    """R117, R119: unless its key keeps it from a second effect; a difference is not sent."""
    seen = []

    def send(call: Call) -> Any:
        seen.append(call.path)
        if isinstance(data, Exception):
            raise data
        return SimpleNamespace(data=data)

    error = check_before_sending(SimpleNamespace(send=send), one)  # type: ignore[arg-type]
    assert seen == ([asked] if asked else [])
    if told is None:
        assert error is None
        return
    assert error is not None
    assert f"{error.code} {error.param}: {error.message} {error.hint}" == told
    assert error.outcome == "not_sent"


def test_an_object_belongs_to_the_first_request_that_names_it() -> None:
    """R93: of the latest ten thousand; the journal knows the older ones."""
    created = Created()

    def is_other(number: int, made: str, world: str | None = None) -> bool:
        sent = Stored("/v1/refunds", "json", b"", f"key-{number}", None)
        return created.is_claimed_by_other(sent, made, world)

    assert not is_other(0, "rf_0")
    assert not is_other(0, "rf_0")
    assert is_other(1, "rf_0")
    assert not is_other(1, "rf_0", "another sandbox")
    for number in range(2, 10_000):
        assert not is_other(number, f"rf_{number}")
    assert is_other(1, "rf_0")
    assert not is_other(10_000, "rf_10000")
    assert not is_other(1, "rf_0")
