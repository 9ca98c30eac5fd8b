"""What a key in a real Secret Service costs over one in the environment, pair by pair.

    python tests/benchmarks/bench_keyring.py [RUNS]

Needs dbus-daemon and gnome-keyring-daemon (Debian: dbus, gnome-keyring); both run in a temporary
home of their own. Nothing is installed.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.bench_startup import milliseconds, server
from benchmarks.command import parser

KEY = "sk_test_sandbox"
BUS = (
    "<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen>"
    '<policy context="default"><allow send_destination="*" eavesdrop="true"/>'
    '<allow eavesdrop="true"/><allow own="*"/></policy></busconfig>'
)


@contextmanager
def keyring(home: Path) -> Iterator[dict[str, str]]:
    """Runs an unlocked GNOME Keyring and gives the environment in which it is found."""
    config = home / "bus.conf"
    config.write_text(BUS)
    kept = {name: text for name, text in os.environ.items() if not name.startswith("SVC_")}
    env = {**kept, "HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
    env.pop("PYTHON_KEYRING_BACKEND", None)
    bus = subprocess.Popen(
        ["dbus-daemon", f"--config-file={config}", "--nofork", "--print-address"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert bus.stdout is not None
    env["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().decode().strip()
    ring = subprocess.Popen(
        ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert ring.stdin is not None
    ring.stdin.write(b"a password\n")
    ring.stdin.close()
    try:
        yield env
    finally:
        for process in (ring, bus):
            process.terminate()
            process.wait()
        bus.stdout.close()


def add(svc: str, env: dict[str, str]) -> None:
    """Stores the key; the keyring takes a moment to appear on its bus."""
    command = [svc, "keys", "add", "--stdin", "--no-check"]
    for _ in range(50):
        done = subprocess.run(
            command, env=env, input=KEY.encode(), capture_output=True, check=False
        )
        if done.returncode == 0:
            return
        time.sleep(0.1)
    sys.exit(done.stderr.decode())


def main() -> None:
    """Prints both medians and what lies between them."""
    given = parser(__doc__)
    given.add_argument("runs", nargs="?", type=int, default=15)
    runs = given.parse_args().runs
    missing = [name for name in ("dbus-daemon", "gnome-keyring-daemon") if not shutil.which(name)]
    if missing:
        sys.exit(f"not found: {', '.join(missing)}")
    svc = str(Path(sys.executable).parent / "svc")
    command = [svc, "orders", "retrieve", "ord_1"]
    with (
        tempfile.TemporaryDirectory() as folder,
        server() as port,
        keyring(Path(folder)) as env,
    ):
        env["SVC_BASE_URL"] = f"http://127.0.0.1:{port}"
        env["PYTHONDONTWRITEBYTECODE"] = ""  # the first run compiles, as an installation has done
        add(svc, env)
        pairs = [
            (milliseconds(command, {**env, "SVC_API_KEY": KEY}), milliseconds(command, env))
            for _ in range(runs + 1)
        ][1:]  # the first is the warm-up
    more = statistics.median(ring - variable for variable, ring in pairs)
    print(f"key in the environment  {statistics.median(pair[0] for pair in pairs):7.1f} ms")
    print(f"key in a Secret Service {statistics.median(pair[1] for pair in pairs):7.1f} ms")
    print(f"   the difference = {more:.1f} ms (target: at most 25)")


if __name__ == "__main__":
    main()
