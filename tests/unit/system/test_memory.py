"""Who may read the memory of a process that holds a key."""

import subprocess
import sys

import pytest

from support.servers.misbehaving import ScriptedServer

_ASKED = """
import ctypes, os, sys
from svc.cli import main
code = main.main(["orders", "list", "--max-time", "2"])
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's own")
@pytest.mark.parametrize(
    ("key", "dumpable"), [("sk_test_4eC39HqLyjWDarj", 0), ("sk_test_sandbox", 1)]
)
def test_nobody_reads_the_memory_of_a_command_that_holds_a_key(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, key: str, dumpable: int
) -> None:
    """R42: no debugger and no /proc of another program; the sandbox's constants are no secrets."""
    server.play(server.reply(200, {"object": "list", "data": [], "has_more": False}))
    monkeypatch.setenv("SVC_BASE_URL", server.url)
    monkeypatch.setenv("SVC_API_KEY", key)
    done = subprocess.run(
        [sys.executable, "-c", _ASKED], capture_output=True, text=True, check=True
    )
    assert len(server.requests) == 1
    assert done.stderr.splitlines()[-1] == str(dumpable)


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's own")
def test_it_costs_no_ctypes() -> None:
    """Start-up: the library's Python half is not loaded."""
    code = "from svc.system.memory import protect_memory; protect_memory(); import sys; print('ctypes' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
