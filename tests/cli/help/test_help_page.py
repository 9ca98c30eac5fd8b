"""How `--help` looks, coloured for a person, and what that of a group says of its verbs."""

import re

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


def test_the_sandbox_lists_its_verbs_in_one_order(svc: Svc) -> None:
    """In help and in the tree that completion is made of, whichever module was imported first."""
    helped = svc("sandbox", "--help", env={"COLUMNS": "200"}).out.partition("Options:\n")[0]
    shown = re.findall(r"^  ([a-z]+)  ", helped, re.MULTILINE)
    told = [one["name"].split() for one in svc.ok("commands", "-o", "json")["commands"]]
    sandbox = [words[-2] if len(words) > 2 else words[-1] for words in told if "sandbox" in words]
    assert shown[:2] == ["start", "stop"]
    assert list(dict.fromkeys(sandbox))[1:] == shown


def test_the_verbs_of_the_sandbox_stand_in_groups(svc: Svc) -> None:
    """As the words of svc itself do: what is of the shopper, of the bank, of the clock."""
    for columns in ("80", "40"):
        shown = svc("sandbox", "--help", env={"COLUMNS": columns}).out
        titles = re.findall(r"^(\S.*):$", shown, re.MULTILINE)
        assert titles[:3] == ["The sandbox itself", "The shopper", "The bank"]
        assert "Commands" not in titles
    fault = svc("sandbox", "fault", "add", "--help").out
    assert fault.count("\n  svc sandbox fault add ") == 4


def test_help_of_a_group_says_its_short_name(svc: Svc) -> None:
    """Its examples use it, so a reader must know that both are the same command."""
    shown = svc("landed-cost-quotes", "--help").out
    assert "Its short name is quotes." in shown
    assert "svc quotes create" in shown
    assert "short name" not in svc("orders", "--help").out


def test_a_group_has_two_of_its_verbs_examples(svc: Svc) -> None:
    """Where it has none of its own."""
    _, _, below = svc("orders", "--help").out.partition("\nExamples:\n")
    examples, _, last = below.partition("\n\n")
    assert [line.split()[:3] for line in examples.splitlines()] == [
        ["svc", "orders", "create"],
        ["svc", "orders", "retrieve"],
    ]
    assert last == "For one of them: svc orders COMMAND --help\n"


@pytest.mark.parametrize(
    ("argv", "most"),
    [
        ("help webhooks", 80),
        ("help assumptions", 80),
        ("orders list --help", 100),
        ("commands", 100),
    ],
)
def test_no_page_is_wider_than_the_eye_follows(svc: Svc, argv: str, most: int) -> None:
    shown = svc(*argv.split(), "-o", "human", env={"COLUMNS": "200"}).out
    widest = max(len(line) for line in shown.splitlines())
    assert most - 8 < widest <= most


@pytest.mark.parametrize("words", ["", "orders", "events", "profiles", "sandbox keys"])
def test_a_group_alone_shows_its_help(svc: Svc, words: str) -> None:
    assert svc(*words.split()) == svc(*words.split(), "--help")
