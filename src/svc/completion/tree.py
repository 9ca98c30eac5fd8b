"""Types for the command tree as data: commands, options, arguments and their values.

`cli.commands.tree` fills a `Tree` from the real parsers; `svc commands` prints it, and
`.build/completions.py` makes the completion scripts of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

OptionGroup: TypeAlias = Literal["own", "request", "list", "preview", "global"]
Type: TypeAlias = Literal["flag", "text", "integer", "number"]


@dataclass(frozen=True, slots=True)
class Values:
    """The values that an option or argument can have, as far as they are known in advance.

    Attributes:
        name: the name of the set of words in the shell scripts; equal sets have one name.
        words: pairs of a word and its meaning, which may be empty.
        closed: whether svc refuses every other word; else the service decides.
        ids: the id prefixes of the kinds of objects that are possible.
        files: whether the value is a path.
        profiles: whether the value is the name of a profile.
    """

    name: str = ""
    words: tuple[tuple[str, str], ...] = ()
    closed: bool = False
    ids: tuple[str, ...] = ()
    files: bool = False
    profiles: bool = False

    @property
    def more(self) -> bool:
        """Whether text follows a word without a blank, as the value after `KEY=`."""
        return any(word.endswith(("=", ":")) for word, _ in self.words)

    def __bool__(self) -> bool:
        return bool(self.words or self.ids or self.files or self.profiles)


ANYTHING = Values()


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Attributes:
        negatives: the names that turn it off.
        value_optional: whether it may be given without a value.
        environment: the variable that is used if the option is not given.
    """

    names: tuple[str, ...]
    negatives: tuple[str, ...]
    group: OptionGroup
    type: Type
    metavar: str | None
    help: str
    default: object
    required: bool
    repeatable: bool
    value_optional: bool
    minimum: float | None
    maximum: float | None
    environment: str | None
    values: Values

    @property
    def takes_value(self) -> bool:
        return self.type != "flag"


@dataclass(frozen=True, slots=True)
class Argument:
    """One positional argument; a repeatable one is the last."""

    name: str
    metavar: str
    help: str
    required: bool
    repeatable: bool
    values: Values


@dataclass(frozen=True, slots=True)
class Command:
    """One command or group of commands.

    Attributes:
        path: its words after `svc`.
        short: other names of its first word.
        shared: the groups of options that it takes beside its own.
        moves_money: whether svc asks for confirmation in live mode (promise R19).
    """

    path: tuple[str, ...]
    short: tuple[str, ...]
    section: str
    summary: str
    help: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    shared: tuple[OptionGroup, ...] = ()
    moves_money: bool = False
    examples: tuple[str, ...] = ()
    commands: "tuple[Command, ...]" = ()

    @property
    def name(self) -> str:
        return " ".join(self.path)

    def walk(self) -> "Iterator[Command]":
        """Yields this command and all commands below it, each before its subcommands."""
        yield self
        for command in self.commands:
            yield from command.walk()


@dataclass(frozen=True, slots=True)
class Tree:
    """The whole program: its commands below a root without words, and the shared options.

    If a shared option has other values for one command, that command has it among its own options.
    """

    root: Command
    shared: dict[OptionGroup, tuple[Option, ...]]

    def options_of(self, command: Command) -> Iterator[Option]:
        """Every option that a command takes, its own first."""
        yield from command.options
        known = {option.names for option in command.options}
        for group in command.shared:
            yield from (option for option in self.shared[group] if option.names not in known)
