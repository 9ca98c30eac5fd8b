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
    subprocess.run([program, "sandbox", "stop", "-q"], check=False, capture_output=True, timeout=30)


def run(command: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, cwd=folder, check=False, capture_output=True, text=True, timeout=60
    )


def records(folder: Path) -> list[str]:
    lines = (folder / "events.ndjson").read_text().splitlines()
    return [json.loads(line)["record"] for line in lines]


def workflow_steps() -> list[str]:
    """The `run:` of each step, in order."""
    text = (EXAMPLES / "webhooks.yml").read_text()
    found = re.findall(r"^        run: (?:\|\n((?:          .*\n|\n)+)|(.+)\n)", text, re.MULTILINE)
    return [textwrap.dedent(block) or line for block, line in found]


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


def test_workflow_steps_test_a_handler(shop: Path) -> None:
    """Every `run:` step of the workflow but the installation, one shell each, as a runner does."""
    install, *steps = workflow_steps()
    assert install.startswith("pipx install")
    assert len(steps) == 4
    for step in steps:
        done = run(["bash", "-e", "-o", "pipefail", "-c", step], shop)
        assert done.returncode == 0, (step, done.stderr)
    assert SUITABLE.fullmatch((shop / "paid.txt").read_text())
    assert {"ready", "event", "forward", "summary"} <= set(records(shop))
