"""`svc events listen` with commands: of `--exec` beside it, of `--run` in place of a web server."""

import json
import os
import shlex
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from support.listeners import Listen, Pay
from support.listening import TargetServer
from support.running import Result, Sandbox, Svc
from support.suite.patience import patient

SVC = f"{sys.executable} -m svc"


def beside(svc: Svc, command: str, *more: str, env: dict[str, str] | None = None) -> Result:
    return svc("events", "listen", "-o", "ndjson", "--exec", command, *more, env=env)


def kinds(result: Result) -> list[str]:
    return [json.loads(line)["record"] for line in result.out.splitlines()]


def is_running(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]
    return False


def test_command_is_the_shells(sandbox: Sandbox, svc: Svc) -> None:
    """It may have quotes, variables and pipes; its output goes to stderr, away from the records."""
    result = beside(svc, 'WORD="one two"; echo "$WORD" | tr a-z A-Z && echo again')
    assert result.code == 0
    assert result.err.splitlines()[-2:] == ["ONE TWO", "again"]
    assert kinds(result) == ["ready", "summary"]


def test_command_gets_the_secret_and_not_the_key(sandbox: Sandbox, svc: Svc) -> None:
    """R43: SVC_WEBHOOK_SECRET is in its environment only, SVC_API_KEY is not in it."""
    result = beside(svc, 'echo "$SVC_WEBHOOK_SECRET ${SVC_API_KEY-none}"; ps -o args= -p $PPID')
    secret, key = result.err.splitlines()[-2].split()
    assert secret == svc("events", "listen", "--print-secret").out.strip()
    assert key == "none"
    assert secret not in result.out + result.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("exit 5", 5),
        ("/nowhere/at-all", 127),
        pytest.param("kill -9 $$", 137, marks=pytest.mark.slow),
        pytest.param("exit 2", 2, marks=pytest.mark.slow),
    ],
)
def test_failed_command_is_11(sandbox: Sandbox, svc: Svc, command: str, code: int) -> None:
    """R71: our exit codes keep their meaning: a command that fails is a check that did not pass."""
    result = beside(svc, command)
    assert (result.code, result.error["code"]) == (11, "exec_failed")
    assert f"exit code {code}." in result.error["message"]
    assert kinds(result) == ["ready", "summary"]


@pytest.mark.smoke
@pytest.mark.slow
def test_what_a_command_sets_off_is_waited_for(sandbox: Sandbox, svc: Svc) -> None:
    """The command ends at once, `--until` still holds: both have to be done, in either order."""
    with TargetServer() as target:
        to = ("--forward-to", str(target.port), "--strict")
        quick = beside(svc, f"{SVC} sandbox trigger order.paid >&2", *to, "--until", "order.paid")
        assert quick.code == 0, quick.err
        assert "order.paid" in {json.loads(one.body)["type"] for one in target.received}
        target.received.clear()
        command = f"{SVC} sandbox trigger order.paid >&2; sleep 0.5; echo last >&2"
        slow = beside(svc, command, *to, "--until", "order.paid")
        assert (slow.code, slow.err.splitlines()[-1]) == (0, "last")


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
@pytest.mark.smoke
def test_command_ends_with_the_listener(
    number: int, sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """R78: a signal to the listener ends all that the command has started, within a second."""
    pids = tmp_path / "pids"
    command = f"trap '' TERM INT; sleep 60 & echo $! $$ > {pids}.new; mv {pids}.new {pids}; wait"
    with listen(tmp_path, "--exec", command) as running:
        while not pids.exists():
            time.sleep(0.01)
        started = time.monotonic()
        assert running.end(number) == 128 + number
        assert time.monotonic() - started < patient(1)
    assert [is_running(int(pid)) for pid in pids.read_text().split()] == [False, False]


@pytest.mark.smoke
@pytest.mark.slow
def test_what_a_command_leaves_running_is_ended(sandbox: Sandbox, svc: Svc, tmp_path: Path) -> None:
    """A server that the command has put in the background does not outlive the listener."""
    left = tmp_path / "left"
    assert beside(svc, f"sleep 60 & echo $! > {left}").code == 0
    assert not is_running(int(left.read_text()))


@pytest.mark.effect_of("events listen", "--run", "--run-timeout")
def test_command_is_a_target_like_any_other(
    pay: Pay, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """What a run did not take is pending, with words; a replay runs the command again."""
    script = tmp_path / "my shop" / "fulfil.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\nsleep 9\n")
    script.chmod(0o755)
    target = f"run:'{script}' slowly"
    words = ("--run", f"order.paid={target[4:]}", "--run-timeout", "0.3")
    with listen(tmp_path, *words) as it:
        order = pay()
        [failed] = it.wait("forward", 1)
        it.end()
    assert (failed["url"], failed["status"]) == (target, None)
    assert (failed["error"], failed["retry_in"]) == ("ended after 0.3 s", 2.0)
    [kept] = [one for one in svc.ok("events", "inbox") if one["type"] == "order.paid"]
    assert (kept["state"], kept["target"]) == ("pending", target)
    got = tmp_path / "got"
    script.write_text(f"#!/bin/sh\ncat > {shlex.quote(str(got))}\ntest $1 = slowly\n")
    [sent] = svc.ok("events", "replay", kept["id"])
    assert (sent["url"], sent["status"]) == (target, 200)
    assert order in got.read_text()
    [kept] = [one for one in svc.ok("events", "inbox") if one["type"] == "order.paid"]
    assert kept["state"] == "forwarded"


def test_the_first_lines_say_what_is_run_for_which_types(svc: Svc, sandbox: Sandbox) -> None:
    """Of 18 types that come, those of one go to the command; where all go, one line says so."""
    words = ("events", "listen", "-o", "human", "--timeout", "0")
    some = svc(*words, "--run", "order.paid=true").out
    assert some.startswith("Ready. Receiving 18 event types of test mode")
    assert "\n  order.paid to run:true\n" in some
    whole = svc(*words, "--run", "*=true").out
    assert whole.startswith("Ready. Forwarding 18 event types of test mode to run:true")
