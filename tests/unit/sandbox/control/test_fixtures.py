"""The fixture `demo`, object by object."""

from unit.sandbox.faults.watched import WatchedSandbox


def test_demo_has_what_the_contract_lists(watched: WatchedSandbox) -> None:
    """Six orders, three refunds, three payouts, a draft and a review, both kinds of quote."""
    watched.control("/reset", {"fixture": "demo"})
    events = watched.sandbox.event_types()
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
    state = watched.control("/export", method="GET")["tables"]["docs"]
    quotes = [row for row in state if row["kind"] == "landed_cost_quote"]
    of_orders = {_order_quote(watched, row["id"]) for row in state if row["kind"] == "order"}
    own = [watched.sandbox.get(f"/v1/landed-cost/quotes/{row['id']}").json for row in quotes]
    free = [quote for quote in own if quote["id"] not in of_orders]
    assert sorted(quote["guaranteed"] for quote in free) == [False, True]
    warned = next(quote for quote in free if not quote["guaranteed"])
    assert [each["code"] for each in warned["warnings"]] == [
        "hs_code_incomplete",
        "origin_country_unknown",
    ]


def _order_quote(watched: WatchedSandbox, order: str) -> str:
    return str(watched.sandbox.get(f"/v1/orders/{order}").json["landed_cost"]["quote"])
