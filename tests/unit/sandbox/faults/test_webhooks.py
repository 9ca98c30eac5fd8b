"""Webhook fault rules: what a receiver sees of them, and what the log says (R90)."""

import re
from typing import Any

import pytest

from svc.sandbox.faults.webhooks import WebhookFaults, WebhookRule
from unit.sandbox.faults.watched import WatchedSandbox

SCHEDULE = [0, 60, 660, *(4260 + 6 * 3600 * step for step in range(12))]


def test_duplicate_delivers_the_same_event_again(watched: WatchedSandbox) -> None:
    """Same event id and bytes, `count` times more, each with a new delivery id; all are logged."""
    watched.listen("order.cancelled")
    watched.fault("duplicate", count=2)
    event = watched.cancel()
    assert watched.run()["deliveries"] == 3
    assert [got.event for got in watched.got] == [event] * 3
    assert {got.verdict for got in watched.got} == {"verified"}
    assert len({got.delivery for got in watched.got}) == 3
    assert len({outgoing.body for outgoing in watched.postman.sent}) == 1
    assert sorted(row["id"] for row in watched.log) == sorted(got.delivery for got in watched.got)
    assert {row["status"] for row in watched.log} == {"succeeded"}
    watched.cancel()
    assert watched.run()["deliveries"] == 1


def test_a_rule_for_other_events_hides_none_behind_it(watched: WatchedSandbox) -> None:
    """The first rule that applies counts, not the first that there is."""
    watched.listen("order.cancelled")
    watched.fault("drop", match={"type": "order.paid"})
    watched.fault("duplicate")
    watched.cancel()
    assert watched.run()["deliveries"] == 2


def test_copies_do_not_disturb_the_retries(watched: WatchedSandbox) -> None:
    """A duplicated first attempt fails: the 14 others follow at their times, numbered on."""
    watched.listen("order.cancelled")
    watched.fault("duplicate", count=3)
    watched.postman.codes = [500]
    watched.cancel()
    assert watched.run(seconds=72 * 3600)["deliveries"] == 18
    chain = [got.attempt for got in watched.got[:1] + watched.got[4:]]
    assert chain == [str(number) for number in range(1, 16)]
    assert {got.attempt for got in watched.got[1:4]} == {"1"}


def test_copy_of_a_failed_delivery_may_succeed(watched: WatchedSandbox) -> None:
    """What a copy brings is written down; the chain of retries goes on as before."""
    watched.listen("order.cancelled")
    watched.fault("duplicate")
    watched.postman.codes = [500, 200, 200]
    watched.cancel()
    watched.run()
    assert sorted(row["status"] for row in watched.log) == ["failed", "pending", "succeeded"]
    watched.run(until="idle")
    assert [got.attempt for got in watched.got] == ["1", "1", "2"]


def test_reorder_delivers_the_last_first(watched: WatchedSandbox) -> None:
    """Three are held and go in reverse; what comes later is in order again."""
    watched.listen("order.cancelled")
    watched.fault("reorder", count=3)
    events = [watched.cancel() for _ in range(3)]
    watched.run()
    later = watched.cancel()
    watched.run()
    assert [got.event for got in watched.got] == [*reversed(events), later]
    assert {got.verdict for got in watched.got} == {"verified"}


def test_reorder_holds_over_moments_of_one_advance(watched: WatchedSandbox) -> None:
    """Events of different moments are reordered too, as long as one advance covers them."""
    watched.listen("refund.created", "refund.succeeded")
    watched.fault("reorder")
    watched.control("/events/trigger", {"type": "refund.created"})
    watched.run(seconds=60)
    assert [got.type for got in watched.got] == ["refund.succeeded", "refund.created"]
    starts = {row["event_type"]: row["started_at"] for row in watched.log}
    assert starts == dict.fromkeys(("refund.created", "refund.succeeded"), "2026-10-01T09:00:05Z")


def test_incomplete_group_goes_at_the_end_of_an_advance(watched: WatchedSandbox) -> None:
    """Too few came: what is held goes in reverse, and the advance ends."""
    watched.listen("order.cancelled")
    watched.fault("reorder", count=50)
    events = [watched.cancel() for _ in range(12)]
    assert watched.run(seconds=10)["deliveries"] == 12
    assert [got.event for got in watched.got] == list(reversed(events))


