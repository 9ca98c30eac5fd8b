"""Makes the tools of `svc mcp` from the tree of commands, and command lines from their arguments.

A tool is a command: its name, its help, its options and arguments as a JSON schema. `serve` chooses
the commands that only read, and those of the operations that a person has allowed.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from svc import service
from svc.completion.tree import Argument, Command, Option, Tree
from svc.errors import UsageError
from svc.service.model import Action

# What an agent can be allowed, such as `refunds.create`.
OPERATIONS: Final[Mapping[str, Action]] = MappingProxyType(
    {
        f"{noun.word}.{action.verb}": action
        for noun in service.nouns()
        for action in noun.actions
        if action.method == "POST"
    }
)
RESUME: Final = "requests resume"
_READING: Final = frozenset(
    {
        *(
            f"{noun.word} {action.verb}"
            for noun in service.nouns()
            for action in noun.actions
            if action.method == "GET"
        ),
        *("get", "timeline", "whoami"),
        *("requests list", "requests show", "events inbox", "events inbox show", "events audit"),
    }
)
# Going beyond a limit is a person's alone. Of no use to a tool: more than fits into an answer,
# forms of CSV, and the address of a log, to which a password would be sent.
_LEFT_OUT: Final = frozenset({"--over-limit", "--all", "--raw-csv", "--decimals", "--from"})
# In these @ is no file: in JMESPath it is the value itself, and a text is searched for as it is.
_WITHOUT_FILES: Final = frozenset({"--query", "--where", "--text"})
_READS_FILE: Final = re.compile(r"; KEY=@FILE [^.]*")  # of a command's help; no tool does
_TYPES: Final = {"flag": "boolean", "text": "string"}  # others have the name that they have here
QUERY: Final = "query"


class AgentTool(NamedTuple):
    """A command that an agent may call.

    Attributes:
        words: the words after `svc`.
        help: what the command does, for the agent.
        options: its options by the names of the tool's arguments.
        arguments: its positional arguments, by their names.
        action: the operation of the service that it carries out; None where it only reads.
    """

    words: tuple[str, ...]
    help: str
    options: Mapping[str, Option]
    arguments: Mapping[str, Argument]
    action: Action | None

    @property
    def name(self) -> str:
        return "_".join(self.words).replace("-", "_")

    @property
    def reads(self) -> bool:
        """Whether the tool changes nothing at the service."""
        return self.action is None and self.words != tuple(RESUME.split())

    def moves_money(self, given: Mapping[str, Any]) -> bool:
        """Whether a call with these arguments is to be confirmed by a person."""
        if self.action is None:
            return not self.reads
        switch = self.action.only_with
        return bool(self.action.money and (not switch or given.get(switch)))

    def schema(self) -> dict[str, Any]:
        """The tool's arguments as a JSON schema."""
        known: dict[str, Option | Argument] = {**self.arguments, **self.options}
        return {
            "type": "object",
            "properties": {name: _schema_of(each) for name, each in known.items()},
            "required": [name for name, each in known.items() if each.required],
            "additionalProperties": False,
        }

    def build_command_line(self, given: Mapping[str, Any]) -> list[str]:
        """Returns the words of the command line with these arguments.

        Raises:
            UsageError: an argument is none of the tool's, is no text, or names a file: a tool
                reads no file of this machine.
        """
        words = [*self.words]
        for name, value in given.items():
            if option := self.options.get(name):
                words += _words_of_option(option, value)
            elif name not in self.arguments:
                raise UsageError(f"The tool {self.name} has no argument {name}.", param=name)
        words.append("--")
        for name in self.arguments:
            words += _texts(name, given[name]) if name in given else ()
        return words


def serve(tree: Tree, allowed: Collection[str]) -> dict[str, AgentTool]:
    """Returns the tools by their names: all that read, and those of the allowed operations."""
    wanted = {*_READING, *(name.replace(".", " ") for name in allowed)}
    if allowed:
        wanted.add(RESUME)
    made = (_make(tree, command) for command in tree.root.walk() if command.name in wanted)
    return {tool.name: tool for tool in made}


def _make(tree: Tree, command: Command) -> AgentTool:
    options = [*command.options]
    if "list" in command.shared:
        options += tree.shared["list"]
    options += (option for option in tree.shared["global"] if option.names[0] == f"--{QUERY}")
    return AgentTool(
        words=command.path,
        help=command.help,
        options={
            option.names[0].removeprefix("--").replace("-", "_"): option
            for option in options
            if option.names[0] not in _LEFT_OUT
        },
        arguments={argument.name: argument for argument in command.arguments},
        action=OPERATIONS.get(".".join(command.path)),
    )


def _schema_of(known: Option | Argument) -> dict[str, Any]:
    kind = _TYPES.get(known.type, known.type) if isinstance(known, Option) else "string"
    schema: dict[str, Any] = {"type": kind}
    if isinstance(known, Option):
        bounds = {"minimum": known.minimum, "maximum": known.maximum}
        schema |= {name: bound for name, bound in bounds.items() if bound is not None}
    if known.repeatable:
        schema = {"type": "array", "items": schema}
    form = f"{known.metavar}: " if known.repeatable and known.metavar else ""
    return {**schema, "description": form + _READS_FILE.sub("", known.help)}


def _words_of_option(option: Option, value: Any) -> Iterator[str]:
    name = option.names[0]
    if option.type == "flag":
        if type(value) is not bool:
            raise UsageError(f"{name} is true or false.", param=name)
        if value:
            yield name
        return
    for text in _texts(name, value):
        yield f"{name}={text}"


def _texts(name: str, value: Any) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, bool) or not isinstance(each, str | int | float):
            raise UsageError(f"{name} is a text or a number.", param=name)
        text = str(each)
        values = (part.partition("=")[2] for part in (text, *text.split(",")))
        parts = () if name in _WITHOUT_FILES else (text, *values)
        if any(part.startswith("@") for part in parts):
            raise UsageError(
                f"{name} names a file (@), and a tool reads no file: give the text itself.",
                param=name,
            )
        yield text
