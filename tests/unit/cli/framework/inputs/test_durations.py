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
        ("0", 0),
        ("00", 0),
    ],
)
def test_duration_is_read_as_seconds(text: str, seconds: int) -> None:
    """Weeks, days, hours, minutes and seconds add up; none of anything is none."""
    assert seconds_of(text, "DURATION") == seconds


@pytest.mark.parametrize("text", ["", "d", "3 d", "-3d", "3x", "1.5h", "3D", "\u0663d", "1d,2h"])
def test_other_text_is_no_duration(text: str) -> None:
    """Anything else is refused with an example."""
    with pytest.raises(UsageError, match="is not a duration") as caught:
        seconds_of(text, "DURATION")
    assert "3d" in (caught.value.hint or "")


@pytest.mark.parametrize("text", ["7", "24", "90"])
def test_number_without_a_unit_is_refused(text: str) -> None:
    """`--due 7` was taken for 7 seconds, and no dispute was due; `--grace 24` too."""
    with pytest.raises(UsageError, match=f"--due {text} has no unit") as caught:
        seconds_of(text, "--due")
    assert f"{text}d" in (caught.value.hint or "")
