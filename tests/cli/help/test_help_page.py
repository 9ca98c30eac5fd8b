"""How `--help` looks: coloured for a person, whole at every width, examples fit to be copied."""

import pytest

from support.on_terminal import OnTerminal
from support.running import Svc

pytestmark = pytest.mark.smoke

HEADING = "\x1b[1;32m"


@pytest.mark.parametrize("argv", [["--help"], ["orders", "--help"], ["orders", "create", "-h"]])
def test_headings_are_coloured_on_a_terminal(on_terminal: OnTerminal, argv: list[str]) -> None:
    """R75: in the root's help, a resource's and a command's."""
    shown = on_terminal(*argv)
    assert f"{HEADING}Usage:\x1b[0m svc" in shown
    assert f"{HEADING}Options:\x1b[0m" in shown


def test_the_setting_color_is_followed(on_terminal: OnTerminal, svc: Svc) -> None:
    """`svc config set color` decides where no option does, for results as for help."""
    assert HEADING in on_terminal("orders", "--help")
    assert svc("config", "set", "color", "never").code == 0
    assert "\x1b" not in on_terminal("orders", "--help")
    assert "\x1b" not in on_terminal("profiles", "list")
    assert HEADING in on_terminal("orders", "--help", "--color", "always")


def test_an_example_in_a_pipe_is_one_line(on_terminal: OnTerminal, svc: Svc) -> None:
    """Programs read it there; a person's terminal gets lines that fit."""
    shown = svc("orders", "create", "--help").out
    assert shown.splitlines()[-1].startswith("  svc orders create --amount")
    folds = on_terminal("orders", "create", "--help").partition("Example")[2].splitlines()
    assert len(folds) > 2
    assert max(map(len, folds)) <= 80


def test_a_long_name_goes_on_set_in(svc: Svc) -> None:
    """At 40 columns its second line stands between the names and their meanings."""
    shown = svc("help", "limits", env={"COLUMNS": "40"}).out.splitlines()
    at = shown.index("  svc orders list --all, 1,000,000")
    assert shown[at + 1] == "    orders"
    assert shown[at + 2].startswith("      24 MB")
