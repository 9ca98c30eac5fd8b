"""Reads the real parsers into a `Tree` of commands, options and the values that each can have.

`svc commands` prints the tree, `svc mcp` makes its tools of it, and `.build/completions.py` the
completion scripts. It imports every command. Most values are derived from the parameter itself:
choices of a `Literal`, a path for the metavar FILE, ids of a kind where the help says `ord_...`.
Tables have the rest, from svc's lists (event types, currencies).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, get_args

import typer

from svc import service
from svc.batch import operations
from svc.cli.events.options import TunnelKind
from svc.cli.events.team import STARTS
from svc.cli.framework.help_page import read_taken
from svc.cli.framework.options import options_of
from svc.cli.framework.registry import COMMANDS, EVENT_VERBS, SHORT_NAMES, load
from svc.cli.help.page import TOPICS
from svc.cli.requests import find_posted_paths
from svc.client.options import RequestOption
from svc.completion.tree import ANYTHING, Argument, Command, Option, OptionGroup, Tree, Type, Values
from svc.config.model import SETTINGS
from svc.money import CURRENCIES
from svc.sandbox.clock import AdvanceUntil
from svc.sandbox.control import fixtures
from svc.sandbox.faults import METHODS, STATUSES
from svc.sandbox.parameters.kinds import Choice
from svc.sandbox.reference import cards, methods
from svc.sandbox.resources import shopper
from svc.sandbox.resources.api_keys import LEVELS
from svc.sandbox.store import DeliveryStatus, settings
from svc.service import facts
from svc.service.model import Resource

_ID_IN_HELP: Final = re.compile(r"\b([a-z]{2,4}_)\.\.\.")


_NOT_A_NAME: Final = re.compile(r"[^a-z]+")


def _words(name: str, words: Iterable[str] | Mapping[str, str], *, closed: bool = False) -> Values:
    pairs = words.items() if isinstance(words, Mapping) else ((word, "") for word in words)
    return Values(name, tuple(pairs), closed=closed)


def _keys(name: str, words: Iterable[str]) -> Values:
    """Words that a value follows at once."""
    return _words(name, (f"{word}=" for word in words))


def _field_words(name: str) -> tuple[str, ...]:
    """The words that the sandbox takes for a field of a test payment."""
    kind = next(field.kind for field in shopper.PAY if field.name == name)
    assert isinstance(kind, Choice)
    return kind.words


def _card_meaning(behaviour: cards.Behaviour) -> str:
    facts = [
        f"declined: {behaviour.decline_code}" if behaviour.decline_code else "",
        "approved when tried again" if behaviour.rescued else "",
        "asks the shopper (3-D Secure)" if behaviour.challenge else "",
        f"disputed: {behaviour.dispute_reason}" if behaviour.dispute_reason else "",
        {"slow": "refunds stay pending", "fails": "refunds fail"}.get(
            behaviour.refund_scenario, ""
        ),
        "network token suspended" if behaviour.suspended else "",
    ]
    return ", ".join(fact for fact in facts if fact)


_CARDS: Final = {
    cards.APPROVED["visa"]: "paid",
    **{number: _card_meaning(behaviour) for number, behaviour in cards.BEHAVIOURS.items()},
}
_PERMISSIONS: Final = tuple(
    f"{name}={level}" for name in (*facts.RESTRICTED_RESOURCES, "all") for level in LEVELS
)
_NOUNS: Final = service.nouns()
_LISTED: Final = tuple(noun for noun in _NOUNS if noun.action("list") is not None)

_EVENT_TYPE: Final = _words("event_type", facts.EVENT_TYPES)


def _describe_nouns(noun: Resource) -> Iterator[Values]:
    """The words of each field that is a choice, and the names inside one that has an option."""
    for field in noun.fields:
        if field.kind.type == "choice":
            yield _words(f"{noun.name}_{field.name}", field.kind.words)
        elif field.option and field.kind.fields:
            inner = (one.name for one in field.kind.fields)
            yield _keys(f"{noun.name}_{field.name}", inner)


# The sets that options of `client.options` name.
_FIELDS: Final = {
    each.name: each
    for each in (
        _EVENT_TYPE,
        _words("country", sorted(facts.COUNTRIES)),
        _words("currency", sorted(CURRENCIES)),
        *(words for noun in _NOUNS for words in _describe_nouns(noun)),
    )
}
_HELP: Final = {
    **{name: summary for name, (_, summary) in TOPICS.items()},
    **{name: entry.summary for name, entry in COMMANDS.items() if name not in TOPICS},
}


def _ids(*objects: str) -> Values:
    return Values(ids=tuple(facts.ID_PREFIXES[name] for name in objects))


_ANY_ID: Final = _ids(*(noun.name for noun in _NOUNS if noun.action("retrieve") is not None))
_PAYING: Final = _ids("payment", "refund", "payout")

# Wherever an option of this name is taken.
_EVERYWHERE: Final[Mapping[str, Values]] = {
    "--profile": Values(profiles=True),
    "--api-version": _words("version", facts.VERSIONS),
    "--events": _EVENT_TYPE,
    "--payment": _ids("payment"),
    "--order": _ids("order"),
    "--object": _ANY_ID,
    "--auth": _words("auth", facts.AUTHS, closed=True),
    "--fixture": _words("fixture", fixtures.FIXTURES),
    "--tunnel": _words("tunnel", (*get_args(TunnelKind)[:-1], "ssh:")),
}

# An option or an argument of one command.
_HERE: Final[Mapping[tuple[str, str], Values]] = {
    **{
        (f"{noun.word} list", "--status"): _FIELDS[f"{noun.name}_status"]
        for noun in _LISTED
        if noun.statuses
    },
    **{(f"{noun.word} list", "--starting-after"): _ids(noun.name) for noun in _LISTED},
    ("get", "target"): replace(
        _words("get_path", (noun.path for noun in _LISTED)), ids=_ANY_ID.ids
    ),
    ("post", "path"): _words(
        "post_path", (noun.path for noun in _NOUNS if noun.action("create") is not None)
    ),
    ("batch", "operation"): _words("operation", operations.names(), closed=True),
    **{(f"events {verb}", "--until"): _EVENT_TYPE for verb in ("listen", "tail")},
    **{(f"events {verb}", "--type"): _EVENT_TYPE for verb in ("inbox", "examine")},
    **{(f"sandbox {verb}", "--type"): _EVENT_TYPE for verb in ("events", "fault add")},
    ("events listen", "--from-start"): _words("from_start", tuple(STARTS)),
    ("events log create", "--from"): _words("from_start", tuple(STARTS)),
    ("requests list", "--operation"): _words("posted", tuple(find_posted_paths())),
    **{(f"profiles {verb}", "name"): Values(profiles=True) for verb in ("use", "remove")},
    **{
        (f"config {verb}", "name"): _words("setting", tuple(SETTINGS))
        for verb in ("get", "set", "unset")
    },
    ("help", "words"): _words("help", _HELP),
    ("sandbox pay", "--card"): _words("card", _CARDS),
    ("sandbox pay", "--method"): _words(
        "method", (methods.CARD, *(method.name for method in methods.METHODS))
    ),
    ("sandbox pay", "--3ds"): _words("three_ds", _field_words("three_ds")),
    ("sandbox pay", "--outcome"): _words("redirect_outcome", _field_words("outcome")),
    ("sandbox dispute", "--reason"): _FIELDS["dispute_reason"],
    ("sandbox settle", "identity"): _PAYING,
    ("sandbox fail", "identity"): _PAYING,
    ("sandbox advance", "--until"): _words("until", get_args(AdvanceUntil)),
    ("sandbox trigger", "event_type"): replace(_EVENT_TYPE, closed=True),
    ("sandbox deliveries", "--status"): _words("delivery_status", get_args(DeliveryStatus)),
    ("sandbox settings", "changes"): _keys("sandbox_setting", settings.DEFAULTS),
    ("sandbox balances", "changes"): _keys("balance", sorted(CURRENCIES)),
    ("sandbox fault add", "--method"): _words("http_method", METHODS),
    ("sandbox fault add", "--status"): _words("fault_status", map(str, STATUSES)),
    ("sandbox keys create", "--permission"): _words("permission", _PERMISSIONS),
}

# In live mode these ask first (promise R19); a test runs every command to compare.
MOVES_MONEY: Final = frozenset(
    {"post", "batch"}
    | {
        f"{noun.word} {action.verb}"
        for noun in _NOUNS
        for action in noun.actions
        if action.money and not action.only_with
    }
)
ENVIRONMENT: Final = {
    "--profile": "SVC_PROFILE",
    "--live": "SVC_MODE",
    "--base-url": "SVC_BASE_URL",
    "--api-version": "SVC_API_VERSION",
    "--output": "SVC_OUTPUT",
    "--max-time": "SVC_MAX_TIME",
    "--proxy": "SVC_PROXY",
    "--ca-bundle": "SVC_CA_BUNDLE",
}


def values_of(command: str, name: str, param: Any, words: str = "") -> Values:
    """Returns the possible values of Typer's `param`, an option by its long name.

    `words` names a set for an option of an API field.
    """
    if words:
        return _FIELDS[words]
    known = _HERE.get((command, name)) or _EVERYWHERE.get(name)
    if known is not None:
        return known
    if choices := read_taken(param).choices:
        name = name.removeprefix("--").replace("-", "_")
        return _words(_NOT_A_NAME.sub("_", f"{command} {name}".strip()), choices, closed=True)
    if "FILE" in (param.metavar or "").strip("[]").split("|"):
        return Values(files=True)
    ids = tuple(_ID_IN_HELP.findall(param.help or ""))
    return Values(ids=ids) if ids else ANYTHING


def is_named(command: str, name: str) -> bool:
    """Whether the table has a row for this parameter of this command."""
    return (command, name) in _HERE


def rows() -> Iterable[tuple[str, str]]:
    """Lists the parameters in the tables as command and name; an empty command means all."""
    return [*(("", name) for name in _EVERYWHERE), *_HERE]


_PANELS: Final[dict[str, OptionGroup]] = {
    "Request options": "request",
    "List options": "list",
    "Instead of sending": "preview",
    "Global options": "global",
}
_SHARED: Final[tuple[OptionGroup, ...]] = ("request", "list", "preview", "global")
_TYPES: Final[dict[str, Type]] = {"int": "integer", "float": "number"}
_NO_ROWS: Final[Mapping[str, RequestOption]] = {}


def tree() -> Tree:
    """Builds the tree of the whole program, in the order of its help."""
    from svc.cli.framework.app import app

    root = typer.main.get_command(app)
    context = root.make_context("svc", [], resilient_parsing=True)
    commands = tuple(_command((name,), load(name), context) for name in COMMANDS)
    params = [*root.get_params(context)]
    params += [*options_of("write"), *options_of("listing"), *options_of("preview")]
    shared = {
        group: tuple(_option("", param) for param in params if _group(param) == group)
        for group in _SHARED
    }
    own = tuple(_option("", param) for param in root.params if _group(param) == "own")
    help_text = root.help or ""
    top = Command(
        path=(),
        short=(),
        section="",
        summary=_summary(help_text),
        help=help_text,
        options=own,
        shared=("global",),
        commands=commands,
    )
    return Tree(top, shared)


def _command(path: tuple[str, ...], command: Any, parent: Any) -> Command:
    context = command.make_context(path[-1], [], parent=parent, resilient_parsing=True)
    name = " ".join(path)
    help_text = (command.help or "").strip()
    taken = {_group(param) for param in command.params}
    short = tuple(word for word, meant in SHORT_NAMES.items() if (meant,) == path)
    own = [
        param
        for param in command.params
        if (_group(param) == "own" or is_named(name, param.opts[0]))  # with other values here
        and not getattr(param, "hidden", False)  # only there to be refused with a better word
    ]
    rows = {row.name: row for row in getattr(command.callback, "rows", ())}
    return Command(
        path=path,
        short=short,
        section=COMMANDS[path[0]].section,
        summary=_summary(help_text) if len(path) > 1 else COMMANDS[path[0]].summary,
        help=help_text,
        arguments=tuple(
            _argument(name, param) for param in own if param.param_type_name == "argument"
        ),
        options=tuple(
            _option(name, param, rows) for param in own if param.param_type_name == "option"
        ),
        shared=tuple(group for group in _SHARED if group in taken),
        moves_money=name in MOVES_MONEY,
        examples=tuple(getattr(command, "examples", ())),
        commands=tuple(
            _command((*path, word), _load(path, word, child), context)
            for word, child in getattr(command, "commands", {}).items()
        ),
    )


def _load(path: tuple[str, ...], word: str, child: Any) -> Any:
    """The verbs of `svc events` are names only, until they are loaded."""
    return load(*path, word) if path == ("events",) and word in EVENT_VERBS else child


def _group(param: Any) -> OptionGroup:
    if "--help" in param.opts:
        return "global"
    return _PANELS.get(getattr(param, "rich_help_panel", None) or "", "own")


def _option(command: str, param: Any, rows: Mapping[str, RequestOption] = _NO_ROWS) -> Option:
    # The long name first: Typer keeps the names of --help in no order.
    names = tuple(sorted(param.opts, key=lambda name: not name.startswith("--")))
    flag, taken = bool(param.is_flag), read_taken(param)
    row = rows.get(names[0])
    return Option(
        names=names,
        negatives=tuple(param.secondary_opts),
        group=_group(param),
        type="flag" if flag else _TYPES.get(taken.type, "text"),
        metavar=None if flag else param.metavar,
        help=param.help or "",
        default=_default(param),
        required=bool(param.required or (row and row.is_required)),
        repeatable=bool(param.multiple),
        value_optional=not flag
        and (param.metavar or "").startswith("[")
        and param.metavar.endswith("]"),
        minimum=taken.minimum,
        maximum=taken.maximum,
        environment=ENVIRONMENT.get(names[0]),
        values=ANYTHING if flag else values_of(command, names[0], param, row.words if row else ""),
    )


def _default(param: Any) -> object:
    """The parser's default (false of a flag, empty of a repeatable option), else what help says."""
    value, said = param.default, getattr(param, "show_default", None)
    if value is None and isinstance(said, str):
        value = int(said) if said.isdigit() else said
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _argument(command: str, param: Any) -> Argument:
    return Argument(
        name=param.name,
        metavar=param.metavar or param.name.upper(),
        help=param.help or "",
        required=bool(param.required),
        repeatable=param.nargs != 1,
        values=values_of(command, param.name, param),
    )


def _summary(help_text: str) -> str:
    return help_text.partition("\n")[0].strip()