def test_held_deliveries_do_not_stop_a_failing_endpoint_from_being_disabled(
    watched: WatchedSandbox,
) -> None:
    """Five days of failures end in `disabled` although a rule holds attempts back."""
    endpoint = watched.listen("order.cancelled")
    watched.postman.codes = [500]
    watched.cancel()
    watched.run()
    watched.fault("reorder", count=100, times=1000)
    for _ in range(6):
        watched.cancel()
        watched.run(seconds=86400)
    (shown,) = watched.control("/webhook_endpoints", method="GET")["data"]
    assert (shown["id"], shown["status"]) == (endpoint, "disabled")


def test_resend_is_never_held(watched: WatchedSandbox) -> None:
    """A resend answers although a rule would hold the delivery back."""
    watched.listen("order.cancelled")
    event = watched.cancel()
    watched.run()
    watched.fault("reorder", count=2)
    (made,) = watched.control(f"/events/{event}/resend")["data"]
    assert made["status"] == "succeeded"


def test_resend_lets_what_is_held_go(watched: WatchedSandbox) -> None:
    """Asked for the very delivery that a rule holds: it goes now, once."""
    watched.listen("order.cancelled")
    watched.fault("reorder", count=2)
    event = watched.cancel()
    (made,) = watched.control(f"/events/{event}/resend")["data"]
    assert made["status"] == "succeeded"
    watched.run(until="idle")
    assert [got.event for got in watched.got] == [event]


def test_clearing_a_rule_lets_what_it_holds_go(watched: WatchedSandbox) -> None:
    watched.listen("order.cancelled")
    rule = watched.fault("reorder", count=3)
    first, second = watched.cancel(), watched.cancel()
    watched.sandbox.control("/health", method="GET")  # the loop turns: both are held now
    assert watched.got == []
    assert watched.control(f"/webhook_faults/{rule}", method="DELETE")["deleted"] is True
    watched.run()
    assert [got.event for got in watched.got] == [second, first]


def test_drop_counts_as_failed_without_sending(watched: WatchedSandbox) -> None:
    """Nothing reaches the receiver; the retry comes a minute later and does."""
    watched.listen("order.cancelled")
    watched.fault("drop")
    event = watched.cancel()
    watched.run()
    assert watched.got == []
    failed, pending = watched.log
    assert (failed["status"], failed["error"]) == ("failed", "dropped_by_fault_rule")
    assert (pending["status"], failed["next_attempt"]) == ("pending", "2026-10-01T09:01:00Z")
    watched.run(until="next")
    assert [(got.event, got.attempt) for got in watched.got] == [(event, "2")]


def test_bad_signature_is_off_by_its_last_digit(watched: WatchedSandbox) -> None:
    """The header differs in one hex digit and does not verify, not even during a rotation."""
    endpoint = watched.listen("order.cancelled")
    watched.fault("bad_signature", times=2)
    watched.cancel()
    watched.run()
    watched.control(f"/webhook_endpoints/{endpoint}/roll_secret", {"expires_in": 3600})
    for _ in range(2):
        watched.cancel()
        watched.run()
    verdicts = ["signature_mismatch", "signature_mismatch", "verified"]
    assert [got.verdict for got in watched.got] == verdicts
    header = dict(watched.postman.sent[1].headers)["Svc-Signature"]
    assert re.fullmatch(r"t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}", header)


def test_stale_timestamp_is_ten_minutes_old_and_signed(watched: WatchedSandbox) -> None:
    """The signature is right; only its age is not."""
    watched.listen("order.cancelled")
    watched.fault("stale_timestamp")
    watched.cancel()
    watched.run()
    (got,) = watched.got
    assert (got.verdict, got.time) == ("timestamp_too_old", -600)


def test_delay_sends_later(watched: WatchedSandbox) -> None:
    """The attempt waits for real milliseconds, and the signature is made when it leaves."""
    watched.listen("order.cancelled")
    watched.fault("delay", delay_ms=20)
    watched.cancel()
    assert watched.run()["deliveries"] == 1
    assert [got.verdict for got in watched.got] == ["verified"]


