"""Webhook fault rules: what a receiver sees of them, and what the log says (R90)."""

import re
from typing import Any

import pytest

from unit.sandbox.control.lab import Lab

SCHEDULE = [0, 60, 660, *(4260 + 6 * 3600 * step for step in range(12))]


def test_no_rule_delivers_once(lab: Lab) -> None:
    """Without a rule every event arrives once, verified."""
    lab.listen("order.cancelled")
    event = lab.cancel()
    assert lab.run()["deliveries"] == 1
    (got,) = lab.got
    assert (got.event, got.attempt, got.verdict, got.time) == (event, "1", "verified", 0)
    assert dict(lab.postman.sent[0].headers)["User-Agent"] == "Svc-Webhooks/1.0"


def test_duplicate_delivers_the_same_event_again(lab: Lab) -> None:
    """Same event id and bytes, `count` times more, each with a new delivery id; all are logged."""
    lab.listen("order.cancelled")
    lab.fault("duplicate", count=2)
    event = lab.cancel()
    assert lab.run()["deliveries"] == 3
    assert [got.event for got in lab.got] == [event] * 3
    assert {got.verdict for got in lab.got} == {"verified"}
    assert len({got.delivery for got in lab.got}) == 3
    assert len({outgoing.body for outgoing in lab.postman.sent}) == 1
    assert sorted(row["id"] for row in lab.log) == sorted(got.delivery for got in lab.got)
    assert {row["status"] for row in lab.log} == {"succeeded"}
    lab.cancel()
    assert lab.run()["deliveries"] == 1


def test_copies_do_not_disturb_the_retries(lab: Lab) -> None:
    """A duplicated first attempt fails: the 14 others follow at their times, numbered on."""
    lab.listen("order.cancelled")
    lab.fault("duplicate", count=3)
    lab.postman.codes = [500]
    lab.cancel()
    assert lab.run(seconds=72 * 3600)["deliveries"] == 18
    chain = [got.attempt for got in lab.got[:1] + lab.got[4:]]
    assert chain == [str(number) for number in range(1, 16)]
    assert {got.attempt for got in lab.got[1:4]} == {"1"}


def test_copy_of_a_failed_delivery_may_succeed(lab: Lab) -> None:
    """What a copy brings is written down; the chain of retries goes on as before."""
    lab.listen("order.cancelled")
    lab.fault("duplicate")
    lab.postman.codes = [500, 200, 200]
    lab.cancel()
    lab.run()
    assert sorted(row["status"] for row in lab.log) == ["failed", "pending", "succeeded"]
    lab.run(until="idle")
    assert [got.attempt for got in lab.got] == ["1", "1", "2"]


def test_reorder_delivers_the_last_first(lab: Lab) -> None:
    """Three are held and go in reverse; what comes later is in order again."""
    lab.listen("order.cancelled")
    lab.fault("reorder", count=3)
    events = [lab.cancel() for _ in range(3)]
    lab.run()
    later = lab.cancel()
    lab.run()
    assert [got.event for got in lab.got] == [*reversed(events), later]
    assert {got.verdict for got in lab.got} == {"verified"}


def test_reorder_takes_a_pair_by_default(lab: Lab) -> None:
    """One change's two events arrive the wrong way round."""
    lab.listen("payment.captured", "order.paid")
    lab.fault("reorder")
    lab.control("/events/trigger", {"type": "order.paid"})
    lab.run()
    assert [got.type for got in lab.got] == ["order.paid", "payment.captured"]


def test_reorder_holds_over_moments_of_one_advance(lab: Lab) -> None:
    """Events of different moments are reordered too, as long as one advance covers them."""
    lab.listen("refund.created", "refund.succeeded")
    lab.fault("reorder")
    lab.control("/events/trigger", {"type": "refund.created"})
    lab.run(seconds=60)
    assert [got.type for got in lab.got] == ["refund.succeeded", "refund.created"]
    starts = {row["event_type"]: row["started_at"] for row in lab.log}
    assert starts == dict.fromkeys(("refund.created", "refund.succeeded"), "2026-10-01T09:00:05Z")


def test_incomplete_group_goes_at_the_end_of_an_advance(lab: Lab) -> None:
    """Too few came: what is held goes in reverse, and the advance ends."""
    lab.listen("order.cancelled")
    lab.fault("reorder", count=50)
    events = [lab.cancel() for _ in range(12)]
    assert lab.run(seconds=10)["deliveries"] == 12
    assert [got.event for got in lab.got] == list(reversed(events))


