"""Limits through the whole program: what a machine may move, and who may go beyond."""

from pathlib import Path

import pytest

from support.listeners import Pay
from support.on_terminal import AtTerminal
from support.running import Sandbox, Svc

ASKED = "[y/N] "


def payout(euros: int, *more: str) -> tuple[str, ...]:
    money = ("--amount", str(euros * 100), "--currency", "EUR", "--country", "DE")
    whom = ("--account-holder-name", "M", "--iban", "DE89370400440532013000")
    return ("payouts", "create", *money, *whom, *more)


def captured(svc: Svc, pay: Pay) -> str:
    """A payment of 157.08 EUR."""
    order = svc.ok("get", pay())
    return str(order["latest_payment"])


def test_a_payout_beyond_the_limit_is_not_sent_and_what_is_left_is_told(
    svc: Svc, sandbox: Sandbox
) -> None:
    svc.ok("config", "set", "limits.payouts", "500 EUR/day")
    svc.ok(*payout(300))
    for argv in (payout(201, "--new-request"), ("post", "/v1/payouts", *as_data(201))):
        refused = svc(*argv)
        assert (refused.code, refused.error["code"]) == (2, "limit_reached")
        assert "200.00 EUR is left, and this is 201.00 EUR" in refused.error["message"]
        assert 86_000 < refused.error["retry_after"] <= 86_400
        assert refused.error["outcome"] == "not_sent"
    assert len(sandbox.posts()) == 1
    assert "a second one" not in svc(*payout(300), "-o", "human").err  # which is not sent
    (limit,) = svc.ok("whoami")["limits"]
    assert "\n  Limits " in svc("whoami", "-o", "human").out
    assert {**limit, "more_at": limit["more_at"] is not None} == {
        "operation": "payouts",
        "amount": 50000,
        "currency": "EUR",
        "window": "day",
        "left": 20000,
        "more_at": True,
    }
    assert "payouts: 200.00 EUR left of 500.00 EUR a day" in svc("whoami", "-o", "human").out
    svc.ok(*payout(200))


def as_data(euros: int) -> tuple[str, ...]:
    fields = (f"amount:={euros * 100}", "currency=EUR", "destination[country]=DE")
    whom = ("destination[iban]=DE89370400440532013000", "destination[account_holder_name]=M")
    return tuple(word for field in (*fields, *whom) for word in ("-d", field))


def test_a_refund_without_an_amount_counts_as_the_whole_until_it_is_answered(
    svc: Svc, pay: Pay
) -> None:
    payment = captured(svc, pay)
    svc.ok("refunds", "create", "--payment", payment, "--amount", "10000")
    svc.ok("config", "set", "limits.refunds", "257.08 EUR/day")
    svc.ok("refunds", "create", "--payment", payment)  # 57.08 EUR
    refused = svc("refunds", "create", "--payment", captured(svc, pay))
    assert "100.00 EUR is left, and this is 157.08 EUR" in refused.error["message"]


def test_a_payment_that_is_not_captured_yet_counts_as_what_may_be(
    svc: Svc, sandbox: Sandbox
) -> None:
    """It may be captured between the reading and the refund."""
    item = ("--item", "name=Coat,quantity=1,unit_amount=9000", "--country", "US")
    money = ("--amount", "9000", "--currency", "USD", "--capture-method", "manual")
    order = svc.ok("orders", "create", *money, *item)["id"]
    svc.ok("sandbox", "pay", order)
    payment = svc.ok("get", order)["latest_payment"]
    svc.ok("config", "set", "limits.refunds", "80 USD/day")
    before = len(sandbox.posts())
    refused = svc("refunds", "create", "--payment", payment)
    assert refused.error["code"] == "limit_reached"
    assert len(sandbox.posts()) == before


def test_a_batch_is_checked_whole_before_its_first_row(
    svc: Svc, sandbox: Sandbox, pay: Pay, tmp_path: Path
) -> None:
    payment = captured(svc, pay)
    before = len(sandbox.posts())
    rows = tmp_path / "rows.csv"
    svc.ok("config", "set", "limits.refunds", "20 EUR/day")
    for head, end in (("payment,amount", ""), ("payment,amount,currency", ",EUR")):
        lines = [f"{payment},{amount}{end}" for amount in (500, 700, 801)]
        rows.write_text("\n".join((head, *lines, "")))
        for more in ((), ("--dry-run",)) if end else ((),):
            refused = svc("batch", "refunds.create", str(rows), *more)
            assert (refused.code, refused.error["code"]) == (2, "limit_reached")
            assert "20.00 EUR is left, and this is 20.01 EUR" in refused.error["message"]
    assert len(sandbox.posts()) == before
    rows.write_text(rows.read_text().replace("801", "800"))
    assert svc.ok("batch", "refunds.create", str(rows))["done"] == 3
    assert svc.ok("batch", "refunds.create", str(rows))["skipped"] == 3
    assert svc.ok("whoami")["limits"][0]["left"] == 0


@pytest.mark.effect_of("disputes accept", "--over-limit")
@pytest.mark.effect_of("orders capture", "--over-limit")
@pytest.mark.effect_of("post", "--over-limit")
@pytest.mark.effect_of("refunds create", "--over-limit")
@pytest.mark.parametrize(
    "line",
    [
        "disputes accept dp_1",
        "orders capture ord_1",
        "post /v1/payouts -d amount:=1",
        "refunds create --payment pay_1 --amount 1",
    ],
)
def test_whatever_has_a_limit_goes_beyond_it_by_a_person_alone(
    svc: Svc, sandbox: Sandbox, line: str
) -> None:
    refused = svc(*line.split(), "--over-limit", "--yes")
    assert (refused.code, refused.error["code"]) == (2, "person_required")
    assert sandbox.posts() == []


