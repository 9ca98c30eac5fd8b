"""`svc help moving` and `svc help reminders`: each command line that they show is carried out."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.running import Svc
from support.servers.misbehaving import ScriptedServer
from svc.cli.help.page import page_of, read_shell_lines

REFUND = ("refunds", "create", "--payment", "pay_1", "--amount", "100", "--max-time", "1")
KEY = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"


def commands() -> list[str]:
    parts = page_of("moving").parts
    return [line for part in parts for line in read_shell_lines(part)]


def at_home(home: Path) -> dict[str, str]:
    """The environment of a machine that has only its home."""
    return {
        "HOME": str(home),
        "XDG_CONFIG_HOME": "",
        "XDG_STATE_HOME": "",
        "XDG_CACHE_HOME": "",
        "SVC_API_KEY": KEY,
    }


@pytest.fixture
def machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Path, Callable[[str], None]]:
    """The old home, the new one, and what runs a line at the old one, whose `ssh` leads there."""
    for name in ("SVC_CONFIG_DIR", "SVC_STATE_DIR", "SVC_CACHE_DIR"):
        monkeypatch.delenv(name)
    old, new, tools = tmp_path / "old", tmp_path / "new", tmp_path / "bin"
    for folder in (old, new, tools):
        folder.mkdir()
    (tools / "ssh").write_text(f'#!/bin/sh\ntest "$1" = NEW && cd {new} && shift && exec "$@"\n')
    (tools / "ssh").chmod(0o755)

    def run(line: str) -> None:
        path = f"{tools}{os.pathsep}{os.environ['PATH']}"
        env = {**os.environ, "HOME": str(old), "PATH": path}
        subprocess.run(["sh", "-c", line], env=env, check=True)

    return old, new, run


def test_what_was_sent_is_known_on_the_machine_that_one_moves_to(
    svc: Svc, server: ScriptedServer, machines: tuple[Path, Path, Callable[[str], None]]
) -> None:
    """An unknown outcome, profiles and settings."""
    old, new, copy = machines
    server.play(server.raw(b""))
    made = svc("profiles", "create", "shop", "--base-url", server.url, env=at_home(old))
    assert made.code == 0, made
    lost = svc(*REFUND, env=at_home(old))
    assert (lost.code, lost.error["outcome"]) == (7, "unknown")

    listed = []
    lines = commands()
    copied = next(place for place, line in enumerate(lines) if line.startswith("tar "))
    for place, line in enumerate(lines):
        home = old if place < copied else new
        if place == copied:
            copy(line)
            continue
        argv = shlex.split(line.replace("NAME", "shop"))[1:]
        done = svc(*argv, "-o", "json", env=at_home(home), stdin=KEY)
        if argv[:2] == ["requests", "list"]:
            listed.append([each["id"] for each in done.json])
        elif argv[:2] == ["profiles", "list"]:
            assert [each["name"] for each in done.json] == ["shop"]
    assert listed == [[lost.error["request"]]] * 2
    again = svc(*REFUND, env=at_home(new))
    assert (again.code, again.error["request"]) == (6, lost.error["request"])


# What may stand before a command where it is shown: a cron schedule, a unit's or a step's word.
LEAD = re.compile(r"^(?:(?:\S+ ){4}\S+  |ExecStart=%h/\.local/bin/|\s+- run: )?(svc keys .+)$")


def copied() -> str:
    """What the page has to be copied."""
    found = []
    for part in page_of("reminders").parts:
        found += part.split("\n")[1:-1] if part.startswith("~~~") else read_shell_lines(part)
    return "\n".join(found)


def shown() -> list[str]:
    """The command lines in it."""
    found = [LEAD.match(line) for line in copied().splitlines()]
    return [match[1] for match in found if match and "remind" in match[1]]


def test_a_cron_line_a_timer_a_workflow_and_a_calendar_are_shown() -> None:
    """Four ways to be reminded; the workflow says how old its key is."""
    lines = shown()
    assert len(lines) == 4
    assert sum("--created" in line for line in lines) == 1
    for words in ("* * 1  svc", "OnCalendar=", "WantedBy=timers.target", "- cron:", "SVC_API_KEY:"):
        assert words in copied()


@pytest.mark.parametrize("line", shown())
def test_each_shown_line_runs(svc: Svc, tmp_path: Path, line: str) -> None:
    """In a shell, as cron, systemd and a workflow's runner have it: 0, or 11 when overdue."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    key = {"SVC_API_KEY": KEY} if "--created" in line else {}
    done = subprocess.run(
        ["sh", "-c", line],
        env={**os.environ, **key, "PATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 11), done.stderr
    assert "4eC39" not in done.stdout + done.stderr
