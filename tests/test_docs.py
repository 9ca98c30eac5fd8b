"""The README shows what the program does: each shown screen is run and compared."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from svc.cli.registry import COMMANDS, EVENT_VERBS, load, load_event_verb

ROOT = Path(__file__).parent.parent
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
    script = "".join(f"cat <<'END'\n$ {line}\nEND\n{line}\n" for line in commands)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "SVC_OUTPUT": "human", "COLUMNS": "80", "TZ": "UTC"}
    done = subprocess.run(
        ["bash", "-c", script],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout


@pytest.mark.parametrize("name", ["quickstart", "error"])
def test_readme_screen_is_what_the_program_prints(name: str) -> None:
    """A shown screen that no longer comes out as shown is a mistake in one of the two."""
    assert normalised(replayed(shown(name))) == normalised(shown(name))


def verbs() -> list[tuple[str, object]]:
    """Every command of the tree with its whole name."""
    found: list[tuple[str, object]] = []

    def walk(name: str, command: object) -> None:
        inner = getattr(command, "commands", None)
        if not inner:
            found.append((name, command))
            return
        for word, child in inner.items():
            known = load_event_verb(word) if name == "events" and word in EVENT_VERBS else child
            walk(f"{name} {word}", known)

    for noun in COMMANDS:
        walk(noun, load(noun))
    return found


@pytest.mark.parametrize(("name", "command"), verbs(), ids=lambda value: str(value)[:40])
def test_every_command_has_a_purpose_and_an_example(name: str, command: object) -> None:
    """`--help` says in one line what it is for and shows an example that begins with it."""
    help_text = getattr(command, "help", "") or ""
    examples = getattr(command, "examples", [])
    assert help_text.strip(), name
    assert "\n" not in help_text.strip().split("\n\n")[0] or len(help_text.split("\n")[0]) < 100
    short = name.replace("landed-cost-quotes", "quotes")
    assert any(
        line.startswith((f"svc {name}", f"svc {short}")) or f" svc {name}" in line
        for line in examples
    ), name
