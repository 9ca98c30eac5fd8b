"""The command tree as values: what `svc commands` prints and the shell scripts are made of."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

OptionGroup: TypeAlias = Literal["own", "request", "list", "preview", "global"]
Type: TypeAlias = Literal["flag", "text", "integer", "number"]


@dataclass(frozen=True, slots=True)
class Values:
    """What can stand for a value, as far as it can be told in advance.

    Attributes:
        name: of the words in the shell scripts; the same words have the same name everywhere.
        words: each with what it means, or with an empty text.
        closed: the program itself refuses every other word. Else the service judges.
        ids: the kinds of objects, by the prefixes of their ids.
        files: a path.
        profiles: the name of a profile.
    """

    name: str = ""
    words: tuple[tuple[str, str], ...] = ()
    closed: bool = False
    ids: tuple[str, ...] = ()
    files: bool = False
    profiles: bool = False

    @property
    def more(self) -> bool:
        """Whether something follows a word at once, as the value of `KEY=`."""
        return any(word.endswith(("=", ":")) for word, _ in self.words)

    def __bool__(self) -> bool:
        return bool(self.words or self.ids or self.files or self.profiles)


ANYTHING = Values()


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Attributes:
        negatives: the names that say no.
        value_optional: it may stand without its value.
        environment: the variable that stands in for it.
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
        moves_money: asked about in live mode (promise R19).
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
        """This command, then all below it, each before its own."""
        yield self
        for command in self.commands:
            yield from command.walk()


@dataclass(frozen=True, slots=True)
class Tree:
    """The whole program: its commands under a root without words, and the shared options.

    A shared option whose values are others for one command stands among its own as well.
    """

    root: Command
    shared: dict[OptionGroup, tuple[Option, ...]]

    def options_of(self, command: Command) -> Iterator[Option]:
        """Every option that a command takes, its own first."""
        yield from command.options
        known = {option.names for option in command.options}
        for group in command.shared:
            yield from (option for option in self.shared[group] if option.names not in known)
