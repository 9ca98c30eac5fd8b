"""The fixture `demo`, object by object."""

import json

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
    objects = [json.loads(row["body"]) for row in state]
    shown = ("status", "amount", "reference", "failure_reason", "cancellation_reason")
    told = [
        (one["object"], one.get("metadata", {}).get("ref"), *filter(None, map(one.get, shown)))
        for one in objects
        if one["object"] in ("order", "refund", "payout")
    ]
    assert sorted(told, key=str) == [
        ("order", "A-1001", "requires_payment", 12900),
        ("order", "A-1002", "paid", 12900),
        ("order", "A-1003", "authorized", 12900),
        ("order", "A-1004", "cancelled", 12900, "abandoned"),
        ("order", "A-1005", "paid", 12900),
        ("order", "A-1006", "paid", 12900),
        ("payout", None, "created", 10000, "INV-9"),
        ("payout", None, "failed", 10000, "INV-8", "account_closed"),
        ("payout", None, "paid", 10000, "INV-7"),
        ("refund", None, "failed", 1000, "declined"),
        ("refund", None, "pending", 1500),
        ("refund", None, "succeeded", 2500),
    ]
    disputes = [one["evidence_status"] for one in objects if one["object"] == "dispute"]
    assert sorted(disputes) == ["draft", "submitted"]
    assert {row["mode"] for row in state if row["kind"] != "api_key"} == {"test"}
    (hook,) = (one for one in objects if one["object"] == "webhook_endpoint")
    assert [hook[name] for name in ("status", "events", "description")] == [
        *("disabled", ["order.paid"], "Demo"),
    ]
    items = [one["items"] for one in objects if one["object"] == "landed_cost_quote"]
    assert {each[0]["unit_amount"] for each in items} == {12900}
    assert {each[0]["quantity"] for each in items} == {1}
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


def test_pending_refund_of_the_demo_is_settled_after_a_week(watched: WatchedSandbox) -> None:
    """Unless a person settles it before."""
    watched.control("/reset", {"fixture": "demo"})
    for seconds, open_ones in ((7 * 86400 - 1, 1), (1, 0)):
        watched.run(seconds=seconds)
        refunds = watched.sandbox.get("/v1/refunds").json["data"]
        assert sum(one["status"] == "pending" for one in refunds) == open_ones
