"""What `svc events audit` lists, held against histories of the sandbox with deliveries dropped."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from support.clocks import ManualClock
from support.sandbox_calls import AsgiSandbox
from svc import service
from svc.listen.audit import Audit, ExpectedEvent
from svc.listen.inbox.received import ReceivedEvents
from svc.sandbox.clock import parse
from svc.service.facts import EVENT_TYPES
from svc.state import Database

Pair = tuple[str, str]


@pytest.fixture(scope="module")
def history() -> Iterator[AsgiSandbox]:
    made = AsgiSandbox()
    yield made
    made.close()


def draw(sandbox: AsgiSandbox, chance: random.Random) -> list[dict[str, Any]]:
    """Has a sandbox live through drawn days from an empty state; returns all its events."""
    assert sandbox.control("/reset").status == 200
    for _ in range(chance.randint(3, 10)):
        event = chance.choice(EVENT_TYPES)
        assert sandbox.control("/events/trigger", {"type": event}).status == 200
        if chance.random() < 0.7:
            sandbox.control("/clock/advance", {"seconds": chance.choice((1, 90, 86400, 2 * 86400))})
    return every(sandbox, "/_sandbox/events")


def every(sandbox: AsgiSandbox, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while True:
        more = {"starting_after": found[-1]["id"]} if found else {}
        query = urlencode({"limit": 100, **more})
        page = sandbox.call("GET", path, query=query, headers={"svc-sandbox": "1"}).json
        found += page["data"]
        if not page["has_more"]:
            return found


def objects(sandbox: AsgiSandbox) -> list[dict[str, Any]]:
    return [
        one
        for resource in service.nouns()
        if resource.implies
        for one in every(sandbox, resource.path)
    ]


def pair_of(event: dict[str, Any]) -> Pair:
    return event["type"], event["data"]["object"]["id"]


def audit(received: ReceivedEvents, sandbox: AsgiSandbox) -> list[ExpectedEvent]:
    found = Audit(received.has, frozenset(EVENT_TYPES), 0, 2**40)
    return [event for one in objects(sandbox) for event in found.compare(one)]


def is_traceless(event: dict[str, Any], now: dict[str, dict[str, Any]]) -> bool:
    """Whether the state of a payment shows no trace of the event: it was processing and is not."""
    about = now[event["data"]["object"]["id"]]
    return bool(event["type"] == "payment.processing" and about["status"] != "processing")


@pytest.mark.limit(300)
@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=pytest.mark.slow(seconds=10, rare=first >= 100))
        for first in range(0, 200, 50)
    ],
)
def test_audit_lists_just_the_events_that_were_dropped(
    tmp_path: Path, history: AsgiSandbox, first: int
) -> None:
    """For 200 seeds: no event that came is listed, and each that was dropped is, at its time."""
    dropped_in_all = 0
    for seed in range(first, first + 50):
        chance = random.Random(seed)
        events = draw(history, chance)
        now = {one["id"]: one for one in objects(history)}
        dropped = [event for event in events if chance.random() < 0.3]
        kept = [pair_of(event) for event in events if event not in dropped]
        with Database.open(tmp_path / f"{seed}.db", clock=ManualClock(0)) as state:
            received = ReceivedEvents(state)
            received.add(kept)
            missed = audit(received, history)
            found = Counter((one.type, one.object_id) for one in missed)
        wanted = Counter(pair_of(one) for one in dropped if not is_traceless(one, now))
        assert found == wanted, f"seed {seed}"
        sent = {(*pair_of(one), parse(one["created"]).timestamp()) for one in events}
        dated = {(one.type, one.object_id, one.at) for one in missed if one.at is not None}
        assert dated <= sent, f"seed {seed}"
        dropped_in_all += wanted.total()
    assert dropped_in_all > 200


def test_every_type_of_event_is_shown_by_a_state(history: AsgiSandbox) -> None:
    """Each of the 18 types, right after it was sent; with the second in which it was."""
    for event_type in EVENT_TYPES:
        sent = history.control("/events/trigger", {"type": event_type}).json["events"]
        event = next(one for one in sent if one["type"] == event_type)
        whole = history.get(f"/v1/events/{event['id']}").json
        identifier = whole["data"]["object"]["id"]
        [about] = [one for one in objects(history) if one["id"] == identifier]
        found = Audit(lambda *_: False, [event_type], 0, 2**40)
        [expected] = found.compare(about)
        assert expected.at in (None, parse(whole["created"]).timestamp()), event_type


def test_types_that_states_show_are_types_of_the_service() -> None:
    shown = {each.event for noun in service.nouns() for each in noun.implies}
    assert shown == set(EVENT_TYPES)
