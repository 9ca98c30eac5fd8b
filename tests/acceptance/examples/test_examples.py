"""Every example that `--help` shows works as it is shown, in a real shell on a real sandbox.

Ids are put in place of the shown ones, and what runs until it is stopped gets an end.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from acceptance.examples.test_handlers import CHECK, running
from acceptance.examples.world import ORDER, PLACEHOLDER, ExampleWorld, real
from support.running import Sandbox, Svc, command_tree, run_to_end
from support.serving import QuietHandler, serving
from svc.signature import header_value

pytestmark = pytest.mark.slow


# Lines that need more than objects: they have tests of their own below.
OWN = (
    "svc keys ",
    "svc events ",
    "svc requests ",
    "svc sandbox start",
    "svc sandbox status",
    "svc sandbox logs",
    "svc sandbox stop",
)
EXAMPLES = sorted({line for each in command_tree().root.walk() for line in each.examples})
PLAIN = [line for line in EXAMPLES if not line.startswith(OWN)]
MEANT_FOR_A_SHELL = frozenset("|<>$`&;*?~(){}[]!#\\\n")
# The sandbox's own state, with its keys: the service's memory and not ours.
STATE = ("svc sandbox export", "svc sandbox import", "svc sandbox reset", "svc quickstart")
# What a shell has only to split; proof/security/test_canary.py runs each, and holds how it ends.
SPLIT_ONLY = [
    line
    for line in PLAIN
    if line.startswith("svc")
    and "--live" not in line
    and not line.startswith(STATE)
    and MEANT_FOR_A_SHELL.isdisjoint(line)
]
DECLINED = "svc sandbox pay ord_3kPq0aVb7cXd9eYf1gZh2iWj --card 4000000000009995"
# What ends in another way than with 0, as its own help says.
# No sandbox of this user runs there, and a script has to stop at that. Nor has that world an
# endpoint for an event to go to, and its order is unpaid: the sandbox refuses both.
ENDS = {
    DECLINED: 3,
    "svc doctor --live --max-time 5": 0,
    'eval "$(svc sandbox env)"': 1,
    "svc sandbox resend evt_3kPq0aVb7cXd9eYf1gZh2iWj": 3,
    "svc sandbox customs ord_7cXd9eYf1gZh2iWj3kPq0aVb --charged 4500": 3,
}

# What a line that names it needs, besides objects.
MADE = {
    "refunds.csv": ExampleWorld.refunds_file,
    "import state.json": ExampleWorld.state,
    "held.csv": ExampleWorld.held_order,
}
OF_SHOP = re.compile(r"svc (sandbox compare|mcp)|(?!.*create).*profiles")
# What is set before a line that begins so.
SETTINGS = (
    ("svc config unset", "output", "json"),
    ("svc mcp", "limits.refunds", "500 EUR/day"),
    ("svc mcp", "limits.captures", "500 EUR/day"),
)

PAYOUTS = """\
amount,currency,source_currency,destination[country],destination[account_holder_name],destination[iban]
10000,EUR,USD,DE,Muster GmbH,DE89370400440532013000
"""


def shell(line: str, folder: Path, **env: str) -> "subprocess.CompletedProcess[str]":
    """Runs a line as a person does who has installed the program."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return run_to_end(
        ["bash", "-uc", line],
        env={**os.environ, "PATH": path, "TZ": "UTC", **env},
        cwd=folder,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture
def world(sandbox: Sandbox, tmp_path: Path) -> ExampleWorld:
    """An empty sandbox and an empty folder with the files that lines name."""
    folder = tmp_path / "here"
    folder.mkdir()
    return ExampleWorld(sandbox, folder)


