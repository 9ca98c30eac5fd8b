"""Signals at drawn moments: every command that runs a loop ends, as the signal says, and quietly."""

import fcntl
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.listening import NOW, SECRET, TargetServer, arrival, ended, event
from support.orders import CREATE_ORDER
from support.running import Sandbox, run_to_end
from svc.listen.inbox.interfaces import Batch
from svc.listen.inbox.sqlite import SqliteInbox
from svc.state import Database
from svc.system.signals import STOPPING

ORIGIN = "http://127.0.0.1:9"
# Says when Python itself has started: what a signal does before that is its own affair.
PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL);"
    "sys.stderr.write('begun\\n'); sys.stderr.flush(); from svc.__main__ import main; main()"
)
END_SECONDS = 60.0
SEED = 20_261_122
MANY = 200 if os.environ.get("SVC_TEST_LONG") == "1" else 6  # of the slow run
FORMS = [
    pytest.param(1, id="1"),
    pytest.param(MANY, id=str(MANY), marks=pytest.mark.slow(seconds=2 * MANY)),
]


@pytest.fixture
def home(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with one event in its inbox, and the secret of its endpoint."""
    monkeypatch.setenv("SVC_BASE_URL", ORIGIN)
    with Database.open(isolated / "state" / "state.db", clock=ManualClock(NOW)) as state:
        taken = arrival(event(1), b"Content-Type: application/json\r\n", targets=("http://a",))
        inbox = SqliteInbox(state, "one")
        inbox.store(Batch([taken]))
        inbox.store(Batch(attempts=ended([1], "failed")))
        with state.write() as tx:
            tx.execute(
                "UPDATE listeners SET origin = ?, profile = 'default', mode = 'test',"
                " endpoint_id = 'we_1'",
                (ORIGIN,),
            )
            tx.execute(
                "INSERT INTO endpoints VALUES (?, 'default', 'test', 'u', '', 'we_1', ?, ?)",
                (ORIGIN, SECRET, NOW),
            )
    return isolated


@contextmanager
def command(name: str, folder: Path) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The words of a command that runs until it is stopped, and its environment."""
    env = {**os.environ, "SVC_API_KEY": "sk_test_sandbox"}
    with TargetServer() as target:
        words = {
            "listen": ["events", "listen", "--forward-to", str(target.port), "-o", "ndjson"],
            "replay": [
                "events",
                "replay",
                "evt_1",
                "--times",
                "1000",
                "-o",
                "ndjson",
                "--forward-to",
                str(target.port),
            ],
            "sandbox": ["sandbox", "start", "--port", "0", "--db", ":memory:"],
            "batch": ["batch", "refunds.create", str(folder / "rows.ndjson"), "--yes"],
            "quickstart": ["quickstart"],
        }
        if name == "listen":
            env["SVC_WEBHOOK_SECRET"] = SECRET
        if name == "batch":
            env["SVC_BASE_URL"] = f"http://127.0.0.1:{target.port}"
            rows = [f'{{"payment": "pay_{number:024}", "amount": 1}}' for number in range(200)]
            (folder / "rows.ndjson").write_text("\n".join(rows))
            target.reply = lambda _: None
        yield words[name], env


def run_by(
    program: str, words: list[str], env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Runs a command by a program in which a signal comes at the worst moment."""
    return run_to_end([sys.executable, "-c", program, *words], env=env, stdin=subprocess.DEVNULL)


# Ctrl-C comes with the first file that is read once the program has begun.
EARLY = """
import importlib.machinery, os, signal, sys
from svc.__main__ import main
for name in ("signal", "resource", "contextlib"):
    sys.modules.pop(name, None)
class EarlySignal:
    def find_spec(self, name, path=None, target=None):
        os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, EarlySignal())
main()
"""


def test_ctrl_c_shows_no_traceback_while_the_first_modules_are_read() -> None:
    """R79: from its first statement on the program ends at once, by the signal."""
    done = run_by(EARLY, ["orders", "list"])
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


# Ctrl-C comes while an event loop is made, which Python then ends with a traceback of its own.
AT_THE_LOOP = """
import asyncio.base_events, os, signal, sys
from svc.__main__ import main
whole = asyncio.base_events.BaseEventLoop.__init__
def cut_off(loop):
    os.kill(os.getpid(), signal.SIGINT)
    whole(loop)
asyncio.base_events.BaseEventLoop.__init__ = cut_off
main()
"""


@pytest.mark.parametrize("name", ["listen", pytest.param("replay", marks=pytest.mark.slow)])
def test_ctrl_c_shows_no_traceback_while_an_event_loop_is_made(name: str, home: Path) -> None:
    """R79: what a signal cuts off half made is not the user's to read of."""
    with command(name, home) as (words, env):
        done = run_by(AT_THE_LOOP, words, env)
    assert "Traceback" not in done.stderr
    assert done.returncode == 130


# The signal comes when the lock is taken under which a process is asked whether it has ended, but
# not yet in the block that gives it back.
AT_THE_LOCK = """
import os, signal, subprocess
from svc.__main__ import main
class Interrupting:
    def __init__(self, lock):
        self.lock, self.release, self.numbers = lock, lock.release, [signal.SIGTERM]
    def acquire(self, *how):
        taken = self.lock.acquire(*how)
        while self.numbers:
            os.kill(os.getpid(), self.numbers.pop())
        return taken
    def __enter__(self):
        return self.lock.__enter__()
    def __exit__(self, *error):
        return self.lock.__exit__(*error)
whole = subprocess.Popen.__init__
def interrupted(process, *args, **options):
    whole(process, *args, **options)
    process._waitpid_lock = Interrupting(process._waitpid_lock)
    subprocess.Popen.__init__ = whole
subprocess.Popen.__init__ = interrupted
main()
"""


def test_a_signal_ends_a_quickstart_that_asks_whether_its_sandbox_lives(home: Path) -> None:
    """R78: the lock that Python was about to give back would be waited for without end."""
    with command("quickstart", home) as (words, env):
        done = run_by(AT_THE_LOCK, words, env)
    assert "Traceback" not in done.stderr
    assert done.returncode == 143


@pytest.mark.parametrize("pair", [(signal.SIGTERM, signal.SIGINT), (signal.SIGHUP, signal.SIGTERM)])
def test_signals_that_come_together_count_as_one(
    pair: tuple[signal.Signals, signal.Signals], home: Path
) -> None:
    """R78, R133: both wait for a process that stands still; nothing is said of a lost handler."""
    asked = threading.Event()
    with TargetServer() as target:
        target.reply = lambda _: asked.set()  # and no answer
        env = {**os.environ, "SVC_API_KEY": "sk_test_sandbox"}
        words = ["orders", "list", "--base-url", f"http://127.0.0.1:{target.port}", "-o", "json"]
        with subprocess.Popen(
            [sys.executable, "-m", "svc", *words],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert asked.wait(END_SECONDS)
            for number in (signal.SIGSTOP, *pair, signal.SIGCONT):
                process.send_signal(number)
            shown = process.communicate(timeout=END_SECONDS)
    assert process.returncode in {128 + number for number in pair}
    assert shown == ("", "")


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(
            number,
            id=signal.Signals(number).name,
            marks=[] if number == signal.SIGTERM else pytest.mark.slow,
        )
        for number in STOPPING
    ],
)
def test_what_is_held_up_is_cut_off_and_says_what_was_done(sandbox: Sandbox, number: int) -> None:
    """R78: nobody reads its stdout, and there is no looking while it is written."""
    reading, writing = os.pipe()
    size = fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writing, bytes(size))  # full: not a byte more goes in
    process = subprocess.Popen(
        [sys.executable, "-m", "svc", *CREATE_ORDER, "-o", "json"],
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    where = Path(f"/proc/{process.pid}/wchan")
    while process.poll() is None and "pipe" not in where.read_text():
        time.sleep(0.005)
    process.send_signal(number)
    _, err = process.communicate(timeout=END_SECONDS)
    os.close(reading)
    assert process.returncode == 128 + number
    error = json.loads(err)["error"]
    assert (error["type"], error["code"]) == ("interrupted", "stopped")
    assert error["outcome"] == "done"
    assert len(sandbox.control("GET", "/requests")["data"]) == 1


LATEST = 1.2  # seconds


@pytest.mark.parametrize(
    "name",
    [
        *("listen", "batch"),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("replay", "sandbox", "quickstart")
        ),
    ],
)
@pytest.mark.parametrize("count", FORMS)
def test_a_signal_ends_it_at_any_moment(name: str, count: int, home: Path) -> None:
    """R78: never swallowed, no traceback, and the exit code is the signal's."""
    drawn = random.Random(f"{SEED}{name}")
    with command(name, home) as (words, env):
        for turn in range(count):
            number = drawn.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
            at = drawn.uniform(0, LATEST)
            while (ended := end_at(words, env, number, at)) is None:
                at /= 2  # it had ended by itself
            code, err = ended
            where = f"{name} {turn}: {signal.Signals(number).name} after {at:.3f} s: {code}\n{err}"
            assert "Traceback" not in err, where
            assert code in (128 + number, -number), where


def end_at(
    words: list[str], env: dict[str, str], number: int, seconds: float
) -> tuple[int | None, str] | None:
    """Runs a command, sends it a signal so many seconds later; gives how it ended.

    None where it had ended before the signal.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "begun\n"
    time.sleep(seconds)
    if process.poll() is not None:
        process.communicate()
        return None
    process.send_signal(number)
    try:
        _, err = process.communicate(timeout=END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        _, err = process.communicate()
        return None, err
    return process.returncode, err
