"""Flattens the command tree to rows, from which `shells` writes every completion script.

The kind of a value is encoded in a few letters: `-` a flag without a value, `t` any text, `f` a
path, `p` a profile, `w.NAME` a word of the set of that name, `i.ord_|pay_` the id of an object that
was shown lately. Several kinds are joined by commas. A leading `+` means repeatable, a leading `%`
that the value is optional.

`cli.commands.tree` calls `tables` when it writes the committed scripts anew, after a change of
commands or options.
"""

import re
from dataclasses import dataclass
from typing import Final

from svc.completion.tree import Command, Option, OptionGroup, Tree, Values

# Not that of an ellipsis.
_FULL_STOP: Final = re.compile(r"(?<=[^.][.]) ")

Words = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Spec:
    """A name that begins with a dash, the kind of its value, and its help in a line."""

    name: str
    kind: str
    help: str


@dataclass(frozen=True, slots=True)
class CommandRow:
    """The commands, options and kinds of arguments that can follow one command.

    Attributes:
        path: the words of the command after `svc`.
        commands: pairs of a subcommand and its summary.
        shared: the groups of options that the command takes beside its own.
    """

    path: str
    commands: Words
    options: tuple[Spec, ...]
    arguments: tuple[str, ...]
    shared: tuple[OptionGroup, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """The content of a completion script.

    Attributes:
        shared: the options of each group that commands share.
        words: the sets of words by name, each word with its meaning.
        long_names: the command for each short name.
    """

    rows: tuple[CommandRow, ...]
    shared: dict[OptionGroup, tuple[Spec, ...]]
    words: dict[str, Words]
    long_names: dict[str, str]


def tables(tree: Tree) -> Tables:
    """Flattens the tree; raises ValueError: two different sets of words have the same name."""
    commands = tuple(tree.root.walk())
    shared = {group: _specs(options) for group, options in tree.shared.items()}
    long_names = {word: command.name for command in commands for word in command.short}
    return Tables(tuple(map(_row, commands)), shared, _words(tree, commands), long_names)


def _row(command: Command) -> CommandRow:
    children = [(child.path[-1], child.summary) for child in command.commands]
    for child in command.commands:
        children += [(word, f"Short for {child.name}.") for word in child.short]
    return CommandRow(
        path=command.name,
        commands=tuple(children),
        options=_specs(command.options),
        arguments=tuple(
            ("+" if argument.repeatable else "") + kind_of(argument.values)
            for argument in command.arguments
        ),
        shared=command.shared,
    )


def _specs(options: tuple[Option, ...]) -> tuple[Spec, ...]:
    return tuple(
        Spec(name, _kind(option), _FULL_STOP.split(option.help)[0])
        for option in options
        for name in (*option.names, *option.negatives)
    )


def _kind(option: Option) -> str:
    if not option.takes_value:
        return "-"
    mark = "%" if option.value_optional else "+" if option.repeatable else ""
    return mark + kind_of(option.values)


def kind_of(values: Values) -> str:
    """Encodes what values are possible in the letters of a kind."""
    kinds = (
        f"w.{values.name}" if values.words else "",
        f"i.{'|'.join(values.ids)}" if values.ids else "",
        "f" if values.files else "",
        "p" if values.profiles else "",
    )
    return ",".join(kind for kind in kinds if kind) or "t"


def _words(tree: Tree, commands: tuple[Command, ...]) -> dict[str, Words]:
    found: dict[str, Words] = {}
    every = [option.values for command in commands for option in tree.options_of(command)]
    every += [argument.values for command in commands for argument in command.arguments]
    for values in every:
        if values.words and found.setdefault(values.name, values.words) != values.words:
            message = f"two sets of words are called {values.name}"
            raise ValueError(message)
    return found
