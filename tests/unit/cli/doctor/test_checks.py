"""What a check makes of what it has found."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from svc.cli.doctor import checks
from svc.cli.doctor.checks import Finding, judge_clock, run_guarded
from svc.state import room


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


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied", "/x"), "/x: permission denied."),
        (PermissionError(13, "Permission denied"), "state: permission denied."),
    ],
)
def test_an_error_of_the_system_is_a_finding(error: OSError, said: str) -> None:
    """With a remedy, as each that failed."""

    def check(_: object) -> Any:
        raise error

    nothing: Any = None
    found = run_guarded("state", check, nothing)
    assert (found.name, found.verdict, found.detail.lower()) == ("state", "failed", said)
    assert found.fix == "Mend that, then: svc doctor"


def test_a_damaged_database_is_a_finding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the database says of it is told, and that it is worth keeping."""
    path = tmp_path / "state.db"
    path.touch()
    damaged = SimpleNamespace(rows=lambda _: [{"quick_check": "row 3 missing"}], close=lambda: None)
    monkeypatch.setattr(checks, "Database", SimpleNamespace(open=lambda *_, **__: damaged))
    monkeypatch.setattr(room, "room_of", lambda *_: None)
    session: Any = SimpleNamespace(paths=SimpleNamespace(state_file=path), clock=None)
    fix = "Copy it away and run svc again"
    assert checks.state(session) == ("failed", f"{path}: row 3 missing", fix)


@pytest.mark.parametrize(("is_sandbox", "verdict"), [(True, "skipped"), (False, "warning")])
def test_without_a_tunnel_no_webhook_comes_but_a_sandboxs(
    tmp_path: Path, is_sandbox: bool, verdict: str
) -> None:
    """One can be installed, or be somebody's own."""
    settings = SimpleNamespace(sandbox=is_sandbox)
    session: Any = SimpleNamespace(settings=settings, env={"PATH": "/nowhere"})
    found = Finding("tunnels", *checks.tunnels(session))
    for name in ("cloudflared", "ngrok", "ssh"):
        (tmp_path / name).touch(0o755)
    here: Any = SimpleNamespace(
        settings=SimpleNamespace(sandbox=False), env={"PATH": str(tmp_path)}
    )
    every = ", ".join(str(tmp_path / name) for name in ("cloudflared", "ngrok", "ssh"))
    assert checks.tunnels(here) == ("ok", every)
    assert found.verdict == verdict
    assert ("svc events listen --public-url URL" in (found.fix or "")) != is_sandbox
