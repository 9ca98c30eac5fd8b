"""Requests as the journal is asked about them, and how they end."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from support.calls import refunds
from svc.base_url import BaseUrl
from svc.client.call import Call
from svc.client.request import prepare
from svc.delivery.journal.entry import Intent, NewIntent, Scope, Settled, store_call
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.refusals import format_full_command
from svc.delivery.journal.transaction import Like
from svc.delivery.send import choose_command

BASE = BaseUrl.parse("https://api.example.com")
SCOPE = Scope("default", "test", str(BASE), "sk_test_…ary1")
REFUND = refunds.create({"payment": "pay_1", "amount": 4999})
DONE = Settled("done", 200, "rf_1", "req_1")
HOUR = 3600
OTHERS = Scope("other", "test", str(BASE), "sk_test_…wxyz")
_numbers = count(2)

Open = Callable[[], Journal]


def asked(call: Call = REFUND, key: str = "key-1", scope: Scope = SCOPE, **more: Any) -> NewIntent:
    prepared = prepare(call, BASE, new_key=lambda: key, api_version=more.pop("version", None))
    return NewIntent(store_call(call, prepared), scope, **more)


def record(intents: Journal, new: NewIntent, *, new_request: bool = False) -> Intent:
    """Records a single command's request as `delivery.send` does."""

    def choose(likes: Sequence[Like]) -> Intent | None:
        return choose_command(new, likes, intents._clock.now(), format_full_command, lambda _: None)

    return intents.record(new, choose, new_request=new_request)


def done() -> Settled:
    """The end of a request that has made something of its own."""
    return DONE._replace(object_id=f"rf_{next(_numbers)}")


def end(intents: Journal, intent: Intent, outcome: Any = "unknown", **more: Any) -> None:
    intents.settle(intent, Settled(outcome, **more))


def is_busy(intents: Journal, intent: Intent) -> bool:
    """Whether the journal says by now that somebody is sending a request."""
    kept = intents.find(intent.id)
    assert kept is not None
    return intents.is_in_flight(kept)
