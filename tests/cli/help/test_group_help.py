"""What the help of a group says of its verbs."""

import re

import pytest

from support.running import Svc
from svc.cli.framework.registry import COMMANDS

GROUPS = [[name] for name in COMMANDS if name not in ("get", "post", "batch", "whoami")]


@pytest.mark.parametrize("group", [[], *GROUPS, ["events", "inbox"]], ids=" ".join)
def test_no_verb_is_cut_short(svc: Svc, group: list[str]) -> None:
    """On a terminal of 80 columns, every line of a group is a whole sentence."""
    shown = svc(*group, "--help", env={"COLUMNS": "80"})
    assert shown.code == 0
    cut = [line for line in shown.out.splitlines()[1:] if line.endswith("...")]
    assert cut == []


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
    """However wide the terminal is."""
    shown = svc(*argv.split(), "-o", "human", env={"COLUMNS": "200"}).out
    widest = max(len(line) for line in shown.splitlines())
    assert most - 8 < widest <= most


@pytest.mark.parametrize("words", ["", "orders", "events", "profiles", "sandbox keys"])
def test_a_group_alone_shows_its_help(svc: Svc, words: str) -> None:
    """As --help does."""
    assert svc(*words.split()) == svc(*words.split(), "--help")
