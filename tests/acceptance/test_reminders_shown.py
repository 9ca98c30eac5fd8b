"""The README's section on reminders: each command line that it shows runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.running import Svc

ROOT = Path(__file__).parents[2]
HEADING = "## Keys that grow old\n"
# What may stand before a command where it is shown: a cron schedule, a unit's or a step's word.
BEFORE = re.compile(r"^(?:(?:\S+ ){4}\S+  |ExecStart=%h/\.local/bin/|\s+- run: )?(svc keys .+)$")


def section() -> str:
    """The README's section."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert HEADING in readme
    return readme.partition(HEADING)[2].partition("\n## ")[0]


def shown() -> list[str]:
    """The command lines in the section's blocks."""
    blocks = re.findall(r"```\w*\n(.*?)```", section(), re.DOTALL)
    found = [BEFORE.match(line) for block in blocks for line in block.splitlines()]
    return [match[1] for match in found if match]


def test_a_cron_line_a_timer_a_workflow_and_a_calendar_are_shown() -> None:
    """Four ways to be reminded; the workflow says how old its key is."""
    lines = shown()
    assert len(lines) == 4
    assert sum("--created" in line for line in lines) == 1
    for words in ("* * 1  svc", "OnCalendar=", "WantedBy=timers.target", "- cron:", "SVC_API_KEY:"):
        assert words in section()


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
        timeout=30,
    )
    assert done.returncode in (0, 11), done.stderr
    assert "4eC39" not in done.stdout + done.stderr
