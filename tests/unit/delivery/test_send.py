"""How the error of a sending is told where the request was sent before."""

from types import SimpleNamespace
from typing import Any

import pytest

from support.calls import disputes, orders, refunds
from svc.client.call import Call
from svc.delivery.journal.entry import Charge
from svc.delivery.journal.refusals import format_full_command
from svc.delivery.send import ChargeReader, adapt_to_journal
from svc.errors import Forbidden, LocalError, NotFound, Outcome
from unit.delivery.journal.test_refusals import ASKED, DONE


@pytest.mark.parametrize(
    ("state", "sent_before", "outcome", "is_own", "told"),
    [
        ("done", True, "refused", True, "done"),
        ("done", True, "unknown", False, "done"),
        ("done", True, "done", False, None),
        ("unknown", True, "refused", False, "unknown"),
        ("unknown", True, "refused", None, "unknown"),
        ("unknown", True, "refused", True, None),
        ("unknown", False, "refused", False, None),
        ("unknown", True, "unknown", False, None),
    ],
)
def test_what_a_later_sending_meets_settles_no_earlier_one(
    state: Any, *, sent_before: bool, outcome: Outcome, is_own: bool | None, told: str | None
) -> None:
    """R10: a key of another account is refused what the first one may have done."""

    def ask(key: str) -> bool:
        assert key == ASKED.scope.key_fingerprint
        if is_own is None:
            raise LocalError("The state database cannot be used.")
        return is_own

    accounts = SimpleNamespace(is_own=ask)
    sender: Any = SimpleNamespace(accounts=accounts, format_command=format_full_command)
    intent = (DONE if state == "done" else ASKED)._replace(state=state, sent_before=sent_before)
    error = Forbidden("No right.", code="permission_denied", outcome=outcome, status=403)
    found = adapt_to_journal(sender, intent, error)
    assert (found is error) == (told is None)
    assert found.outcome == (told or outcome)
    assert (found.status, "No right." in found.message) == (403, True)


PAYMENT = {"object": "payment", "amount": 1200, "amount_captured": 1000, "currency": "EUR"}
ORDER = {"object": "order", "amount": 1200, "amount_total": 1300, "currency": "JPY"}
WHOLE = refunds.create({"payment": "pay_1"})
PART = refunds.create({"payment": "pay_1", "amount": 5})


@pytest.mark.parametrize(
    ("call", "said", "data", "counted"),
    [
        (WHOLE, Charge(), PAYMENT, Charge(1000, "EUR")),
        (PART, Charge(5), PAYMENT, Charge(5, "EUR")),
        (PART, Charge(5, "USD"), None, Charge(5, "USD")),
        (WHOLE, Charge(None, "USD"), PAYMENT, Charge(1000, "USD")),
        (WHOLE, Charge(), {**PAYMENT, "amount_captured": 0}, Charge(1200, "EUR")),
        (WHOLE, Charge(), {**PAYMENT, "amount_captured": "7", "currency": 9}, Charge()),
        (WHOLE, Charge(), [], Charge()),
        (PART, Charge(5), Forbidden("No right."), Charge(5)),
        (WHOLE, Charge(), Forbidden("No right."), Charge()),
        (orders.capture("ord_1", {}), Charge(), ORDER, Charge(1300, "JPY")),
        (orders.capture("ord_1", {"amount": 5}), Charge(5), ORDER, Charge(5, "JPY")),
        (disputes.accept("dp_1"), Charge(), {**PAYMENT, "object": "dispute"}, Charge(1200, "EUR")),
    ],
)
def test_a_limit_counts_the_most_that_a_request_can_move(
    call: Call, said: Charge, data: Any, counted: Charge
) -> None:
    """Each object is read once, and what cannot be told is not taken for nothing."""
    asked = []

    def send(reading: Call) -> Any:
        asked.append(reading.path)
        if isinstance(data, Exception):
            raise data
        return SimpleNamespace(data=data)

    reader = ChargeReader(SimpleNamespace(send=send))  # type: ignore[arg-type]
    assert [reader.complete_charge(call, said) for _ in range(2)] == [counted] * 2
    assert len(asked) == (data is not None)


def test_an_amount_that_cannot_be_read_sends_nothing() -> None:
    """It says so."""

    def send(_: Call) -> Any:
        raise NotFound("No such payment.", outcome="refused")

    reader = ChargeReader(SimpleNamespace(send=send))  # type: ignore[arg-type]
    with pytest.raises(NotFound) as told:
        reader.complete_charge(WHOLE, Charge())
    assert told.value.outcome == "not_sent"
