"""Nothing can hang: a test that fails ends what it has started, and one that waits is ended."""

import time
from pathlib import Path

import pytest

from support.suite.limits import started_with
from support.suite.nested import pytest_run_of

INSIDE = """
import os, subprocess, sys, threading
import pytest
from support.suite.limits import Limits

DEAF = '''
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
print("up", flush=True)
time.sleep(600)
'''

def deaf():
    process = subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE, text=True)
    process.stdout.readline(), process.stdout.readline()
    return process

def test_failing_in_a_with_block():
    with deaf():
        raise AssertionError("as tests do")

@pytest.mark.timeout(1)
def test_waiting_for_ever():
    with deaf() as process:
        process.wait()

@pytest.mark.timeout(1)
def test_waiting_for_a_thread():
    deaf()
    threading.Event().wait()

def test_waiting_longer_than_a_test_may_take():
    limits = Limits()
    limits.seconds = 0.2
    limits.watch_processes()
    with subprocess.Popen(["sleep", "600"]) as process:
        process.wait()
"""


@pytest.mark.slow(seconds=3)
def test_what_fails_or_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    """Tests that would each hang for ever: all fail, and no process is left.

    Of two the test's limit ends the wait, of one that every wait for a process has.
    """
    begun = time.monotonic()
    done = pytest_run_of(INSIDE, tmp_path, f"--basetemp={tmp_path / 'inside'}", "-W", "ignore")
    assert "4 failed" in done.stdout, done.stdout
    assert done.stdout.count("Timeout (>1.0s)") >= 2
    assert "TimeoutExpired" in done.stdout, done.stdout
    assert "after 0.2 seconds" in done.stdout, done.stdout
    assert started_with(str(tmp_path / "inside")) == []
    assert time.monotonic() - begun < 45
