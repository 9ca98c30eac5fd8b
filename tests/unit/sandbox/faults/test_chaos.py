"""Chaos: the share that the setting says goes wrong, the same for the same seed."""

from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox
from svc.sandbox.faults import chaos
from svc.sandbox.faults.api import BrokenByRuleError
from unit.sandbox.faults.watched import WatchedSandbox


def lost(sandbox: AsgiSandbox, count: int) -> list[int]:
    """Which of so many creations, each under a key of its own, got no answer."""
    gone = []
    for number in range(count):
        try:
            sandbox.post("/v1/orders", sandbox.order_params, idem=f"key-{number}")
        except BrokenByRuleError:
            gone.append(number)
    return gone


def test_that_share_of_answers_is_lost_after_the_commit(make_sandbox: Any) -> None:
    """All orders are made; whoever tries again with the key gets the original, or is lost again."""
    sandbox = make_sandbox()
    sandbox.settings(chaos=0.2)
    gone = lost(sandbox, 100)
    assert 10 <= len(gone) <= 30
    assert len(sandbox.get("/v1/orders", limit=100).json["data"]) == 100
    sandbox.settings(chaos=0)
    again = sandbox.post("/v1/orders", sandbox.order_params, idem=f"key-{gone[0]}")
    assert again.headers["idempotent-replayed"] == "true"
    same = make_sandbox()
    same.settings(chaos=0.2)
    assert lost(same, 100) == gone


@pytest.mark.parametrize(
    ("share", "low", "high"), [(0.0, 0, 0), (0.1, 150, 250), (1.0, 2000, 2000)]
)
def test_that_share_of_deliveries_goes_wrong(share: float, low: int, high: int) -> None:
    """Doubled, late or overtaken, each about as often as the others."""
    found = [chaos.rule_for(share, f"dlv_{number}") for number in range(2000)]
    rules = [rule for rule in found if rule is not None]
    assert low <= len(rules) <= high
    kinds = {(rule.effect, rule.delay_ms) for rule in rules}
    assert kinds == ({("duplicate", 0), ("delay", 1500), ("delay", 300)} if share else set())


def test_deliveries_go_wrong_as_their_ids_say(watched: WatchedSandbox) -> None:
    """With chaos=1 every one: what is doubled comes twice, verified, and nothing is missing."""
    watched.listen("order.cancelled")
    watched.sandbox.settings(chaos=1)
    events = {watched.cancel() for _ in range(6)}
    watched.run()
    owed = {row["event"]: row["id"] for row in reversed(watched.log)}
    drawn = [chaos.rule_for(1.0, identity) for identity in owed.values()]
    doubled = sum(rule is not None and rule.effect == "duplicate" for rule in drawn)
    assert {got.event for got in watched.got} == events
    assert {got.verdict for got in watched.got} == {"verified"}
    assert (len(owed), len(watched.got)) == (6, 6 + doubled)
    assert doubled > 0
