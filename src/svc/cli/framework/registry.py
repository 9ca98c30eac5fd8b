"""The top of the command tree as data, and Typer's command for words of it.

So help needs no import, and a command only its own.
"""

from collections.abc import Callable, Container, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

import typer
from typer.core import TyperCommand

from svc.cli.framework.figures import fill
from svc.errors import UsageError
from svc.service.facts import ID_PREFIXES, NOUNS


class Entry(NamedTuple):
    """One word after `svc`: its line in `svc --help`, and under which title."""

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
    "timeline": Entry("Tell all that is known about an id, in the order of time.", ACCOUNT),
    "requests": Entry("See what was sent; settle what has no known outcome.", ACCOUNT),
    "state": Entry("See what takes room on this machine, and give it back.", ACCOUNT),
    "keys": Entry("Keep API keys in the OS keyring.", ACCOUNT),
    "profiles": Entry("Name accounts and switch between them.", ACCOUNT),
    "config": Entry("Read and change settings.", ACCOUNT),
    "whoami": Entry("Show profile, origin, mode and key in use.", ACCOUNT),
    "doctor": Entry("Check this machine and the account, with remedies.", ACCOUNT),
    "sandbox": Entry("Run the whole service on this machine.", MORE),
    "quickstart": Entry("See an order paid and its webhook arrive, in 15 seconds.", MORE),
    "commands": Entry("List every command, for people or as data.", MORE),
    "completion": Entry("Complete commands, options and ids in your shell.", MORE),
    "help": Entry("Read about exit codes, webhooks, assumptions and more.", MORE),
}


class Deprecation(NamedTuple):
    """A command without `svc`, or one of its options, and what is typed in its place.

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
}

SHORT_NAMES: Final = {"quotes": "landed-cost-quotes"}
_LISTED: Final = ("orders", "payments", "refunds", "payouts", "disputes")


# What people type who come from other tools, or who leave out the resource; behind an option at the
# end belongs the id.
OTHER_TOOLS_WORDS: Final = {
    "auth": "keys",
    "batch list": "requests list",
    "capture": "orders capture",
    "config list": "config get",
    "disputes answer": "disputes update",
    "disputes submit": "disputes update",
    "events resend": "events replay",
    "events retry": "events replay",
    "events trigger": "sandbox trigger",
    "find": "timeline",
    "history": "timeline",
    "inbox": "events inbox",
    "listen": "events listen",
    "login": "keys add",
    "logout": "keys remove",
    "logs": "sandbox requests",
    "orders history": "timeline",
    "orders pay": "sandbox pay",
    "orders refund": "payments list --order",
    "payments cancel": "orders cancel",
    "payments capture": "orders capture",
    "payments refund": "refunds create --payment",
    "open": "sandbox checkout",
    "pay": "sandbox pay",
    "profiles show": "profiles list",
    "refund": "refunds create --payment",
    "replay": "events replay",
    "start": "sandbox start",
    "status": "whoami",
    "stop": "sandbox stop",
    "trigger": "sandbox trigger",
    "verify": "events verify",
}

_BUG: Final = "What to attach to a report of a bug: svc doctor --report"
# What is no command: how to do it all the same.
OTHERWISE: Final = {
    **dict.fromkeys(("bug", "report", "help bug", "help report"), _BUG),
    **{f"{word} export": f"svc {word} list --all -o csv > {word}.csv" for word in _LISTED},
    "disputes due": "svc disputes list --due 7d",
    "export": "A list as a file: svc orders list --all -o csv > orders.csv",
    "help migrate": "svc help moving",
    "payments create": "A shopper pays an order; at a sandbox: svc sandbox pay ORDER",
    "version": "svc --version",
    "update": "Install it anew as you did: pipx, uv tool or pip, each from its newer source",
    "events list": "Those that a listener has received: svc events inbox; those that a sandbox "
    "has made: svc sandbox events",
    "webhook-endpoints list": "The API has no call that lists them; of a sandbox: "
    "svc sandbox endpoints list",
    "webhook-endpoints retrieve": "The API has no call that shows one; of a sandbox: "
    "svc sandbox endpoints list",
    "upgrade": "Install it anew as you did: pipx, uv tool or pip, each from its newer source",
}


# Verbs of other tools, and ours for them, where a resource has it.
_SHOWING: Final = ("get", "show", "view")
_SHOWS: Final = {
    **dict.fromkeys(_LISTED, "retrieve"),
    **dict.fromkeys(("landed-cost-quotes", "quotes", "events"), "retrieve"),
    "requests": "show",
}


def _send_to_verb(noun: str, verb: str, rest: list[str]) -> None:
    """Raises UsageError on another tool's verb for showing one object."""
    ours = _SHOWS.get(noun)
    if verb == "wait" and noun in _LISTED:
        line = _joined("svc", noun, "retrieve", *(rest[:1] or ["ID"]), "--wait", *rest[1:])
        raise UsageError(f"No such command '{noun} wait'.", hint=line)
    if ours is None or verb == ours or verb not in (*_SHOWING, "retrieve"):
        return
    import shlex

    there = f"svc {noun} {ours}"
    raise UsageError(
        f"No such command '{noun} {verb}'. Did you mean '{there}'?",
        hint=shlex.join((*there.split(), *rest)) if rest else f"{there} ID",
    )


