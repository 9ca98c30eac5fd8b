"""What a question says of the money that would move, and the page that is opened."""

import os
import webbrowser
from types import SimpleNamespace
from typing import Any

import pytest

from svc.api_keys import HELD_BACK
from svc.cli.framework.prompts import describe_money, open_page, read_what_is_left
from svc.client import find
from svc.client.operations import action_of

REFUND, PAYOUT = "/v1/refunds", "/v1/payouts"
IBAN = {"iban": "DE89 3704 0044 0532 0130 00", "account_holder_name": "Ann Lee"}


@pytest.mark.parametrize(
    ("path", "body", "left", "said"),
    [
        (
            REFUND,
            {"payment": "pay_1", "amount": 700},
            {"currency": "EUR", "amount": 9},
            ", 7.00 EUR",
        ),
        (REFUND, {"payment": "pay_1"}, {"currency": "EUR", "amount": 900}, ", 9.00 EUR"),
        (REFUND, {"payment": "pay_1"}, {"currency": "EUR", "amount": None}, ", the full amount"),
        (REFUND, {"payment": "pay_1", "amount": 700}, {}, ", 700 in minor units"),
        (PAYOUT, {"currency": "JPY", "amount": "700"}, {}, ", 700 JPY"),
        (PAYOUT, {"currency": "JPY", "amount": "7.5"}, {}, ", 7.5 in minor units"),
        (PAYOUT, {"currency": "JPY", "amount": "\u0667"}, {}, ", \u0667 in minor units"),
        (PAYOUT, {"currency": "JPY"}, {}, ""),
        (PAYOUT, {"destination": IBAN}, {}, ", to Ann Lee, account ending in 3000"),
        (PAYOUT, {"destination": {"account_number": 12345678}}, {}, ", to account ending in 5678"),
        (PAYOUT, {"destination": {"account_holder_name": "Ann"}}, {}, ", to Ann"),
        (PAYOUT, {"destination": {}}, {}, ""),
        (PAYOUT, {"destination": "bank"}, {}, ""),
    ],
)
def test_a_question_names_sum_and_recipient(
    path: str, body: dict[str, Any], left: dict[str, object], said: str
) -> None:
    """Of an object all that it has left, where the request names no amount."""
    call = find.post(path, body)
    action = action_of(call)
    assert action
    assert describe_money(call, action, left) == action + said


@pytest.mark.parametrize(("had", "left"), [(900, 700), ("900", None)])
def test_what_is_left_of_an_object_is_read(had: object, left: int | None) -> None:
    """Nothing of what is no object."""
    data = {"object": "payment", "amount_captured": had, "amount_refunded": 200, "currency": "EUR"}
    assert read_what_is_left(data) == {"currency": "EUR", "amount": left}
    assert read_what_is_left([data]) == {}


@pytest.mark.parametrize("opens", [True, False])
def test_a_page_is_opened_without_what_is_secret(
    monkeypatch: pytest.MonkeyPatch, opens: bool
) -> None:
    """The environment has it again behind that; where no browser is, the address is above."""
    seen: list[object] = []

    def open_it(page: str) -> bool:
        seen.extend((page, [name for name in HELD_BACK if name in os.environ]))
        return opens

    said: list[str] = []
    monkeypatch.setattr(webbrowser, "open", open_it)
    for name in HELD_BACK:
        monkeypatch.setenv(name, f"of {name}")
    session: Any = SimpleNamespace(out=SimpleNamespace(note=said.append))
    open_page(session, "https://d.example")
    assert seen == ["https://d.example", []]
    assert [os.environ[name] for name in HELD_BACK] == [f"of {name}" for name in HELD_BACK]
    assert said == ([] if opens else ["No browser could be opened; open the address above."])
