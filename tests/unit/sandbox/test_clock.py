"""The sandbox's clock: it stands, runs, is set, and never goes back."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from support.clocks import ManualClock
from support.sandbox_calls import START, AsgiSandbox
from svc.sandbox.clock import LAST, VirtualClock, micros, moment, parse, text_of
from unit.sandbox.diary import Diary, plan
from unit.sandbox.lab import Lab

DAY = 86400
SECOND = 1_000_000


async def test_frozen_clock_stands_still_and_survives_a_restart(lab: Lab) -> None:
    """Real time passes, also while the sandbox is down; the frozen clock does not move."""

    async def story() -> int:
        async with lab.running() as engine:
            lab.real.advance(500)
            now = engine.clock.now()
            if now == micros(parse("2026-10-01T09:00:00Z")):
                await engine.runner.advance(to=now + 7 * SECOND)
            return now

    assert await story() == micros(parse("2026-10-01T09:00:00Z"))
    lab.real.advance(DAY)
    assert await story() == micros(parse("2026-10-01T09:00:07Z"))


async def test_realtime_keeps_its_distance_over_a_restart(lab: Lab) -> None:
    """Realtime is the real clock plus what was advanced, whether the sandbox ran or not."""
    async with lab.running(frozen=False) as engine:
        await engine.runner.advance(to=engine.clock.now() + 100 * SECOND)
        lab.real.advance(5)
        assert engine.clock.now() == micros(parse("2026-10-01T09:01:45Z"))
    lab.real.advance(3600)
    async with lab.running() as engine:
        assert engine.clock.mode == "realtime"
        assert engine.clock.now() == micros(parse("2026-10-01T10:01:45Z"))


async def test_thawed_clock_runs_on_from_where_it_stood(lab: Lab) -> None:
    """Frozen to realtime: no jump in either direction."""
    async with lab.running() as engine:
        lab.real.advance(1000)
        await engine.set_clock("realtime")
        assert engine.clock.now() == micros(parse("2026-10-01T09:00:00Z"))
        lab.real.advance(3)
        assert engine.clock.now() == micros(parse("2026-10-01T09:00:03Z"))


def test_a_wait_is_as_long_as_the_moment_is_away() -> None:
    """To the microsecond; a clock that stands is waited for without end, but not where it stands."""
    real = ManualClock(1_790_863_402.5)
    clock = VirtualClock(real)
    moments = [int(1_790_863_402.5 * SECOND) + away for away in (-SECOND, 0, 1, 90 * SECOND)]
    assert [clock.seconds_until(moment) for moment in moments] == [0.0, 0.0, 1e-06, 90.0]
    clock.switch("frozen")
    moments = [clock.now() + away for away in (-SECOND, 0, 90 * SECOND)]
    assert [clock.seconds_until(moment) for moment in moments] == [0.0, 0.0, None]


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({}, True),
        ({"now": 0}, True),
        ({"now": LAST}, True),
        ({"offset": LAST - 5 * SECOND}, True),
        ({"offset": LAST - 5 * SECOND + 1}, False),
        ({"offset": LAST, "mode": "frozen"}, True),
        ({"now": -1}, False),
        ({"now": LAST + 1}, False),
        ({"now": 7.0}, False),
        ({"offset": 7.0}, False),
        ({"offset": None, "mode": "frozen"}, False),
        ({"mode": "sideways"}, False),
    ],
)
def test_saved_clock_is_taken_up_where_it_has_a_date(changes: dict[str, Any], fits: bool) -> None:
    """A new one has no distance; the last moment is the end of the year 9999."""
    assert text_of(LAST) == "9999-12-31T23:59:59Z"
    with pytest.raises(OverflowError):
        moment(LAST + 1)
    clock = VirtualClock(ManualClock(5.0))
    saved = clock.dump()
    assert saved == {"mode": "realtime", "offset": 0, "now": 5 * SECOND}
    with nullcontext() if fits else pytest.raises(ValueError):
        clock.load({**saved, **changes})
    assert clock.position == tuple({**saved, **(changes if fits else {})}.values())


async def test_clock_set_forward_runs_the_jobs_on_the_way(lab: Lab, diary: Diary) -> None:
    """Freezing at a later moment lands on it exactly and skips no job."""
    async with lab.running(frozen=False) as engine:
        await engine.run("test", plan((60, "a")))
        target = micros(parse("2026-10-02T00:00:00Z"))
        await engine.set_clock("frozen", target)
        assert engine.clock.now() == target
    assert diary.entries == [("09:01:00", "a", "")]


def test_clock_never_goes_back_when_the_real_one_does() -> None:
    """The machine's clock is set back an hour: the sandbox's goes on from where it is."""
    real = ManualClock(1_000_000.0)
    clock = VirtualClock(real)
    before = clock.now()
    real.advance(-3600)
    assert clock.now() == before
    real.advance(10)
    assert clock.now() == before + 10 * SECOND
    saved = clock.dump()
    real.advance(-DAY)
    later = VirtualClock(real)
    later.load(saved)
    assert later.now() == before + 10 * SECOND


@pytest.fixture
def between(make_sandbox: Callable[..., AsgiSandbox]) -> AsgiSandbox:
    """A sandbox that was started within a second, as every real one is."""
    return make_sandbox(real_clock=ManualClock(parse(START).timestamp() + 0.654321))


def test_authorisation_expires_at_the_second_that_is_shown(between: AsgiSandbox) -> None:
    """R131: at `authorization_expires_at` nothing is captured any more."""
    held = between.paid(capture_method="manual")
    between.control("/clock/advance", {"to": held["authorization_expires_at"]})
    assert between.again(held)["status"] == "cancelled"
    assert between.post(f"/v1/orders/{held['order']}/capture").code == "order_unexpected_state"


def test_capture_at_the_expiry_is_refused_before_anything_has_run(sandbox: AsgiSandbox) -> None:
    """R131: the second counts, and not whether the sandbox came to its jobs already."""
    held = sandbox.paid(capture_method="manual")
    sandbox.clock.advance(7 * DAY)
    refused = sandbox.post(f"/v1/orders/{held['order']}/capture")
    assert (refused.code, "expired" in refused.json["message"]) == ("order_unexpected_state", True)


def test_evidence_is_late_at_the_moment_that_is_shown(sandbox: AsgiSandbox) -> None:
    """R131: at `evidence_due_by` the dispute takes no answer, before anything has run as after."""
    asked = {"payment": sandbox.paid()["id"], "evidence_due_by": "2026-10-03T12:00:00Z"}
    dispute = sandbox.control("/disputes", asked).json
    path, draft = f"/v1/disputes/{dispute['id']}", {"evidence": {"receipt": "r"}}
    sandbox.clock.advance(2 * DAY + 3 * 3600 - 1)
    assert sandbox.post(path, draft).status == 200
    sandbox.clock.advance(1)
    for refused in (sandbox.post(path, draft), sandbox.post(f"{path}/accept")):
        assert (refused.code, "passed" in refused.json["message"]) == (
            "dispute_unexpected_state",
            True,
        )


def test_payout_is_paid_at_the_arrival_that_is_shown(between: AsgiSandbox) -> None:
    """R131: `estimated_arrival` is when it arrives."""
    payout = between.post("/v1/payouts", between.payout_params).json
    between.control("/clock/advance", {"to": payout["estimated_arrival"]})
    paid = between.again(payout)
    assert (paid["status"], paid["paid_at"]) == ("paid", payout["estimated_arrival"])


def test_rolled_key_ends_at_the_second_that_is_shown(between: AsgiSandbox) -> None:
    """R131: at `expires_at` the old key is refused."""
    made = between.control("/keys", {"type": "secret"}).json
    between.control(f"/keys/{made['id']}/roll", {"expires_in": 60})
    keys = between.control("/keys", method="GET").json["data"]
    old = next(key for key in keys if key["id"] == made["id"])
    assert between.call("GET", "/v1/orders", key=made["secret"]).status == 200
    between.control("/clock/advance", {"to": old["expires_at"]})
    assert between.call("GET", "/v1/orders", key=made["secret"]).code == "api_key_expired"


def test_advance_to_the_next_job_that_is_shown_runs_it(between: AsgiSandbox) -> None:
    """R131: `next_job_at` is when it runs."""
    between.post("/v1/refunds", {"payment": between.paid()["id"]})
    due = between.control("/clock", method="GET").json["next_job_at"]
    assert between.control("/clock/advance", {"to": due}).json["jobs"] == 1


def test_everything_still_works_at_the_last_moment(sandbox: AsgiSandbox) -> None:
    """What is scheduled there lies beyond the last moment, and can be waited for no longer."""
    assert sandbox.control("/clock", {"now": "9000-01-01T00:00:00Z"}).status == 200
    order = sandbox.order(capture_method="manual")
    payment = sandbox.pay(order, card={"exp_year": 9001}).json["payment"]
    assert payment["authorization_expires_at"] == "9000-01-08T00:00:00Z"
    captured = sandbox.post(f"/v1/orders/{payment['order']}/capture")
    assert (captured.status, captured.json["captured_at"]) == (200, "9000-01-01T00:00:00Z")
    refund = sandbox.post("/v1/refunds", {"payment": payment["id"], "amount": 1})
    assert refund.json["status"] == "pending"
    beyond = sandbox.control("/clock/advance", {"seconds": 1})
    assert (beyond.status, beyond.param) == (400, "seconds")
    idle = sandbox.control("/clock/advance", {"until": "idle"})
    assert idle.status == 200
    assert sandbox.get(f"/v1/refunds/{refund.json['id']}").json["status"] == "succeeded"