def send_elsewhere(args: list[str]) -> None:
    """Raises UsageError on one or two words that mean a command of another name."""
    if len(args) > 1:
        _send_to_verb(args[0], args[1], args[2:])
        _send_to_noun(*args)
    for count in (2, 1):
        words, rest = " ".join(args[:count]), args[count:]
        if words in OTHER_TOOLS_WORDS:
            there = OTHER_TOOLS_WORDS[words]
            command, option, _ = there.partition(" --")
            raise UsageError(
                f"No such command {words!r}. Did you mean 'svc {command}'?",
                hint=_whole(there, rest)
                if option or rest
                else f"What it takes: svc {there} --help",
            )
        if words in OTHERWISE:
            raise UsageError(f"No such command {words!r}.", hint=OTHERWISE[words])


_OPERATIONS: Final = "Which there are: svc batch --help"
# Of an order there are several, and none is to be guessed.
_ONLY_OPERATION: Final = {
    **dict.fromkeys(("refunds", "payouts", "landed-cost-quotes"), "create"),
    "disputes": "update",
}


def _send_to_noun(noun: str, verb: str, *rest: str) -> None:
    """Raises UsageError on a resource in the singular, and on an operation in two words."""
    if noun == "batch" and verb in COMMANDS and rest and not rest[0].startswith("-"):
        there = rest[0] if rest[0].isalpha() else _ONLY_OPERATION.get(verb)
        if there is None:
            raise UsageError(f"svc batch needs an operation of {verb}.", hint=_OPERATIONS)
        line = _joined("svc", noun, f"{verb}.{there}", *(rest[1:] if there == rest[0] else rest))
        raise UsageError(f"An operation is one word: {verb}.{there}.", hint=line)
    many = f"{noun}s"
    own = verb.startswith(ID_PREFIXES.get(noun, " "))
    if verb.startswith("-"):
        return  # no verb: the noun itself may mean a command
    if many in COMMANDS and noun not in COMMANDS and (own or not is_id(verb)):
        line = _joined("svc", many, *(("retrieve",) if own else ()), verb, *rest)
        raise UsageError(f"No such command {noun!r}. Did you mean 'svc {many}'?", hint=line)


def is_id(word: str) -> bool:
    """Whether a word looks like the id of an object."""
    return word.startswith(tuple(ID_PREFIXES.values()))


def _whole(there: str, rest: Sequence[str]) -> str:
    """A command line of ours with the words that were typed behind another one, the id first."""
    known = [word for word in rest if is_id(word)][:1]
    others = [word for word in rest if word not in known]
    missing = ["ID"] if " --" in there and not known else []
    return _joined("svc", *there.split(), *known, *missing, *others)


def _joined(*words: str) -> str:
    from shlex import join  # only for what is refused

    return join(words)


def no_such_command(error: Any, argv: Sequence[str]) -> UsageError | None:
    """Refuses a word that is none of a command's, with the line that was probably meant.

    None where nothing is near.
    """
    from svc.nearest import find_near_words, meant

    context, word = error.ctx, str(error.message).split("'")[1]
    message = f"No such command {word!r}."
    if is_id(word):
        return UsageError(message, hint=_joined("svc", "get", word))
    near = find_near_words(word, context.command.list_commands(context))
    if not near:
        return None
    at = list(argv).index(word)
    line = _joined("svc", *argv[:at], near[0], *argv[at + 1 :])
    return UsageError(f"{message}{meant(near)}", hint=line)


