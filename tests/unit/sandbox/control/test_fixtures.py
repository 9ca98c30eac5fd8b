"""The fixture `demo`, object by object."""

from typing import Any

from unit.sandbox.control.lab import Lab


def test_demo_has_what_the_contract_lists(lab: Lab) -> None:
    """Six orders, three refunds, three payouts, a draft and a review, both kinds of quote."""
    lab.control("/reset", {"fixture": "demo"})
    events = lab.sandbox.event_types()
    assert sorted(events) == sorted(
        [
            *("payment.captured", "order.paid", "payment.authorized", "order.cancelled"),
            *("payment.captured", "order.paid", "payment.captured", "order.paid"),
            *("refund.created", "refund.succeeded", "refund.created", "refund.failed"),
            *("payout.created", "payout.sent", "payout.paid", "payout.created", "payout.failed"),
            *("refund.created", "payout.created"),
            *("dispute.opened", "dispute.opened", "dispute.evidence_submitted"),
        ]
    )
    state = lab.control("/export", method="GET")["tables"]["docs"]
    quotes = [row for row in state if row["kind"] == "landed_cost_quote"]
    of_orders = {_order_quote(lab, row["id"]) for row in state if row["kind"] == "order"}
    own = [lab.sandbox.get(f"/v1/landed-cost/quotes/{row['id']}").json for row in quotes]
    free = [quote for quote in own if quote["id"] not in of_orders]
    assert sorted(quote["guaranteed"] for quote in free) == [False, True]
    warned = next(quote for quote in free if not quote["guaranteed"])
    assert [each["code"] for each in warned["warnings"]] == [
        "hs_code_incomplete",
        "origin_country_unknown",
    ]


def test_equal_seeds_give_equal_demos(lab: Lab) -> None:
    """The same bytes for the same seed at the same moment, others for another one."""

    def state(seed: int) -> Any:
        lab.control("/reset", {"seed": seed, "fixture": "demo"})
        return lab.control("/export", method="GET")

    first = state(7)
    assert state(7) == first
    assert state(8) != first


def _order_quote(lab: Lab, order: str) -> str:
    return str(lab.sandbox.get(f"/v1/orders/{order}").json["landed_cost"]["quote"])
