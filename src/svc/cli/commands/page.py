"""The command tree for people: every command that does something, with its line."""

from svc.cli.help.page import Heading, Page, Rows
from svc.completion.tree import Command, Tree


def text(tree: Tree, width: int, *, color: bool) -> str:
    """A page of all commands in the sections of `svc --help`, at most `width` columns wide."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for command in tree.root.walk():
        if command.path and _does_something(command):
            sections.setdefault(command.section, []).append((command.name, _line(command)))
    parts = [
        part for title, rows in sections.items() for part in (Heading(title), Rows(tuple(rows)))
    ]
    end = "svc COMMAND --help explains one; -o json has everything, also the options."
    return Page("Every command of svc", (*parts, end)).text(width, color=color)


def _does_something(command: Command) -> bool:
    """Whether it is more than the name of a group; one with options of its own is."""
    return not command.commands or bool(command.options)


def _line(command: Command) -> str:
    return command.summary + (" (Moves money.)" if command.moves_money else "")
