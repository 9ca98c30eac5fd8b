"""When a person is reminded of keys: once a day, and not by what is no work with a key; and how."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.on_terminal import TtyStream
from support.suite.golden import hold_golden
from svc.cli.framework import daily
from svc.cli.framework.reminders import annotations, build_finding, build_view
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.keys.age import SecretRecord, assess_age

DAY = 86_400


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Session]:
    found: list[Session] = []
    monkeypatch.setattr(daily, "_tell", found.append)
    return found


def look(state: Path, clock: ManualClock, *argv: str, **given: object) -> None:
    env = {"SVC_STATE_DIR": str(state), "SVC_CONFIG_DIR": str(state)}
    with Session(argv, env, Streams(TtyStream(), TtyStream(), TtyStream()), clock) as session:
        vars(session.given.everywhere).update(given)
        daily.remind_daily(session)


@pytest.mark.parametrize(
    ("ago", "times"), [(None, 1), (0, 0), (DAY - 1, 0), (DAY, 1), (DAY + 1, 1), (-1, 1)]
)
def test_a_day_after_the_last_look_comes_the_next(
    isolated: Path, told: list[Session], ago: int | None, times: int
) -> None:
    """A clock that was turned back does not put it off; each look is noted."""
    clock, state = ManualClock(), isolated / "state"
    state.mkdir(mode=0o700)
    (state / "state.db").touch()
    seen = state / "reminders.looked"
    if ago is not None:
        seen.touch()
        os.utime(seen, (clock.now() - ago, clock.now() - ago))
    look(state, clock, "orders")
    assert len(told) == times
    if times:
        assert seen.stat().st_mtime == clock.now()
        assert ago is not None or seen.stat().st_mode & 0o777 == 0o600
    look(state, clock, "orders")
    assert len(told) == times


@pytest.mark.parametrize("word", ["keys", "help", "--help", "-h"])
def test_what_is_no_work_with_a_key_says_nothing(
    isolated: Path, told: list[Session], word: str
) -> None:
    """Nor what is to be quiet or for a program, nor where no state is."""
    clock, state = ManualClock(), isolated / "state"
    look(state, clock, "orders")
    state.mkdir(mode=0o700)
    (state / "state.db").touch()
    look(state, clock, "orders", word)
    look(state, clock, "orders", quiet=True)
    look(state, clock, "orders", output="json")
    assert told == []
    assert not (state / "reminders.looked").exists()
    look(state, clock, "orders")
    assert len(told) == 1


KEY = SecretRecord("api_key", "sk_live_…p7dc", "shop", "https://a.example", "live", 0.0)
JUDGED = (
    *((KEY, days) for days in (1.5, 75, 76, 89.9, 90)),
    (SecretRecord("signing_secret", "we_1", "shop", "", "test", 0.0), 91),
    (SecretRecord("api_key", "sk", "shop", "", "test", 0.0, variable=True), 91),
    (SecretRecord("api_key", "sk", "shop", "", "test", None), 91),
    (SecretRecord("api_key", "sk", "shop", "", "test", 0.0, test_data=True), 91),
    (SecretRecord("api_key", "sk", "shop", "", "test", 90.0 * DAY, "sk_old", 92.0 * DAY), 91),
    (SecretRecord("api_key", "sk", "shop", "", "test", 90.0 * DAY, "sk_old"), 91),
)


def describe(record: SecretRecord, days: float) -> Iterator[str]:
    age = assess_age(record, days * DAY, max_age=90 * DAY, warn=14 * DAY)
    finding = build_finding(age)
    yield f"{days} days: {finding['status']} {finding['name']}"
    yield f"  {finding['detail']} -> {finding['fix']}"
    yield f"  {json.dumps(build_view(age), ensure_ascii=False)}"
    yield from (f"  {line}" for line in annotations([age]))


def test_each_kind_of_secret_has_its_words_at_each_age() -> None:
    """A fortnight before it is due the next step is said; a variable's is the user's own."""
    said = "".join(f"{line}\n" for record, days in JUDGED for line in describe(record, days))
    hold_golden(Path(__file__).with_name("reminders.txt"), said)
