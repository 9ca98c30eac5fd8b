"""Reads the real parsers into a `Tree` of commands and options; imports every command.

`svc commands` prints the tree, `svc mcp` makes its tools of it, and `.build/completions.py` the
completion scripts. `values` says which values each parameter can have.
"""

from collections.abc import Mapping
from typing import Any, Final

import typer

from svc.cli.commands.values import ENVIRONMENT, MOVES_MONEY, is_named, values_of
from svc.cli.framework.help_page import read_taken
from svc.cli.framework.options import options_of
from svc.cli.framework.registry import COMMANDS, EVENT_VERBS, SHORT_NAMES, load
from svc.client.options import RequestOption
from svc.completion.tree import ANYTHING, Argument, Command, Option, OptionGroup, Tree, Type

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
