"""Version, help and one retrieval: whole processes, pair by pair, against peers and floors on one local server.

    python tests/benchmarks/bench_startup.py [RUNS]

The peer is named by the environment, STRIPE=/path/to/stripe, or is in a node_modules here or above,
or on PATH. What is missing is said. Nothing is installed.
"""

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import listen_peers
from benchmarks.command import parser

ORDER = json.dumps({"id": "ord_1", "object": "order", "amount": 12900, "livemode": False}).encode()
REPLY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
    b"Request-Id: req_1\r\nConnection: close\r\n\r\n%s" % (len(ORDER), ORDER)
)
RAW = (
    "import socket,sys\n"
    "s=socket.create_connection(('127.0.0.1',{port}))\n"
    "s.sendall(b'GET /v1/orders/ord_1 HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n')\n"
    "d=b''\n"
    "while (c:=s.recv(65536)): d+=c\n"
    "sys.stdout.write(d.decode())\n"
)
# What a program costs that has Typer and nothing else: one command, which does nothing.
TYPER = (
    "import typer\n"
    "app = typer.Typer(rich_markup_mode=None, add_completion=False)\n"
    "app.command()(lambda order='ord_1': None)\n"
    "app()\n"
)


@contextmanager
def server() -> Iterator[int]:
    """Answers every request with one order."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_serve, args=(listening,), daemon=True)
        thread.start()
        yield listening.getsockname()[1]


def _serve(listening: socket.socket) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        with connection:
            seen = b""
            while b"\r\n\r\n" not in seen:
                chunk = connection.recv(65536)
                if not chunk:
                    break
                seen += chunk
            connection.sendall(REPLY)


def milliseconds(command: Sequence[str], env: dict[str, str]) -> float:
    """Times one whole process."""
    started = time.perf_counter()
    done = subprocess.run(command, env=env, capture_output=True, check=False)
    elapsed = (time.perf_counter() - started) * 1000
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.decode()}")
    return elapsed


def compare(title: str, commands: dict[str, Sequence[str]], env: dict[str, str], runs: int) -> None:
    """Runs the commands in turn and prints medians, and ours against each other one."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for run in range(runs + 1):
        for name, command in commands.items():
            elapsed = milliseconds(command, env)
            if run:  # the first is the warm-up
                times[name].append(elapsed)
    print(title)
    ours = times["svc"]
    for name, found in times.items():
        ratio = statistics.median(a / b for a, b in zip(ours, found, strict=True))
        against = "" if name == "svc" else f"   svc / {name} = {ratio:.2f}"
        print(f"  {name:14} {statistics.median(found):7.1f} ms{against}")


def main() -> None:
    """Prints the table."""
    command = parser(__doc__)
    command.add_argument("runs", nargs="?", type=int, default=15)
    runs = command.parse_args().runs
    svc = str(Path(sys.executable).parent / "svc")
    typer = [sys.executable, "-c", TYPER]
    installed = listen_peers.found().get("stripe")
    stripe = installed[0] if installed else shutil.which("stripe")
    with server() as port, tempfile.TemporaryDirectory() as home:
        env = {
            **os.environ,
            "HOME": home,  # nobody's settings, neither ours nor a peer's
            "SVC_API_KEY": "sk_test_sandbox",
            "SVC_BASE_URL": f"http://127.0.0.1:{port}",
            "STRIPE_CLI_TELEMETRY_OPTOUT": "1",
            "PYTHONDONTWRITEBYTECODE": "",  # the first run compiles, as an installation has done
        }
        rows: list[tuple[str, dict[str, Sequence[str]]]] = [
            ("version", {"svc": [svc, "--version"], "python": [sys.executable, "-c", "pass"]}),
            ("help", {"svc": [svc, "--help"], "Typer alone": [*typer, "--help"]}),
            ("noun help", {"svc": [svc, "orders", "--help"], "Typer alone": [*typer, "--help"]}),
            (
                "retrieve",
                {
                    "svc": [svc, "orders", "retrieve", "ord_1"],
                    "raw socket": [sys.executable, "-c", RAW.format(port=port)],
                    "Typer alone": typer,
                },
            ),
        ]
        if stripe:
            base = ["--api-key", "sk_test_sandbox12345", "--api-base", f"http://127.0.0.1:{port}"]
            rows[0][1]["stripe"] = [stripe, "--version"]
            rows[1][1]["stripe"] = [stripe, "--help"]
            rows[2][1]["stripe"] = [stripe, "refunds", "--help"]
            rows[3][1]["stripe"] = [stripe, "get", "/v1/orders/ord_1", *base]
        else:
            print("stripe was not found: no ratio against it")
        for title, commands in rows:
            compare(title, commands, env, runs)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
