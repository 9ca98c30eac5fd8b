"""The question before what cannot be taken back: one wording, and only what is typed then counts."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from support.running import Sandbox, Svc
from support.suite.patience import WAIT_SECONDS

LIVE: Final = {"SVC_API_KEY": "sk_live_sandbox", "SVC_MODE": "live"}


@pytest.fixture
def rows(tmp_path: Path) -> str:
    path = tmp_path / "a.csv"
    path.write_text("payment,amount\npay_1,5\n")
    return str(path)


def asking(rows: str) -> list[tuple[str, ...]]:
    return [
        ("post", "/v1/payouts", "-d", "amount:=5"),
        ("batch", "refunds.create", rows, "--import", "rows"),
        ("sandbox", "reset"),
        ("profiles", "remove", "shop"),
    ]


@pytest.mark.parametrize("number", range(4), ids=["single", "batch", "reset", "profiles"])
def test_whoever_asks_says_the_same_and_never_takes_silence_for_yes(
    number: int, rows: str, sandbox: Sandbox, svc: Svc
) -> None:
    """R110: `--no-input`, like a pipe, is no yes; the way to say it is `--yes`."""
    svc.ok("profiles", "create", "shop", "--base-url", sandbox.url)
    argv = asking(rows)[number]
    for more in ((), ("--no-input",)):
        refused = svc(*argv, *more, env=LIVE)
        assert refused.code == 2, refused
        error = refused.error
        assert (error["code"], error["param"]) == ("confirmation_required", "--yes")
        assert "Add --yes to go ahead" in svc(*argv, *more, "-o", "human", env=LIVE).err
    assert [one["name"] for one in svc.ok("profiles", "list")] == ["shop"]
    sent = sandbox.control("GET", "/requests")["data"]
    assert not [one for one in sent if one["method"] == "POST"]


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(0, id="single"),
        pytest.param(1, id="batch"),
        pytest.param(2, id="reset", marks=pytest.mark.slow),
        pytest.param(3, id="profiles", marks=pytest.mark.slow),
    ],
)
def test_what_was_typed_before_the_question_is_no_answer(
    number: int, rows: str, sandbox: Sandbox, svc: Svc
) -> None:
    """A `yes` for an earlier program must not move money; the one after the question does not."""
    svc.ok("profiles", "create", "shop", "--base-url", sandbox.url)
    argv = asking(rows)[number]
    child, terminal = pty.fork()
    if child == 0:
        os.execve(sys.executable, [sys.executable, "-m", "svc", *argv], {**os.environ, **LIVE})
    os.write(terminal, b"yes\nyes\nyes\n")
    seen = _until(terminal, b"[y/N] ")
    assert not select.select([terminal], [], [], 0.5)[0], "it went on without an answer"
    os.write(terminal, b"n\n")
    seen += _until(terminal, b"Stopped")
    os.waitpid(child, 0)
    os.close(terminal)
    assert b"Go ahead? [y/N]" in seen


def test_a_typed_yes_is_read_whatever_encoding_python_is_told(svc: Svc) -> None:
    """Two bytes a letter is what neither a person types nor a script reads."""
    svc.ok("profiles", "create", "shop", "--base-url", "http://127.0.0.1:9")
    told = {**os.environ, "PYTHONIOENCODING": "utf-16"}
    program = [sys.executable, "-m", "svc"]
    child, terminal = pty.fork()
    if child == 0:
        os.execve(sys.executable, [*program, "profiles", "remove", "shop"], told)
    _until(terminal, b"[y/N] ")
    os.write(terminal, b"y\n")
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0
    assert svc.ok("profiles", "list") == []
    assert subprocess.check_output([*program, "--version"], env=told).startswith(b"svc 0.")


def _until(terminal: int, words: bytes) -> bytes:
    seen, end = b"", time.monotonic() + WAIT_SECONDS
    while words not in seen:
        assert time.monotonic() < end, seen
        if select.select([terminal], [], [], 0.2)[0]:
            seen += os.read(terminal, 4096)
    return seen
