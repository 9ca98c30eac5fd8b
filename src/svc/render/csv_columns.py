"""The CSV columns that an export of each kind always has, so that scripts can rely on them.

Their order is fixed; what else the objects hold comes after them. The names are bracket paths,
which `svc batch` reads back.
"""

from typing import Final

COLUMNS: Final = {
    kind: tuple(names.split())
    for kind, names in {
        "order": """
            id status amount currency settlement_currency shipping[country] shipping[postal_code]
            items[0][name] items[0][hs_code] items[0][origin_country] items[0][quantity]
            items[0][unit_amount] capture_method landed_cost[duty] landed_cost[vat]
            landed_cost[fees] landed_cost[total] landed_cost[currency] landed_cost[guaranteed]
            amount_total amount_captured amount_refunded latest_payment paid_at cancelled_at
            cancellation_reason created livemode""",
        "payment": """
            id status order amount amount_captured amount_released amount_refunded currency method
            card[brand] card[last4] retried acquirer failure_code decline_type disputed
            settlement_amount settlement_currency fx_rate captured_at created livemode""",
        "refund": """
            id status payment order amount currency reason failure_reason created livemode""",
        "payout": """
            id status amount currency source_amount source_currency fx_rate network_fees
            destination[country] destination[account_holder_name] destination[bank_name]
            destination[last4] reference failure_reason estimated_arrival sent_at paid_at failed_at
            created livemode""",
        "landed_cost_quote": """
            id guaranteed duty vat fees total currency shipping[country] shipping[postal_code]
            ship_from_country shipping_amount expires_at created livemode""",
        "dispute": """
            id status amount currency reason payment order evidence_status evidence_due_by
            evidence_submitted_at closed_at created livemode""",
        "event": "id type created livemode api_version data[object][id] data[object][object]",
        "webhook_endpoint": "id url status description api_version created livemode",
        "payment_method": "id type card[brand] card[last4] card[network_token]",
    }.items()
}