def test_held_deliveries_do_not_stop_a_failing_endpoint_from_being_disabled(lab: Lab) -> None:
    """Five days of failures end in `disabled` although a rule holds attempts back."""
    endpoint = lab.listen("order.cancelled")
    lab.postman.codes = [500]
    lab.cancel()
    lab.run()
    lab.fault("reorder", count=100, times=1000)
    for _ in range(6):
        lab.cancel()
        lab.run(seconds=86400)
    (shown,) = lab.control("/webhook_endpoints", method="GET")["data"]
    assert (shown["id"], shown["status"]) == (endpoint, "disabled")


def test_resend_is_never_held(lab: Lab) -> None:
    """A resend answers although a rule would hold the delivery back."""
    lab.listen("order.cancelled")
    event = lab.cancel()
    lab.run()
    lab.fault("reorder", count=2)
    (made,) = lab.control(f"/events/{event}/resend")["data"]
    assert made["status"] == "succeeded"


def test_resend_lets_what_is_held_go(lab: Lab) -> None:
    """Asked for the very delivery that a rule holds: it goes now, once."""
    lab.listen("order.cancelled")
    lab.fault("reorder", count=2)
    event = lab.cancel()
    (made,) = lab.control(f"/events/{event}/resend")["data"]
    assert made["status"] == "succeeded"
    lab.run(until="idle")
    assert [got.event for got in lab.got] == [event]


def test_clearing_a_rule_lets_what_it_holds_go(lab: Lab) -> None:
    """Nothing waits for a rule that is gone."""
    lab.listen("order.cancelled")
    rule = lab.fault("reorder", count=3)
    first, second = lab.cancel(), lab.cancel()
    lab.sandbox.control("/health", method="GET")  # the loop turns: both are held now
    assert lab.got == []
    assert lab.control(f"/webhook_faults/{rule}", method="DELETE")["deleted"] is True
    lab.run()
    assert [got.event for got in lab.got] == [second, first]


def test_drop_counts_as_failed_without_sending(lab: Lab) -> None:
    """Nothing reaches the receiver; the retry comes a minute later and does."""
    lab.listen("order.cancelled")
    lab.fault("drop")
    event = lab.cancel()
    lab.run()
    assert lab.got == []
    failed, pending = lab.log
    assert (failed["status"], failed["error"]) == ("failed", "dropped_by_fault_rule")
    assert (pending["status"], failed["next_attempt"]) == ("pending", "2026-10-01T09:01:00Z")
    lab.run(until="next")
    assert [(got.event, got.attempt) for got in lab.got] == [(event, "2")]


def test_bad_signature_is_off_by_its_last_digit(lab: Lab) -> None:
    """The header differs in one hex digit and does not verify, not even during a rotation."""
    endpoint = lab.listen("order.cancelled")
    lab.fault("bad_signature", times=2)
    lab.cancel()
    lab.run()
    lab.control(f"/webhook_endpoints/{endpoint}/roll_secret", {"expires_in": 3600})
    for _ in range(2):
        lab.cancel()
        lab.run()
    verdicts = ["signature_mismatch", "signature_mismatch", "verified"]
    assert [got.verdict for got in lab.got] == verdicts
    header = dict(lab.postman.sent[1].headers)["Svc-Signature"]
    assert re.fullmatch(r"t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}", header)


def test_stale_timestamp_is_ten_minutes_old_and_signed(lab: Lab) -> None:
    """The signature is right; only its age is not."""
    lab.listen("order.cancelled")
    lab.fault("stale_timestamp")
    lab.cancel()
    lab.run()
    (got,) = lab.got
    assert (got.verdict, got.time) == ("timestamp_too_old", -600)


def test_delay_sends_later(lab: Lab) -> None:
    """The attempt waits for real milliseconds, and the signature is made when it leaves."""
    lab.listen("order.cancelled")
    lab.fault("delay", delay_ms=20)
    lab.cancel()
    assert lab.run()["deliveries"] == 1
    assert [got.verdict for got in lab.got] == ["verified"]


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
def test_match(lab: Lab, match: dict[str, Any], hit: bool) -> None:
    """Type pattern and endpoint must both fit; null fits everything."""
    lab.listen("order.cancelled")
    lab.fault("drop", match=match)
    lab.cancel()
    lab.run()
    assert len(lab.got) == (0 if hit else 1)


