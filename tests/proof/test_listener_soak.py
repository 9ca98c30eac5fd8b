"""A listener that is killed, stopped and refused for a while; the long form is a script."""

from pathlib import Path

import pytest

from benchmarks.soak_listen import soak, verdict


@pytest.mark.slow(seconds=40)
def test_a_listener_that_is_ended_again_and_again_loses_nothing(tmp_path: Path) -> None:
    """R50: every event that was answered 200 arrives; what comes twice, comes twice at a kill."""
    run, ended = soak(20.0, tmp_path, "fast")
    assert verdict(run, ended) == []
    assert run.killed
    assert run.stops
    assert run.outages