@pytest.mark.effect_of("batch", "--over-limit")
@pytest.mark.effect_of("payouts create", "--over-limit")
def test_a_person_at_a_terminal_alone_goes_beyond(
    svc: Svc, sandbox: Sandbox, at_terminal: AtTerminal, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text(
        "amount,currency,destination[country],destination[account_holder_name],destination[iban]\n"
        "900,EUR,DE,M,DE89370400440532013000\n"
    )
    batch = ("batch", "payouts.create", str(rows))
    svc.ok("config", "set", "limits.payouts", "5 EUR/day")
    for argv in (payout(6), batch):
        refused = svc(*argv, "--over-limit", "--yes")
        assert (refused.code, refused.error["code"]) == (2, "person_required")
        assert at_terminal("n\n", *argv, "--over-limit", prompt=ASKED).code == 2
    assert sandbox.posts() == []
    for number, argv in enumerate((payout(6), batch), 1):
        assert at_terminal("y\n", *argv, "--over-limit", prompt=ASKED).code == 0
        assert len(sandbox.posts()) == number
    assert svc(*payout(1)).error["code"] == "limit_reached"


def test_a_limit_is_set_by_anybody_and_changed_by_a_person(
    svc: Svc, at_terminal: AtTerminal
) -> None:
    """Else what is limited would lift it: also by a name that goes before the first."""
    limit, live = ("config", "set", "limits.refunds"), ("config", "set", "limits.live.refunds")
    svc.ok(*limit, "500 EUR/day")
    svc.ok(*limit, "500 EUR/day")
    for argv in ((*limit, "600 EUR/day"), (*live, "9 EUR/day"), ("config", "unset", limit[2])):
        assert svc(*argv, "--yes").error["code"] == "person_required"
    assert at_terminal("y\n", *live, "9 EUR/day", prompt=ASKED).code == 0
    assert svc.ok("config", "get")["limits"] == {
        "refunds": "500 EUR/day",
        "live.refunds": "9 EUR/day",
    }
    asked = at_terminal("n\n", "config", "unset", limit[2], prompt=ASKED)
    assert "A limit of refunds is removed: limits.refunds." in asked.out
    for name in ("limits.payouts", limit[2]):  # also where there is one: before anybody is asked
        assert f"{name} must be amounts" in svc("config", "set", name, "500").err


def test_an_amount_that_an_operation_does_not_take_is_not_believed(
    svc: Svc, sandbox: Sandbox
) -> None:
    """A dispute is lost as a whole, whatever a field says that no dispute has."""
    svc.ok("sandbox", "settings", "unknown_parameters=ignore")
    svc.ok("sandbox", "trigger", "dispute.opened")
    dispute = svc.ok("disputes", "list")["data"][0]["id"]
    svc.ok("config", "set", "limits.disputes", "1 EUR/day")
    for line in (f"disputes accept {dispute} --yes", f"post /v1/disputes/{dispute}/accept"):
        refused = svc(*line.split(), "-d", "amount:=1", "-d", "currency=EUR")
        assert (refused.code, refused.error["code"]) == (2, "limit_reached")
    assert svc.ok("disputes", "retrieve", dispute)["status"] != "lost"


def test_what_does_not_exist_is_told_in_place_of_the_limit(
    svc: Svc, sandbox: Sandbox, pay: Pay, tmp_path: Path
) -> None:
    """Of a batch with the line of the file, before any row is sent."""
    rows = tmp_path / "rows.csv"
    rows.write_text(f"payment,amount\n{captured(svc, pay)},50\npay_none,50\n")
    svc.ok("config", "set", "limits.refunds", "1 EUR/day")
    refused = svc("batch", "refunds.create", str(rows))
    assert refused.code == 5
    assert refused.error["message"] == "line 3: No such payment: pay_none. Nothing was sent."
    refused = svc("refunds", "create", "--payment", "pay_none", "--amount", "100")
    assert (refused.code, refused.error["outcome"]) == (5, "not_sent")
    assert "No such payment" in refused.error["message"]
    assert [one for one in sandbox.posts() if "refunds" in str(one)] == []


def test_a_profile_with_limits_is_removed_by_a_person_alone(
    svc: Svc, sandbox: Sandbox, at_terminal: AtTerminal
) -> None:
    svc.ok("profiles", "create", "shop", "--base-url", sandbox.url)
    svc.ok("config", "set", "profiles.shop.limits.refunds", "1 EUR/day")
    remove = ("profiles", "remove", "shop")
    assert svc(*remove, "--yes").error["code"] == "person_required"
    assert "shop" in svc.ok("profiles", "list", "-o", "json")[0]["name"]
    assert at_terminal("y\ny\n", *remove, prompt=ASKED).code == 0


def test_a_damaged_journal_is_given_up_by_a_person_alone_where_a_limit_counts_in_it(
    svc: Svc, sandbox: Sandbox, at_terminal: AtTerminal, isolated: Path
) -> None:
    svc.ok("config", "set", "limits.payouts", "5 EUR/day")
    svc.ok(*payout(5))
    [state] = isolated.rglob("state.db")
    for one in state.parent.glob("state.db*"):
        one.write_bytes(b"no database" * 1000)
    damaged = svc(*payout(4))
    assert (damaged.code, len(sandbox.posts())) == (10, 1)
    [aside] = state.parent.glob("state.db.corrupt-?")
    for argv in (("start-empty",), ("adopt", str(aside)), ("adopt", __file__)):
        refused = svc("requests", *argv, "--yes")
        assert (refused.code, refused.error["code"]) == (2, "person_required")
    assert svc(*payout(4)).code == 10
    assert at_terminal("y\n", "requests", "start-empty", prompt=ASKED).code == 0
    svc.ok(*payout(4))
