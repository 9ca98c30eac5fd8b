"""Without the extra `nats`: one line that says how to get it, and nothing of it is loaded."""

import json
import os
import subprocess
import sys

import pytest

from support.absence import importable
from support.running import run_to_end

LOG = "nats://127.0.0.1/shop"
# An interpreter in which the client of NATS cannot be found, whether or not it is installed.
WITHOUT = """
import sys
from importlib.machinery import PathFinder
class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "nats" else super().find_spec(name, path, target)
sys.meta_path = [Without if each is PathFinder else each for each in sys.meta_path]
from svc.cli.main import main
"""
LOADED = "print('@@', *sorted(sys.modules), file=sys.stderr)\n"


def run(before: str, *argv: str) -> "subprocess.CompletedProcess[str]":
    code = f"{before}\ncode = main({list(argv)!r})\n{LOADED}sys.exit(code)"
    env = {**os.environ, "SVC_BASE_URL": "http://127.0.0.1:9", "SVC_API_KEY": "sk_test_sandbox"}
    command = [sys.executable, "-c", code]
    return run_to_end(command, env=env)


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param(("receive", "--to", LOG), marks=pytest.mark.slow),
        ("listen", "--from", LOG, "--group", "ci", "--forward-to", "3000"),
        pytest.param(("log", "status", "--from", LOG), marks=pytest.mark.slow),
    ],
)
def test_command_says_in_one_line_how_to_get_it(argv: tuple[str, ...]) -> None:
    done = run(WITHOUT, "events", *argv)
    line = done.stderr.splitlines()[0]
    error = json.loads(line)["error"]
    assert (done.returncode, error["code"]) == (2, "log_extra_missing")
    assert error["message"].endswith("pip install 'svc-cli[nats]'")
    assert "\n" not in error["message"]


@pytest.mark.parametrize(
    "argv", [("listen", "--timeout", "0"), pytest.param(("inbox",), marks=pytest.mark.slow)]
)
def test_whoever_names_no_log_loads_nothing_of_it(argv: tuple[str, ...]) -> None:
    """SQLite stays all that a lone user meets, also where the extra is installed."""
    done = run("import sys\nfrom svc.cli.main import main", "events", *argv)
    loaded = set(done.stderr.rsplit("@@", 1)[1].split())
    assert "svc.cli.events" in loaded
    assert importable(["nats", "svc.listen.log"])
    assert not {name for name in loaded if name.split(".")[0] == "nats"}
    assert not {name for name in loaded if name.startswith("svc.listen.log")}
