"""`svc commands`: lists every command, for people or as data for other programs.

It prints the `Tree` that `tree` reads from the parsers; the manual pages are made of its JSON.
"""

from dataclasses import fields
from typing import Any

from svc import __version__
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.help_page import write_rows
from svc.cli.framework.session import Session
from svc.cli.help.page import Page, page_of, read_rows
from svc.completion.tree import Argument, Command, Option, Tree
from svc.errors import ExitCode

app = make_app()

_WIDTH_MAX = 100


@verb(app)
def commands(session: Session) -> None:
    """List every command; as JSON with all that help and the parser know of it.

    That is arguments, options with types, defaults and values, which commands move money,
    examples, variables and exit codes.

    $ svc commands
    $ svc commands -o json --query 'commands[?moves_money].name'
    """
    out = session.out
    from svc.cli.commands.tree import tree

    found = tree()
    if session.format == "human" and session.given.everywhere.query is None:
        page = text(found, min(session.help_width(), _WIDTH_MAX), color=session.help_color())
        session.stdout.write(page)
    elif session.format in ("ndjson", "csv"):
        out.value(document(found)["commands"])
    else:
        out.value(document(found))


def document(tree: Tree) -> dict[str, Any]:
    """Everything that `svc commands -o json` prints."""
    return {
        "object": "commands",
        "program": "svc",
        "version": __version__,
        "commands": [_command(command) for command in tree.root.walk() if command.path],
        "options": {
            "own": [_parameter(option) for option in tree.root.options],
            **{
                group: [_parameter(option) for option in options]
                for group, options in tree.shared.items()
            },
        },
        "environment": [
            {"name": name, "meaning": meaning} for name, meaning in _first_table("environment")
        ],
        "exit_codes": [
            {"code": int(code), "name": ExitCode(int(code)).name.lower(), "meaning": meaning}
            for code, meaning in _first_table("exit-codes")
        ],
    }


def _first_table(topic: str) -> list[tuple[str, str]]:
    return next(filter(None, map(read_rows, page_of(topic).parts)))


def _command(command: Command) -> dict[str, Any]:
    rest = command.path[1:]
    return {
        "object": "command",
        "name": command.name,
        "short_names": [" ".join((word, *rest)) for word in command.short],
        "section": command.section,
        "summary": command.summary,
        "help": command.help,
        "moves_money": command.moves_money,
        "arguments": [_parameter(argument) for argument in command.arguments],
        "options": [_parameter(option) for option in command.options],
        "option_groups": list(command.shared),
        "commands": [child.name for child in command.commands],
        "examples": list(command.examples),
    }


def _parameter(known: Argument | Option) -> dict[str, Any]:
    facts = {field.name: getattr(known, field.name) for field in fields(known)}
    values = facts.pop("values")
    shown = {name: list(it) if isinstance(it, tuple) else it for name, it in facts.items()}
    return {
        **shown,
        "values": [word for word, _ in values.words] or None,
        "closed": values.closed,
        "id_prefixes": list(values.ids),
        "is_path": values.files,
    }


def text(tree: Tree, width: int, *, color: bool) -> str:
    """A page of all commands in the sections of `svc --help`, at most `width` columns wide."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for command in tree.root.walk():
        if command.path and (command.options or not command.commands):
            sections.setdefault(command.section, []).append(
                (command.name, command.summary + (" (Moves money.)" if command.moves_money else ""))
            )
    parts = [part for title, rows in sections.items() for part in (f"== {title}", write_rows(rows))]
    end = "svc COMMAND --help explains one; -o json has everything, also the options."
    return Page("Every command of svc", (*parts, end)).text(width, color=color)
