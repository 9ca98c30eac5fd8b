"""When a person is reminded of keys: once a day, and not by what is no work with a key."""

import os
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.on_terminal import TtyStream
from svc.cli.framework import daily
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams

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
