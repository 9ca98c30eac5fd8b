"""A run of pytest inside a test: the suite itself is what is tested."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
OPTIONS: Final = ("-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-n", "0")


def pytest_run(
    *argv: str,
    env: dict[str, str] | None = None,
    before: Callable[[], None] | None = None,
    limit: float = 50,
) -> "subprocess.CompletedProcess[str]":
    """Runs pytest with this suite's settings, in other surroundings where `before` makes them."""
    # What was added for the outer run, its folder above all, is not this one's to empty.
    caller = {name: text for name, text in os.environ.items() if name != "PYTEST_ADDOPTS"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), *OPTIONS, *argv],
        cwd=ROOT,
        env={**caller, **(env or {})},
        preexec_fn=before,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=limit,
    )


def pytest_run_of(code: str, folder: Path, *argv: str) -> "subprocess.CompletedProcess[str]":
    """Runs a file of tests under this suite's conftest."""
    path = folder / "test_inside.py"
    path.write_text(code)
    path_of_tests = {"PYTHONPATH": str(ROOT / "tests")}
    return pytest_run(
        "-p", "conftest", "--rootdir", str(folder), str(path), *argv, env=path_of_tests
    )
