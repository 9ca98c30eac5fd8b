"""A listener that is killed, stopped and refused for a while; the long form is a script."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.soak_listen import PowerCut, Soak, SoakAnswer, soak, verdict


@pytest.mark.slow(seconds=40)
def test_a_listener_that_is_ended_again_and_again_loses_nothing(tmp_path: Path) -> None:
    """R50: every event that was answered 200 arrives; what comes twice, comes twice at a kill."""
    run, ended = soak(20.0, tmp_path, "fast", seed=3)
    assert verdict(run, ended) == []
    assert run.kills
    assert run.stops
    assert run.outages


def seen(*answers: SoakAnswer, kill: PowerCut | None = None) -> Soak:
    """A run in which one event was answered so, and nothing else came."""
    return Soak(1, "fast", {"evt_1"}, {"evt_1": [*answers]}, [kill] if kill else [])


UNEXCUSED = "evt_1 twice without a kill"


def test_the_verdict_excuses_only_what_a_kill_kept_from_being_noted() -> None:
    """A kill between two takings is no excuse where the first one was known, or long ago."""
    twice = (SoakAnswer(10.0, 200), SoakAnswer(13.0, 200))
    ended = Counter({"forwarded": 1})
    assert verdict(seen(*twice), ended) == [UNEXCUSED]
    assert verdict(seen(*twice, kill=PowerCut(10.1, {"evt_1"})), ended) == []
    assert verdict(seen(*twice, kill=PowerCut(10.1, set())), ended) == [UNEXCUSED]
    assert verdict(seen(*twice, kill=PowerCut(12.0, {"evt_1"})), ended) == [UNEXCUSED]
    assert verdict(seen(*twice, kill=PowerCut(9.0, {"evt_1"})), ended) == [UNEXCUSED]
    third = (*twice, SoakAnswer(13.1, 200))
    assert verdict(seen(*third, kill=PowerCut(10.1, {"evt_1"})), ended) == [UNEXCUSED]


def test_the_verdict_knows_what_was_not_heard_and_what_was_lost() -> None:
    """An answer that could not be written is none; what nobody took needs a target's reason."""
    ended = Counter({"forwarded": 1})
    assert verdict(seen(SoakAnswer(1.0, 200, heard=False), SoakAnswer(2.0, 200)), ended) == []
    assert verdict(seen(SoakAnswer(1.0, 503), SoakAnswer(2.0, 200)), ended) == []
    assert verdict(Soak(1, "fast", {"evt_1"}), Counter()) == ["evt_1 is lost"]
    failed = Counter({"failed": 1})
    assert verdict(seen(SoakAnswer(1.0, 503)), failed) == []
    real = Soak(1, "real", {"evt_1"}, {"evt_1": [SoakAnswer(1.0, 503)]})
    assert verdict(real, failed) == ["evt_1 is lost", "1 failed, and 0 had a reason"]
    assert verdict(real, Counter({"None": 1})) == ["evt_1 is lost", "1 are still open"]
