"""How many examples Hypothesis draws: a fifth in a plain run, all where they are asked for.

They are asked for by their mark, as `.ci/run slow` does: `pytest -m "slow or hypothesis"`.
"""

from typing import Final

from hypothesis import HealthCheck, settings

ALL: Final = 100
PLAIN: Final = 20
NAME: Final = "suite"


def choose_examples(marks: str) -> None:
    """Chooses by the marks that a run is for; before any test is imported."""
    drawn = ALL if "hypothesis" in marks else PLAIN
    # How long an example takes on a busy machine says nothing; each test has its limit.
    slow = [HealthCheck.too_slow]
    settings.register_profile(NAME, max_examples=drawn, deadline=None, suppress_health_check=slow)
    settings.load_profile(NAME)


def examples(times: float) -> int:
    """So many times as many as of a property that says nothing of it."""
    return int(settings.get_profile(NAME).max_examples * times)
