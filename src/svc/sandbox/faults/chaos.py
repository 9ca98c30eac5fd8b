"""The setting `chaos`: a share of answers and deliveries goes wrong, the same for the same seed.

Whether an answer or a delivery goes wrong, and how, follows from a hash of its id, which is itself
drawn from the seed: nothing is counted, and nothing depends on the order in which things happen.
`svc.sandbox.api.requests` asks `loses` for each POST that succeeded, `webhooks.attempts` asks
`rule_for` for each delivery for which no fault rule is set.
"""

import hashlib
from typing import Final

from svc.sandbox.faults.webhooks import WebhookRule

_WHOLE: Final = 1 << 64
_LATE_MS: Final = 1500  # real milliseconds
_OVERTAKEN_MS: Final = 300  # what is emitted together with it comes first
_DELIVERIES: Final = (
    WebhookRule(effect="duplicate"),
    WebhookRule(effect="delay", delay_ms=_LATE_MS),
    WebhookRule(effect="delay", delay_ms=_OVERTAKEN_MS),
)


def loses(share: float, request: str) -> bool:
    """Whether the answer to a request is lost, after what it did was committed."""
    return share > 0 and _draw(request) < share * _WHOLE


def rule_for(share: float, delivery: str) -> WebhookRule | None:
    """What happens to a delivery: it is doubled, late, or overtaken by others; None for nothing."""
    drawn = _draw(delivery)
    return _DELIVERIES[drawn % len(_DELIVERIES)] if drawn < share * _WHOLE else None


def _draw(identity: str) -> int:
    return int.from_bytes(hashlib.blake2b(identity.encode(), digest_size=8).digest(), "big")
