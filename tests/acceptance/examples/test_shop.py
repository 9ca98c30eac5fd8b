"""The pytest plugin, by the suite of a small shop that has it."""

import os
import sys
import time
from importlib.util import find_spec, module_from_spec
from pathlib import Path

import pytest

from support.running import run_to_end

SHOP = Path(__file__).with_name("shop")


@pytest.mark.slow(seconds=3)
def test_a_shop_is_tested_with_the_fixtures_of_svc(tmp_path: Path) -> None:
    """Each test has an empty service, whose webhooks come and are verified."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "svc.pytest_plugin", "-p", "no:randomly"]
    options = [
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        "-o",
        "faulthandler_timeout=40",  # what stands still says where
        "-o",
        "faulthandler_exit_on_timeout=true",
        "--rootdir",
        str(tmp_path),
        "-c",
        os.devnull,
    ]
    done = run_to_end(
        [*command, *options, str(SHOP / "shop_suite.py")],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


def test_the_plugin_takes_less_than_five_milliseconds() -> None:
    """Once it is read from the disk: the best of five, by the processor's time."""
    found = find_spec("svc.pytest_plugin")
    assert found is not None
    assert found.loader is not None
    taken = []
    for _ in range(5):
        begun = time.thread_time()
        plugin = module_from_spec(found)
        found.loader.exec_module(plugin)
        pytest.PytestPluginManager().register(plugin)
        taken.append(time.thread_time() - begun)
    assert min(taken) < 0.005
