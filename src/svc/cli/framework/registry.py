"""The words after `svc`, and after `svc events`, as data; `load` makes the command of one word.

A command comes from its module, such as `svc.cli.batch`. A noun of the API such as `orders` has
none: `nouns.noun_app` makes its verbs from its description. `app.Root` prints `svc --help` from
`COMMANDS` and loads the command that was typed; `suggestions` looks for near words in the tables,
`svc commands` and the completions list them.
"""

from collections.abc import Container, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

import typer
from typer.core import TyperCommand

from svc import service
from svc.cli.framework.figures import fill
from svc.service.facts import NOUNS


class Entry(NamedTuple):
    """A word after `svc` or `svc events`: its line in help, and the title that it stands under."""

    summary: str
    section: str


RESOURCES: Final = "Resources"
WEBHOOKS: Final = "Webhooks"
ACCOUNT: Final = "Account"
MORE: Final = "More"

# A noun of the API is a command by its description.
_NOUNS: Final = {
    f"{name}s".replace("_", "-"): it.summary for name, it in NOUNS.items() if it.summary
}
_OF_WEBHOOKS: Final = ("events", "webhook-endpoints")

COMMANDS: Final = {
    **{word: Entry(line, RESOURCES) for word, line in _NOUNS.items() if word not in _OF_WEBHOOKS},
    "get": Entry("Send any GET: an id or a /v1/ path.", RESOURCES),
    "post": Entry("Send any POST to a /v1/ path.", RESOURCES),
    "batch": Entry("Run an operation for every row of a file.", RESOURCES),
    **{word: Entry(_NOUNS[word], WEBHOOKS) for word in _OF_WEBHOOKS},
    "timeline": Entry("Show everything known about an id, in order of time.", ACCOUNT),
    "requests": Entry("List sent requests; settle those of unknown outcome.", ACCOUNT),
    "state": Entry("See what uses disk space on this machine; free it.", ACCOUNT),
    "keys": Entry("Keep API keys in the OS keyring.", ACCOUNT),
    "profiles": Entry("Name accounts and switch between them.", ACCOUNT),
    "config": Entry("Read and change settings.", ACCOUNT),
    "whoami": Entry("Show profile, address, mode and key in use.", ACCOUNT),
    "doctor": Entry("Check this machine and the account, with remedies.", ACCOUNT),
    "sandbox": Entry("Run the whole service on this machine.", MORE),
    "quickstart": Entry("See an order paid and its webhook arrive, in 15 seconds.", MORE),
    "mcp": Entry("Serve commands to an agent as tools (MCP).", MORE),
    "commands": Entry("List every command, for people or as data.", MORE),
    "completion": Entry("Complete commands, options and ids in your shell.", MORE),
    "help": Entry("Read about exit codes, webhooks, assumptions and more.", MORE),
}


class Deprecation(NamedTuple):
    """A deprecated command without `svc`, or one of its options, and its replacement.

    A row is written with its fragment in `.changes` and a word in the option's help; a test holds
    it against the releases, and asks for its removal in time. `since` is the first release that
    warns, `gone` the first that is without it, as `0.2.0`.
    """

    command: str
    option: str | None
    since: str
    gone: str
    instead: str

    @property
    def name(self) -> str:
        """What is typed: the command, with the option."""
        return " ".join(filter(None, ("svc", self.command, self.option)))


DEPRECATIONS: Final[tuple[Deprecation, ...]] = ()


def warn_of_deprecated(
    session: Any, command: str, rows: Sequence[Deprecation] = DEPRECATIONS
) -> None:
    """Warns once on stderr that the typed command is deprecated, if a person reads it."""
    typed = [word.partition("=")[0] for word in session.argv]
    for row in rows:
        if command == f"svc {row.command}" and (row.option is None or row.option in typed):
            out = session.repair_out
            if session.streams.person_watches and not out.quiet:
                out.warn(f"{row.name} is deprecated and gone in {row.gone}. Use {row.instead}")


# Verbs of `svc events` with modules of their own: their imports are heavier than a GET's.
EVENT_VERBS: Final = {
    "listen": Entry("Receive webhooks, verify and forward them.", WEBHOOKS),
    "receive": Entry("Put what the service delivers into a team's log.", WEBHOOKS),
    "log": Entry("Set up a team's log and see how it is.", WEBHOOKS),
    "inbox": Entry("Show what was received.", WEBHOOKS),
    "audit": Entry("List the events that should have come and did not.", WEBHOOKS),
    "replay": Entry("Send received events again, signed anew.", WEBHOOKS),
    "sign": Entry("Print the signature header of a payload.", WEBHOOKS),
    "tail": Entry("See events as they come, without forwarding.", WEBHOOKS),
    "prune": Entry("Forget received events that failed.", WEBHOOKS),
    "verify": Entry("Check one delivery offline.", WEBHOOKS),
    "examine": Entry("Test a webhook handler with good and bad deliveries.", WEBHOOKS),
}

SHORT_NAMES: Final = {"quotes": "landed-cost-quotes"}


def module_of(*words: str) -> str:
    """The module that answers a command: every word is the name of a file or a folder."""
    return ".".join(("svc.cli", *(word.replace("-", "_") for word in words)))


_EXAMPLE: Final = "$ "


def load(*words: str, asked: Container[str] | None = None) -> Any:
    """Imports the module of one command and returns it as a Typer command or group.

    With `asked` only the group's verbs named there can be run; the others have a name and a
    summary alone, because making a verb takes half a millisecond.
    """
    if words[0] == "events" or words[0] not in _NOUNS:
        app = import_module(module_of(*words)).app
    else:
        noun = service.noun(words[0].replace("-", "_").removesuffix("s"))
        app = import_module("svc.cli.framework.nouns").noun_app(noun, asked)
    verbs = app.registered_commands
    if asked is not None and app.registered_callback is not None:
        app.registered_commands = [
            verb if _name(verb) in asked else _list_verb(verb) for verb in verbs
        ]
    try:
        command = typer.main.get_command(app)
    finally:
        app.registered_commands = verbs
    command.name = words[-1]
    return command


def _name(verb: Any) -> str:
    return str(verb.name or verb.callback.__name__.replace("_", "-"))


class _ListedVerb(TyperCommand):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.examples, self.help = split_examples(self.help or "")


def _list_verb(verb: Any) -> Any:
    app = typer.Typer()
    text = verb.help or verb.callback.__doc__
    app.command(_name(verb), help=text, hidden=verb.hidden, cls=_ListedVerb)(lambda: None)
    return app.registered_commands[0]


def split_examples(text: str) -> tuple[list[str], str]:
    """Parts a docstring into its example command lines and the rest, with its figures."""
    lines = fill(text).splitlines()
    examples = [line.strip().removeprefix(_EXAMPLE) for line in lines if _is_example(line)]
    return examples, "\n".join(line for line in lines if not _is_example(line)).strip()


def _is_example(line: str) -> bool:
    return line.strip().startswith(_EXAMPLE)
