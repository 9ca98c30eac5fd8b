"""A library that cannot serve is named at once: what was found, what is needed, how to get it."""

import os
import sys
import tomllib
from pathlib import Path

import pytest

from support.running import run_to_end
from svc.cli.framework.requirements import DISTRIBUTION, find_unmet

pytestmark = pytest.mark.smoke

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def installed(folder: Path, name: str, version: str, *needs: str) -> None:
    """Puts the description of an installed distribution into a folder."""
    where = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    where.mkdir()
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {need}" for need in needs]
    (where / "METADATA").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("needs", "found"),
    [
        (["lib-a>=1.2"], None),
        (["lib-a<1.3,>=1.2"], None),
        (["lib-a>=1.2.0"], None),
        (["lib-bare>=1"], None),
        (["lib-a"], None),
        (["lib-z>=3; extra == 'dev'"], None),
        (["lib-a>=1.10"], "lib-a 1.2"),
        (["lib-a<1.2,>=1"], "lib-a 1.2"),
        (["lib-z>=3"], "lib-z is missing"),
        (["lib-a>=2", "lib-z>=3"], "lib-a 1.2; lib-z is missing"),
    ],
)
def test_what_is_not_as_declared_is_named(
    needs: list[str], found: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions are compared as numbers; what is only needed for work on svc is left out.

    A build of one file has modules that no metadata describes: `lib-bare`.
    """
    installed(tmp_path, "program-a", "1", *needs)
    (tmp_path / "lib_bare.py").touch()
    installed(tmp_path, "lib-a", "1.2")
    monkeypatch.syspath_prepend(tmp_path)
    error = find_unmet("program-a")
    if found is None:
        assert error is None
        return
    assert error is not None
    assert str(error) == f"svc cannot run with what is installed: {found}."
    assert all(f"'{need}'" in (error.hint or "") for need in needs)
    assert sys.prefix in (error.hint or "")


def test_nothing_is_said_where_nothing_is_declared() -> None:
    """Sources on a path are no installation."""
    assert find_unmet("no-such-distribution-anywhere") is None


def test_limits_are_of_the_kinds_that_are_understood() -> None:
    """A new kind of limit in the project would be misread."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    assert project["name"] == DISTRIBUTION
    for need in project["dependencies"]:
        limits = need.lstrip("abcdefghijklmnopqrstuvwxyz0123456789-").split(",")
        assert all(limit.startswith((">=", "<")) for limit in limits), need
        assert not any(limit.startswith("<=") for limit in limits), need


@pytest.mark.parametrize("broken", ["raise ImportError('cannot import name')", "Typer = None"])
def test_typer_that_cannot_serve_is_named_in_one_line(broken: str, tmp_path: Path) -> None:
    """Not a bug of svc: exit 10 and the way out, for every command."""
    installed(tmp_path, DISTRIBUTION, "1", "typer>=0.28")
    installed(tmp_path, "typer", "0.12.5")
    (tmp_path / "typer").mkdir()
    (tmp_path / "typer" / "__init__.py").write_text(broken)
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = run_to_end([sys.executable, "-m", "svc", "orders", "list"], env=env)
    assert done.returncode == 10
    assert done.stdout == ""
    assert done.stderr.startswith("Error: svc cannot run with what is installed: typer 0.12.5.\n")
    assert "pip install 'typer>=0.28'" in done.stderr
    assert "Traceback" not in done.stderr
