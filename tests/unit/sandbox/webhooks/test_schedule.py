"""The webhook schedule on the virtual clock: exact times, fresh signatures, what ends it."""

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from support.serving import Postman
from svc import signature
from svc.sandbox.engine import Engine
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.resources import webhook_endpoints
from svc.sandbox.store import deliveries
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction
from svc.sandbox.webhooks.sender import Outgoing, ReceiverReply
from unit.sandbox.lab import (
    BEGAN,
    Lab,
    ScriptedReceiver,
    add_endpoint,
    after,
    answer_with,
    emit_paid,
)

HOUR = 3600
DAY = 86400
SECOND = 1_000_000
# 0, 1 min, 11 min, 1 h 11 min, then every 6 h; the last at 67 h 11 min (assumptions: Delivery).
SCHEDULE = [0, 60, 660, *(4260 + 6 * HOUR * step for step in range(12))]


LOCAL = "http://127.0.0.1:1/hook"


async def log(engine: Engine, **equals: str) -> list[Doc]:
    """The delivery log of test mode, oldest first."""

    def read(tx: Transaction) -> list[Doc]:
        rows, _ = deliveries.page(tx.store, "test", equals=equals, limit=1000, after=None)
        return [row.build_view("test") for row in reversed(rows)]

    return engine.read("test", read)


