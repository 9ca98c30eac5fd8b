"""No byte of a key, of a signing secret or of a client secret where it does not belong (R40).

Every example that `--help` shows is run with a key that occurs nowhere else: so that it works, so
that the service fails, with bad settings, and with an error forced at a random point of the
program. Then everything that it has left behind is searched.
"""

import base64
import os
import random
import re
import shlex
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from acceptance.examples.test_examples import (
    ENDS,
    MEANT_FOR_A_SHELL,
    PLAIN,
    STATE,
    prepare,
    shell,
)
from acceptance.examples.world import ExampleWorld, real
from proof.security.watching import CLIENT_SECRET, SIGNING_SECRET, Watch, forms, holders
from support.forks.program import Forking
from support.orders import CREATE_ORDER
from support.running import Sandbox, Svc, run_to_end

CRASHING = Path(__file__).parent / "crashing.py"
# These show a secret once, which is what they are for; their files and errors are searched too.
SHOWING = (
    *("svc orders create", "svc webhook-endpoints create", "svc post"),
    *("svc sandbox endpoints", "svc sandbox checkout"),
)
MAKING = ("svc sandbox keys", "svc sandbox trigger", "svc sandbox env")
LINES = [line for line in PLAIN if line.startswith("svc") and "--live" not in line]
LINES = [line for line in LINES if not line.startswith(STATE)]
FAILING = [line for line in LINES if "fault" not in line][::2]
assert len(FAILING) > 30


