"""A forked run of the program is a run of the program: the same code, the same bytes."""

import os
import random
import re
import signal
from pathlib import Path

import pytest

from support.forks.program import Forking
from support.running import Sandbox, Svc
from support.suite.nested import pytest_run_of
from svc.cli.framework.registry import COMMANDS

LINES = [
    *(["--version"], ["--help"], [], ["nonsense"], ["orders"], ["orders", "create"]),
    *(["orders", "list", "--limit", "3"], ["orders", "list", "-o", "csv"], ["orders", "lisst"]),
    *(["orders", "create", "--amount", "x"], ["orders", "retrieve", "order_nobody"]),
    *(["whoami"], ["-q", "whoami", "-o", "human"], ["profiles", "list"], ["config", "list"]),
    *(["config", "set", "color", "purple"], ["keys", "list"], ["keys", "add", "--stdin"]),
    *(["requests", "list"], ["requests", "list", "-o", "ndjson"], ["commands", "-o", "json"]),
    *(["refunds", "create", "--payment", "pay_1"], ["payouts", "list", "--max", "-1"]),
    *(["quotes", "retrieve", "quote_1", "--query", "id["], ["events", "inbox", "list"]),
    *(["webhook-endpoints", "list", "--fields", "id,nothing"], ["help", "money"], ["help"]),
    *(["batch", "orders.create", "-"], ["batch", "orders.create", "nothing.csv", "--yes"]),
    *(["get", "/v1/orders"], ["post", "/v1/orders", "-d", "amount=1"], ["doctor", "-o", "csv"]),
    *(["sandbox", "status"], ["completion", "bash"], ["events", "verify"], ["disputes", "list"]),
]
SETTINGS = [
    *({}, {"COLUMNS": "40"}, {"SVC_OUTPUT": "human"}, {"SVC_API_KEY": ""}, {"NO_COLOR": ""}),
    *(
        {"SVC_API_KEY": "sk_test_wrong"},
        {"SVC_BASE_URL": "http://127.0.0.1:9"},
        {"TZ": "Asia/Tokyo"},
    ),
    *({"SVC_OUTPUT": "nonsense"}, {"SVC_BASE_URL": "ftp://x"}, {"SVC_CONFIG_DIR": "/dev/null/x"}),
]
INPUTS = ["", "sk_test_from_stdin\n", "amount,currency\n100,EUR\nx,EUR\n", "\ufeff{}\r\n\x00"]


def without_times(text: bytes) -> bytes:
    """Figures that differ from run to run: ids and how long something took."""
    text = re.sub(
        rb"\b(?:req|rq|order|evt)_\w+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", b"ID", text
    )
    text = re.sub(rb"\d+(?:\.\d+)? ?ms\b", b"MS", text)
    return re.sub(rb"\d{4}-\d\d-\d\dT[\d:.]+Z|\d{4}-\d\d-\d\d[ T][\d:]+", b"TIME", text)


@pytest.fixture
def both(forking: Forking) -> tuple[Svc, Svc]:
    """The program forked, and the program started."""
    return Svc(forking), Svc()


@pytest.mark.parametrize(
    "part", [pytest.param(n, marks=[pytest.mark.slow] if n else []) for n in range(3)]
)
def test_drawn_commands_end_alike_forked_and_started(
    both: tuple[Svc, Svc], sandbox: Sandbox, isolated: Path, part: int
) -> None:
    """Each command line with drawn settings and input: exit code, stdout and stderr are the same."""
    drawn = random.Random(os.urandom(8))
    forked, started = both
    for argv in drawn.sample(LINES, 6):
        settings, given = drawn.choice(SETTINGS), drawn.choice(INPUTS).encode()
        one, other = (run.bytes(*argv, stdin=given, env=settings) for run in (forked, started))
        assert one.code == other.code, (part, argv, settings, given, one, other)
        assert without_times(one.out) == without_times(other.out), (argv, settings, given)
        assert without_times(one.err) == without_times(other.err), (argv, settings, given)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_starts_as_a_process(name: str) -> None:
    """One real start for each: what a fork has loaded already is found without it, too."""
    result = Svc()(name, "--help")
    assert result.code == 0
    assert result.out.startswith(f"Usage: svc {name}")


def test_a_fork_is_a_process_of_its_own(forking: Forking, isolated: Path) -> None:
    """What it changes of itself is gone with it: folder, umask, variables, signals."""
    before = (Path.cwd(), dict(os.environ), signal.getsignal(signal.SIGINT))
    assert Svc(forking)("profiles", "create", "shop", "--base-url", "https://x.example").code == 0
    assert (Path.cwd(), dict(os.environ), signal.getsignal(signal.SIGINT)) == before
    assert (isolated / "config" / "config.toml").stat().st_mode & 0o777 == 0o600


def test_what_only_a_new_interpreter_reads_is_given_to_one(forking: Forking) -> None:
    """An encoding or a switch of Python comes too late for a fork."""
    assert forking.can_run(os.environ)
    assert forking.can_run({**os.environ, "PYTHONPATH": "/x", "TZ": "Asia/Tokyo"})
    assert not forking.can_run({**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert not forking.can_run({**os.environ, "LC_ALL": "C"})
    lacking = Path(__file__).parents[1] / "support" / "lacking"
    assert not forking.can_run({**os.environ, "PYTHONPATH": f"/x:{lacking}"})


DYING = """
import os
import pytest

@pytest.mark.parametrize("number", range(8))
def test_one_of_many(number):
    if number == 3:
        os._exit(7)

def test_the_program_is_shared(svc):
    assert svc("--version").code == 0
"""


@pytest.mark.slow(seconds=5)
def test_a_worker_that_dies_takes_one_test_with_it(tmp_path: Path) -> None:
    """Workers are forks; in the place of one that has died another is started."""
    done = pytest_run_of(DYING, tmp_path, "-n", "2", f"--basetemp={tmp_path / 'in'}")
    assert "1 failed, 8 passed" in done.stdout, done.stdout + done.stderr
    assert "crashed while running" in done.stdout


@pytest.mark.slow(seconds=3)
def test_a_file_that_cannot_be_imported_is_not_passed_over(tmp_path: Path) -> None:
    """The tests are collected once, before the workers are forked: no worker sees half a file."""
    done = pytest_run_of("import nothing_of_that_name", tmp_path, "-n", "2")
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert "No module named 'nothing_of_that_name'" in done.stdout
    assert "1 errors during collection" in done.stdout