def prepare(line: str, world: ExampleWorld, svc: Svc) -> dict[str, str]:
    """Makes the files and settings that a line speaks of; gives what its environment needs."""
    for word, make in MADE.items():
        if word in line:
            make(world)
    if "payouts.csv" in line:
        world.file("payouts.csv", PAYOUTS)
        live = {"SVC_API_KEY": "sk_live_sandbox"}
        svc.ok("sandbox", "balances", "USD=500000", "--live", env=live)
    if OF_SHOP.match(line):
        svc.ok("profiles", "create", "shop", "--base-url", world.sandbox.url)
    for start, name, value in SETTINGS:
        if line.startswith(start):
            svc.ok("config", "set", name, value)
    if "~/.config/fish" in line:
        Path(os.environ["HOME"], ".config/fish/completions").mkdir(parents=True)
    env = {"BROWSER": "true %s"}
    return {**env, "SVC_API_KEY": "sk_live_sandbox"} if "--live" in line else env


@pytest.mark.parametrize("line", sorted({*PLAIN} - {*SPLIT_ONLY}))
def test_the_example_works(line: str, world: ExampleWorld, svc: Svc) -> None:
    """Exit 0, or the one that the example is there to show."""
    env = prepare(line, world, svc)
    ready = real(line, world)
    if " batch " in line or line.startswith(MOVING):
        ready += " --yes"  # nobody is there to be asked
    done = shell(ready, world.folder, **env)
    assert done.returncode == ENDS.get(line, 0), (ready, done.stdout[-500:], done.stderr)
    assert "Traceback" not in done.stderr


MOVING = (
    "svc orders cancel",
    "svc orders capture",
    "svc refunds create",
    "svc payouts create",
    "svc disputes accept",
    "svc post",
    "svc profiles remove",
)


def test_the_life_of_a_sandbox(svc: Svc, isolated: Path, tmp_path: Path) -> None:
    """`start`, `status`, `logs` and `stop` as their examples show them, on a port that is free."""
    shown = [line for line in EXAMPLES if line.startswith("svc sandbox s")]
    assert "svc sandbox status || svc sandbox start --detach" in shown
    for line in (
        "svc sandbox start --detach --port 0 --db :memory:",
        "svc sandbox status",
        "svc sandbox logs",
        'eval "$(svc sandbox env)" && test "$SVC_API_KEY" = sk_test_sandbox',
        "svc sandbox stop",
    ):
        done = shell(line, tmp_path)
        assert done.returncode == 0, (line, done.stderr)
    assert shell("svc sandbox status", tmp_path).returncode == 11


KEYS = [line for line in EXAMPLES if line.startswith("svc keys ")]


