"""`svc help reminders`: each command line that it shows runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.running import Svc
from svc.cli.help.page import page_of, read_shell_lines

# What may stand before a command where it is shown: a cron schedule, a unit's or a step's word.
BEFORE = re.compile(r"^(?:(?:\S+ ){4}\S+  |ExecStart=%h/\.local/bin/|\s+- run: )?(svc keys .+)$")


def copied() -> str:
    """What the page has to be copied."""
    found = []
    for part in page_of("reminders").parts:
        found += part.split("\n")[1:-1] if part.startswith("~~~") else read_shell_lines(part)
    return "\n".join(found)


def shown() -> list[str]:
    """The command lines in it."""
    found = [BEFORE.match(line) for line in copied().splitlines()]
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
    key = {"SVC_API_KEY": "sk_test_4eC39HqLyjWDarjtT1zdp7dc"} if "--created" in line else {}
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
