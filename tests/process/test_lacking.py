"""The program on a Python that lacks what one on Windows lacks: a stand-in, and no more than that.

It lacks fcntl, pwd, termios and their like, owners, process groups, most signals and handles of
folders; an open file can be neither moved nor removed; SIGTERM ends a process as by force.
"""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.batches import orders_file, outcomes_of, refs
from support.listeners import Listen
from support.orders import CREATE_ORDER
from support.running import Sandbox, Svc, run_to_end
from support.suite.patience import until

LACKING = Path(__file__).parents[1] / "support" / "lacking"
# Ends as TerminateProcess does when the first answers are there and are not written down.
DYING = """
import os
from svc.delivery.journal.journal import Journal
from svc.__main__ import main
Journal.settle_many = lambda *_, **__: os._exit(9)
main()
"""

# A program that says something and would go on for a minute, run as those of tunnels are.
TUNNEL = """
import sys, time
from svc.listen.tunnels.program import Program
program = Program([sys.executable, "-c", "import time; print(7, flush=True); time.sleep(60)"], {})
assert program.news.get(timeout=60) == "7"
begun = time.monotonic()
program.end()
assert program.news.get(timeout=60) is None
print(program.code, time.monotonic() - begun < 5)
"""


@pytest.fixture(autouse=True)
def lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program that is started from here on lacks it."""
    monkeypatch.setenv("PYTHONPATH", str(LACKING))


@pytest.fixture
def detached(svc: Svc) -> Iterator[Sandbox]:
    """A sandbox that the program itself has started, with a profile that leads to it."""
    started = svc.ok("sandbox", "start", "--detach", "--port", "0")
    yield Sandbox(started["url"], started["port"])
    svc("sandbox", "stop", "--all")


def test_stand_in_for_windows_lacks_what_it_says() -> None:
    """Without this the tests below would prove nothing."""
    code = "import os, signal, msvcrt; print(hasattr(os, 'geteuid'), hasattr(signal, 'SIGHUP'))"
    done = run_to_end([sys.executable, "-c", f"{code}\nimport fcntl"])
    assert done.stdout == "False False\n"
    assert "ModuleNotFoundError: import of fcntl halted" in done.stderr


def test_stand_in_for_windows_starts_and_configures(svc: Svc) -> None:
    """Version, help, settings written and read."""
    assert svc("--version").out.startswith("svc ")
    assert "Usage: svc" in svc("--help").out
    svc.ok("config", "set", "color", "never")
    assert svc("config", "set", "output", "human").code == 0
    assert svc.ok("config", "get", "output", "-o", "json") == "human"


@pytest.mark.slow(seconds=2)
def test_stand_in_for_windows_makes_an_order_in_its_own_sandbox(
    svc: Svc, detached: Sandbox
) -> None:
    """Recorded, made, found again; whoami and the doctor see nothing wrong; stop ends it."""
    order = svc.ok(*CREATE_ORDER)
    assert svc.ok("orders", "retrieve", order["id"])["amount"] == 12900
    [request] = svc.ok("requests", "list")
    assert (request["status"], request["object_id"]) == ("done", order["id"])
    folder = Path(os.environ["SVC_STATE_DIR"])
    for path in (folder, folder / "state.db", Path(os.environ["SVC_CONFIG_DIR"], "config.toml")):
        path.chmod(0o777)  # as Windows says of every file
    assert svc.ok("whoami")["sandbox"] is True
    found = {one["name"]: one["status"] for one in svc("doctor").json}
    assert (found["service"], found["state"]) == ("ok", "ok")
    assert list(folder.glob("sandbox/run-*"))
    assert (folder / "senders").is_dir()
    [ended] = svc.ok("sandbox", "stop")
    assert ended["url"] == detached.url
    assert svc("sandbox", "status").json == []
    assert list(folder.glob("sandbox/run-*")) == list(folder.glob("senders/*")) == []


@pytest.mark.slow
def test_stand_in_for_windows_resumes_a_killed_batch(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R16, R69: 20 rows, ended by force when all was sent and nothing settled: 20 orders."""
    path = orders_file(tmp_path, range(20))
    killed = run_to_end([sys.executable, "-c", DYING, "batch", "orders.create", str(path)])
    assert killed.returncode == 9, killed.stderr
    assert svc.ok("requests", "list", "--unresolved") != []
    summary = svc.ok("batch", "orders.create", str(path))
    assert summary["done"] + summary["skipped"] == 20
    assert outcomes_of(path) == ["done"] * 20
    assert refs(svc) == sorted(f"A-{number}" for number in range(20))
    assert svc.ok("requests", "list", "--unresolved") == []


def test_stand_in_for_windows_listens_until_an_event(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """R50: received, verified, kept; the listener ends by itself."""
    with listen(tmp_path, "--until", "order.paid", "--timeout", "150") as running:
        order = svc.ok(*CREATE_ORDER)
        svc.ok("sandbox", "pay", order["id"])
        assert running.process.wait() == 0, running.text
        [summary] = running.wait("summary")
    assert summary["received"] >= 1
    assert "order.paid" in [one["type"] for one in svc.ok("events", "inbox")]


@pytest.mark.slow
def test_stand_in_for_windows_ends_a_listener_and_the_command_beside_it(
    sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """R78: Ctrl-C is heard without asyncio's own handlers and without process groups."""
    waits = tmp_path / "waits.py"
    waits.write_text(
        "import os, pathlib, sys, time\n"
        "pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))\ntime.sleep(60)\n"
    )
    said = tmp_path / "pid"
    with listen(tmp_path, "--exec", f'exec "{sys.executable}" "{waits}" "{said}"') as running:
        until(lambda: said.exists() and said.read_text())
        begun = time.monotonic()
        assert running.end(signal.SIGINT) == 130
        assert time.monotonic() - begun < 30  # of the minute that the command would take
    with pytest.raises(ProcessLookupError):
        os.kill(int(said.read_text()), 0)


def test_stand_in_for_windows_ends_a_tunnel_program() -> None:
    """R78: run without the leash that needs exec, and ended by force."""
    done = run_to_end([sys.executable, "-c", TUNNEL])
    assert (done.stdout, done.stderr) == ("-9 True\n", "")