async def test_an_attempt_waits_as_long_as_its_rule_says() -> None:
    """The wait comes before it."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    rule = WebhookRule(id="flt_1", effect="delay", delay_ms=15000)
    async with WebhookFaults(sleep).turn(rule):
        assert slept == [15.0]
    assert slept == [15.0]


MATCHES: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"type": None, "endpoint": None}, True),
    ({"type": "order.cancelled"}, True),
    ({"type": "order.*"}, True),
    ({"type": "*"}, True),
    ({"type": "payment.*"}, False),
    ({"type": "order"}, False),
    ({"endpoint": "we_nobody"}, False),
]


@pytest.mark.parametrize(("match", "hit"), MATCHES)
def test_match(watched: WatchedSandbox, match: dict[str, Any], hit: bool) -> None:
    """Type pattern and endpoint must both fit; null fits everything."""
    watched.listen("order.cancelled")
    watched.fault("drop", match=match)
    watched.cancel()
    watched.run()
    assert len(watched.got) == (0 if hit else 1)


def test_a_rule_for_one_endpoint_spares_the_other(watched: WatchedSandbox) -> None:
    spared, hit = watched.listen("order.cancelled"), watched.listen("order.cancelled")
    watched.fault("drop", match={"endpoint": hit})
    watched.cancel()
    watched.run()
    statuses = {row["endpoint"]: row["status"] for row in watched.log if row["attempt"] == 1}
    assert statuses == {spared: "succeeded", hit: "failed"}


def test_skip_and_times(watched: WatchedSandbox) -> None:
    """`skip` lets some pass, `times` limits how often it fires; retries count too."""
    watched.listen("order.cancelled")
    watched.fault("drop", skip=1, times=2)
    watched.postman.codes = [500]
    watched.cancel()
    watched.run(seconds=72 * 3600)
    errors = [row["error"] for row in watched.log]
    assert errors == [None, "dropped_by_fault_rule", "dropped_by_fault_rule", *[None] * 12]
    (rule,) = watched.control("/webhook_faults", method="GET")["data"]
    assert rule["fired"] == 2


def test_times_counts_groups_of_a_reorder(watched: WatchedSandbox) -> None:
    """Two groups of two are reordered, the fifth delivery is not."""
    watched.listen("order.cancelled")
    watched.fault("reorder", count=2, times=2)
    events = [watched.cancel() for _ in range(5)]
    watched.run()
    order = [events.index(got.event) for got in watched.got]
    assert order.index(1) < order.index(0)
    assert order.index(3) < order.index(2)
    assert len(order) == 5


def test_dropping_keeps_the_schedule(watched: WatchedSandbox) -> None:
    """15 dropped attempts at the 15 times of the schedule, and not one request."""
    watched.listen("order.cancelled")
    watched.fault("drop", times=100)
    watched.cancel()
    watched.run(seconds=72 * 3600)
    assert watched.got == []
    assert len(watched.log) == len(SCHEDULE)
    (mail,) = watched.control("/emails", method="GET")["data"]
    assert mail["type"] == "webhook_failing"


def test_rules_are_shown_and_removed(watched: WatchedSandbox) -> None:
    """A rule of each kind has its own list; one or all can be deleted; a reset forgets them."""
    shown = watched.control("/webhook_faults", {"effect": "drop", "match": {"type": "order.*"}})
    assert shown == {
        "id": shown["id"],
        "object": "webhook_fault",
        "match": {"type": "order.*"},
        "skip": 0,
        "times": 1,
        "effect": "drop",
        "count": 1,
        "delay_ms": 0,
        "fired": 0,
    }
    assert shown["id"].startswith("flt_")
    assert watched.control("/faults", method="GET")["data"] == []
    assert watched.control(f"/webhook_faults/{shown['id']}", method="DELETE") == {
        "id": shown["id"],
        "object": "webhook_fault",
        "deleted": True,
    }
    gone = watched.sandbox.control(f"/webhook_faults/{shown['id']}", method="DELETE")
    assert (gone.status, gone.code) == (404, "resource_missing")
    watched.fault("drop")
    watched.fault("drop")
    assert watched.control("/webhook_faults", method="DELETE")["deleted"] == 2
    watched.fault("drop")
    watched.control("/reset")
    assert watched.control("/webhook_faults", method="GET")["data"] == []


def test_delay_says_how_long(watched: WatchedSandbox) -> None:
    answer = watched.sandbox.control("/webhook_faults", {"effect": "delay"})
    assert (answer.status, answer.code, answer.param) == (400, "parameter_missing", "delay_ms")


def test_stopping_forgets_nothing_that_is_held(watched: WatchedSandbox) -> None:
    """A reset while a rule holds deliveries ends them; the sandbox goes on."""
    watched.listen("order.cancelled")
    watched.fault("reorder", count=9)
    watched.cancel()
    watched.control("/reset")
    watched.listen("order.cancelled")
    event = watched.cancel()
    watched.run()
    assert [got.event for got in watched.got] == [event]
