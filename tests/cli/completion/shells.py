"""Starts bash, zsh and fish with the completions of the project and a home that knows some ids."""

import shutil
from pathlib import Path

import pytest

from cli.completion.terminal import SCRIPTS, ShellTerminal

SHELLS = ("bash", "zsh", "fish")

ORDER, OTHER_ORDER = "ord_3kPq0aVb7cXd9eYf1gZh2iWj", "ord_Zh2iWj3kPq0aVb7cXd9eYf1g"
PAYMENT = "pay_7cXd9eYf1gZh2iWj3kPq0aVb"
RECENT = (
    "# https://api.example.com\n"
    f"{ORDER}\torder\t157.08 EUR paid\n"
    f"{PAYMENT}\tpayment\t157.08 EUR captured\n"
    f"{OTHER_ORDER}\torder\t\n"
)
CONFIG = """active_profile = "shop"

[profiles.shop]
base_url = "https://api.example.com"

[profiles.other]
base_url = "https://other.example.com"
"""


def program(shell: str) -> str:
    """The shell's own path; the test is skipped where it is not installed."""
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    return found


def furnish(home: Path) -> None:
    """Lays out a home: settings, ids seen lately in two modes, and a file."""
    for name, text in (
        (".config/svc/config.toml", CONFIG),
        (".cache/svc/recent/shop.test.tsv", RECENT),
        (".cache/svc/recent/shop.live.tsv", "# x\nord_Live1\torder\t1.00 EUR paid\n"),
        (".cache/svc/recent/other.test.tsv", "# x\nord_Other1\torder\t2.00 EUR paid\n"),
        (".cache/svc/recent/shop.test@http___127.0.0.1_4242.tsv", "# x\nord_Here1\torder\t\n"),
        ("refunds.csv", "payment\n"),
    ):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def start(shell: str, home: Path) -> ShellTerminal:
    """An interactive shell with the completions of the project, ready to be typed into."""
    argv = [program(shell), *_ARGUMENTS[shell]]
    furnish(home)
    if shell == "zsh":
        (home / "functions").mkdir()
        shutil.copy(SCRIPTS / "_svc", home / "functions" / "_svc")
        (home / ".zshrc").write_text(
            "fpath=(~/functions $fpath); autoload -Uz compinit; compinit -u -D\n"
        )
    if shell == "fish":
        (home / ".config/fish/completions").mkdir(parents=True)
        shutil.copy(SCRIPTS / "svc.fish", home / ".config/fish/completions/svc.fish")
    terminal = ShellTerminal(argv, home)
    if shell == "bash":
        terminal.type(f"source {SCRIPTS / 'svc.bash'}; bind 'set enable-bracketed-paste off'\n")
    terminal.type("svc ready\n")
    terminal.wait_for("ARGS<ready|>")
    return terminal


_ARGUMENTS = {
    "bash": ("--norc", "--noprofile", "-i"),
    "zsh": ("--no-globalrcs", "-i"),
    "fish": ("--features=qmark-noglob", "-i"),  # as fish 4 has it without being told
}