@pytest.fixture
def canary(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> str:
    """A key that the sandbox knows and that occurs nowhere else."""
    secret = str(sandbox.control("POST", "/keys", {"type": "secret"})["secret"])
    monkeypatch.setenv("SVC_API_KEY", secret)
    return secret


@pytest.fixture
def world(sandbox: Sandbox, tmp_path: Path) -> ExampleWorld:
    folder = tmp_path / "here"
    folder.mkdir()
    return ExampleWorld(sandbox, folder)


def searched(
    line: str, done: "subprocess.CompletedProcess[str]", key: str, world: ExampleWorld, home: Path
) -> None:
    """Holds everything that a line has left against what must not be there."""
    shown = (done.stdout + done.stderr).encode()
    assert "Traceback" not in done.stderr, line
    for secret in forms(key):
        assert secret not in shown, (line, done.stdout[-300:], done.stderr[-300:])
    assert not CLIENT_SECRET.search(done.stderr.encode()), line
    assert not SIGNING_SECRET.search(done.stderr.encode()), line
    if not line.startswith((*SHOWING, *MAKING)):
        assert not CLIENT_SECRET.search(done.stdout.encode()), (line, done.stdout)
        assert not SIGNING_SECRET.search(done.stdout.encode()), (line, done.stdout)
    for folder in (home, world.folder):
        assert holders(forms(key), folder) == [], line
        files = [path for path in folder.rglob("*") if path.is_file()]
        assert not [path for path in files if CLIENT_SECRET.search(path.read_bytes())], line


def test_search_finds_what_is_planted(svc: Svc, canary: str, tmp_path: Path) -> None:
    """R40: a key as it stands and in Basic authentication, and secrets of the shapes they have."""
    plain, basic = tmp_path / "here" / "plain", tmp_path / "here" / "below" / "basic"
    basic.parent.mkdir(parents=True)
    plain.write_text(f"x {canary} y")
    basic.write_text(base64.b64encode(f"{canary}:".encode()).decode())
    (tmp_path / "here" / "clean").write_text("nothing")
    assert sorted(holders(forms(canary), tmp_path)) == sorted(map(str, (basic, plain)))
    made = svc.ok(*CREATE_ORDER)
    assert CLIENT_SECRET.fullmatch(made["client_secret"].encode())
    named = ("--url", "https://a.example/", "--events", "order.paid")
    endpoint = svc.ok("webhook-endpoints", "create", *named)
    assert SIGNING_SECRET.fullmatch(endpoint["secret"].encode())


def ready(line: str, world: ExampleWorld) -> str:
    """The line with ids that are there, answered with yes."""
    return real(line, world) + (" --yes" if "completion" not in line else "")


def run_line(
    line: str, world: ExampleWorld, forking: Forking, crash: int = 0
) -> "subprocess.CompletedProcess[str]":
    """Runs a line, without a shell where one has only to split it; `crash` names a call to fail."""
    if not MEANT_FOR_A_SHELL.isdisjoint(line):
        if crash:
            program = world.folder / "svc"
            program.write_text(f'#!/bin/sh\nexec {sys.executable} {CRASHING} {crash} "$@"\n')
            program.chmod(0o755)
            line = re.sub(r"(?<!')\bsvc ", f"{program} ", line)
        return shell(line, world.folder)
    program_name, *argv = shlex.split(line)
    assert program_name == "svc"
    with chdir(world.folder):
        if crash:
            ended = forking.run((str(crash), *argv), os.environ, entry="proof.security.crashing")
        else:
            ended = forking.run(argv, os.environ)
    return subprocess.CompletedProcess(line, ended.code, ended.out.decode(), ended.err.decode())


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_a_working_command_leaves_no_secret(
    line: str, world: ExampleWorld, svc: Svc, forking: Forking, canary: str, isolated: Path
) -> None:
    """With `--verbose`, which says most."""
    prepare(line, world, svc)
    command = ready(line, world)
    done = run_line(command if ">" in command else f"{command} --verbose", world, forking)
    assert done.returncode == (3 if ENDS.get(line) == 3 else 0), (command, done.stderr)
    searched(line, done, canary, world, isolated)


@pytest.mark.slow
@pytest.mark.parametrize("line", FAILING)
def test_a_command_whose_service_fails_leaves_no_secret(
    line: str, world: ExampleWorld, svc: Svc, forking: Forking, canary: str, isolated: Path
) -> None:
    """A 500 that repeats the key in its body, and an answer cut off behind what was done."""
    prepare(line, world, svc)
    command = ready(line, world)
    for effect in ({"status": 500, "body": f"<h1>{canary}</h1>"}, {"connection": "truncate"}):
        rule = {"match": {"path": "/v1/*"}, "phase": "after", "times": 9, "effect": effect}
        assert "id" in world.sandbox.control("POST", "/faults", rule)
        done = run_line(f"{command} --max-time 1", world, forking)
        world.sandbox.control("DELETE", "/faults")
        searched(line, done, canary, world, isolated)


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_a_command_that_crashes_leaves_no_secret(
    line: str, world: ExampleWorld, svc: Svc, forking: Forking, canary: str, isolated: Path
) -> None:
    """An unforeseen error at one of the first 1,000 calls: one line, and a report without it."""
    prepare(line, world, svc)
    number = int(random.Random(line).random() ** 2 * 1000) + 1  # early calls are the rich ones
    done = run_line(ready(line, world), world, forking, number)
    searched(line, done, canary, world, isolated)


PIPED = 'printf %s "$SVC_API_KEY" | '
# The commands whose examples need more than objects; keys go to a real keyring.
REST = (
    f"{PIPED}svc keys add --stdin --no-check",
    f"{PIPED}svc keys roll --stdin --no-check",
    "svc keys list",
    "svc keys remind",
    "svc keys remove",
    "svc events listen -o ndjson --timeout 0.5 --exec 'svc sandbox trigger order.paid -o id'",
    "svc events retrieve evt_0123456789abcdefghijklmn",
    "svc events inbox",
    "svc events inbox show evt_0123456789abcdefghijklmn",
    "svc events replay evt_0123456789abcdefghijklmn",
    "svc events verify --header t=1,v1=2 --payload none.json",
    "svc events receive --to nats://127.0.0.1:9/team --port 0",
    "svc events log template --name team --trial",
    "svc events log create --to nats://127.0.0.1:9/team",
    "printf '%s' laptop:none | svc events log login team",
    "svc events log status --from nats://127.0.0.1:9/team",
    "svc events log refill --to nats://127.0.0.1:9/team",
    "svc events log forget team",
    "svc events log user add laptop --role laptop --log team",
    "svc events log user rotate laptop --log team",
    "svc events log user remove laptop --log team",
    "svc events log failed list --from nats://127.0.0.1:9/team",
    "svc events log failed show evt_1 --from nats://127.0.0.1:9/team",
    "svc events log failed retry evt_1 --from nats://127.0.0.1:9/team",
    "svc events log failed drop evt_1 --from nats://127.0.0.1:9/team",
    "svc events audit --since 1d",
    "svc events sign --payload none.json",
    "svc events examine --forward-to 9 --check env",
    "svc events tail --port 0 --until order.paid --timeout 1",
    "svc events prune --failed --before 30d",
    "svc requests adopt none.db",
    "svc requests start-empty",
    "svc state",
    "svc state compact",
    "svc requests list",
    "svc requests show rq_0123456789abcdefghij",
    "svc requests resume rq_0123456789abcdefghij",
    "svc requests forget rq_0123456789abcdefghij",
    "svc sandbox status",
    "svc sandbox stop",
    "svc sandbox logs",
    "svc sandbox env",
    "svc sandbox lint",
    "svc sandbox compare",
    "svc sandbox reset",
    "svc sandbox import none.json",
    "svc sandbox start --detach --port 0 --db :memory: && svc sandbox stop",
    "svc quickstart",
)
STORING = ("keys", "login", "quickstart", "listen", "receive")  # in a real keyring
# It writes the sandbox's own state, its keys included, into the file that it is given.
NOT_SEARCHED = {"sandbox export"}


@pytest.mark.slow
@pytest.mark.parametrize("line", REST)
def test_the_other_commands_leave_no_secret(
    line: str,
    world: ExampleWorld,
    svc: Svc,
    forking: Forking,
    canary: str,
    isolated: Path,
    request: pytest.FixtureRequest,
) -> None:
    """As they are, and with an unforeseen error, early or late; whatever they end with."""
    if any(word in line for word in STORING):
        request.getfixturevalue("gnome_keyring")
    for crash in (0, (50, 300)[REST.index(line) % 2]):
        done = run_line(line, world, forking, crash)
        searched(line, done, canary, world, isolated)
        svc("sandbox", "stop")


def test_every_command_is_run_with_the_canary(svc: Svc) -> None:
    """A command that is added later has to be searched as well (R40)."""
    run = " ".join((*LINES, *REST)).replace("svc quotes ", "svc landed-cost-quotes ")
    leaves = [one["name"] for one in svc.ok("commands")["commands"] if not one["commands"]]
    missing = {name for name in leaves if not re.search(rf"\bsvc {re.escape(name)}\b", run)}
    assert missing == NOT_SEARCHED


@pytest.mark.parametrize(
    "broken",
    [
        '[profiles.x]\nkey = "{key}"\n',
        pytest.param("active_profile = \n", marks=pytest.mark.slow),
        pytest.param("\x00", marks=pytest.mark.slow),
    ],
)
def test_broken_settings_leave_no_secret(
    svc: Svc, world: ExampleWorld, canary: str, isolated: Path, broken: str
) -> None:
    """Even where somebody has put a key into the file, no message repeats it."""
    config = isolated / "config" / "config.toml"
    config.parent.mkdir(mode=0o700)
    config.write_text(broken.format(key=canary))
    config.chmod(0o600)
    for line in ("svc orders list", "svc whoami", "svc doctor", "svc config get"):
        done = shell(f"{line} --verbose", world.folder)
        assert not any(secret in (done.stdout + done.stderr).encode() for secret in forms(canary))


@pytest.mark.slow(seconds=3)
def test_no_process_has_a_secret_in_its_arguments(
    svc: Svc, world: ExampleWorld, canary: str, isolated: Path
) -> None:
    """R32: /proc is sampled while commands run, one with a child of its own (R43)."""
    secrets = [*forms(canary), b"whsec_"]
    lines = [
        "svc orders list",
        "svc whoami --verbose",
        f"printf '%s' '{'x' * 10}' | svc keys add --stdin --no-check",
        "svc sandbox trigger order.paid",
        "svc events listen --timeout 4 --until order.paid --exec 'sleep 0.3; env > seen'",
    ]
    with Watch(forms(canary)) as watch:
        for line in lines:
            shell(line, world.folder)
    assert watch.samples > 20
    assert watch.children > 0
    assert not watch.seen
    seen = (world.folder / "seen").read_bytes()
    assert b"SVC_WEBHOOK_SECRET=whsec_" in seen
    assert not any(secret in seen for secret in forms(canary)), secrets
    assert b"SVC_API_KEY" not in seen
    assert os.environ["SVC_API_KEY"] == canary


def test_a_bug_in_reporting_a_bug_is_one_line(svc: Svc, sandbox: Sandbox) -> None:
    """R79: what fails behind the last boundary names no value and shows no source."""
    script = (
        "import sys, svc.cli.main as m\n"
        "m._invoke = m.report_bug = lambda *given: 1 / 0\n"
        "from svc.__main__ import main\n"
        "sys.argv = ['svc', 'orders', 'list']\n"
        "main()\n"
    )
    done = run_to_end([sys.executable, "-c", script])
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "ZeroDivisionError" in done.stderr
