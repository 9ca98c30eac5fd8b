"""How fast a batch goes, and how soon it gives a dead service up (promises R8, R17)."""

import pytest

from support.clocks import ManualClock
from svc.batch.workers import Rate, SharedQuota


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def start(pace: Rate, clock: ManualClock, count: int) -> list[float]:
    """Lets so many requests begin one after the other; gives when each did."""
    begun = []
    for _ in range(count):
        clock.sleep(pace.turn())
        begun.append(clock.monotonic())
    return begun


def test_without_a_limit_nobody_waits(clock: ManualClock) -> None:
    """The workers alone decide."""
    assert start(Rate(clock, None), clock, 100) == [0.0] * 100


def test_a_rate_is_kept_from_the_first_second_on(clock: ManualClock) -> None:
    """`--rate 20`: 20 a second, evenly, without a burst at the start or after a pause."""
    pace = Rate(clock, 20)
    begun = start(pace, clock, 41)
    assert begun[20] - begun[0] == pytest.approx(1.0)
    assert begun[40] - begun[0] == pytest.approx(2.0)
    clock.advance(60)
    assert start(pace, clock, 21)[-1] - clock.monotonic() == pytest.approx(0.0)
    assert begun[40] + 60 + 1 == pytest.approx(clock.monotonic(), abs=0.1)


def serve(
    pace: Rate, clock: ManualClock, limit: int, seconds: int, workers: int = 8
) -> tuple[int, int]:
    """A service that takes `limit` requests a second; gives how many it took and turned away."""
    taken = refused = 0
    tokens, filled = float(limit), clock.monotonic()
    end = clock.monotonic() + seconds
    while clock.monotonic() < end:
        clock.advance(max(pace.turn(), 0.005 / workers))
        now = clock.monotonic()
        tokens, filled = min(float(limit), tokens + (now - filled) * limit), now
        if tokens >= 1:
            tokens -= 1
            taken += 1
            pace.note_success()
        else:
            refused += 1
            pace.was_limited()
    return taken, refused


def test_a_service_that_says_429_sets_the_pace(clock: ManualClock) -> None:
    """R8: after a few it is asked no faster than it takes, and nearly as fast."""
    pace = Rate(clock, None)
    taken, refused = serve(pace, clock, limit=25, seconds=120)
    assert refused < taken * 0.02
    assert taken > 25 * 120 * 0.8


def test_after_a_429_nothing_begins_for_a_second(clock: ManualClock) -> None:
    """Answers of requests that were under way do not slow it down further."""
    pace = Rate(clock, None)
    clock.advance(1)
    for _ in range(100):
        pace.note_success()
    for _ in range(8):
        pace.was_limited()
    assert pace.turn() == pytest.approx(1.0)
    assert pace.turn() == pytest.approx(1 + 1 / 85)


def test_the_users_rate_is_never_exceeded_when_it_speeds_up_again(clock: ManualClock) -> None:
    """The service's limit comes below the user's, not instead of it."""
    pace = Rate(clock, 10)
    pace.was_limited()
    for _ in range(500):
        pace.note_success()
    begun = start(pace, clock, 31)
    assert begun[-1] - begun[-11] == pytest.approx(1.0)


@pytest.mark.parametrize("rows", [6, 10, 50, 199, 200, 10_000])
def test_a_dead_service_costs_one_and_a_half_requests_a_row_at_most(rows: int) -> None:
    """R17: a quota of 500, 5 a further attempt, scaled down for lists below 200 rows."""
    quota = SharedQuota(rows)
    further = 0
    while quota.take(timed_out=False):
        further += 1
    assert quota.exhausted
    assert (rows + further) / rows <= 1.5
    assert further == min(100, max(3, rows // 2))


def test_a_short_list_has_what_a_single_command_has() -> None:
    """Three further attempts, whatever its length."""
    quota = SharedQuota(1)
    assert [quota.take(timed_out=False) for _ in range(4)] == [True, True, True, False]


def test_a_dead_service_drains_the_quota() -> None:
    """R17: 500 units, 5 a retry, 10 after a timeout, 1 back for a success."""
    quota = SharedQuota(10_000)
    assert sum(quota.take(timed_out=False) for _ in range(200)) == 100
    for _ in range(9):
        quota.give()
    assert not quota.take(timed_out=True)
    quota.give()
    assert quota.take(timed_out=True)


def test_the_quota_does_not_grow_beyond_its_capacity() -> None:
    """R17: a long good run earns no credit for a later storm."""
    quota = SharedQuota(1)
    for _ in range(100):
        quota.give()
    assert [quota.take(timed_out=False) for _ in range(4)] == [True, True, True, False]
