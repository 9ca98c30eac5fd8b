"""What a short command loads, from its start as a process: start-up is a feature."""

import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import svc
from support.absence import importable
from support.orders import CREATE_ORDER as ORDER
from support.running import Sandbox, Svc

# Of ours, and of all, on Python 3.14, which loads most: more takes a reason, fewer a lower number.
OURS, ALL = 68, 193
NEVER = (
    *("h11", "platformdirs", "tempfile", "decimal", "dataclasses", "shlex", "ssl"),
    *("bz2", "lzma", "ipaddress", "platform", "subprocess", "textwrap", "tokenize", "linecache"),
    *("gettext", "locale", "shutil", "difflib", "uuid", "traceback", "urllib.parse", "ast"),
    *("tomllib", "sqlite3", "asyncio", "email", "http.client", "urllib.request", "hashlib"),
)


def loaded(*argv: str, env: dict[str, str]) -> list[str]:
    """Runs a command as a process of its own and gives what it imported, in order."""
    words = [sys.executable, "-X", "importtime", "-m", "svc", *argv]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return [line.rpartition("|")[2].strip() for line in lines][1:]


@pytest.fixture
def elsewhere(sandbox: Sandbox, tmp_path: Path) -> dict[str, str]:
    """The surroundings of a user who has never run a sandbox, and has a key for one."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    return {
        **env,
        "HOME": str(tmp_path),
        "SVC_API_KEY": "sk_test_sandbox",
        "SVC_BASE_URL": sandbox.url,
    }


def test_a_retrieve_loads_no_more_than_it_uses(svc: Svc, elsewhere: dict[str, str]) -> None:
    """A plain answer is read without h11, and nothing is loaded for what a GET does not do."""
    order = svc.ok(*ORDER)["id"]
    names = loaded("orders", "retrieve", order, env=elsewhere)
    ours = [name for name in names if name.split(".")[0] == "svc"]
    assert "svc.client.wire.sockets" in ours
    assert not set(names) & importable(NEVER)
    assert len(ours) <= OURS, sorted(ours)
    assert len(names) <= ALL
    assert not [*Path(elsewhere["HOME"]).rglob("state.db*")]
    short = loaded("orders", "retrieve", order, "-o", "json", env=elsewhere)
    assert "difflib" not in short  # of what is like an option, only where one is misspelled


@pytest.mark.parametrize("argv", [["--help"], ["orders", "--help"]], ids=" ".join)
def test_help_leaves_out_what_typer_imports_in_vain(
    argv: list[str], elsewhere: dict[str, str]
) -> None:
    """Typer is imported without what only its other users need."""
    names = loaded(*argv, env=elsewhere)
    assert "typer" in names
    assert not set(names) & importable((*NEVER, "socket", "datetime", "json", "shellingham"))


_WATCHED = """
import io, json, sys
loaded = []
class Out(io.StringIO):
    def write(self, text):
        loaded.append([name for name in sys.modules if name.startswith("svc.")])
        return super().write(text)
sys.stdout = Out()
from svc.cli.main import main
code = main(["orders", "list"])
after = [name for name in sys.modules if name.startswith("svc.")]
print(json.dumps([code, loaded[-1], after]), file=sys.stderr)
"""
# Their beginnings: each stands for modules that are there.
_OURS = ("svc.completion", "svc.cli.command", "svc.cli.completion")
_RECENT = "svc.cli.framework.recent"


def test_what_is_forbidden_exists() -> None:
    """Modules of another name would never be loaded by this one."""
    names = {one.name for one in pkgutil.walk_packages(svc.__path__, "svc.")}
    assert all(any(name.startswith(ours) for name in names) for ours in (*_OURS, _RECENT))


def test_nothing_of_completion_is_loaded_before_the_output(sandbox: Sandbox) -> None:
    """The ids are kept when the answer has been written; the scripts and the tree are not needed."""
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED], capture_output=True, text=True, check=True
    )
    code, before, after = json.loads(done.stderr)
    assert code == 0
    assert _RECENT in after
    assert "svc.cli.main" in before
    assert not [name for name in before if name.startswith((_RECENT, *_OURS))]
    assert not [name for name in after if name.startswith(_OURS)]
