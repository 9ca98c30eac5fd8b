"""Reads the real parsers into a `Tree` of commands and options; imports every command.

`svc commands` prints the tree. `python -m svc.cli.commands.tree FOLDER` writes the completion
scripts that `svc.completion` makes of it; a test compares them with the folder `completions` of the
project. `values` says which values each parameter can have.
"""

import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_origin

import typer

from svc.cli.commands.values import ENVIRONMENT, MOVES_MONEY, Declared, is_named, values_of
from svc.cli.framework.options import DECLARED, Set, options_of
from svc.cli.framework.registry import COMMANDS, EVENT_VERBS, SHORT_NAMES, load
from svc.client.options import RequestOption
from svc.completion import SHELLS
from svc.completion.tree import ANYTHING, Argument, Command, Option, OptionGroup, Tree, Type

_PANELS: Final[dict[str, OptionGroup]] = {
    "Request options": "request",
    "List options": "list",
    "Instead of sending": "preview",
    "Global options": "global",
}
_SHARED: Final[tuple[OptionGroup, ...]] = ("request", "list", "preview", "global")
_TYPES: Final[dict[object, Type]] = {int: "integer", float: "number"}


class _OptionKind(NamedTuple):
    """What a parameter takes, as its function declares it: Typer keeps it elsewhere each time."""

    type: Type
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()


_TEXT: Final = _OptionKind("text")
_NO_ROWS: Final[Mapping[str, RequestOption]] = {}


def tree() -> Tree:
    """Builds the tree of the whole program, in the order of its help."""
    from svc.cli.framework.app import app

    root = typer.main.get_command(app)
    context = root.make_context("svc", [], resilient_parsing=True)
    commands = tuple(_command((name,), load(name), context) for name in COMMANDS)
    kinds = _kinds(DECLARED["everywhere"])
    shared: dict[OptionGroup, tuple[Option, ...]] = {
        "request": _list_shared("write"),
        "list": _list_shared("listing"),
        "preview": _list_shared("preview"),
        "global": tuple(
            _option("", param, kinds)
            for param in root.get_params(context)
            if _group(param) == "global"
        ),
    }
    own = tuple(_option("", param, {}) for param in root.params if _group(param) == "own")
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
        if (_group(param) == "own" or _means_more(name, param))
        and not getattr(param, "hidden", False)  # only there to be refused with a better word
    ]
    kinds = _kinds(command.callback) if command.callback is not None else {}
    rows = {row.name: row for row in getattr(command.callback, "rows", ())}
    return Command(
        path=path,
        short=short,
        section=COMMANDS[path[0]].section,
        summary=_summary(help_text) if len(path) > 1 else COMMANDS[path[0]].summary,
        help=help_text,
        arguments=tuple(
            _argument(name, param, kinds) for param in own if param.param_type_name == "argument"
        ),
        options=tuple(
            _option(name, param, kinds, rows) for param in own if param.param_type_name == "option"
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


def _means_more(command: str, param: Any) -> bool:
    """Whether a shared option takes other values here than elsewhere."""
    return param.param_type_name == "option" and is_named(command, param.opts[0])


def _group(param: Any) -> OptionGroup:
    if "--help" in param.opts:
        return "global"
    return _PANELS.get(getattr(param, "rich_help_panel", None) or "", "own")


def _list_shared(name: Set) -> tuple[Option, ...]:
    kinds = _kinds(DECLARED[name])
    return tuple(_option("", param, kinds) for param in options_of(name))


def _kinds(function: Callable[..., object]) -> dict[str, _OptionKind]:
    """The kinds of a function's parameters; where it is wrapped, of what is inside."""
    declared = inspect.signature(function).parameters.values()
    return {each.name: _kind(each.annotation, each.default) for each in declared}


def _kind(annotation: Any, default: Any) -> _OptionKind:
    info = default
    if get_origin(annotation) is Annotated:
        annotation, info = get_args(annotation)[:2]
    kinds = (annotation, *get_args(annotation))
    choices = next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())
    of = next((kind for kind in kinds if kind in _TYPES), None)
    if of is None:
        return _OptionKind("text", choices=choices)
    return _OptionKind(_TYPES[of], getattr(info, "min", None), getattr(info, "max", None))


def _option(
    command: str,
    param: Any,
    kinds: dict[str, _OptionKind],
    rows: Mapping[str, RequestOption] = _NO_ROWS,
) -> Option:
    # The long name first: Typer keeps the names of --help in no order.
    names = tuple(sorted(param.opts, key=lambda name: not name.startswith("--")))
    flag = bool(param.is_flag)
    kind = kinds.get(param.name, _TEXT)
    row = rows.get(names[0])
    taken = Declared(names[0], param.metavar, param.help or "", kind.choices)
    return Option(
        names=names,
        negatives=tuple(param.secondary_opts),
        group=_group(param),
        type="flag" if flag else kind.type,
        metavar=None if flag else param.metavar,
        help=param.help or "",
        default=_default(param),
        required=bool(param.required or (row and row.is_required)),
        repeatable=bool(param.multiple),
        value_optional=not flag
        and (param.metavar or "").startswith("[")
        and param.metavar.endswith("]"),
        minimum=kind.minimum,
        maximum=kind.maximum,
        environment=ENVIRONMENT.get(names[0]),
        values=ANYTHING if flag else values_of(command, taken, row.words if row else ""),
    )


def _default(param: Any) -> object:
    """The parser's default (false of a flag, empty of a repeatable option), else what help says."""
    value, said = param.default, getattr(param, "show_default", None)
    if value is None and isinstance(said, str):
        value = int(said) if said.isdigit() else said
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _argument(command: str, param: Any, kinds: Mapping[str, _OptionKind]) -> Argument:
    choices = kinds.get(param.name, _TEXT).choices
    taken = Declared(param.name, param.metavar, param.help or "", choices)
    return Argument(
        name=param.name,
        metavar=param.metavar or param.name.upper(),
        help=param.help or "",
        required=bool(param.required),
        repeatable=param.nargs != 1,
        values=values_of(command, taken),
    )


def _summary(help_text: str) -> str:
    """The first line of a help text, which the lists of help show."""
    return help_text.partition("\n")[0].strip()


def scripts() -> dict[str, str]:
    """Every completion script by the name of its file, as the parsers are now."""
    from svc.completion.shells import script
    from svc.completion.tables import tables

    known = tables(tree())
    return {name: script(shell, known) for shell, name in SHELLS.items()}


def write_scripts(folder: Path) -> None:
    """Writes every completion script into a folder."""
    for name, text in scripts().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_scripts(Path(sys.argv[1]))
