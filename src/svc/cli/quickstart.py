"""`svc quickstart`: runs the main job once, end to end, against a sandbox that it starts.

A demonstration for newcomers: an order is paid, its webhook arrives verified, a part is refunded.
Configuration, state and logs of its processes are kept in a temporary folder. `SvcProcesses` runs
each step, an svc command; `run_target` receives the forwarded webhook.
"""

import json
import os
import queue
import shlex
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from svc.cli.framework.app import make_app, verb
from svc.cli.framework.help_page import fold
from svc.cli.framework.session import Session
from svc.clock import Clock
from svc.errors import CheckFailed, LocalError
from svc.money import format_amount
from svc.render.text import wrap
from svc.system import locks, signals
from svc.system.files import is_mine
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
            arrivals.put(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Keeps quiet: the listener already prints what it forwards."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,)).start()
        try:
            yield DemoTarget(f"http://127.0.0.1:{server.server_port}/webhooks", arrivals)
        finally:
            server.shutdown()


Thing = TypeVar("Thing")

_SECONDS = 60.0  # beside much else; who ends earlier is noticed at once
_ORDER = (
    *("--amount", "12900", "--currency", "EUR", "--country", "DE", "--postal-code", "10115"),
    *("--item", "name=Linen jacket,hs_code=6203.39,quantity=1,unit_amount=12900"),
)

app = make_app()


@verb(app)
def quickstart(session: Session) -> None:
    """Start a sandbox, have an order paid, receive its webhook verified, refund a part.

    It runs in a temporary folder with processes of its own and leaves nothing behind.

    $ svc quickstart
    """
    started = session.clock.monotonic()
    stack = ExitStack()
    try:
        story = _Story(session, stack)
        result = story.tell()
    finally:
        with signals.defer_stop():  # undone to its end, also when a signal ends the story
            stack.close()
    seconds = session.clock.monotonic() - started
    story.say(f"\nDone in {seconds:.1f} s: paid, verified, forwarded and refunded.")
    story.say("Next: svc sandbox start --detach\nThen: svc orders create --help")
    if session.format != "human":
        session.out.value({**result, "seconds": round(seconds, 1)})


class _Story:
    """The six steps; each tells the command that does it and what came of it.

    They are told on stdout to people, and on stderr beside a result for programs.
    """

    def __init__(self, session: Session, stack: ExitStack) -> None:
        self._session = session
        self._stack = stack
        self._folder = self._keep(hold_folder())
        self._children = SvcProcesses(environment(session.env, self._folder), session.clock)
        self._step = 0

    def tell(self) -> dict[str, Any]:
        self._start_sandbox()
        target = self._keep(run_target())
        records = self._listen(target)
        order = self._run("An order to Germany", "orders", "create", *_ORDER)
        total = format_amount(order["amount_total"], order["currency"])
        self._tell_found(order["id"], f"{total} to pay, with duty and VAT")
        paid = self._run("The shopper pays with a test card", "sandbox", "pay", order["id"])
        payment = paid["payment"]["id"]
        self._tell_found(payment, paid["payment"]["status"])
        event = self._arrival(target, records, order["id"])
        argv = ("refunds", "create", "--payment", payment, "--amount", "4999")
        refund = self._run("A partial refund", *argv)
        amount = format_amount(refund["amount"], refund["currency"])
        self._tell_found(refund["id"], f"{refund['status']}, {amount}")
        return {
            "object": "quickstart",
            "order": order["id"],
            "payment": payment,
            "event": event["id"],
            "verified": True,
            "forwarded": True,
            "refund": refund["id"],
        }

    def _keep(self, context: AbstractContextManager[Thing]) -> Thing:
        return self._stack.enter_context(context)

    def _start_sandbox(self) -> None:
        argv = ("sandbox", "start", "--port", "0", "--db", str(self._folder / "sandbox.db"))
        self._title("A sandbox: the whole service in one process", "sandbox", "start", "--detach")
        ready, log = self._folder / "sandbox.url", self._folder / "sandbox.log"
        process = self._keep(self._children.beside(*argv, "--ready-file", str(ready), log=log))
        self._tell_found(self._children.wait_for(ready, process, log, _SECONDS).strip())

    def _listen(self, target: DemoTarget) -> Path:
        argv = ("events", "listen", "--forward-to", target.url)
        self._title("Webhooks, verified and forwarded to a local address", *argv)
        ready, log = self._folder / "listen.ready", self._folder / "listen.ndjson"
        process = self._keep(
            self._children.beside(*argv, "--ready-file", str(ready), "-o", "ndjson", log=log)
        )
        self._children.wait_for(ready, process, log, _SECONDS)
        self._tell_found("ready")
        return log

    def _arrival(self, target: DemoTarget, records: Path, order: str) -> Any:
        self._title("The webhook arrives")
        event = self._await_forwarded(target, order)
        lines = records.read_text(encoding="utf-8").splitlines()
        told = [json.loads(line) for line in lines if line.startswith("{")]
        seen = any(one.get("id") == event["id"] and one.get("verified") is True for one in told)
        self._tell_found(event["type"], event["id"], "verified" if seen else "NOT VERIFIED")
        if not seen:
            raise CheckFailed("The webhook arrived but was not verified.")
        return event

    def _await_forwarded(self, target: DemoTarget, order: str) -> Any:
        deadline = self._session.clock.monotonic() + _SECONDS
        while (left := deadline - self._session.clock.monotonic()) > 0:
            arrived = signals.wait(target.next, left)
            if arrived is None:
                break
            event = json.loads(arrived)
            if event["type"] == "order.paid" and event["data"]["object"]["id"] == order:
                return event
        raise CheckFailed(f"order.paid did not arrive within {_SECONDS:.0f} s.")

    def _run(self, title: str, *argv: str) -> Any:
        self._title(title, *argv)
        return self._children.run(*argv)

    def _title(self, text: str, *argv: str) -> None:
        self._step += 1
        title = wrap(text, (self._width or 80) - 3)
        self.say(f"\n{self._step}  " + "\n   ".join(title))
        if argv:
            command = self._session.program.within(shlex.join(("svc", *argv)))
            lines = fold(command, self._width - 5) if self._width else [command]
            self.say("   $ " + "\n   ".join(lines))

    def _tell_found(self, *texts: str) -> None:
        """Tells what came of a step: on a line, or on several where a terminal is narrow."""
        line = "  ".join(texts)
        fits = not self._width or len(line) + 5 <= self._width
        self.say("     " + (line if fits else "\n       ".join(texts)))

    def say(self, line: str) -> None:
        line = self._session.program.within(line)
        if self._session.format == "human":
            self._session.out.line(line)
        elif not self._session.out.quiet:
            self._session.stderr.write_masked(line + "\n")
            self._session.stderr.flush()

    @cached_property
    def _width(self) -> int | None:
        streams = self._session.streams
        return streams.width(self._session.env) if streams.person_reads else None


_PREFIX: Final = "svc-quickstart-"
_LOCK: Final = "lock"


@contextmanager
def hold_folder() -> Iterator[Path]:
    """Yields a new temporary folder, locked while it is in use and removed after the block."""
    _remove_left()
    folder, handle = _make_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def _make_folder() -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        handle = locks.open_folder(folder, _LOCK)
        locks.wait_for(handle)
        if folder.exists():
            return folder, handle
        os.close(handle)  # another quickstart took it for one that was left


def _remove_left() -> None:
    """Removes the folders whose lock is not held: their quickstart was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or not is_mine(folder.lstat()):
                continue
            handle = locks.open_folder(folder, _LOCK)
            try:
                if locks.take(handle):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)