def test_a_rule_for_one_endpoint_spares_the_other(lab: Lab) -> None:
    """The id of an endpoint limits a rule to it."""
    spared, hit = lab.listen("order.cancelled"), lab.listen("order.cancelled")
    lab.fault("drop", match={"endpoint": hit})
    lab.cancel()
    lab.run()
    statuses = {row["endpoint"]: row["status"] for row in lab.log if row["attempt"] == 1}
    assert statuses == {spared: "succeeded", hit: "failed"}


def test_skip_and_times(lab: Lab) -> None:
    """`skip` lets some pass, `times` limits how often it fires; retries count too."""
    lab.listen("order.cancelled")
    lab.fault("drop", skip=1, times=2)
    lab.postman.codes = [500]
    lab.cancel()
    lab.run(seconds=72 * 3600)
    errors = [row["error"] for row in lab.log]
    assert errors == [None, "dropped_by_fault_rule", "dropped_by_fault_rule", *[None] * 12]
    (rule,) = lab.control("/webhook_faults", method="GET")["data"]
    assert rule["fired"] == 2


def test_times_counts_groups_of_a_reorder(lab: Lab) -> None:
    """Two groups of two are reordered, the fifth delivery is not."""
    lab.listen("order.cancelled")
    lab.fault("reorder", count=2, times=2)
    events = [lab.cancel() for _ in range(5)]
    lab.run()
    order = [events.index(got.event) for got in lab.got]
    assert order.index(1) < order.index(0)
    assert order.index(3) < order.index(2)
    assert len(order) == 5


def test_dropping_keeps_the_schedule(lab: Lab) -> None:
    """15 dropped attempts at the 15 times of the schedule, and not one request."""
    lab.listen("order.cancelled")
    lab.fault("drop", times=100)
    lab.cancel()
    lab.run(seconds=72 * 3600)
    assert lab.got == []
    assert len(lab.log) == len(SCHEDULE)
    (mail,) = lab.control("/emails", method="GET")["data"]
    assert mail["type"] == "webhook_failing"


def test_rules_are_shown_and_removed(lab: Lab) -> None:
    """A rule of each kind has its own list; one or all can be deleted; a reset forgets them."""
    shown = lab.control("/webhook_faults", {"effect": "drop", "match": {"type": "order.*"}})
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
    assert lab.control("/faults", method="GET")["data"] == []
    assert lab.control(f"/webhook_faults/{shown['id']}", method="DELETE") == {
        "id": shown["id"],
        "object": "webhook_fault",
        "deleted": True,
    }
    gone = lab.sandbox.control(f"/webhook_faults/{shown['id']}", method="DELETE")
    assert (gone.status, gone.code) == (404, "resource_missing")
    lab.fault("drop")
    lab.fault("drop")
    assert lab.control("/webhook_faults", method="DELETE")["deleted"] == 2
    lab.fault("drop")
    lab.control("/reset")
    assert lab.control("/webhook_faults", method="GET")["data"] == []


ROWS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "parameter_missing", "effect"),
    ({"effect": "explode"}, "parameter_invalid_value", "effect"),
    ({"effect": "delay"}, "parameter_missing", "delay_ms"),
    ({"effect": "duplicate", "count": 0}, "parameter_invalid_integer", "count"),
    ({"effect": "duplicate", "count": 101}, "parameter_invalid_integer", "count"),
    ({"effect": "drop", "times": 0}, "parameter_invalid_integer", "times"),
    ({"effect": "drop", "match": {"path": "/v1"}}, "parameter_unknown", "match[path]"),
    ({"effect": "drop", "phase": "after"}, "parameter_unknown", "phase"),
]


@pytest.mark.parametrize(("rule", "code", "param"), ROWS)
def test_rules_are_checked(lab: Lab, rule: Any, code: str, param: str) -> None:
    """A rule that could not mean anything is refused."""
    answer = lab.sandbox.control("/webhook_faults", rule)
    assert (answer.status, answer.code, answer.param) == (400, code, param)


def test_stopping_forgets_nothing_that_is_held(lab: Lab) -> None:
    """A reset while a rule holds deliveries ends them; the sandbox goes on."""
    lab.listen("order.cancelled")
    lab.fault("reorder", count=9)
    lab.cancel()
    lab.control("/reset")
    lab.listen("order.cancelled")
    event = lab.cancel()
    lab.run()
    assert [got.event for got in lab.got] == [event]
