"""What is asked before a sandbox starts: where it listens, and which certificate it shows."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.clocks import ManualClock
from svc.cli.sandbox.launch import certificate_for, reach_of
from svc.errors import LocalError, UsageError
from svc.sandbox.process import certificate

NOW = datetime(2026, 10, 1, tzinfo=UTC)
HERE = "127.0.0.1"


@pytest.mark.parametrize(
    ("bind", "names", "reach"),
    [
        (HERE, [], (HERE, [])),
        ("0.0.0.0", ["Svc", "svc", "a.b-c"], ("0.0.0.0", ["svc", "a.b-c"])),
        ("::", ["[fd00::0:1]"], ("::", ["fd00::1"])),
        ("10.0.0.5", ["svc"], ("10.0.0.5", ["svc", "10.0.0.5"])),
        (HERE, ["x" * 253], (HERE, ["x" * 253])),
    ],
)
def test_it_answers_to_its_address_and_the_names_that_were_given(
    bind: str, names: list[str], reach: tuple[str, list[str]]
) -> None:
    assert reach_of(bind, names, tls=False) == reach


@pytest.mark.parametrize(
    ("bind", "names", "tls", "param"),
    [
        ("fe80::1%eth0", [], False, "--bind"),
        *((HERE, [name], False, "--allow-host") for name in ("-a", "x" * 254)),
        (HERE, ["svc"], True, "--tls"),
    ],
)
def test_what_is_no_address_and_no_name_is_refused(
    bind: str, names: list[str], tls: bool, param: str
) -> None:
    """Patterns too: a hostile page's name could match. A certificate is for loopback alone."""
    with pytest.raises(UsageError) as caught:
        reach_of(bind, names, tls=tls)
    assert caught.value.param == param
    assert caught.value.hint is not None
    if param != "--bind":
        assert param.replace("tls", "certificate") in caught.value.hint
    assert reach_of(HERE, [], tls=True) == (HERE, [])


def begun(tmp_path: Path, *own: str | None, tls: bool = True) -> Any:
    session: Any = SimpleNamespace(clock=ManualClock(NOW.timestamp()))
    certificate_file, key = own or (None, None)
    return certificate_for(session, tmp_path, tls=tls, own=(certificate_file, key))


def test_certificate_of_ones_own_needs_its_key(tmp_path: Path) -> None:
    file = tmp_path / "own.pem"
    file.write_text("x")
    shown = {"certificate": str(file), "private_key": str(file)}
    assert begun(tmp_path, str(file), str(file)) == shown
    assert begun(tmp_path, tls=False) == {}
    for own in ((str(file), None), (None, str(file))):
        with pytest.raises(UsageError, match="belong together"):
            begun(tmp_path, *own)
    with pytest.raises(LocalError, match="nowhere cannot be read"):
        begun(tmp_path, str(file), str(tmp_path / "nowhere"))


def test_latest_certificate_that_is_good_for_a_month_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a new one is made; one that has ended is removed, and another file is left alone."""
    made: list[int] = []

    def issue(now: datetime) -> certificate.Issued:
        assert now == NOW
        made.append(1)
        return certificate.Issued("ab1", b"authority", b"397", b"key")

    monkeypatch.setattr(certificate, "ends", lambda pem: NOW + timedelta(days=float(pem)))
    monkeypatch.setattr(certificate, "issue", issue)
    for name, days in (("a0", "30"), ("a1", "-0.01"), ("a2", "nothing"), ("b0", "0")):
        (tmp_path / "tls" / name).mkdir(parents=True)
        (tmp_path / "tls" / name / "certificate.pem").write_text(days)
    fresh = begun(tmp_path)
    assert {name: Path(path).read_bytes() for name, path in fresh.items()} == {
        "certificate": b"397",
        "private_key": b"key",
        "authority": b"authority",
    }
    assert {path.name for path in (tmp_path / "tls").iterdir()} == {"a0", "a2", "ab1", "b0"}
    kept = Path(fresh["private_key"])
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    for name, days, shown in (("c1", "500", "c1"), ("c1", "30", "ab1"), ("ab1", "30.01", "ab1")):
        (tmp_path / "tls" / name).mkdir(exist_ok=True)
        (tmp_path / "tls" / name / "certificate.pem").write_text(days)
        assert Path(begun(tmp_path)["certificate"]).parent.name == shown
    assert made == [1]
