"""Fault rules: has requests of the API, or webhook deliveries, fail on purpose.

`svc sandbox fault add` adds a rule through `control`. `api` has the rules for requests and
`webhooks` those for deliveries; `sandbox.api.requests` and `sandbox.webhooks.attempts` apply them.
`chaos` fails a share of both without a rule. The words of rules stand here, for `cli` as well.
"""

from typing import Final, Literal

from svc.service.errors import CODES

ConnectionFault = Literal["close", "reset", "truncate", "garbage", "drip"]
WebhookEffect = Literal["duplicate", "reorder", "drop", "bad_signature", "stale_timestamp", "delay"]
METHODS: Final = ("GET", "POST")  # that the API has
# The error statuses that a rule can answer with, and the codes of their errors.
STATUSES: Final = {
    CODES[name].status: name
    for name in (
        "rate_limit",
        "internal_error",
        "bad_gateway",
        "service_unavailable",
        "gateway_timeout",
    )
}
