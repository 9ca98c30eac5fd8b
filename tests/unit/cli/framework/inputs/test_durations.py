"""Durations on the command line."""

import pytest

from svc.cli.framework.inputs.times import seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("5m", 300),
        ("2h", 7200),
        ("3d", 259_200),
        ("1w", 604_800),
        ("1d12h", 129_600),
        ("0", 0),
        ("00", 0),
    ],
)
def test_duration_is_read_as_seconds(text: str, seconds: int) -> None:
    """Weeks, days, hours, minutes and seconds add up; none of anything is none."""
    assert seconds_of(text, "DURATION") == seconds
