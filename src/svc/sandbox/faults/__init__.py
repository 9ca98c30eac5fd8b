"""Fault rules: what goes wrong on purpose, in the API and on the way to a receiver of webhooks."""

from typing import Literal

ConnectionFault = Literal["close", "reset", "truncate", "garbage", "drip"]
WebhookEffect = Literal["duplicate", "reorder", "drop", "bad_signature", "stale_timestamp", "delay"]
