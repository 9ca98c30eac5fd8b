"""A topic of `svc help` that is longer than the screen."""

from pathlib import Path

import pytest

from support.on_terminal import OnTerminal, OpenTerminal

PAGER = """#!/bin/sh
echo "[$1 of $LESS]"
env | grep -c -e sk_test_ -e whsec_
cat
echo "[end]"
"""


@pytest.fixture
def pager(tmp_path: Path) -> str:
    """A program that says that it was used, what it was told and what it could see."""
    program = tmp_path / "pager"
    program.write_text(PAGER)
    program.chmod(0o755)
    return f"{program} --quietly"


KEY = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"


def test_a_long_topic_goes_through_the_pager(on_terminal: OnTerminal, pager: str) -> None:
    """With its options, whole, and without what is secret (promise R43)."""
    shown = on_terminal(
        *("help", "faults"),
        PAGER=pager,
        LINES="10",
        LESS="S",
        SVC_API_KEY=KEY,
        SVC_WEBHOOK_SECRET="whsec_abc",
    )
    assert shown.startswith("[--quietly of S]\n0\n")
    assert shown.endswith("[end]\n")
    whole = on_terminal("help", "faults", PAGER="", LINES="10")
    assert whole in shown
    assert "[FRX" not in whole


def test_ctrl_c_is_the_pager_s(open_terminal: OpenTerminal, tmp_path: Path) -> None:
    """It gives the terminal back; svc ends when it has, and has nothing to complain of."""
    program = tmp_path / "pager"
    program.write_text("#!/bin/sh\ntrap 'echo given back; exit 0' INT\necho on\nsleep 30 & wait\n")
    program.chmod(0o755)
    with open_terminal("help", "faults", PAGER=str(program), LINES="10") as terminal:
        terminal.read_until("on\n")
        terminal.press_ctrl_c()
        assert terminal.end() == 0
    assert "given back" in terminal.seen
    assert "Error" not in terminal.seen
