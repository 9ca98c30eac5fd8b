"""`svc timeline` against a real sandbox, a listener and a target: was she paid back, and who knows?"""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from support.listeners import Listen, Pay
from support.listening import TargetServer
from support.running import Sandbox, Svc
from support.serving import free_port


def kinds(steps: list[dict[str, str]], source: str) -> list[str]:
    return [one["what"] for one in steps if one["source"] == source]


class Refunded(NamedTuple):
    """A refund that is done, with what belongs to it; the target has all four events."""

    refund: str
    payment: str
    order: str

    @property
    def ids(self) -> set[str]:
        return set(self)


@pytest.fixture
def refunded(sandbox: Sandbox, svc: Svc, listen: Listen, pay: Pay, tmp_path: Path) -> Refunded:
    with TargetServer() as target, listen(tmp_path, "--forward-to", str(target.port)) as running:
        order = pay()
        payment = svc.ok("orders", "retrieve", order)["latest_payment"]
        refund = svc.ok("refunds", "create", "--payment", payment, "--amount", "500")["id"]
        svc.ok("sandbox", "settle", refund)
        running.wait("forward", 4)
        assert running.end() == 130
    return Refunded(refund, payment, order)


def test_a_refund_and_whether_the_shop_knows(svc: Svc, refunded: Refunded) -> None:
    """From any id of it: the service's states, the request, the events and the target's answers."""
    event = svc.ok("events", "inbox", "--type", "refund.succeeded")[0]["id"]
    request = svc.ok("requests", "list")[0]["id"]
    for identifier in (*refunded, event, request):
        story = svc.ok("timeline", identifier)
        assert (story["service"], story["gaps"]) == ("told", [])
        assert {one["id"] for one in story["objects"]} == refunded.ids
        steps = story["steps"]
        assert all(one["time"].startswith("20") for one in steps)
        assert steps == sorted(steps, key=lambda one: str(one["time"]))
        assert kinds(steps, "request") == ["refunds.create: done"]
        assert len(kinds(steps, "event")) == 4
        assert all(what.endswith(": 200") for what in kinds(steps, "target"))
        told = ["order.paid", "payment.captured", "refund.created"]
        assert sorted(kinds(steps, "service")) == told


@pytest.mark.parametrize("columns", [40, 80])
def test_a_story_fits_a_screen(svc: Svc, refunded: Refunded, columns: int) -> None:
    shown = svc("timeline", refunded.refund, "-o", "human", env={"COLUMNS": str(columns)})
    assert max(map(len, shown.out.splitlines())) <= columns
    for words in ("What the service says now", "5.00 EUR", "refund.succeeded"):
        assert words in shown.out


def test_without_the_service_it_tells_what_is_kept_here(
    sandbox: Sandbox, svc: Svc, refunded: Refunded
) -> None:
    away = {"match": {"path": "/v1/*"}, "effect": {"status": 503}, "times": 99}
    sandbox.control("POST", "/faults", away)
    found = svc("timeline", refunded.refund, "-o", "json", "--max-time", "1")
    assert found.code == 0
    story = json.loads(found.out)
    assert (story["service"], story["objects"]) == ("not_told", [])
    assert kinds(story["steps"], "request") == ["refunds.create: done"]
    assert "refund.succeeded received" in kinds(story["steps"], "event")
    assert "The service could not be asked, so its part is missing" in found.err


def test_what_is_missing_is_named(
    sandbox: Sandbox, svc: Svc, listen: Listen, pay: Pay, tmp_path: Path
) -> None:
    """A target that is away, an event that never came, and a refund whose outcome is not known."""
    with listen(tmp_path, "--forward-to", str(free_port())) as running:
        order = pay()
        running.wait("event", 2)
        running.wait("forward")
        assert running.end() == 130
    payment = svc.ok("orders", "retrieve", order)["latest_payment"]
    lost_answer = {"phase": "after", "times": 9, "effect": {"connection": "close"}}
    sandbox.control("POST", "/faults", {"match": {"method": "POST"}, **lost_answer})
    lost = svc("refunds", "create", "--payment", payment, "--amount", "500", "--max-time", "1")
    assert lost.code == 7
    svc.ok("sandbox", "advance", "2m")
    story = svc.ok("timeline", payment)
    missing = [one["what"] for one in story["gaps"]]
    assert "The outcome of refunds.create is not known" in missing
    assert "refund.created was not received" in missing
    assert any(what.startswith("order.paid waits for localhost:") for what in missing)
    commands = {"rq_": "svc requests resume", "evt": "svc events replay", "rf_": "svc get"}
    for one in story["gaps"]:
        assert one["next"] == f"{commands[one['id'][:3]]} {one['id']}"
    shown = svc("timeline", payment, "-o", "human", env={"COLUMNS": "40"})
    assert max(map(len, shown.out.splitlines())) <= 40
    told = [line.strip() for line in shown.err.replace("Next: ", "").splitlines()]
    assert {one["next"] for one in story["gaps"]} <= set(told)  # in one piece: to be typed


def test_an_id_without_a_story_is_refused(sandbox: Sandbox, svc: Svc) -> None:
    for identifier in ("ord_none", "evt_none"):
        found = svc("timeline", identifier, "-o", "json")
        assert (found.code, found.out, found.error["param"]) == (5, "", "ID"), identifier
        assert found.error["message"].startswith("Neither the service nor this machine knows")


def test_nothing_known_here_and_no_service_is_the_error_of_the_service(
    sandbox: Sandbox, svc: Svc
) -> None:
    found = svc("timeline", "ord_none", "-o", "json", env={"SVC_API_KEY": "sk_test_wrong"})
    assert (found.code, found.out) == (4, "")


def test_what_was_refunded_does_not_look_paid(svc: Svc, refunded: Refunded) -> None:
    """Beside what was paid stands what went back: was she paid back?"""
    told = svc("timeline", refunded.order, "-o", "human").out
    assert re.search(r"OBJECT +STATUS +AMOUNT +REFUNDED\n", told)
    assert re.search(r"ord_\w+ +paid +\d+\.\d\d EUR +5\.00 EUR\n", told)
    assert re.search(r"rf_\w+ +succeeded +5\.00 EUR\n", told)


def test_the_steps_of_one_second_are_told_by_cause(svc: Svc, sandbox: Sandbox) -> None:
    """A dispute stood before the payment that it is about; people see the seconds."""
    sandbox.control("POST", "/clock", {"mode": "manual"})
    dispute = svc.ok("sandbox", "trigger", "dispute.opened")["event"]["data"]["object"]["id"]
    svc.ok("sandbox", "advance", "2m")
    story = svc.ok("timeline", dispute)
    assert story["gaps"] == []  # no listener is known, to which anything should have come
    told = kinds(story["steps"], "service")
    assert told[-3:] == ["payment.captured", "order.paid", "dispute.opened"]
    shown = svc("timeline", dispute, "-o", "human").out
    assert re.search(
        r"^ +\d\d [A-Z][a-z]{2} \d\d:\d\d:\d\d  service: order.paid$", shown, re.MULTILINE
    )


def test_an_event_of_the_last_minute_is_said_to_be_on_its_way(
    svc: Svc, sandbox: Sandbox, listen: Listen, pay: Pay, tmp_path: Path
) -> None:
    """It is no gap yet; the story said nothing of it, as if it had come."""
    with listen(tmp_path) as running:
        assert running.end() == 130
    order = pay()
    result = svc("timeline", order)
    story = json.loads(result.out)
    assert (story["gaps"], story["awaited"]) == ([], ["order.paid", "payment.captured"])
    assert "perhaps on the way: order.paid, payment.captured" in result.err
