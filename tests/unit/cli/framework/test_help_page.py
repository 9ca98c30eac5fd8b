"""How a help page is laid out: whole at every width, with what a parameter takes, and figures."""

import re
import shlex
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Literal

import pytest
import typer

from svc.cli.framework.app import app
from svc.cli.framework.figures import FIGURES, figure, fill
from svc.cli.framework.help_page import HelpPage, fold, format_facts, read_taken
from svc.cli.framework.registry import COMMANDS, EVENT_VERBS, load

pytestmark = pytest.mark.smoke

root = typer.main.get_command(app)
LONG = "svc orders create --amount 12900 --item 'name=Linen jacket,quantity=1' --country DE -o id"


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_its_width(name: str, width: int) -> None:
    """No line is wider, no word is broken and no summary cut; examples are to be copied."""
    for path, command in commands_of(name) if name else [("", root)]:
        top = typer.Context(root, info_name="svc") if name else None
        context = typer.Context(command, info_name=path, parent=top, terminal_width=width)
        lines = command.get_help(context).partition("\nExample")[0].splitlines()
        assert [line for line in lines if len(line) > width] == [], path
        summaries = "\n".join(lines).partition("Commands:")[2].partition("Options:")[0]
        assert "..." not in summaries, path
        assert [line for line in lines if re.match(r"  [a-z].*\.\.\.$", line)] == []


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


# In the unit of its name: the specification's hours, days and ports, and our own.
SAID = """
page_objects 25, event_types 18, amount_max 999999999999, service_hours 24, key_hours 23
retry_hours 72, done_hours 12, signature_minutes 5, recent_minutes 10, late_minutes 4
webhook_seconds 10, run_seconds 60, request_days 90, duplicate_days 7, forwarded_days 30
key_days 90, warn_days 14, sandbox_port 4242, remote_port 4243, inspector_port 4244
"""


def test_each_figure_is_what_the_documents_say() -> None:
    """And none but a figure is filled in."""
    said = SAID.replace(",", "").split()
    assert {name: figure(name) for name in FIGURES} == dict(zip(said[::2], said[1::2], strict=True))
    assert fill("{key_hours} of {service_hours} h, {other}") == "23 of 24 h, {other}"
