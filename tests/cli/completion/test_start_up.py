"""What completion needs is loaded behind the output, or not at all (performance: start-up)."""

import json
import pkgutil
import subprocess
import sys

import svc
from support.running import Sandbox

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
