"""The suite gives itself what it needs, wherever it is started."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.suite.nested import ROOT, pytest_run, pytest_run_of

# What a shell, `nohup`, a script's `&`, a build server or a company's proxy leaves to a process.
CALLER = {
    "TZ": "Asia/Kolkata",
    "LANG": "C",
    "LC_ALL": "POSIX",
    "COLUMNS": "40",
    "LINES": "9",
    "NO_COLOR": "",
    "FORCE_COLOR": "1",
    "TERM": "dumb",
    "CI": "1",
    "GITHUB_ACTIONS": "true",
    "SVC_API_KEY": "sk_live_of_the_caller",
    "SVC_OUTPUT": "csv",
    "SVC_PROFILE": "shop",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "no_proxy": "*",
    "SSL_CERT_FILE": "/nowhere",
    "HOME": "/nowhere",
    "XDG_CONFIG_HOME": "/nowhere",
    "PYTHONUTF8": "0",
}
PROBE = """
import json, os, subprocess, sys
sys.path.insert(0, "tests")
from support.suite.surroundings import take_over
take_over(os.environ, "/home/of/tests")
inside = '''
import json, os, sys, time
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
umask = os.umask(0)
print(json.dumps({
    "env": dict(os.environ), "umask": umask, "zone": time.tzname[0], "stdout": sys.stdout.encoding,
    "ignored": int(status["SigIgn"], 16), "blocked": int(status["SigBlk"], 16),
}))
'''
print(subprocess.run([sys.executable, "-c", inside], capture_output=True, text=True).stdout)
"""


def ignore_and_block() -> None:
    """As a caller may have left it."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    os.umask(0o077)


def test_what_the_caller_has_set_changes_nothing() -> None:
    """Signals, variables, umask, time zone and encoding of what the suite starts are its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        cwd=ROOT,
        env={**CALLER, "PATH": os.environ["PATH"]},
        preexec_fn=ignore_and_block,
        capture_output=True,
        text=True,
        check=True,
    )
    seen = json.loads(done.stdout)
    env = seen.pop("env")
    # The C library's own two, 32 and 33: its posix_spawn, which Python 3.13 uses, ignores them.
    seen["ignored"] &= ~(0b11 << 31)
    # Python ignores SIGPIPE (13) and SIGXFSZ (25) itself.
    ignored = 1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)
    assert seen == {
        "umask": 0o022,
        "zone": "UTC",
        "stdout": "utf-8",
        "ignored": ignored,
        "blocked": 0,
    }
    assert env.pop("HOME") == "/home/of/tests"
    kept = {name for name, value in CALLER.items() if env.get(name) == value}
    assert kept == set()


def test_limits_are_in_force(pytestconfig: pytest.Config) -> None:
    """Without the plugin nothing but the last limit would hold."""
    assert pytestconfig.pluginmanager.hasplugin("timeout"), "pip install -e '.[dev]'"


BESIDE_OTHERS = """
from support.suite.patience import patient

def test_in_a_second(monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "99")
    assert [patient(seconds) for seconds in (0.5, 2)] == [0.5, 2]

def test_whenever():
    pass
"""


def test_at_rest_promises_in_seconds_alone_are_held_and_at_their_own_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the gate's step `time` asks for; beside others the same seconds are more."""
    monkeypatch.delenv("SVC_TEST_AT_REST", raising=False)
    beside = pytest_run_of(BESIDE_OTHERS, tmp_path)
    assert "1 failed, 1 passed" in beside.stdout
    monkeypatch.setenv("SVC_TEST_AT_REST", "1")
    at_rest = pytest_run_of(BESIDE_OTHERS, tmp_path)
    assert "1 passed, 1 deselected" in at_rest.stdout
    monkeypatch.setenv("SVC_TEST_AT_REST", "0")
    left = pytest_run_of(BESIDE_OTHERS + "\ndef test_too():\n    pass\n", tmp_path)
    assert "2 passed, 1 deselected" in left.stdout


@pytest.mark.slow(seconds=20)
def test_tests_of_signals_pass_under_nohup_and_in_the_background() -> None:
    """Those that failed, or never ended, where SIGHUP and SIGINT are ignored."""
    files = ["tests/cli/sandbox/test_commands.py", "tests/process/sandbox/test_sandbox_process.py"]
    chosen = "signal_ends_a_sandbox_in_the_foreground or signal_ends_it_gracefully"
    env = {**CALLER, "SVC_TEST_AT_REST": ""}
    done = pytest_run(*files, "-k", chosen, env=env, before=ignore_and_block, limit=200)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow(seconds=10)
def test_one_sandbox_makes_no_key_twice() -> None:
    """A shared sandbox is emptied with another seed each time: two keys of two tests differ."""
    done = pytest_run(
        "tests/cli/sandbox/test_commands.py::test_reset_empties_the_sandbox",
        "tests/cli/keys/test_roll.py::test_a_key_of_another_account_is_refused",
        limit=200,
    )
    assert done.returncode == 0, done.stdout