@pytest.mark.parametrize("line", KEYS)
def test_the_example_of_keys_works_with_a_real_keyring(
    line: str, world: ExampleWorld, svc: Svc, gnome_keyring: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With GNOME Keyring; a line that asks a person gets its key as standard input."""
    monkeypatch.delenv("SVC_API_KEY")
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND", raising=False)
    svc.ok("profiles", "create", "shop", "--base-url", world.sandbox.url)
    world.file("key.txt", "sk_test_sandbox\n")
    if not line.startswith("svc keys add"):
        for mode in ("test", "live"):
            for profile in ("shop", "default"):
                svc.ok("keys", "add", "--stdin", "--profile", profile, stdin=f"sk_{mode}_sandbox\n")
    if "roll" in line:
        listed = world.sandbox.control("GET", "/keys")["data"]
        secret = next(one["id"] for one in listed if one["type"] == "secret")
        world.file("new-key.txt", world.roll(secret) + "\n")
    asks = line in ("svc keys add", "svc keys roll")
    source = "key.txt" if line == "svc keys add" else "new-key.txt"
    env = {"SVC_API_KEY": "sk_test_sandbox"} if "--created" in line else {}
    done = shell(f"{line} --stdin < {source}" if asks else line, world.folder, **env)
    overdue = 11 if "--created" in line else 0  # a shown date grows old
    assert done.returncode in (0, overdue), (line, done.stdout, done.stderr)
    assert "sk_test_sandbox" not in done.stdout + done.stderr


@pytest.mark.parametrize("verb", ["show", "resume", "forget"])
def test_the_example_of_requests_works(verb: str, world: ExampleWorld, svc: Svc) -> None:
    """On a request whose answer was lost, which is what they are for."""
    line = next(one for one in EXAMPLES if one.startswith(f"svc requests {verb}"))
    lost = {"match": {"path": "/v1/orders"}, "phase": "after", "times": 9}
    world.sandbox.control("POST", "/faults", {**lost, "effect": {"connection": "close"}})
    made = svc("orders", "create", "--body", "-", "--max-time", "2", stdin=json.dumps(ORDER))
    world.sandbox.control("DELETE", "/faults")
    assert made.code == 7
    done = shell(PLACEHOLDER.sub(made.error["request"], line) + " --yes", world.folder)
    assert done.returncode == 0, done.stderr
    assert shell("svc requests list --unresolved", world.folder).stdout == (
        "[]\n" if verb != "show" else shell("svc requests list", world.folder).stdout
    )


# Those of a team's log need its servers: process/log runs those commands, on real ones.
EVENTS = [
    line
    for line in EXAMPLES
    if line.startswith("svc events ")
    and not line.startswith("svc events examine")
    and "nats+tls:" not in line
    and " log " not in line
]
EXAMINE = [line for line in EXAMPLES if line.startswith("svc events examine")]
SECRET = "whsec_0123456789abcdefghijklmn"


@pytest.mark.parametrize("line", EVENTS)
def test_the_example_of_events_works(line: str, world: ExampleWorld) -> None:
    """With a target that listens, an inbox that holds an event, and an end after a moment."""
    if "| jq" in line and shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    world.program("fulfil.sh")
    with serving(QuietHandler) as origin:
        port = int(origin.rpartition(":")[2])
        ready = re.sub(r"(?<=[ :])3000(?=[/ ']|$)", str(port), line)
        if not re.search(r"events (listen|tail)", line):
            ready = PLACEHOLDER.sub(received(world, port), ready)
        ready = ready.replace("pytest -q", "svc sandbox trigger order.paid")
        if "--timeout" not in line:
            ready = re.sub(r"events (listen|tail)", r"events \1 --timeout 1", ready)
        needs_secret = re.search(r"events (sign|verify)", line)
        if needs_secret:
            ready = signed(ready, world)
        secrets = {"SVC_WEBHOOK_SECRET": SECRET} if needs_secret else {}
        done = shell(ready, world.folder, **secrets)
    assert done.returncode == 0, (ready, done.stdout, done.stderr)


@pytest.mark.parametrize("line", EXAMINE)
def test_the_example_of_an_examination_passes_a_good_handler(
    line: str, world: ExampleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a handler that breaks no rule, and a check that prints what it has done."""
    monkeypatch.setenv("SVC_WEBHOOK_SECRET", SECRET)
    world.file("shop.txt", "")
    world.program("count.sh", CHECK)
    with running("handler.py", "", world.folder) as origin:
        ready = line.replace("3000", origin.rpartition(":")[2])
        done = shell(ready, world.folder, SVC_WEBHOOK_SECRET=SECRET)
    assert done.returncode == 0, (ready, done.stdout, done.stderr)
    assert ("--report" in line) == (world.folder / "examination.md").exists()


def received(world: ExampleWorld, port: int) -> str:
    """Lets an event come in and gives its id."""
    trigger = "svc sandbox trigger order.paid -o id"
    listen = f"svc events listen --forward-to {port} --until order.paid --timeout 150 --exec"
    done = shell(f"{listen} '{trigger}' && svc events inbox -o id", world.folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


def signed(line: str, world: ExampleWorld) -> str:
    """Puts a good signature of a file in place of the one that is shown."""
    body = '{"id":"evt_1","object":"event"}'
    world.file("body.json", body)
    header = header_value(body.encode(), [SECRET], int(time.time()))
    return re.sub(r"'t=[^']*'", f"'{header}'", line)
