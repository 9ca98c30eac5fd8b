"""Durable commands: a program that gets events as any target does, by `--run TYPE=COMMAND`."""

import os
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support.listening import RunningListener, event, listening, outcomes
from support.suite.patience import WAIT_SECONDS, patient
from svc.errors import UsageError
from svc.listen.commands import CommandTarget
from svc.listen.forward.pump import ForwardOptions
from svc.listen.routes import Routes

ENV = {"PATH": os.environ["PATH"], "SVC_API_KEY": "sk_test_x", "SVC_WEBHOOK_SECRET": "whsec_x"}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A place for a script, with a blank in its path."""
    (tmp_path / "my shop").mkdir()
    return tmp_path / "my shop" / "fulfil.sh"


def write(script: Path, text: str) -> None:
    script.write_text(f"#!/bin/sh\ncd {shlex.quote(str(script.parent))} || exit 1\n{text}\n")
    script.chmod(0o755)


def running(
    tmp_path: Path, script: Path, *, seconds: float = 20.0, env: Mapping[str, str] = ENV
) -> Any:
    """A listener that runs the script for each order.paid."""
    routes = Routes.parse(
        [],
        runs=[f"order.paid={shlex.quote(str(script))}"],
        command=lambda text: CommandTarget.parse(text, env, seconds),
    )
    forwarding = ForwardOptions(concurrency=2, ordered=True, seconds=0.05)  # not for commands
    return listening(tmp_path, routes=routes, forwarding=forwarding)


def ended(listener: RunningListener) -> list[str | None]:
    listener.stop()
    return outcomes(listener.open_state())


def is_gone(pid: Path) -> bool:
    """Whether a process whose number is in a file has ended."""
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        try:
            state = Path("/proc", pid.read_text().strip(), "stat").read_text().split()[2]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def test_payload_on_stdin_and_facts_in_the_environment(tmp_path: Path, script: Path) -> None:
    """The bytes as they came, three variables, no key and no signing secret (R43)."""
    write(script, "cat > got; env > env; echo done")
    body = event(7, note=" \u00e9 " + "x" * 300_000)
    with running(tmp_path, script) as listener:
        assert listener.send(body) == 200
        [told] = listener.forwards(1)
        assert ended(listener) == ["forwarded"]
    assert (told.status, told.error, told.reply) == (200, None, b"done\n")
    assert told.url == f"run:'{script}'"
    assert (script.parent / "got").read_bytes() == body
    got = dict(line.split("=", 1) for line in (script.parent / "env").read_text().splitlines())
    names = {name for name in got if name.startswith("SVC_")}
    assert names == {"SVC_EVENT_ID", "SVC_EVENT_TYPE", "SVC_OBJECT_ID"}
    assert (got["SVC_EVENT_ID"], got["SVC_EVENT_TYPE"], got["SVC_OBJECT_ID"]) == (
        "evt_7",
        "order.paid",
        "ord_7",
    )


def test_failed_run_is_kept_in_order_and_marked_when_it_is_repeated(
    tmp_path: Path, script: Path
) -> None:
    """R124: any other exit code is tried again, before the next event of its object, marked so."""
    write(
        script,
        'echo "$SVC_EVENT_ID$SVC_REDELIVERED" >> log; echo key sk_test_abcdefghijklmnop; exit 3',
    )
    with running(tmp_path, script) as listener:
        listener.send(event(1))
        [told] = listener.forwards(1)
        listener.send(event(2, data={"object": {"id": "ord_1"}}))
        assert ended(listener) == [None, None]
    assert (told.status, told.error) == (500, "exit code 3")
    assert told.retry_in is not None
    assert b"sk_test_a" not in told.reply  # R39, R107
    write(script, 'echo "$SVC_EVENT_ID$SVC_REDELIVERED" >> log')
    with running(tmp_path, script) as listener:
        listener.forwards(2)
        assert ended(listener) == ["forwarded", "forwarded"]
    assert (script.parent / "log").read_text().split() == ["evt_1", "evt_11", "evt_2"]


def test_hanging_run_is_ended_with_its_children(tmp_path: Path, script: Path) -> None:
    """After --run-timeout all of its group ends, also what does not listen to SIGTERM."""
    write(script, "trap '' TERM; sleep 60 & echo $! > child; echo $$ > leader; wait")
    with running(tmp_path, script, seconds=0.4) as listener:
        listener.send(event())
        [told] = listener.forwards(1)
        assert (told.status, told.error) == (None, "ended after 0.4 s")
        assert is_gone(script.parent / "leader")
        assert is_gone(script.parent / "child")
        assert ended(listener) == [None]


def test_children_that_a_run_leaves_end_with_it(tmp_path: Path, script: Path) -> None:
    """The exit code counts at once, though a child holds the output open."""
    write(script, "sleep 60 & echo $! > child; echo left")
    with running(tmp_path, script) as listener:
        listener.send(event())
        [told] = listener.forwards(1)
        assert ended(listener) == ["forwarded"]
    assert told.reply == b"left\n"
    assert told.milliseconds < 50_000  # of the minute that the child would take
    assert is_gone(script.parent / "child")


def test_flood_of_output_is_read_and_its_beginning_kept(tmp_path: Path, script: Path) -> None:
    """It neither fills memory nor blocks the command."""
    write(script, "yes flood | head -c 1500000; exit 0")
    with running(tmp_path, script) as listener:
        listener.send(event())
        [told] = listener.forwards(1)
        assert ended(listener) == ["forwarded"]
    assert told.reply == (b"flood\n" * 1000)[:4096]


def test_command_that_went_away_is_waited_for(tmp_path: Path, script: Path) -> None:
    """It is told with a reason, and runs once it is there again, unmarked: nothing had run."""
    write(script, 'echo "$SVC_EVENT_ID$SVC_REDELIVERED" >> log')
    with running(tmp_path, script) as listener:
        script.chmod(0o644)
        listener.send(event())
        [told] = listener.forwards(1)
        assert told.error == f"{script} is not executable"
        assert told.retry_in is not None
        script.chmod(0o755)
        listener.forwards(2)
        assert ended(listener) == ["forwarded"]
    assert (script.parent / "log").read_text() == "evt_1\n"


def test_run_under_way_when_the_listener_ends_is_repeated_and_marked(
    tmp_path: Path, script: Path
) -> None:
    """It gets its time, is then ended with its children, and its event stays pending."""
    write(script, 'echo "$SVC_EVENT_ID$SVC_REDELIVERED" >> log; echo $$ > leader; exec sleep 60')
    with running(tmp_path, script) as listener:
        listener.send(event())
        listener.until((script.parent / "leader").exists)
        started = time.monotonic()
        assert ended(listener) == [None]
        assert time.monotonic() - started < patient(1)
    assert is_gone(script.parent / "leader")
    write(script, 'echo "$SVC_EVENT_ID$SVC_REDELIVERED" >> log')
    with running(tmp_path, script) as listener:
        listener.forwards(1)
        assert ended(listener) == ["forwarded"]
    assert (script.parent / "log").read_text().split() == ["evt_1", "evt_11"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("./fulfil.sh", "names no event type"),
        ("order.payed=x", "order.paid"),
        ("order.paid=", "names no event type"),
        ("order.paid=''", "names no program"),
        ("order.paid='./x", "no closing quotation"),
        ("order.paid=x --key sk_test_abcdefghijklmnop", "must not hold a key"),
    ],
)
def test_unfit_command_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        Routes.parse([], runs=[text])
    assert caught.value.param == "--run"


def test_command_that_cannot_be_run_is_refused_at_the_start(script: Path) -> None:
    """One line, with what to do."""
    with pytest.raises(UsageError, match="there is no program") as caught:
        CommandTarget.parse("no-such-program-of-ours", ENV).check()
    assert caught.value.hint is None
    with pytest.raises(UsageError, match="is not a file"):
        CommandTarget.parse(shlex.quote(str(script.parent)), ENV).check()
    with pytest.raises(UsageError, match="there is no file /srv/my") as caught:
        CommandTarget.parse("/srv/my shop/fulfil.sh", ENV).check()
    assert "quotes" in (caught.value.hint or "")
    script.write_text("#!/bin/sh\n")
    with pytest.raises(UsageError, match="is not executable") as caught:
        CommandTarget.parse(shlex.quote(str(script)), ENV).check()
    assert caught.value.hint == f"chmod +x '{script}'"
    CommandTarget.parse("sh -c 'exit 0'", ENV).check()


def test_text_form_is_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger and the list of listeners know a command by it; on Windows a backslash is one."""
    texts = ["order.*=sh -c 'a=b; exit $x'", "order.paid='/my shop/x' \"it's\" '' a=b"]
    for platform in ("linux", "win32"):
        monkeypatch.setattr("svc.system.processes.sys.platform", platform)
        routes = Routes.parse(["refund.*=3000", "4000"], runs=texts)
        assert Routes.read_back(routes.format_routes()).format_routes() == routes.format_routes()
        assert CommandTarget.parse(str(routes.targets[-1])) == routes.targets[-1]
    assert routes.targets[-1] == CommandTarget(("/my shop/x", "it's", "", "a=b"), ENV, 1.5)
    assert CommandTarget.parse(r"py.exe 'C:\my shop\x.py'").argv[1] == r"C:\my shop\x.py"
    assert CommandTarget.parse(r"py.exe C:\shop\x.py").argv[1] == r"C:\shop\x.py"
    with pytest.raises(UsageError):  # commands are named by --run alone
        Routes.parse([str(routes.targets[-1])])