async def settle(condition: Callable[[], bool]) -> None:
    """Lets the loop turn until something has happened."""
    for _ in range(30_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never happened")


async def test_failing_receiver_sees_15_attempts_at_exact_times(
    lab: Lab, receiver: "ScriptedReceiver"
) -> None:
    """Over a real socket, three days in one advance, and not one real sleep (R83)."""
    receiver.answers = [answer_with(500)]
    async with receiver.listening(), lab.running() as engine:
        receiver.engine = engine
        await engine.run("test", add_endpoint(receiver.url))
        await engine.run("test", emit_paid)
        counts = await engine.runner.advance(to=BEGAN + 3 * DAY * SECOND)
        assert counts.deliveries == 15
    assert [arrival.at for arrival in receiver.arrivals] == SCHEDULE
    assert {nap for nap in lab.naps if nap} == set()
    assert len({arrival.body for arrival in receiver.arrivals}) == 1
    agents = {arrival.headers["user-agent"] for arrival in receiver.arrivals}
    assert agents == {"Svc-Webhooks/1.0"}
    assert len({arrival.headers["svc-event-id"] for arrival in receiver.arrivals}) == 1
    assert len({arrival.headers["svc-delivery-id"] for arrival in receiver.arrivals}) == 15
    attempts = [arrival.headers["svc-delivery-attempt"] for arrival in receiver.arrivals]
    assert attempts == [str(number) for number in range(1, 16)]


async def test_schedule_survives_a_restart_between_any_attempts(
    lab: Lab, receiver: "ScriptedReceiver"
) -> None:
    """The store is closed and opened again between all attempts: none lost, none early (R85)."""
    receiver.answers = [answer_with(503)]

    async def step(first: bool) -> None:
        async with receiver.listening(), lab.running() as engine:
            receiver.engine = engine

            def move(tx: Transaction) -> None:
                (endpoint,) = tx.find(webhook_endpoints.KIND)
                tx.save({**endpoint, "url": receiver.url})

            if first:
                await engine.run("test", add_endpoint(receiver.url))
                await engine.run("test", emit_paid)
                await engine.runner.advance(to=engine.clock.now())
            else:
                await engine.run("test", move)
                await engine.runner.advance(until="next")

    for number in range(15):
        await step(number == 0)
        assert len(receiver.arrivals) == number + 1
    assert [arrival.at for arrival in receiver.arrivals] == SCHEDULE


async def test_attempts_end_with_the_first_success(lab: Lab, receiver: ScriptedReceiver) -> None:
    """A 2xx at the third attempt: no fourth, and no e-mail."""
    receiver.answers = [answer_with(500), answer_with(302), answer_with(204)]
    async with receiver.listening(), lab.running() as engine:
        receiver.engine = engine
        await engine.run("test", add_endpoint(receiver.url))
        await engine.run("test", emit_paid)
        await engine.runner.advance(until="idle")
        assert engine.runner.next_due() is None
        shown = await log(engine)
        assert [(d["status"], d["response_code"], d["attempt"]) for d in shown] == [
            ("failed", 500, 1),
            ("failed", 302, 2),
            ("succeeded", 204, 3),
        ]
        assert [d["next_attempt"] for d in shown] == [
            "2026-10-01T09:01:00Z",
            "2026-10-01T09:11:00Z",
            None,
        ]
        assert engine.read("test", lambda tx: tx.find("email")) == []
    assert [arrival.at for arrival in receiver.arrivals] == SCHEDULE[:3]


async def test_every_attempt_is_signed_anew_and_verifies(
    lab: Lab, receiver: "ScriptedReceiver"
) -> None:
    """The real time of the attempt signs it; the official check and plain HMAC agree (R84)."""
    receiver.answers = [answer_with(500)]
    walls = []
    async with receiver.listening(), lab.running() as engine:
        doc = await engine.run("test", add_endpoint(receiver.url))
        await engine.run("test", emit_paid)
        for _ in range(4):
            walls.append(lab.real.now())
            await engine.runner.advance(until="next")
            lab.real.advance(1000)
    for arrival, wall in zip(receiver.arrivals[1:], walls, strict=True):
        header = arrival.headers["svc-signature"]
        signature.verify(arrival.body, [header], [doc["_secret"]], int(wall))
        stamp, mac = header.split(",")
        assert stamp == f"t={int(wall)}"
        signed = f"{int(wall)}.".encode() + arrival.body
        assert mac == "v1=" + hmac.new(doc["_secret"].encode(), signed, hashlib.sha256).hexdigest()


async def test_setting_signs_with_the_sandboxs_time(lab: Lab) -> None:
    """`signature_time=virtual`: t is the moment of the attempt on the sandbox's clock."""
    post = Postman([500])
    settings = {"signature_time": "virtual"}
    async with lab.running(sender=post, settings=settings) as engine:
        await engine.run("test", add_endpoint(LOCAL))
        await engine.run("test", emit_paid)
        await engine.runner.advance(to=BEGAN + DAY * SECOND)
    stamps = [header.split(",")[0] for header in post.headers("Svc-Signature")]
    assert stamps == [f"t={BEGAN // SECOND + at}" for at in SCHEDULE if at <= DAY]


async def test_body_is_the_event_as_compact_json(lab: Lab) -> None:
    """The delivered bytes are the event that a GET shows, compact and in UTF-8."""
    post = Postman()
    async with lab.running(sender=post) as engine:
        await engine.run("test", add_endpoint(LOCAL))
        identity = await engine.run("test", lambda tx: emit_paid(tx, note="Grüße"))
        await engine.runner.advance(to=BEGAN)
        event = engine.read("test", lambda tx: tx.get("event", identity))
    (outgoing,) = post.sent
    shown = json.dumps(event, separators=(",", ":"), ensure_ascii=False)
    assert outgoing.body == shown.encode()
    assert "Grüße" in shown


async def test_rotation_signs_with_both_secrets_for_the_grace_period(lab: Lab) -> None:
    """The new secret first; at the end of the grace period the old one signs no more."""
    post = Postman()
    async with lab.running(sender=post) as engine:
        doc = await engine.run("test", add_endpoint(LOCAL))
        new = await engine.run("test", lambda tx: webhook_endpoints.roll_secret(tx, doc, HOUR))
        for moment in (0, HOUR * SECOND - 1, HOUR * SECOND):
            await engine.runner.advance(to=BEGAN + moment)
            await engine.run("test", emit_paid)
            await engine.runner.advance(to=BEGAN + moment)
        old = doc["_old_secret"]
    now = int(lab.real.now())
    for outgoing, secrets in zip(post.sent, [[new, old], [new, old], [new]], strict=True):
        header = dict(outgoing.headers)["Svc-Signature"]
        assert header == signature.header_value(outgoing.body, secrets, now)
        assert header.count("v1=") == len(secrets)


async def test_rotation_without_grace_ends_the_old_secret_at_once(lab: Lab) -> None:
    """`expires_in=0` leaves one secret."""
    async with lab.running() as engine:
        doc = await engine.run("test", add_endpoint(LOCAL))
        new = await engine.run("test", lambda tx: webhook_endpoints.roll_secret(tx, doc, 0))
        assert webhook_endpoints.list_signing_secrets(doc, engine.clock.now()) == [new]


async def test_failing_endpoint_is_warned_of_then_disabled(lab: Lab) -> None:
    """One e-mail at the first exhausted event; at exactly 5 days disabled, with another (F80)."""
    async with lab.running(sender=Postman([None])) as engine:
        doc = await engine.run("test", add_endpoint(LOCAL))

        async def state() -> tuple[str, list[tuple[str, str]]]:
            def look(tx: Transaction) -> tuple[str, list[tuple[str, str]]]:
                found = tx.get(webhook_endpoints.KIND, doc["id"])
                assert found is not None
                for mail in tx.find("email"):
                    assert re.fullmatch("eml_[0-9A-Za-z]{24}", mail["id"])
                    assert {*mail} == {
                        *("id", "object", "type", "webhook_endpoint", "subject", "body"),
                        *("created", "livemode"),
                    }
                    assert (mail["object"], mail["webhook_endpoint"]) == ("email", doc["id"])
                mails = [(mail["type"], mail["created"]) for mail in tx.find("email")]
                return found["status"], mails

            return engine.read("test", look)

        for hours in (0, 1, 2):
            await engine.runner.advance(to=BEGAN + hours * HOUR * SECOND)
            await engine.run("test", emit_paid)
        await engine.runner.advance(to=BEGAN + 5 * DAY * SECOND - 1)
        warned = ("webhook_failing", "2026-10-04T04:11:00Z")
        assert await state() == ("enabled", [warned])
        await engine.runner.advance(to=BEGAN + 5 * DAY * SECOND)
        disabled = ("webhook_disabled", "2026-10-06T09:00:00Z")
        assert await state() == ("disabled", [warned, disabled])


async def test_disabled_endpoint_gets_nothing_more(lab: Lab) -> None:
    """Pending attempts are dropped and new events are not queued (assumptions: Delivery)."""
    post = Postman([500])
    async with lab.running(sender=post) as engine:
        await engine.run("test", add_endpoint(LOCAL))
        await engine.run("test", emit_paid)
        await engine.runner.advance(to=BEGAN + 5 * DAY * SECOND - 1)
        pending = await engine.run("test", emit_paid)
        await engine.runner.advance(to=BEGAN + 5 * DAY * SECOND)
        assert [d["status"] for d in await log(engine, event=pending)] == ["failed", "dropped"]
        assert engine.runner.next_due() is None
        made = len(post.sent)
        unheard = await engine.run("test", emit_paid)
        await engine.runner.advance(to=BEGAN + 9 * DAY * SECOND)
        assert len(post.sent) == made
        assert await log(engine, event=unheard) == []


async def test_success_begins_the_five_days_anew(lab: Lab) -> None:
    """One 2xx on day 4: the endpoint is still enabled on day 6, and warned of anew later."""
    post = Postman([500])
    async with lab.running(sender=post) as engine:
        doc = await engine.run("test", add_endpoint(LOCAL))

        async def emit(day: int, *codes: int) -> None:
            await engine.runner.advance(to=BEGAN + day * DAY * SECOND)
            post.codes = list(codes)
            await engine.run("test", emit_paid)

        async def state() -> tuple[str, int]:
            def look(tx: Transaction) -> tuple[str, int]:
                found = tx.get(webhook_endpoints.KIND, doc["id"])
                assert found is not None
                return found["status"], len(tx.find("email"))

            return engine.read("test", look)

        await emit(0, 500)
        await emit(4, 200, 500)
        await emit(6, 500)
        assert await state() == ("enabled", 1)
        await engine.runner.advance(to=BEGAN + 10 * DAY * SECOND)
        assert await state() == ("enabled", 2)
        await engine.runner.advance(to=BEGAN + 11 * DAY * SECOND)
        assert await state() == ("disabled", 3)


async def test_enabled_endpoint_begins_with_a_clean_record(lab: Lab) -> None:
    """Enabling after a disablement: new events go out, what was dropped stays dropped."""
    post = Postman([500])
    async with lab.running(sender=post) as engine:
        doc = await engine.run("test", add_endpoint(LOCAL))
        await engine.run("test", emit_paid)
        await engine.runner.advance(until="idle")

        def enable(tx: Transaction) -> None:
            found = tx.get(webhook_endpoints.KIND, doc["id"])
            assert found is not None
            assert found["status"] == "disabled"
            webhook_endpoints.enable(tx, found)

        await engine.run("test", enable)
        post.codes, made = [200], len(post.sent)
        await engine.run("test", emit_paid)
        await engine.runner.advance(until="idle")
        assert len(post.sent) == made + 1


async def test_event_goes_to_those_enabled_and_subscribed_when_it_was_created(lab: Lab) -> None:
    """Type, mode and status are those at the event's creation (R85, R86; assumptions: Delivery)."""
    post = Postman()
    async with lab.running(sender=post) as engine:

        async def add(mode: str, path: str, *types: str) -> Doc:
            doc: Doc = await engine.run(mode, add_endpoint(LOCAL + path, *types))
            return doc

        await add("test", "/paid", "order.paid", "refund.failed")
        await add("test", "/other", "order.cancelled")
        await add("live", "/live", "order.paid")
        off = await add("test", "/off", "order.paid")
        await engine.run("test", lambda tx: webhook_endpoints.disable(tx, off))
        await engine.run("test", emit_paid)
        await engine.run("test", lambda tx: webhook_endpoints.enable(tx, off))
        await add("test", "/late", "order.paid")
        await engine.runner.advance(until="idle")
    assert [outgoing.url for outgoing in post.sent] == [LOCAL + "/paid"]


async def test_retries_in_realtime_wait_for_the_real_clock(lab: Lab) -> None:
    """The runner asks to be woken when the next attempt is due, and makes it then."""
    post = Postman([500])
    async with lab.running(sender=post, frozen=False) as engine:
        await engine.run("test", add_endpoint(LOCAL))
        await engine.run("test", emit_paid)
        for number, wait in enumerate([60.0, 60.0], 1):
            await settle(lambda number=number: len(post.sent) == number)  # type: ignore[misc]
            await settle(lambda wait=wait: lab.naps[-1] == wait)  # type: ignore[misc]
            lab.real.advance(60)
            engine.runner.wake()
        await asyncio.sleep(0.01)
        assert len(post.sent) == 2  # the third is due at 11 minutes
        lab.real.advance(600)
        engine.runner.wake()
        await settle(lambda: len(post.sent) == 3)


@pytest.mark.parametrize(
    ("away", "due"),
    [
        (61, 660),  # a second is not late
        (62, 662),
        (HOUR, HOUR + 600),
        (72 * HOUR - 600, 72 * HOUR),
        (72 * HOUR - 599, 120 * HOUR),  # left is the endpoint's end after five days
    ],
)
async def test_attempt_that_was_missed_is_made_late_and_counts_from_then(
    away: int, due: int, lab: Lab
) -> None:
    """Down for an hour: the attempt of 1 min is made at the start, the next 10 min after it."""
    post = Postman([500])

    async def later() -> int | None:
        async with lab.running(sender=post) as engine:
            await settle(lambda: len(post.sent) == 2)
            await engine.runner.advance(to=engine.clock.now())
            return engine.runner.next_due()

    async with lab.running(sender=post, frozen=False) as engine:
        await engine.run("test", add_endpoint(LOCAL))
        await engine.run("test", emit_paid)
        await settle(lambda: len(post.sent) == 1)
    lab.real.advance(away)
    assert await later() == BEGAN + due * SECOND


async def test_attempt_cut_short_is_made_again(lab: Lab, receiver: ScriptedReceiver) -> None:
    """A stop while the receiver still thinks: the same attempt comes again, none is lost (R85)."""
    gate = asyncio.Event()
    receiver.answers = [after(gate, answer_with(200)), answer_with(200)]
    async with receiver.listening():
        async with lab.running() as engine:
            await engine.run("test", add_endpoint(receiver.url))
            await engine.run("test", emit_paid)
            await settle(lambda: len(receiver.arrivals) == 1)
        async with lab.running() as engine:
            await engine.runner.advance(until="idle")
            assert [d["status"] for d in await log(engine)] == ["succeeded"]
    first, second = receiver.arrivals
    assert first.body == second.body
    for name in ("svc-event-id", "svc-delivery-attempt"):
        assert first.headers[name] == second.headers[name]


async def test_attempts_of_one_moment_run_at_once_and_later_ones_after_them(
    lab: Lab, receiver: "ScriptedReceiver"
) -> None:
    """Six events at once: a few attempts at a time, all before the clock moves on."""

    async def slowly(writer: asyncio.StreamWriter) -> None:
        await settle(lambda: receiver.open_most >= 8)
        await asyncio.sleep(0.02)  # in which a ninth would come
        await answer_with(500)(writer)

    receiver.answers = [slowly]
    async with receiver.listening(), lab.running() as engine:
        receiver.engine = engine
        await engine.run("test", add_endpoint(receiver.url))

        def burst(tx: Transaction) -> None:
            for _ in range(12):
                emit_paid(tx)

        await engine.run("test", burst)
        counts = await engine.runner.advance(to=BEGAN + 60 * SECOND)
        assert (counts.deliveries, counts.broken) == (24, 0)
    assert [arrival.at for arrival in receiver.arrivals] == [0] * 12 + [60] * 12
    assert receiver.open_most == 8


async def test_hanging_receiver_holds_up_nobody_else(
    lab: Lab, receiver: "ScriptedReceiver"
) -> None:
    """Twenty events wait for one endpoint that never answers; the other one gets its own."""
    gate = asyncio.Event()
    receiver.answers = [after(gate, answer_with(200))]

    class Both(Postman):
        async def send(self, outgoing: Outgoing) -> ReceiverReply:
            if outgoing.url.endswith("/slow"):
                await gate.wait()
            return await super().send(outgoing)

    post = Both()
    async with lab.running(sender=post) as engine:
        await engine.run("test", add_endpoint(LOCAL + "/slow", "order.paid"))
        for _ in range(20):
            await engine.run("test", emit_paid)
        await engine.run("test", add_endpoint(LOCAL + "/quick", "order.paid"))
        await engine.run("test", emit_paid)
        await settle(lambda: [o.url for o in post.sent] == [LOCAL + "/quick"])
        gate.set()
        await engine.runner.advance(until="idle")
        assert len(post.sent) == 22


async def test_manual_delivery_holds_attempts_until_an_advance(lab: Lab) -> None:
    """`webhook_delivery=manual`: nothing by itself; an advance of 0 seconds lets it out."""
    post = Postman([500])
    settings = {"webhook_delivery": "manual"}
    async with lab.running(sender=post, settings=settings) as engine:
        await engine.run("test", add_endpoint(LOCAL))
        await engine.run("test", emit_paid)
        await asyncio.sleep(0.02)
        assert post.sent == []
        assert [d["status"] for d in await log(engine)] == ["pending"]
        assert engine.runner.next_due() == BEGAN
        counts = await engine.runner.advance(to=engine.clock.now())
        assert counts.deliveries == 1
        assert len(post.sent) == 1


async def test_held_attempts_go_out_when_the_setting_ends(lab: Lab) -> None:
    post = Postman()
    settings = {"webhook_delivery": "manual"}
    async with lab.running(sender=post, settings=settings) as engine:
        await engine.run("test", add_endpoint(LOCAL))
        await engine.run("test", emit_paid)
        await engine.run("test", lambda w: w.update_settings({"webhook_delivery": "auto"}))
        engine.runner.wake()
        await settle(lambda: len(post.sent) == 1)


async def test_resend_makes_a_held_attempt(lab: Lab) -> None:
    """Under manual delivery a resend lets the event out, and it is not sent again."""
    post = Postman()
    settings = {"webhook_delivery": "manual"}
    async with lab.running(sender=post, settings=settings) as engine:
        await engine.run("test", add_endpoint(LOCAL))
        event = await engine.run("test", emit_paid)
        (made,) = await engine.resend("test", event)
        assert (made.status, made.attempt, made.code) == ("succeeded", 1, 200)
        await engine.runner.advance(until="idle")
    assert len(post.sent) == 1


@pytest.mark.parametrize("turns", range(12))
async def test_resend_that_meets_a_reset_takes_no_job_of_the_new_state(
    lab: Lab, turns: int
) -> None:
    """Numbers of jobs begin anew with a reset; what the new state has to do is still done."""
    ran: list[str] = []
    armed: list[bool] = []
    lab.handlers["bell"] = lambda tx, job: ran.append(job.subject)

    def fixture(test: Transaction, live: Transaction, name: str | None) -> None:
        for number in range(3 if armed else 0):
            test.schedule(60, "bell", f"bell {number}")

    lab.fixture = fixture
    settings = {"webhook_delivery": "manual"}
    async with lab.running(sender=Postman(), settings=settings) as engine:
        await engine.run("test", add_endpoint(LOCAL))
        event = await engine.run("test", emit_paid)
        armed.append(True)
        resent = asyncio.create_task(engine.resend("test", event))
        for _ in range(turns):
            await asyncio.sleep(0)
        await engine.reset()
        with suppress(Problem):  # the sandbox was reset meanwhile, or it was in time
            await resent
        await engine.runner.advance(until="idle")
        assert ran == ["bell 0", "bell 1", "bell 2"]


async def test_resend_is_an_extra_attempt_beside_the_schedule(lab: Lab) -> None:
    """A failed resend is not retried and moves no retry; numbers follow the order in time."""
    post = Postman([500])
    async with lab.running(sender=post) as engine:
        await engine.run("test", add_endpoint(LOCAL))
        event = await engine.run("test", emit_paid)
        await engine.runner.advance(to=BEGAN + 30 * SECOND)
        (made,) = await engine.resend("test", event)
        assert (made.status, made.attempt) == ("failed", 2)
        await engine.runner.advance(to=BEGAN + 700 * SECOND)
        shown = [d for d in await log(engine) if d["status"] != "pending"]
        shown.sort(key=lambda d: str(d["started_at"]))
        assert [(d["attempt"], d["started_at"][11:19]) for d in shown] == [
            (1, "09:00:00"),
            (2, "09:00:30"),
            (3, "09:01:00"),
            (4, "09:11:00"),
        ]


async def test_successful_resend_ends_the_retries(lab: Lab) -> None:
    """The receiver has the event: the pending retry is dropped."""
    post = Postman([500, 200])
    async with lab.running(sender=post) as engine:
        await engine.run("test", add_endpoint(LOCAL))
        event = await engine.run("test", emit_paid)
        await engine.runner.advance(to=BEGAN)
        await engine.resend("test", event)
        await engine.runner.advance(until="idle")
        assert engine.clock.now() == BEGAN
        assert sorted(d["status"] for d in await log(engine)) == [
            "dropped",
            "failed",
            "succeeded",
        ]
    assert len(post.sent) == 2


@pytest.mark.parametrize("url", ["http://192.0.2.1/hook", "https://example.com/hook"])
async def test_receiver_elsewhere_gets_nothing_unless_told(lab: Lab, url: str) -> None:
    """Webhooks go to this machine only; `allow_remote_webhooks` lifts that (R89)."""
    post = Postman()
    async with lab.running(sender=post) as engine:
        await engine.run("test", add_endpoint(url))
        await engine.run("test", emit_paid)
        await engine.runner.advance(to=BEGAN)
        assert post.sent == []
        shown = await log(engine)
        assert [d["error"] for d in shown if d["status"] == "failed"] == ["remote_not_allowed"]
        await engine.run("test", lambda w: w.update_settings({"allow_remote_webhooks": True}))
        await engine.runner.advance(until="next")
        assert len(post.sent) == 1


async def test_deleted_endpoint_ends_its_attempts(lab: Lab) -> None:
    """Deleting between attempts: nothing more is sent, the log stays, time goes on."""
    post = Postman([500])
    async with lab.running(sender=post) as engine:
        doc = await engine.run("test", add_endpoint(LOCAL))
        await engine.run("test", emit_paid)
        await engine.runner.advance(to=BEGAN)
        await engine.run("test", lambda tx: webhook_endpoints.delete(tx, doc))
        await engine.runner.advance(to=BEGAN + 9 * DAY * SECOND)
        assert [d["status"] for d in await log(engine)] == ["failed", "dropped"]
        assert engine.read("test", lambda tx: tx.find("email")) == []
    assert len(post.sent) == 1


async def test_deliveries_do_not_change_the_ids_of_objects(lab: Lab) -> None:
    """With a seed, the ids are the same whether receivers answer or not."""

    async def ids(*codes: int) -> list[Any]:
        async with lab.running(path=":memory:", sender=Postman([*codes])) as engine:
            await engine.run("test", add_endpoint(LOCAL))
            found: list[Any] = []
            for _ in range(3):
                found.append(await engine.run("test", emit_paid))
                await engine.runner.advance(to=engine.clock.now() + HOUR * SECOND)
            return found

    assert await ids(200) == await ids(500)
