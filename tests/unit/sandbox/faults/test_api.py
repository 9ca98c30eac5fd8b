"""Fault rules for requests, word by word: what the API's own tests do not reach."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from support.sandbox_calls import SandboxAnswer
from svc.sandbox.faults.api import ApiRule, Faults, send_broken
from svc.sandbox.http.exchange import HttpReply
from svc.sandbox.parameters.problems import Problem
from unit.sandbox.faults.watched import WatchedSandbox


@pytest.mark.parametrize("way", ["reset", "import"])
@pytest.mark.parametrize("phase", ["before", "after"])
def test_what_a_rule_holds_back_until_after_a_reset_is_refused(
    watched: WatchedSandbox, phase: str, way: str
) -> None:
    """Nothing of before appears: neither what it asks for nor its hold on an idempotency key."""
    sandbox = watched.sandbox
    sandbox.get("/v1/orders")
    state = watched.control("/export", method="GET")
    watched.control("/faults", {"phase": phase, "effect": {"delay_ms": 300}})
    order: dict[str, Any] = {"json": sandbox.order_params, "idem": "k"}
    control: dict[str, Any] = {
        "headers": {"svc-sandbox": "1"},
        "json": state if way == "import" else {},
    }

    async def after_a_while(path: str, what: dict[str, Any]) -> SandboxAnswer:
        await asyncio.sleep(0.05)
        return await sandbox.exchange("POST", path, **what)

    async def all_of_it() -> tuple[SandboxAnswer, SandboxAnswer]:
        late = asyncio.create_task(sandbox.exchange("POST", "/v1/orders", **order))
        assert (await after_a_while(f"/_sandbox/{way}", control)).status == 200
        new = await sandbox.exchange("POST", "/v1/orders", **order)
        return await late, new

    late, new = sandbox._run(all_of_it())
    if phase == "before":
        assert (late.status, late.code) == (400, "sandbox_reset")
    else:
        assert late.status == 200
        assert late.headers["svc-sandbox-world"] != new.headers["svc-sandbox-world"]
    assert new.status == 200
    assert "idempotent-replayed" not in new.headers
    orders = sandbox.get("/v1/orders").json["data"]
    assert [each["id"] for each in orders] == [new.json["id"]]


def test_after_is_kept_for_a_request_that_succeeds(watched: WatchedSandbox) -> None:
    """A refused request has no answer to lose, and does not use the rule up."""
    watched.control("/faults", {"phase": "after", "effect": {"status": 500}})
    assert watched.sandbox.post("/v1/orders", {}).status == 400
    assert watched.sandbox.post("/v1/orders", watched.sandbox.order_params).status == 500
    assert watched.sandbox.post("/v1/orders", watched.sandbox.order_params).status == 200
    (rule,) = watched.control("/faults", method="GET")["data"]
    assert rule["fired"] == 1


@pytest.mark.parametrize(
    ("effect", "status"), [({"status": 503}, None), ({"connection": "garbage"}, 200), ({}, 418)]
)
def test_delay_goes_with_other_effects(effect: dict[str, Any], status: int | None) -> None:
    """First the wait, then what else is wrong; a delay alone leaves the answer as it is."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    faults = Faults(sleep)
    rule = ApiRule(id="flt_1", phase="after", effect={"delay_ms": 15000, **effect})
    spoilt = faults.apply(rule, "after", HttpReply(418, b"{}"))
    if status is None:
        with pytest.raises(Problem) as caught:
            asyncio.run(spoilt)
        assert caught.value.status == effect["status"]
    else:
        reply = asyncio.run(spoilt)
        assert reply is not None
        assert reply.status == status
    assert slept == [15.0]


BODIES = [
    ("<html>gone</html>", "text/html; charset=utf-8"),
    ("upstream timed out", "text/plain; charset=utf-8"),
    ('{"error":"x"}', "application/json; charset=utf-8"),
]


@pytest.mark.parametrize(("body", "media"), BODIES)
def test_body_is_sent_verbatim_with_a_fitting_type(
    watched: WatchedSandbox, body: str, media: str
) -> None:
    """What a proxy would send, with the type that it would give; nothing is the API's error."""
    watched.control("/faults", {"effect": {"status": 502, "body": body}})
    answer = watched.sandbox.get("/v1/orders")
    assert (answer.status, answer.headers["content-type"]) == (502, media)
    assert answer.body == body.encode()


def test_method_is_matched_in_either_case(watched: WatchedSandbox) -> None:
    """`post` is POST."""
    watched.control("/faults", {"match": {"method": "post"}, "effect": {"status": 500}})
    assert watched.sandbox.get("/v1/orders").status == 200
    assert watched.sandbox.post("/v1/orders", watched.sandbox.order_params).status == 500


def dripped(receive: Callable[[], Awaitable[Any]]) -> list[Any]:
    """What a rule makes of an answer, for a caller who is heard of by `receive`."""
    sent: list[Any] = []
    rule = ApiRule(id="flt_1", phase="after", effect={"connection": "drip"})

    async def send(message: Any) -> None:
        sent.append(message)

    async def story() -> None:
        reply = await Faults().apply(rule, "after", HttpReply(200, b'{"id":1}'))
        assert reply is not None
        await send_broken(reply, receive, send, drip_seconds=0)

    asyncio.run(story())
    return sent


def test_drip_sends_byte_by_byte() -> None:
    """The whole answer comes in the end, if the caller waits (promise R90)."""
    start, *parts = dripped(asyncio.Event().wait)
    assert (start["type"], start["status"]) == ("http.response.start", 200)
    assert [part["body"] for part in parts] == [*(bytes([each]) for each in b'{"id":1}'), b""]
    assert [part.get("more_body", False) for part in parts] == [True] * 8 + [False]


def test_drip_ends_when_the_caller_has_enough() -> None:
    """Nothing is sent to whoever is gone."""

    async def gone() -> Any:
        return {"type": "http.disconnect"}

    assert [part.get("body") for part in dripped(gone)] == [None, b"{"]
