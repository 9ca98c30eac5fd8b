"""How much memory a run of the program takes at its peak, against a service with long lists."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.running import Result


@contextmanager
def serving_orders(count: int) -> Iterator[str]:
    """A service with so many orders; gives its address."""
    path = Path(__file__).with_name("pages.py")
    process = subprocess.Popen(
        [sys.executable, str(path), str(count)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def measure_memory(url: str, *argv: str) -> tuple[Result, int]:
    """Runs a command in a process of its own; gives its end and the most memory, in KiB."""
    code = (
        "import resource, sys\nfrom svc.cli.main import main\n"
        f"code = main({list(argv)!r})\n"
        "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(peak, file=sys.stderr)\nsys.exit(code)"
    )
    env = {**os.environ, "SVC_BASE_URL": url, "SVC_API_KEY": "sk_test_sandbox"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    return Result(done.returncode, done.stdout, done.stderr), int(done.stderr.split()[-1])
