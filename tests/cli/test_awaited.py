"""`retrieve --wait`: a script goes on once an object has the status that it needs."""

import threading
from typing import Any

import pytest

from support.running import Sandbox, Svc


CREATE = (
    *("orders", "create", "--amount", "100", "--currency", "EUR", "--country", "DE"),
    *("--item", "name=J,quantity=1,unit_amount=100"),
)
CARD = {"number": "4242424242424242", "exp_month": 12, "exp_year": 2034, "cvc": "123"}


@pytest.fixture
def order(svc: Svc, sandbox: Sandbox) -> dict[str, Any]:
    """An order that is not paid."""
    made: dict[str, Any] = svc.ok(*CREATE)
    return made


def test_it_ends_once_the_status_is_there(
    svc: Svc, sandbox: Sandbox, order: dict[str, Any]
) -> None:
    """Paid meanwhile by somebody else: exit 0, and the object as it is then."""
    body = {"client_secret": order["client_secret"], "method": "card", "card": CARD}
    words = ("POST", "/checkout/pay", body, "pk_test_sandbox")
    payer = threading.Timer(0.7, sandbox.control, words)
    payer.start()
    words = ("orders", "retrieve", order["id"])
    paid = svc.ok(*words, "--until", "paid,authorized", "--max-time", "30")
    payer.join()
    assert paid["status"] == "paid"
    assert svc.ok(*words, "--wait")["status"] == "paid"


def test_the_end_of_the_time_is_a_check_that_failed(svc: Svc, order: dict[str, Any]) -> None:
    """Exit 11, the object all the same, and what moves a sandbox on."""
    late = svc("orders", "retrieve", order["id"], "--wait", "--max-time", "0.4")
    assert (late.code, late.error["code"]) == (11, "not_settled")
    assert late.json["status"] == "requires_payment"
    assert "svc sandbox advance --until idle" in late.error["message"]


def test_another_end_is_a_check_that_failed(svc: Svc, order: dict[str, Any]) -> None:
    """What has ended otherwise is not waited for."""
    svc.ok("orders", "cancel", order["id"])
    ended = svc("orders", "retrieve", order["id"], "--until", "paid")
    assert (ended.code, ended.error["code"]) == (11, "ended_otherwise")
    assert (
        f"The order {order['id']} has ended as 'cancelled', not as paid." in ended.error["message"]
    )
    assert ended.json["status"] == "cancelled"


def test_a_payout_that_waits_names_the_clock(svc: Svc, sandbox: Sandbox) -> None:
    """In a sandbox its bank takes days, which pass where somebody turns the clock."""
    svc.ok("sandbox", "balances", "EUR=100000")
    bank = ("--country", "DE", "--account-holder-name", "M", "--iban", "DE89370400440532013000")
    money = ("--amount", "100", "--currency", "EUR", "--source-currency", "EUR")
    late = svc("payouts", "create", *money, *bank, "--wait", "--max-time", "0.5")
    assert (late.code, late.error["code"]) == (11, "not_settled")
    assert "svc sandbox advance --until idle" in late.error["message"]
    svc.ok("sandbox", "advance", "--until", "idle")
    assert svc.ok("payouts", "retrieve", late.json["id"], "--wait")["status"] == "paid"


@pytest.mark.parametrize("noun", ["orders", "payments", "refunds", "payouts", "disputes"])
def test_a_status_that_there_is_not_is_refused_before_anything_is_sent(
    svc: Svc, sandbox: Sandbox, noun: str
) -> None:
    """With the words that objects of the kind have."""
    refused = svc(noun, "retrieve", "x_1", "--until", "payd")
    assert (refused.code, refused.error["param"]) == (2, "--until")
    assert "Use one of: " in refused.error["message"]
