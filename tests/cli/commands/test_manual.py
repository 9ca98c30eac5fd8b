"""The manual pages in the repository, as `man` reads them."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.running import build_script, command_tree
from svc.cli.framework.registry import COMMANDS

ROOT = Path(__file__).parents[3]
MAN = ROOT / ".build" / "man1"
NAMES = ["svc.1", *(f"svc-{name}.1" for name in COMMANDS)]


def shown(page: Path) -> tuple[str, str]:
    """What a reader sees on 100 columns, and what the reader's program complains of."""
    env = {**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"}
    argv = ["man", "--warnings=all", "-l", str(page)]
    done = subprocess.run(argv, capture_output=True, text=True, env=env, check=True)
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "svc-orders.1" else pytest.mark.slow)
        for name in NAMES
    ],
)
def test_man_shows_each_page_without_a_complaint(name: str) -> None:
    """And its name is what `apropos` finds it by."""
    text, complaints = shown(MAN / name)
    assert complaints == ""
    assert re.search(
        rf"NAME\n +{name.removesuffix('.1')} +- ", text
    )  # as far in as this man has it


def test_a_page_has_what_the_help_has() -> None:
    """Every option as it is typed, each example on a line to be copied, and where the rest is."""
    text, _ = shown(MAN / "svc-refunds.1")
    refund = next(one for one in command_tree().root.walk() if one.name == "refunds create")
    for option in refund.options:
        assert f"     {option.names[0]}" in text
    for example in refund.examples:
        assert re.search(rf"\n +{re.escape(example)}\n", text)
    assert "svc(1)" in text


def test_no_text_of_a_command_is_taken_for_a_request_to_roff(tmp_path: Path) -> None:
    """What begins with a dot, holds a backslash or a quote is shown as it is."""
    odd = {"help": '.so /etc/passwd\\n \'"x" ~ ^ ` --flag', "summary": "Odd.", "name": "odd"}
    empty: dict[str, Any] = {
        "arguments": [],
        "options": [],
        "option_groups": [],
        "examples": [".x"],
    }
    command = {**odd, **empty, "section": "Odd"}
    names = ("own", "request", "list", "preview", "global")
    groups: dict[str, list[Any]] = {name: [] for name in names}
    made = build_script("manual").pages(
        {"commands": [command], "options": groups, "environment": [], "exit_codes": []}
    )
    page = tmp_path / "svc-odd.1"
    page.write_text(made["svc-odd.1"], encoding="utf-8")
    text, complaints = shown(page)
    assert complaints == ""
    assert '.so /etc/passwd\\n \'"x" ~ ^ ` --flag' in text
    assert re.search(r"\n +\.x\n", text)
