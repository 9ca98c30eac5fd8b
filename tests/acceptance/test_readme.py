"""The README shows what the program does: each shown screen is run and compared."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.running import Sandbox, command_tree
from svc.cli.help.page import TOPICS, page_of
from svc.cli.quickstart import run_target

ROOT = Path(__file__).parents[2]
SVC = str(Path(sys.executable).parent / "svc")
README = (ROOT / "README.md").read_text(encoding="utf-8")

# What differs from run to run, and what stands for it on both sides of the comparison.
VARYING = (
    (r"\b(ord|pay|rf|po|lcq|evt|dp|we|req|dlv)_[0-9A-Za-z]{16,}", r"\1_ID"),
    (r"whsec_\S+", "whsec_SECRET"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?Z?( UTC)?", "TIME"),
    (r"\b\d{2}:\d{2}:\d{2}\.\d{3}\b", "TIME"),
    (r"\b\d+ ms\b", "N ms"),
    (r"\b\d+\.\d s\b", "N s"),
    (r"\bpid \d+", "pid N"),
    (r"/\S*/sandbox(-\d+)?\.(db|log)", "/FILE"),
    (r"\((in|\d+ \w+ ago|just now|now)[^)]*\)", "(AGO)"),
)


def shown(name: str) -> str:
    """The screen that follows `<!-- shown: NAME -->`."""
    match = re.search(rf"<!-- shown: {name} -->\n```console\n(.*?)```", README, re.DOTALL)
    assert match, f"README shows no {name}"
    return match[1]


def normalised(text: str) -> list[str]:
    """Text without what varies, line by line, runs of spaces folded."""
    for pattern, stand_in in VARYING:
        text = re.sub(pattern, stand_in, text)
    return [re.sub(r" {2,}", "  ", line).rstrip() for line in text.splitlines() if line.strip()]


def replayed(screen: str) -> str:
    """Runs the `$ ` lines of a screen in one shell and gives the screen that comes of it."""
    commands = [line[2:] for line in screen.splitlines() if line.startswith("$ ")]
    # The README's port may be taken on this machine; what is shown stays as it is.
    script = "".join(
        f"cat <<'END'\n$ {line}\nEND\n{line.replace('--detach', '--detach --port 0')}\n"
        for line in commands
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "SVC_OUTPUT": "human", "COLUMNS": "80", "TZ": "UTC"}
    done = subprocess.run(
        ["bash", "-c", script],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


@pytest.mark.parametrize(
    "name", [pytest.param("quickstart", marks=pytest.mark.slow(seconds=3)), "tour", "error"]
)
def test_readme_screen_is_what_the_program_prints(
    name: str, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """A shown screen that no longer comes out as shown is a mistake in one of the two."""
    if name == "tour":  # it starts a sandbox of its own
        monkeypatch.delenv("SVC_BASE_URL")
        monkeypatch.delenv("SVC_API_KEY")
        request.addfinalizer(
            lambda: subprocess.run([SVC, "sandbox", "stop"], check=False, capture_output=True)
        )
    assert normalised(replayed(shown(name))) == normalised(shown(name))


def test_every_command_has_a_purpose_and_an_example() -> None:
    """`--help` says in one line what it is for and shows an example that begins with it."""
    for command in command_tree().root.walk():
        if not command.commands:
            assert command.help.strip(), command.name
            assert len(command.help.split("\n")[0]) < 100, command.name
            short = command.name.replace("landed-cost-quotes", "quotes")
            begins = tuple(f"svc {name}" for name in (command.name, short))
            assert any(one in line for line in command.examples for one in begins), command.name


def block(name: str) -> str:
    """The code block that follows `<!-- NAME -->`."""
    match = re.search(rf"<!-- {name} -->\n```\w*\n(.*?)```", README, re.DOTALL)
    assert match, f"README has no {name}"
    return match[1]


def shell(script: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """Runs a script with `svc` on the PATH."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euc", script],
        env={**os.environ, "PATH": path, "TZ": "UTC", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def unnamed(line: str) -> str:
    """A delivery without its event: it is named only where another event's line came between."""
    return re.sub(r"  evt_ID$", "", line)


def test_readme_listen_screen_is_what_the_program_prints(sandbox: Sandbox, tmp_path: Path) -> None:
    """The lines that a person sees while an order is paid."""
    with run_target() as target:
        script = (
            f"svc events listen --forward-to {target.url} --until order.paid "
            f"--timeout 150 --ready-file {tmp_path}/ready -o human & "
            f"until [ -e {tmp_path}/ready ]; do sleep 0.05; done; "
            "svc sandbox pay $(svc orders create --amount 12900 --currency EUR --country DE "
            "--item 'name=Jacket,hs_code=6203.39,quantity=1,unit_amount=12900' -o id) -o id "
            ">/dev/null 2>&1; wait $!"
        )
        done = shell(script, COLUMNS="100")
    assert done.returncode == 0, done.stdout
    printed = done.stdout.replace(target.url, "http://localhost:3000/webhooks")
    wanted = [line for line in normalised(block("listen")) if line[:4] in ("TIME", "Read")]
    assert set(map(unnamed, wanted)) <= set(map(unnamed, normalised(printed))), printed
    assert len(wanted) == len(block("listen").splitlines()) - 2


@pytest.mark.slow(seconds=3)
def test_readme_ci_script_works_as_it_is(tmp_path: Path) -> None:
    """It starts a sandbox, waits for order.paid and ends with 0; it leaves nothing behind.

    The ids and the signing secret of a sandbox in memory are gone with it.
    """
    script = f"cd {tmp_path}\n{block('run: ci')}"
    done = shell(f"({script})\nsvc keys remind -q -o json\nls $SVC_CACHE_DIR/recent || true")
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("\n[]\n"), done.stdout


def test_readme_refund_list_passes_its_check(sandbox: Sandbox, tmp_path: Path) -> None:
    """The recipe's file is one that batch takes: every row is checked, nothing is sent."""
    (tmp_path / "refunds.csv").write_text(block("file: refunds.csv"))
    done = shell(f"cd {tmp_path}; svc batch refunds.create refunds.csv --dry-run")
    assert done.returncode == 0, done.stdout
    assert sandbox.control("GET", "/requests")["data"] == []


MAP = (ROOT / "src/svc/README.md").read_text(encoding="utf-8")
RECIPES = re.split(
    r"^### ", MAP.partition("## Recipes")[2].partition("\n## ")[0], flags=re.MULTILINE
)[1:]


@pytest.mark.parametrize("recipe", RECIPES, ids=[each.splitlines()[0] for each in RECIPES])
def test_a_recipe_leads_to_what_is_there(recipe: str) -> None:
    """Each file that it names is there, and in these files is each name that it tells."""
    named = re.findall(r"`([\w/.]+\.\w+)`", recipe)
    assert named
    there = [
        ROOT if name.startswith(("tests/", "pyproject")) else ROOT / "src/svc" for name in named
    ]
    text = "".join((top / name).read_text("utf-8") for top, name in zip(there, named, strict=True))
    folders = re.findall(r"`([\w/]+/)`", recipe)
    assert all((ROOT / "src/svc" / each).is_dir() or (ROOT / each).is_dir() for each in folders)
    names = re.findall(r"`(\w+)`", recipe)
    assert names
    assert not [name for name in names if not re.search(rf"\b{name}\b", text)]


def test_readme_has_room_for_what_is_read_first() -> None:
    """It is read in one go, up to what is for those who change it; the rest is in `svc help`."""
    read = README.partition("## Working on svc")[0]
    assert 200 < len(read.splitlines()) <= 320
    named = set(re.findall(r"`svc help ([a-z-]+)`", README))
    assert named <= set(TOPICS)
    assert {"ci", "faults", "reminders", "comparison", "assumptions"} <= named


def test_readme_and_help_show_the_files_that_are_run() -> None:
    """The handler, the script and the workflow are run by tests; what is shown is the same."""
    examples = ROOT / "tests/acceptance/integration/examples"
    assert block("file: handler.py") == (examples / "handler.py").read_text()
    files = [part for part in page_of("ci").parts if part.startswith("~~~")]
    shown = [part.removeprefix("~~~\n").removesuffix("~~~") for part in files]
    script, workflow, *_ = shown  # the others are run in namespaces
    assert (examples / "webhooks.sh").read_text() == script
    assert (examples / "webhooks.yml").read_text() == workflow
    # A terminal of 80 columns shows each line whole, behind a margin of two.
    assert max(len(line) for line in "".join(shown).splitlines()) <= 78


def test_readme_account_is_set_up_as_it_says(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a clean machine with a keyring (here a fake one): from no profile to `whoami`."""
    for name in ("SVC_BASE_URL", "SVC_API_KEY", "PYTHON_KEYRING_BACKEND"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "key.txt").write_text("sk_test_sandbox\n")
    monkeypatch.setenv("FAKE_RING", str(tmp_path / "ring.json"))
    ring = "svc config set keyring_backends fake_file_ring.Keyring >/dev/null\n"
    script = block("run: account").replace("https://api.example.com", sandbox.url)
    done = shell(
        f"cd {tmp_path}\n{ring}{script}",
        PYTHONPATH=str(ROOT / "tests/support/fake_ring"),
        SVC_OUTPUT="human",
    )
    assert done.returncode == 0, done.stdout
    assert "keyring (profile shop)" in done.stdout
    assert "sandbox constant" not in done.stdout


def test_readme_disputes_recipe_finds_what_is_due(sandbox: Sandbox) -> None:
    """One that is due in two weeks is not shown; eight days later it is."""
    sandbox.control("POST", "/events/trigger", {"type": "dispute.opened"})
    assert shell(block("run: disputes")).stdout == "evidence_due_by,id,reason\n"
    sandbox.control("POST", "/clock/advance", {"seconds": 8 * 86400})
    found = shell(block("run: disputes"))
    assert found.returncode == 0, found.stdout
    assert re.search(r"\n\S+Z,dp_\w+,product_not_received\n\Z", found.stdout)
