"""The engine's control endpoints over HTTP (assumptions: Settings)."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from svc import __version__
from svc.sandbox.api.memory import RunMemory
from svc.sandbox.control.app import ControlApi
from svc.sandbox.engine import Engine
from svc.sandbox.http.exchange import AsgiRequest
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.store.settings import DEFAULTS
from svc.service.facts import SANDBOX_HEADER
from unit.sandbox.lab import (
    BEGAN,
    Lab,
    ScriptedReceiver,
    add_endpoint,
    after,
    answer_with,
    emit_paid,
    export,
    new_order,
)


class ControlClient:
    """Calls the control surface in this process; `engine` is behind it."""

    def __init__(self, engine: Engine, client: httpx.AsyncClient) -> None:
        self.engine = engine
        self.client = client

    async def get(self, path: str, **query: str) -> Any:
        return self._answer(await self.client.get("/_sandbox" + path, params=query))

    async def post(self, path: str, **body: Any) -> Any:
        return self._answer(await self.client.post("/_sandbox" + path, json=body))

    async def delete(self, path: str) -> Any:
        return self._answer(await self.client.delete("/_sandbox" + path))

    async def refused(self, method: str, path: str, **body: Any) -> tuple[int, str, str, Any]:
        content = {"json": body} if body else {}
        answer = await self.client.request(method, "/_sandbox" + path, **content)  # type: ignore[arg-type]
        error = answer.json()
        assert "None" not in error["message"], error
        return answer.status_code, error["type"], error["code"], error.get("param")

    def _answer(self, answer: httpx.Response) -> Any:
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/json; charset=utf-8"
        return answer.json()


def surface_of(engine: Engine) -> Any:
    """The controls alone as an application."""
    room = ControlApi(engine, RunMemory())

    async def app(scope: Any, receive: Any, send: Any) -> None:
        request = AsgiRequest(scope, receive)
        try:
            reply = await room.answer(request)
        except Problem as problem:
            reply = room.refuse(problem, request)
        await reply.send(send)

    return app


@asynccontextmanager
async def controls(lab: Lab, **options: Any) -> AsyncIterator[ControlClient]:
    """A control surface of its own."""
    async with lab.running(**options) as engine:
        transport = httpx.ASGITransport(surface_of(engine))
        headers = {SANDBOX_HEADER: "1"}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers
        ) as client:
            yield ControlClient(engine, client)


async def test_health_says_what_it_is(lab: Lab) -> None:
    """A client proves by it that it talks to a sandbox, and learns whether state is kept."""
    async with controls(lab) as api:
        shown = await api.get("/health")
        assert shown.pop("world")
        assert shown == {
            "object": "sandbox",
            "status": "ready",
            "version": __version__,
            "now": "2026-10-01T09:00:00Z",
            "persisted": True,
        }
    async with controls(lab, path=":memory:") as api:
        assert (await api.get("/health"))["persisted"] is False


async def test_clock_is_shown_set_and_advanced(lab: Lab) -> None:
    """Mode, now, next job; forward by seconds, to a time, to the next job, until idle."""
    lab.handlers["note"] = lambda tx, job: None
    async with controls(lab) as api:
        frozen = {"object": "clock", "mode": "frozen", "now": "2026-10-01T09:00:00Z"}
        rest = {"broken_jobs": 0, "advancing_to": None, "advanced": None}
        assert await api.get("/clock") == {**frozen, "next_job_at": None, **rest}
        for seconds in (100, 200, 300):
            await api.engine.run("test", lambda tx, s=seconds: tx.schedule(s, "note", "x"))  # type: ignore[misc]
        assert (await api.get("/clock"))["next_job_at"] == "2026-10-01T09:01:40Z"
        assert await api.post("/clock/advance", seconds=50) == {
            "object": "clock",
            "mode": "frozen",
            "now": "2026-10-01T09:00:50Z",
            "next_job_at": "2026-10-01T09:01:40Z",
            **rest,
            "jobs": 0,
            "events": 0,
            "deliveries": 0,
        }
        advanced = await api.post("/clock/advance", until="next")
        assert (advanced["now"], advanced["jobs"]) == ("2026-10-01T09:01:40Z", 1)
        advanced = await api.post("/clock/advance", to="2026-10-01T09:03:20Z")
        assert (advanced["now"], advanced["jobs"]) == ("2026-10-01T09:03:20Z", 1)
        advanced = await api.post("/clock/advance", until="idle")
        assert (advanced["now"], advanced["next_job_at"]) == ("2026-10-01T09:05:00Z", None)
        later = await api.post("/clock", now="2027-01-01T00:00:00Z")
        assert (later["mode"], later["now"]) == ("frozen", "2027-01-01T00:00:00Z")
        assert (await api.post("/clock", mode="realtime"))["mode"] == "realtime"


def hold(receiver: ScriptedReceiver) -> tuple[asyncio.Event, asyncio.Event]:
    """What lets a receiver answer, and what says that it was asked."""
    gate, asked = asyncio.Event(), asyncio.Event()

    async def answer(writer: asyncio.StreamWriter) -> None:
        asked.set()
        await after(gate, answer_with(200))(writer)

    receiver.answers = [answer]
    return gate, asked


async def test_an_advance_can_be_watched_and_is_the_only_one(
    lab: Lab, receiver: "ScriptedReceiver"
) -> None:
    """While a receiver keeps it waiting the clock says where it goes; a second one is refused."""
    gate, asked = hold(receiver)
    async with controls(lab) as api, receiver.listening():
        await api.engine.run("test", add_endpoint(receiver.url))
        await api.engine.run("test", emit_paid)
        turned = asyncio.create_task(api.post("/clock/advance", seconds=3600))
        await asked.wait()
        shown = await api.get("/clock")
        assert shown["advancing_to"] == "2026-10-01T10:00:00Z"
        assert shown["advanced"] == {"jobs": 0, "events": 0, "deliveries": 0}
        for path, body in (
            ("/clock/advance", {"until": "idle"}),
            ("/clock", {"now": "2027-01-01T00:00:00Z"}),
        ):
            refused = await api.refused("POST", path, **body)
            assert refused == (409, "sandbox_error", "clock_advancing", None)
        gate.set()
        done = await turned
        assert (done["now"], done["deliveries"]) == ("2026-10-01T10:00:00Z", 1)
        assert (done["advancing_to"], done["advanced"]) == (None, None)
        assert (await api.post("/clock/advance", seconds=0))["deliveries"] == 0


async def test_an_advance_ends_with_its_asker(lab: Lab, receiver: ScriptedReceiver) -> None:
    """Nobody waits any more: the clock stays where it is, and the attempt under way is kept."""
    gate, asked = hold(receiver)
    async with receiver.listening(), lab.running() as engine:
        await engine.run("test", add_endpoint(receiver.url))
        await engine.run("test", emit_paid)
        gone = asyncio.Event()
        turned = asyncio.create_task(engine.runner.advance(to=BEGAN + 10**12, gone=gone))
        await asked.wait()
        gone.set()
        await turned
        assert engine.runner.advancing is None
        assert engine.clock.now() == BEGAN
        gate.set()
        assert (await engine.runner.advance(to=BEGAN + 1)).deliveries == 1
        assert len(receiver.arrivals) == 1


@pytest.mark.parametrize("state", [False, True])
async def test_a_reset_waits_for_no_advance(
    lab: Lab, receiver: ScriptedReceiver, *, state: bool
) -> None:
    """A receiver hangs: the advance ends at once and says why, and nothing of it is seen later."""
    _, asked = hold(receiver)
    async with controls(lab) as api, receiver.listening():
        await api.engine.run("test", add_endpoint(receiver.url))
        kept = await export(api.engine)
        await api.engine.run("test", emit_paid)
        turned = asyncio.create_task(api.refused("POST", "/clock/advance", seconds=3600))
        await asked.wait()
        refused = await api.refused("POST", "/reset", fixture="nothing")
        assert refused == (400, "sandbox_error", "parameter_invalid_value", "fixture")
        assert not turned.done()
        async with asyncio.timeout(5):
            await api.post("/import" if state else "/reset", **(kept if state else {}))
            assert await turned == (400, "sandbox_error", "sandbox_reset", None)
        shown = await api.get("/clock")
        assert (shown["now"], shown["next_job_at"]) == ("2026-10-01T09:00:00Z", None)
        assert shown["mode"] == ("frozen" if state else "realtime")
        assert (await api.get("/deliveries"))["data"] == []
        assert (await api.post("/clock/advance", seconds=10))["now"] == "2026-10-01T09:00:10Z"


async def test_an_advance_that_comes_while_all_is_replaced_is_of_the_old_clock(lab: Lab) -> None:
    """Its aim is a moment of a state that is no more."""
    async with controls(lab) as api:
        await api.post("/clock", now="2030-01-01T00:00:00Z")
        async with api.engine.runner.lock:
            reset = asyncio.create_task(api.post("/reset"))
            await asyncio.sleep(0.01)
            turned = asyncio.create_task(api.refused("POST", "/clock/advance", seconds=3600))
            await asyncio.sleep(0.01)
        await reset
        assert await turned == (400, "sandbox_error", "sandbox_reset", None)
        assert (await api.get("/clock"))["now"] == "2026-10-01T09:00:00Z"


async def test_a_clock_that_another_turns_is_not_stopped(
    lab: Lab, receiver: ScriptedReceiver
) -> None:
    """What is refused changes nothing."""
    gate, asked = hold(receiver)
    async with controls(lab, frozen=False) as api, receiver.listening():
        await api.engine.run("test", add_endpoint(receiver.url))
        await api.engine.run("test", emit_paid)
        turned = asyncio.create_task(api.post("/clock/advance", seconds=3600))
        await asked.wait()
        body = {"mode": "frozen", "now": "2027-01-01T00:00:00Z"}
        assert (await api.refused("POST", "/clock", **body))[2] == "clock_advancing"
        assert (await api.get("/clock"))["mode"] == "realtime"
        gate.set()
        await turned


@pytest.mark.parametrize(
    ("path", "body", "code", "param"),
    [
        ("/clock/advance", {}, "parameter_missing", "seconds"),
        ("/clock/advance", {"seconds": 1, "until": "idle"}, "parameters_exclusive", "seconds"),
        ("/clock/advance", {"to": "2026-10-01T08:59:59Z"}, "parameter_invalid_value", "to"),
        ("/clock/advance", {"to": "9999-12-31T23:59:59Z"}, "parameter_invalid_value", "to"),
        ("/clock", {}, "parameter_missing", "mode"),
        ("/clock", {"now": "2020-01-01T00:00:00Z"}, "parameter_invalid_value", "now"),
        ("/balances", {"mode": "both"}, "parameter_missing", "currency"),
        ("/webhook_endpoints/we_1/enable", {}, "resource_missing", "id"),
        ("/events/evt_1/resend", {}, "resource_missing", "id"),
    ],
)
async def test_wrong_control_call_is_refused(
    lab: Lab, path: str, body: dict[str, Any], code: str, param: str
) -> None:
    """One clear error of type `sandbox_error` that names the parameter."""
    async with controls(lab) as api:
        status = 404 if code == "resource_missing" else 400
        refused = await api.refused("POST", path, **body)
        assert refused == (status, "sandbox_error", code, param)


async def test_settings_are_shown_and_changed(lab: Lab) -> None:
    """The answer to a change is all the settings."""
    async with controls(lab) as api:
        assert await api.get("/settings") == {"object": "settings", **DEFAULTS}
        changed = await api.post("/settings", smart_retries=True, country="DE")
        assert changed == {
            "object": "settings",
            **DEFAULTS,
            "smart_retries": True,
            "country": "DE",
        }
        assert await api.get("/settings") == changed


async def test_balances_are_shown_and_set_for_each_mode(lab: Lab) -> None:
    """Test mode unless `mode=live` comes in body or query."""
    async with controls(lab) as api:
        await api.post("/balances", currency="EUR", amount=-5)
        await api.post("/balances", currency="USD", amount=7, mode="live")
        shown = {"object": "balance", "currency": "EUR", "amount": -5, "livemode": False}
        assert await api.get("/balances") == {"object": "list", "data": [shown], "has_more": False}
        live = await api.get("/balances", mode="live")
        assert [(b["currency"], b["amount"], b["livemode"]) for b in live["data"]] == [
            ("USD", 7, True)
        ]


async def test_dashboard_shows_and_changes_endpoints(lab: Lab) -> None:
    """Listing shows what signs; disable, enable, roll and delete answer with the endpoint."""
    async with controls(lab) as api:
        doc = await api.engine.run("test", add_endpoint("http://127.0.0.1:9/"))
        path = f"/webhook_endpoints/{doc['id']}"
        (shown,) = (await api.get("/webhook_endpoints"))["data"]
        assert shown.pop("signing_secrets") == [
            doc["_secret"]
        ]  # the dashboard's, of no answer else
        assert shown == {
            "id": doc["id"],
            "object": "webhook_endpoint",
            "url": "http://127.0.0.1:9/",
            "events": ["order.paid"],
            "status": "enabled",
            "description": None,
            "api_version": "2026-09-01",
            "created": "2026-10-01T09:00:00Z",
            "livemode": False,
        }
        assert (await api.get("/webhook_endpoints", mode="live"))["data"] == []
        assert await api.post(path + "/disable") == {**shown, "status": "disabled"}
        assert await api.post(path + "/enable") == shown
        rolled = await api.post(path + "/roll_secret")
        assert rolled.pop("secret").startswith("whsec_")
        assert rolled == shown
        assert await api.delete(path) == {
            "id": doc["id"],
            "object": "webhook_endpoint",
            "deleted": True,
        }
        assert (await api.refused("DELETE", path))[2] == "resource_missing"


async def test_seventeenth_endpoint_cannot_be_enabled(lab: Lab) -> None:
    """At most 16 enabled endpoints a mode, also by way of the dashboard."""
    async with controls(lab) as api:
        docs = [
            await api.engine.run("test", add_endpoint("http://127.0.0.1:9/")) for _ in range(16)
        ]
        await api.post(f"/webhook_endpoints/{docs[0]['id']}/disable")
        await api.engine.run("test", add_endpoint("http://127.0.0.1:9/"))
        refused = await api.refused("POST", f"/webhook_endpoints/{docs[0]['id']}/enable")
        assert refused[2] == "webhook_endpoint_limit"
        await api.post(f"/webhook_endpoints/{docs[1]['id']}/enable")  # it is enabled already


async def test_events_and_deliveries_are_listed_in_pages(
    lab: Lab, receiver: "ScriptedReceiver"
) -> None:
    """Newest first, filtered, following `starting_after`; the log tells how attempts went."""
    receiver.answers = [answer_with(500)]
    async with controls(lab) as api:
        async with receiver.listening():
            await api.engine.run("test", add_endpoint(receiver.url))
            events = [await api.engine.run("test", emit_paid) for _ in range(3)]
            await api.post("/clock/advance", seconds=0)
        page = await api.get("/events", limit="2")
        assert [event["id"] for event in page["data"]] == [events[2], events[1]]
        assert page["has_more"] is True
        page = await api.get("/events", limit="2", starting_after=events[1])
        assert ([event["id"] for event in page["data"]], page["has_more"]) == ([events[0]], False)
        assert (await api.get("/events", type="order.cancelled"))["data"] == []
        log = await api.get("/deliveries", event=events[0], status="failed")
        (made,) = log["data"]
        assert made.pop("id").startswith("dlv_")
        assert made.pop("duration_ms") >= 0
        assert made.pop("endpoint").startswith("we_")
        assert made == {
            "object": "delivery",
            "event": events[0],
            "event_type": "order.paid",
            "url": receiver.url,
            "attempt": 1,
            "status": "failed",
            "scheduled_at": "2026-10-01T09:00:00Z",
            "started_at": "2026-10-01T09:00:00Z",
            "response_code": 500,
            "error": None,
            "next_attempt": "2026-10-01T09:01:00Z",
            "livemode": False,
        }
        assert (await api.get("/deliveries", limit="4"))["has_more"] is True
        assert (await api.get("/deliveries", mode="live"))["data"] == []
        for path in ("/events", "/deliveries", "/emails"):
            refused = await api.refused("GET", path + "?starting_after=x")
            assert refused == (400, "sandbox_error", "resource_missing", "starting_after")


async def test_resend_answers_with_the_attempts_it_made(
    lab: Lab, receiver: "ScriptedReceiver"
) -> None:
    """One extra delivery at each endpoint that takes the event, or at the one that is named.

    No endpoint gets a type for which it was not registered (specification: Delivery, 6).
    """
    async with controls(lab) as api, receiver.listening():
        first = await api.engine.run("test", add_endpoint(receiver.url))
        second = await api.engine.run("test", add_endpoint(receiver.url))
        event = await api.engine.run("test", emit_paid)
        await api.post("/clock/advance", seconds=0)
        made = (await api.post(f"/events/{event}/resend"))["data"]
        assert [(d["endpoint"], d["status"], d["attempt"]) for d in made] == [
            (first["id"], "succeeded", 2),
            (second["id"], "succeeded", 2),
        ]
        made = (await api.post(f"/events/{event}/resend", endpoint=second["id"]))["data"]
        assert [(d["endpoint"], d["attempt"]) for d in made] == [(second["id"], 3)]
        path = f"/events/{event}/resend"
        other = await api.engine.run("test", add_endpoint(receiver.url, "order.cancelled"))
        refused = await api.refused("POST", path, endpoint=other["id"])
        assert refused == (400, "sandbox_error", "endpoint_not_subscribed", "endpoint")
        assert len(receiver.arrivals) == 5
        await api.post(f"/webhook_endpoints/{second['id']}/disable")
        refused = await api.refused("POST", path, endpoint=second["id"])
        assert refused == (400, "sandbox_error", "endpoint_disabled", "endpoint")
        refused = await api.refused("POST", path, endpoint="we_1")
        assert refused == (404, "sandbox_error", "resource_missing", "endpoint")


async def test_emails_are_listed(lab: Lab) -> None:
    """What the service would have written to the account, newest first."""
    async with controls(lab) as api:
        await api.engine.run("test", add_endpoint("http://127.0.0.1:9/"))
        await api.engine.run("test", emit_paid)
        await api.post("/clock/advance", until="idle")
        mails = (await api.get("/emails"))["data"]
        assert [mail["type"] for mail in mails] == ["webhook_disabled", "webhook_failing"]
        assert mails[0]["subject"] == "Your webhook endpoint http://127.0.0.1:9/ was disabled"


async def test_exported_state_is_restored_whole(lab: Lab) -> None:
    """Objects, events, jobs, deliveries, balances, settings, clock and ids come back."""

    async def fill(api: ControlClient) -> None:
        await api.engine.run("test", add_endpoint("http://127.0.0.1:9/"))
        await api.engine.run("test", lambda tx: emit_paid(tx, note="Grüße \ud83d"))
        await api.engine.run("live", lambda tx: tx.set_balance("EUR", 5))
        await api.engine.run(
            "test",
            lambda tx: tx.put_result("key", "print", 200, b'{"a":"\xc3\xbc"}'),
        )
        await api.post("/settings", smart_retries=True)
        await api.post("/clock/advance", seconds=700)

    async with controls(lab) as api:
        await fill(api)
        state = await api.get("/export")
        next_id = (await api.engine.run("test", new_order))["id"]
        for _ in range(2):  # into another state, then into a new one
            assert (await api.post("/import", **state))["now"] == "2026-10-01T09:11:40Z"
            again = await api.get("/export")
            state["tables"].pop("meta"), again["tables"].pop("meta")  # counts the starts
            assert again == state
            state = await api.get("/export")
            assert (await api.engine.run("test", new_order))["id"] == next_id
            assert (await api.get("/settings"))["smart_retries"] is True
            assert (await api.get("/clock"))["next_job_at"] == "2026-10-01T10:11:00Z"
            held = api.engine.read("test", lambda tx: tx.get_result("key"))
            assert held is not None
            assert held.body == b'{"a":"\xc3\xbc"}'
            await api.post("/reset")


def spoil_meta(state: Any, part: str, **changes: Any) -> None:
    """Changes what an export says of the clock or the ids."""
    row = next(row for row in state["tables"]["meta"] if row["name"] == "state")
    value = json.loads(row["value"])
    value[part].update(changes)
    row["value"] = json.dumps(value)


async def test_state_may_come_in_pieces(lab: Lab) -> None:
    """Rows are kept apart until all have come; then they are put in place at once."""
    async with controls(lab) as api:
        await api.engine.run("test", add_endpoint("http://127.0.0.1:9/"))
        await api.engine.run("test", emit_paid)
        state = await api.get("/export")
        doc = await api.engine.run("test", new_order)
        tables = state.pop("tables")
        for table, rows in tables.items():
            for row in (*([row] for row in rows), []):
                await api.post("/import", upload="a", table=table, rows=row)
        assert api.engine.read("test", lambda tx: tx.get("order", doc["id"])) == doc
        await api.post("/import", upload="a", **state)
        again = (await api.get("/export"))["tables"]
        tables.pop("meta"), again.pop("meta")  # counts the starts
        assert again == tables


async def test_pieces_of_another_import_are_not_mixed_in(lab: Lab) -> None:
    """The import that has begun last goes on; of any other one, nothing is changed."""
    async with controls(lab) as api:
        state = await api.get("/export")
        doc = await api.engine.run("test", new_order)
        rows = state.pop("tables")["meta"]
        for upload in ("a", "b"):
            await api.post("/import", upload=upload, table="meta", rows=rows)
        invalid = (400, "sandbox_error", "state_invalid", None)
        for body in (
            {**state, "upload": "a"},
            {**state, "upload": "b"},  # it is gone with the first
            {"upload": "c", "table": "jokes", "rows": []},
            {"upload": "c", "table": "meta", "rows": "many"},
            {"upload": "c"},
        ):
            assert await api.refused("POST", "/import", **body) == invalid
        taken = await api.post("/import", upload="d", table="docs", rows=[1])
        assert taken == {"object": "sandbox_upload", "id": "d", "rows": 1}
        assert await api.refused("POST", "/import", upload="d", **state) == invalid
        assert api.engine.read("test", lambda tx: tx.get("order", doc["id"])) == doc


@pytest.mark.parametrize(
    "spoil",
    [
        lambda state: state.clear(),
        lambda state: state["tables"].pop("docs"),
        lambda state: state["tables"].update(docs=[{"id": "ord_1"}]),
        lambda state: state["tables"]["jobs"][0].update(subject=None),
        lambda state: state["tables"]["docs"][0].update(body="[" * 100_000),
        lambda state: spoil_meta(state, "clock", now=2**60),
        lambda state: spoil_meta(state, "ids", counter="many"),
    ],
)
async def test_state_that_does_not_fit_changes_nothing(
    lab: Lab, spoil: Callable[[Any], Any]
) -> None:
    """A document that is no export, or cannot be worked with, is refused as a whole."""
    async with controls(lab) as api:
        await api.engine.run("test", add_endpoint("http://127.0.0.1:9/"))
        await api.engine.run("test", emit_paid)
        state = await api.get("/export")
        doc = await api.engine.run("test", new_order)
        spoil(state)
        refused = await api.refused("POST", "/import", **state)
        assert refused == (400, "sandbox_error", "state_invalid", None)
        assert api.engine.read("test", lambda tx: tx.get("order", doc["id"])) == doc
        assert api.engine.clock.mode == "frozen"
