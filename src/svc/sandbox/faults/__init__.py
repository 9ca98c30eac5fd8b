"""Fault rules: what goes wrong on purpose, in the API and on the way to a receiver of webhooks."""

from typing import Final, Literal

ConnectionFault = Literal["close", "reset", "truncate", "garbage", "drip"]
WebhookEffect = Literal["duplicate", "reorder", "drop", "bad_signature", "stale_timestamp", "delay"]
METHODS: Final = ("GET", "POST")  # that the API has
# The error statuses that a rule can answer with, and the codes of their errors.
STATUSES: Final = {
    429: "rate_limit",
    500: "internal_error",
    502: "bad_gateway",
    503: "service_unavailable",
    504: "gateway_timeout",
}
