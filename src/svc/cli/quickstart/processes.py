"""Starts the other processes of `svc quickstart`: svc commands, and a target for its webhook.

`svc quickstart` runs each step with `SvcProcesses`; `run_target` receives the forwarded webhook.
"""

import json
import queue
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from svc.clock import Clock
from svc.errors import CheckFailed, LocalError
from svc.system import signals
from svc.system.processes import build_own_command, job_of, wrap_to_die_with_us

_SECONDS_TO_END = 3.0
_POLL = 0.02


class SvcProcesses:
    """Starts this very program again, in an environment of its own."""

    def __init__(self, env: Mapping[str, str], clock: Clock) -> None:
        self._program, self._env = build_own_command("svc", env)
        self._clock = clock

    def run(self, *argv: str) -> Any:
        """Runs one command and returns its JSON result.

        Raises:
            CheckFailed: when it fails, with its own words.
        """
        with subprocess.Popen(  # noqa: S603  our own program
            [*self._program, *argv, "-o", "json"],
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            try:
                said = signals.wait(lambda seconds: _read_output(process, seconds), None)
            except BaseException:
                process.kill()
                raise
        out, err = said or (b"", b"")
        if process.returncode:
            words = err.decode(errors="replace").strip()
            raise CheckFailed(f"svc {' '.join(argv)} ended with {process.returncode}: {words}")
        return json.loads(out)

    @contextmanager
    def beside(self, *argv: str, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
        """Keeps a command running inside the `with` block, with its output in `log`."""
        with log.open("wb") as out:
            process = subprocess.Popen(  # noqa: S603  our own program
                wrap_to_die_with_us([*self._program, *argv]),
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
            job_of(process.pid)
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def wait_for(
        self, path: Path, process: "subprocess.Popen[bytes]", log: Path, seconds: float
    ) -> str:
        """Waits until a file appears and returns its text; `log` is what the process writes to.

        Raises:
            LocalError: when the process ends first or the time is up.
        """
        begun = self._clock.monotonic()
        while not path.exists():
            took = self._clock.monotonic() - begun
            if process.poll() is not None or took > seconds:
                code = process.returncode
                what = f"did not start within {seconds:.0f} s"
                what = what if code is None else f"ended with {code} after {took:.1f} s"
                lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
                said = lines[-1] if lines else "it said nothing."
                raise LocalError(f"A part of the quickstart {what}: {said}")
            self._clock.sleep(_POLL)
        return path.read_text(encoding="utf-8")


def _read_output(process: "subprocess.Popen[bytes]", seconds: float) -> tuple[bytes, bytes] | None:
    """What it has said on stdout and stderr, once it has ended."""
    with suppress(subprocess.TimeoutExpired):
        return process.communicate(timeout=seconds)
    return None


def environment(base: Mapping[str, str], home: Path) -> dict[str, str]:
    """Returns the environment of the processes: own folders, none of the user's SVC_ variables."""
    kept = {name: value for name, value in base.items() if not name.startswith("SVC_")}
    return {
        **kept,
        "SVC_CONFIG_DIR": str(home / "config"),
        "SVC_STATE_DIR": str(home / "state"),
        "SVC_CACHE_DIR": str(home / "cache"),
    }


class DemoTarget(NamedTuple):
    """The running target: its address, and the raw bodies of the POSTs that have arrived so far."""

    url: str
    arrivals: "queue.Queue[bytes]"

    def next(self, seconds: float) -> bytes | None:
        """Waits for the next POST; returns None after so many seconds."""
        with suppress(queue.Empty):
            return self.arrivals.get(timeout=seconds)
        return None


@contextmanager
def run_target() -> Iterator[DemoTarget]:
    """Serves on a free loopback port and answers 200 to every POST."""
    arrivals: queue.Queue[bytes] = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            arrivals.put(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Keeps quiet: the listener already prints what it forwards."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield DemoTarget(f"http://127.0.0.1:{server.server_port}/webhooks", arrivals)
        finally:
            server.shutdown()
            thread.join()