# Never suggested: who adds one has moved to live mode, or has answered what nobody asked.
_NEVER_MEANT: Final = frozenset(
    (
        "--live --yes --force --new-request --again --blank-means-all --no-check "
        "--allow-remote-forward"
    ).split()
)
# What one command calls so, and another otherwise.
_SAME_OPTION: Final = {"--limit": "--max", "--since": "--created-gte", "--created-gte": "--since"}


def no_such_option(error: Any, argv: Sequence[str], value: str | None) -> UsageError:
    """Refuses one, naming those that were probably meant; `argv` was typed, `value` behind it."""
    wrong, context = str(error.option_name), error.ctx
    message = f"No such option: {wrong}.{_near_options(error)}"
    if wrong[1:2].isdigit():
        typed = next((word for word in argv if word.startswith(wrong)), wrong)
        message = f"{typed} is below nought; a duration or a number here is positive."
    where = context.command_path if context is not None else "svc"
    meant = option_for(context, value) if value else None
    return UsageError(message, param=wrong, hint=meant or f"What it takes: {where} --help")


def _near_options(error: Any) -> str:
    from svc.nearest import find_near_words, meant

    params = error.ctx.command.params if error.ctx is not None else ()
    options = [
        name
        for param in params
        for name in (*param.opts, *param.secondary_opts)
        if name.startswith("--") and name not in _NEVER_MEANT
    ]
    same = _SAME_OPTION.get(error.option_name, "")
    return meant([same] if same in options else find_near_words(error.option_name, options))


def option_for(context: Any, word: str) -> str | None:
    """The command line in which an id is given by its option, or by itself where it is the noun's.

    None where the command has nothing to do with it.
    """
    kind = next((kind for kind, prefix in ID_PREFIXES.items() if word.startswith(prefix)), None)
    if kind is None or context is None:
        return None
    import shlex

    word = shlex.quote(word)
    if context.command_path.startswith("svc payouts") and kind == "order":
        return f"No payout belongs to an order; its payments: svc payments list --order {word}"
    if f"--{kind}" in (name for param in context.command.params for name in param.opts):
        return f"{context.command_path} --{kind} {word}"
    above = context.parent
    if above is not None and above.info_name == f"{kind}s":
        return f"{above.command_path} retrieve {word}"
    return None


def module_of(*words: str) -> str:
    """The module that answers a command: every word is the name of a file or a folder."""
    return ".".join(("svc.cli", *(word.replace("-", "_") for word in words)))


_EXAMPLE: Final = "$ "
_TAKES: Final = "fields"


def take_fields(command: Callable[..., None], operation: str) -> None:
    """Notes whose fields a command has as options: it gets them when it is made."""
    vars(command)[_TAKES] = operation


def _app_of(*words: str) -> Any:
    """The Typer app of a command; of a noun without a module that of its description."""
    if words[0] == "events" or words[0] not in _NOUNS:
        return import_module(module_of(*words)).app
    from svc import service

    noun = service.noun(words[0].replace("-", "_").removesuffix("s"))
    return import_module("svc.cli.framework.nouns").noun_app(noun)


def load(*words: str, asked: Container[str] | None = None) -> Any:
    """Imports the module of one command and returns it as a Typer command or group.

    Of the group's verbs only those can be run that `asked` has, or all without it. The others have
    their name and what a list says of them: to make one takes half a millisecond.
    """
    app = _app_of(*words)
    verbs = app.registered_commands
    if asked is not None and app.registered_callback is not None:
        app.registered_commands = [
            verb if _name(verb) in asked else _listed(verb) for verb in verbs
        ]
    for verb in app.registered_commands:
        _give_fields(verb)
    try:
        command = typer.main.get_command(app)
    finally:
        app.registered_commands = verbs
    command.name = words[-1]
    return command


def _give_fields(verb: Any) -> None:
    operation = vars(verb.callback).pop(_TAKES, "")
    if operation:
        from svc.cli.framework.fields import with_fields
        from svc.client.options import options_of

        verb.callback = with_fields(verb.callback, options_of(operation))


def _name(verb: Any) -> str:
    return str(verb.name or verb.callback.__name__.replace("_", "-"))


class _ListedVerb(TyperCommand):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.examples, self.help = split_examples(self.help or "")


def _listed(verb: Any) -> Any:
    app = typer.Typer(add_completion=False)
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
