"""Durations on the command line."""

import pytest

from svc.cli.framework.inputs.times import seconds_of
from svc.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("5m", 300),
        ("2h", 7200),
        ("3d", 259_200),
        ("1w", 604_800),
        ("1d12h", 129_600),
        ("45", 45),
        ("0", 0),
    ],
)
def test_duration_is_read_as_seconds(text: str, seconds: int) -> None:
    """Weeks, days, hours, minutes and seconds add up; a bare number is seconds."""
    assert seconds_of(text, "DURATION") == seconds


@pytest.mark.parametrize("text", ["", "d", "3 d", "-3d", "3x", "1.5h", "3D", "\u0663d", "1d,2h"])
def test_other_text_is_no_duration(text: str) -> None:
    """Anything else is refused with an example."""
    with pytest.raises(UsageError, match="is not a duration") as caught:
        seconds_of(text, "DURATION")
    assert "3d" in (caught.value.hint or "")
