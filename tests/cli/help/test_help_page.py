"""How `--help` looks: coloured for a person, whole at every width, examples fit to be copied."""

import shlex
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Literal

import pytest
import typer

from support.on_terminal import OnTerminal
from support.running import Svc
from svc.cli.framework.app import app
from svc.cli.framework.help_page import HelpPage, fold, format_facts, read_taken
from svc.cli.framework.registry import COMMANDS, EVENT_VERBS, load

pytestmark = pytest.mark.smoke

root = typer.main.get_command(app)
HEADING = "\x1b[1;32m"
LONG = "svc orders create --amount 12900 --item 'name=Linen jacket,quantity=1' --country DE -o id"


@pytest.mark.parametrize("argv", [["--help"], ["orders", "--help"], ["orders", "create", "-h"]])
def test_headings_are_coloured_on_a_terminal(on_terminal: OnTerminal, argv: list[str]) -> None:
    """R75: in the root's help, a resource's and a command's."""
    shown = on_terminal(*argv)
    assert f"{HEADING}Usage:\x1b[0m svc" in shown
    assert f"{HEADING}Options:\x1b[0m" in shown


@pytest.mark.parametrize(
    ("argv", "env"),
    [
        ([], {"NO_COLOR": "1"}),
        ([], {"TERM": "dumb"}),
        (["--color", "never"], {}),
        (["--color=never"], {}),
    ],
)
def test_help_is_plain_where_colour_is_not_wanted(
    on_terminal: OnTerminal, argv: list[str], env: Any
) -> None:
    """R75: also where --color stands behind --help, which the parser does not reach."""
    assert "\x1b" not in on_terminal("orders", "--help", *argv, **env)


def test_help_in_a_pipe_is_plain_unless_colour_is_asked_for(svc: Svc) -> None:
    """As for everything else that is printed."""
    assert "\x1b" not in svc("orders", "--help").out
    assert HEADING in svc("orders", "--help", "--color", "always").out


def test_the_setting_color_is_followed(on_terminal: OnTerminal, svc: Svc) -> None:
    """`svc config set color` decides where no option does, for results as for help."""
    assert HEADING in on_terminal("orders", "--help")
    assert svc("config", "set", "color", "never").code == 0
    assert "\x1b" not in on_terminal("orders", "--help")
    assert "\x1b" not in on_terminal("profiles", "list")
    assert HEADING in on_terminal("orders", "--help", "--color", "always")


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_its_width(name: str, width: int) -> None:
    """No line is wider, no word is broken and no summary cut; examples are to be copied."""
    for path, command in commands_of(name):
        top = typer.Context(root, info_name="svc")
        context = typer.Context(command, info_name=path, parent=top, terminal_width=width)
        lines = command.get_help(context).partition("\nExample")[0].splitlines()
        assert [line for line in lines if len(line) > width] == [], path
        summaries = "\n".join(lines).partition("Commands:")[2].partition("Options:")[0]
        assert "..." not in summaries, path


@pytest.mark.parametrize("name", COMMANDS)
def test_options_of_a_command_stand_before_those_that_many_share(name: str) -> None:
    """Also where the command has none of its own but --help."""
    for path, command in commands_of(name):
        top = typer.Context(root, info_name="svc")
        shown = command.get_help(typer.Context(command, info_name=path, parent=top))
        before, _, _ = shown.partition("\nOptions:\n")
        assert "\nInstead of sending:" not in before, path
        assert "\nRequest options:" not in before, path


def commands_of(name: str) -> Iterator[tuple[str, Any]]:
    """A command and those below it, as they are loaded to run."""
    command = load(name)
    yield name, command
    for verb in getattr(command, "commands", {}):
        real = load("events", verb) if name == "events" and verb in EVENT_VERBS else None
        yield f"{name} {verb}", real or command.commands[verb]


def test_meanings_stand_below_long_names_on_a_narrow_page() -> None:
    """Where a column of them would be a few letters wide."""
    page = HelpPage(40)
    with page.section("Options"):
        page.write_dl([("--settlement-currency CODE", "What you are settled in.")])
    assert page.getvalue() == (
        "Options:\n  --settlement-currency CODE\n      What you are settled in.\n"
    )


def test_limits_are_said_in_words() -> None:
    """And an end that is only the machine's is left out."""
    made = typer.Typer()

    @made.command()
    def many(
        at_once: int = typer.Option(8, min=1, max=256),
        whole: int = typer.Option(None, min=0, max=9223372036854775807),
        part: float = typer.Option(8.0, min=0.1),
        none: int = typer.Option(0),
    ) -> None:
        raise NotImplementedError(at_once, whole, part, none)

    params = {each.name: each for each in typer.main.get_command(made).params}
    said = {name: format_facts(each, is_required=False) for name, each in params.items()}
    assert said["at_once"] == " (default: 8; 1 to 256)"
    assert said["whole"] == " (at least 0)"
    assert said["part"] == " (default: 8; at least 0.1)"
    assert said["none"] == " (default: 0)"
    assert format_facts(params["whole"], is_required=True) == " (at least 0; required)"


@pytest.mark.parametrize(
    ("written", "taken"),
    [
        (int | None, ("int", 1, 64, ())),
        (list[float], ("float", 1, 64, ())),
        (str | None, ("text", 1, 64, ())),
        (Literal["a", "b"] | None, ("text", 1, 64, ("a", "b"))),
    ],
)
def test_what_a_later_typer_says_of_a_parameter_is_read(written: object, taken: object) -> None:
    """By its annotation, and with limits of its own."""
    of = SimpleNamespace(annotation=written)
    assert read_taken(SimpleNamespace(type_descriptor=of, min=1, max=64)) == taken


@pytest.mark.parametrize("width", [20, 40, 78, 200])
def test_a_folded_example_is_the_same_command(width: int) -> None:
    """A shell reads the lines as the one that they were; an option stays with its value."""
    lines = fold(LONG, width)
    assert shlex.split(" ".join(line.removesuffix("\\") for line in lines)) == shlex.split(LONG)
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert not any(line.endswith(("--amount \\", "-o \\")) for line in lines)


def test_an_example_in_a_pipe_is_one_line(on_terminal: OnTerminal, svc: Svc) -> None:
    """Programs read it there; a person's terminal gets lines that fit."""
    shown = svc("orders", "create", "--help").out
    assert shown.splitlines()[-1].startswith("  svc orders create --amount")
    folds = on_terminal("orders", "create", "--help").partition("Example")[2].splitlines()
    assert len(folds) > 2
    assert max(map(len, folds)) <= 80


def test_a_command_names_both_modes_among_the_global_options(svc: Svc) -> None:
    """Whoever looks for the way back to test mode finds it beside the way out of it."""
    shared = svc("orders", "list", "--help").out.partition("Global options")[2]
    assert {"--live", "--test", "--output"} <= set(shared.split())


def test_a_long_name_goes_on_set_in(svc: Svc) -> None:
    """At 40 columns its second line stands between the names and their meanings."""
    shown = svc("help", "limits", env={"COLUMNS": "40"}).out.splitlines()
    at = shown.index("  svc orders list --all, 1,000,000")
    assert shown[at + 1] == "    orders"
    assert shown[at + 2].startswith("      24 MB")
