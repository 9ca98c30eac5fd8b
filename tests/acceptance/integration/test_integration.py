"""The examples for continuous integration, run as they stand: a shell script and a workflow."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.running import run_to_end

EXAMPLES = Path(__file__).with_name("examples")
SUITABLE = re.compile(r"ord_[A-Za-z0-9]+\n")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the examples, `svc` and this Python on the path, and a free port."""
    folder, programs = tmp_path / "shop", tmp_path / "bin"
    shutil.copytree(EXAMPLES, folder)
    programs.mkdir()
    program = programs / "svc"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m svc "$@"\n')
    program.chmod(0o755)
    (programs / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with socket.create_server(("127.0.0.1", 0)) as free:
        monkeypatch.setenv("PORT", str(free.getsockname()[1]))
    yield folder
    subprocess.run([program, "sandbox", "stop", "-q"], check=False, capture_output=True)


def run(command: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return run_to_end(command, cwd=folder)


def records(folder: Path) -> list[str]:
    lines = (folder / "events.ndjson").read_text().splitlines()
    return [json.loads(line)["record"] for line in lines]


def workflow_steps() -> list[str]:
    """The `run:` of each step, in order."""
    text = (EXAMPLES / "webhooks.yml").read_text()
    found = re.findall(r"^        run: (?:\|\n((?:          .*\n|\n)+)|(.+)\n)", text, re.MULTILINE)
    return [textwrap.dedent(block) or line for block, line in found]


@pytest.mark.slow(seconds=3)
def test_shell_script_tests_a_handler(shop: Path) -> None:
    """The script ends with 0, the handler has taken the order, and nothing is left running."""
    done = run(["sh", "webhooks.sh"], shop)
    assert done.returncode == 0, done.stderr
    assert SUITABLE.fullmatch((shop / "paid.txt").read_text())
    assert done.stdout.startswith("order.paid was taken: ord_")
    kinds = records(shop)
    assert (kinds[0], kinds[-1]) == ("ready", "summary")
    assert {"event", "forward"} < set(kinds)
    with socket.socket() as port:
        assert port.connect_ex(("127.0.0.1", int(os.environ["PORT"]))) != 0


@pytest.mark.slow
def test_shell_script_fails_with_a_handler_that_refuses(shop: Path) -> None:
    """A handler that checks with another secret makes the script end with 11."""
    handler = shop / "handler.py"
    text = handler.read_text()
    handler.write_text(text.replace('os.environ["SVC_WEBHOOK_SECRET"]', '"whsec_wrong"'))
    done = run(["sh", "webhooks.sh"], shop)
    assert done.returncode == 11, done.stderr
    assert json.loads(done.stderr.splitlines()[-1])["error"]["code"] == "strict"
    assert not (shop / "paid.txt").exists()


@pytest.mark.slow(seconds=3)
def test_workflow_steps_test_a_handler(shop: Path) -> None:
    """Every `run:` step of the workflow but the installation, one shell each, as a runner does."""
    install, *steps = workflow_steps()
    assert install.startswith("pipx install")
    assert len(steps) == 4
    for step in steps:
        done = as_step(step, shop)
        assert done.returncode == 0, (step, done.stderr)
    assert SUITABLE.fullmatch((shop / "paid.txt").read_text())
    assert {"ready", "event", "forward", "summary"} <= set(records(shop))
    assert running() == []


def as_step(step: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Runs a step as a runner does: a shell of its own, and what steps before put into GITHUB_ENV."""
    kept = folder / "github.env"
    kept.touch()
    values = dict(line.split("=", 1) for line in kept.read_text().splitlines())
    return run_to_end(
        ["bash", "-e", "-o", "pipefail", "-c", step],
        cwd=folder,
        env={**os.environ, "GITHUB_ENV": str(kept), **values},
    )


def running() -> list[str]:
    """The addresses of the sandboxes of this home that still run."""
    return run(["svc", "sandbox", "status", "-o", "id"], Path()).stdout.split()


def readme_script() -> str:
    """The recipe without a handler."""
    text = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- run: ci -->\n```sh\n(.*?)```", text, re.DOTALL)
    assert found
    return found[1]


def break_listener() -> None:
    """From now on `svc events listen` ends at once, as where its state cannot be written."""
    program = Path(shutil.which("svc") or "")
    lines = program.read_text().splitlines()
    lines.insert(1, 'case "$1 $2" in "events listen") echo broken >&2; exit 10;; esac')
    program.write_text("\n".join(lines) + "\n")


@pytest.mark.slow
def test_scripts_end_where_the_listener_cannot_start(shop: Path) -> None:
    """Every shown wait ends, the script fails, and no sandbox is left running."""
    break_listener()
    for command in (["sh", "webhooks.sh"], ["bash", "-c", readme_script()]):
        done = run(command, shop)
        assert done.returncode == 10, (command, done.stderr)
        assert running() == []


@pytest.mark.slow
def test_workflow_ends_where_the_listener_cannot_start(shop: Path) -> None:
    """The step that waits for it fails; the one that stops the sandbox runs all the same."""
    break_listener()
    _, start, pay, _, stop = workflow_steps()
    assert as_step(start, shop).returncode == 0
    assert as_step(pay, shop).returncode != 0
    assert as_step(stop, shop).returncode == 0
    assert running() == []


@pytest.mark.slow
def test_two_jobs_on_one_machine_do_not_meet(shop: Path) -> None:
    """Each has its own sandbox and its own order, also with one home for both."""
    jobs = []
    for number in (1, 2):
        folder = shop / f"job-{number}"
        shutil.copytree(EXAMPLES, folder)
        with socket.create_server(("127.0.0.1", 0)) as free:
            env = {**os.environ, "PORT": str(free.getsockname()[1])}
        jobs.append(
            subprocess.Popen(
                ["sh", "webhooks.sh"],
                cwd=folder,
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    ended = [(job.communicate(), job.returncode) for job in jobs]
    assert [code for _, code in ended] == [0, 0], ended
    paid = {(shop / f"job-{number}" / "paid.txt").read_text() for number in (1, 2)}
    assert len(paid) == 2
    assert all(SUITABLE.fullmatch(text) for text in paid)
    assert running() == []
