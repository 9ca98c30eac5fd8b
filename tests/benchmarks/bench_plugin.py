"""What the plugin for pytest costs a run that does not use it, as a part of that very run.

    python tests/benchmarks/bench_plugin.py [RUNS]

pytest runs one empty test; before that the plugin is imported and registered, and its fixtures are
read, by the processor's time. It may take 5 ms at most. An empty module that is loaded so before it
says how much of that any plugin takes. What pytest takes besides to list the files of an installed
package with a plugin depends on how many there are, and on nothing in them: it is told apart.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.command import parser

MOST_MILLISECONDS = 5.0
RUN = """
import sys, time, pytest
spent = []
class PluginTimer:
    def pytest_collection(self, session):
        for name in ("plugin_empty", "svc.pytest_plugin"):
            begun = time.process_time()
            session.config.pluginmanager.import_plugin(name)
            spent.append((time.process_time() - begun) * 1000)
code = pytest.main(["-q", "-p", "no:cacheprovider", "test_nothing.py"], [PluginTimer()])
whole = time.process_time()
from importlib.metadata import distribution
begun = time.process_time()
list(distribution("svc-cli").files or ())
print("took", *spent, whole * 1000, (time.process_time() - begun) * 1000)
sys.exit(code)
"""


def timed(folder: Path) -> list[float]:
    """Milliseconds of an empty plugin, of svc's, of the whole run, and of the list of its files."""
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=folder,
        env=env,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return [float(word) for word in done.stdout.splitlines()[-1].split()[1:]]


def main(argv: Sequence[str] | None = None) -> int:
    asked = parser(__doc__)
    asked.add_argument("runs", nargs="?", type=int, default=31)
    runs = asked.parse_args(argv).runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
        (folder / "plugin_empty.py").touch()
        (folder / "pytest.ini").write_text("[pytest]\n")
        timed(folder)  # its bytecode is written
        runs_timed = [timed(folder) for _ in range(runs)]
    empty, plugin, _, files = (
        statistics.median(column) for column in zip(*runs_timed, strict=True)
    )
    share = statistics.median(one / whole for _, one, whole, _ in runs_timed)
    print(
        f"plugin {plugin:.2f} ms, {share:.1%} of the run ({runs} runs); an empty one {empty:.2f} ms"
    )
    print(f"pytest lists the files of svc besides: {files:.2f} ms")
    return int(plugin > MOST_MILLISECONDS)


if __name__ == "__main__":
    sys.exit(main())
