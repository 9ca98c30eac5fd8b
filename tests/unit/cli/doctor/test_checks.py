"""What a check makes of what it has found."""

import pytest

from svc.cli.doctor.checks import Finding, judge_clock


@pytest.mark.parametrize(
    ("skew", "verdict"),
    [(None, "skipped"), (0.4, "ok"), (-29.0, "ok"), (45.0, "warning"), (-301.0, "failed")],
)
def test_the_clock_is_judged_by_what_signatures_allow(skew: float | None, verdict: str) -> None:
    """Beyond 5 minutes every webhook would be refused (promise R47)."""
    finding = Finding("clock", *judge_clock(skew))
    assert finding.verdict == verdict
    assert (finding.fix is None) == (verdict in ("ok", "skipped"))
    assert skew is None or abs(skew) < 30 or ("ahead" in finding.detail) == (skew > 0)
