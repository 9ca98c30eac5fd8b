"""The options that several commands share (global, writing, listing, preview), and their values.

Those of whole sets are added to each command's parameters by `framework.app`, so that they are
accepted before the resource and after the verb alike (the verb's value wins) and no command has to
name them. Each set is a class whose attributes are at once the options and the places of their
values. `OptionSet`, and `option`, `flag`, `argument`, declare a command's own parameters as well.
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from inspect import Parameter, Signature
from typing import Any, Final, Literal, TypeVar, cast

import typer

from svc.cli.framework.figures import fill
from svc.inputs import COLORS, FORMATS, Color, Format
from svc.service.facts import LIMIT_DEFAULT, LIMIT_MAX

Set = Literal["everywhere", "write", "listing", "preview"]
ValueT = TypeVar("ValueT")
REQUIRED: Final[Any] = ...  # the default of an option that a command cannot do without


def option(
    metavar: str | None, words: str, *names: str, default: ValueT | None = None, **more: Any
) -> ValueT:
    """An option by its value and its help; `names` where the parameter's own is another.

    One without a value that has an opposite or a short name has no `metavar`.
    """
    found = typer.Option(default, *names, metavar=metavar, help=fill(words), **more)
    return cast("ValueT", found)


_everywhere: Final = partial(option, rich_help_panel="Global options")
_writing: Final = partial(option, rich_help_panel="Request options")
_listing: Final = partial(option, rich_help_panel="List options")
_preview: Final = partial(option, rich_help_panel="Instead of sending")

_FORMAT_HELP: Final = f"How results are printed: {', '.join(FORMATS)}."
_COLOR_HELP: Final = f"When to use colours: {', '.join(COLORS)}."


class OptionSet:
    """Base of a class whose attributes are options, in the order of help.

    An attribute is declared with an option as its value, as a command's parameter is. An
    object of the class has the values: a default until the option is typed, of a flag false.
    """

    def __init_subclass__(cls) -> None:
        parameters = []
        for name, kind in inspect.get_annotations(cls).items():
            declared, how = getattr(cls, name), Parameter.KEYWORD_ONLY
            parameters.append(Parameter(name, how, default=declared, annotation=kind))
            default = declared.default
            setattr(cls, name, False if kind is bool and not default else default)
        cls.__signature__ = Signature(parameters)  # type: ignore[attr-defined]


class GlobalOptions(OptionSet):
    """The global options and their values; None means not given."""

    profile: str | None = _everywhere("NAME", "The profile: whose address and key are used.")
    live: bool | None = _everywhere(None, "The mode.", "--live/--test", show_default="test")
    base_url: str | None = _everywhere("URL", "The address of the API, without /v1.")
    api_version: str | None = _everywhere("DATE", "The version of the API, sent as Svc-Version.")
    output: Format | None = _everywhere(
        "FORMAT", _FORMAT_HELP, "--output", "-o", show_default="human on a terminal, else json"
    )
    query: str | None = _everywhere("EXPR", "Select parts of the whole result, in JMESPath.")
    raw: bool | None = _everywhere(None, "Print texts that --query finds without quotes.", "--raw")
    fields: str | None = _everywhere("A,B.C", "The columns of human lists and of csv.")
    max_time: float | None = _everywhere(
        "SECONDS", "The longest that the command may take.", show_default="60"
    )
    proxy: str | None = _everywhere("URL", "A proxy, for https addresses.")
    ca_bundle: str | None = _everywhere("FILE", "Further certificate authorities to trust (PEM).")
    yes: bool | None = _everywhere(None, "Answer every question with yes.", "--yes", "-y")
    no_input: bool | None = _everywhere(
        None, "Ask nothing; what needs an answer is refused.", "--no-input"
    )
    quiet: bool | None = _everywhere(None, "Print results and errors, no notes.", "--quiet", "-q")
    verbose: bool | None = _everywhere(
        None, "Print a line for each HTTP attempt, on stderr.", "--verbose", "-v"
    )
    color: Color | None = _everywhere("WHEN", _COLOR_HELP, show_default="auto")
    utc: bool | None = _everywhere(None, "Show and read times in UTC, not in local time.", "--utc")


class WriteOptions(OptionSet):
    """The options of every writing command and their values."""

    data: list[str] | None = _writing(
        "PATH=VALUE",
        "Any field: PATH=TEXT, PATH:=JSON, PATH=@FILE. PATH is its name; for a field inside "
        "another, shipping[country].",
        "--data",
        "-d",
    )
    body: str | None = _writing("FILE|-", "A JSON object; options and -d win over it.")
    idempotency_key: str | None = _writing("KEY", "A key of your own, in place of a new one.")
    new_request: bool = _writing(
        None, "Send it, although the same request is unresolved.", "--new-request"
    )
    form: bool = _writing(None, "Send the body form-encoded.", "--form")
    json_body: bool = _writing(None, "Send the body as JSON.", "--json-body")


class PreviewOptions(OptionSet):
    """The options that show a request in place of sending it, and their values."""

    dry_run: bool = _preview(None, "Print the request as JSON and send nothing.", "--dry-run")
    curl: bool = _preview(None, "Print the same call for curl and send nothing.", "--curl")


class ListOptions(OptionSet):
    """The options of every listing command and their values."""

    limit: int | None = _listing(
        f"1..{LIMIT_MAX}", "How many objects a page has.", show_default=str(LIMIT_DEFAULT)
    )
    starting_after: str | None = _listing("ID", "Begin with what follows this object.")
    all: bool = _listing(None, "List every object, page after page.", "--all")
    max: int | None = _listing("N", "List N objects, over several pages if needed.")
    created_gte: str | None = _listing(
        "TIME", "Created at or after this: 2026-11-21, 2026-11-21T09:00, 7d (ago) or yesterday."
    )
    created_gt: str | None = _listing("TIME", "Created after this; of a day, after it is over.")
    created_lte: str | None = _listing(
        "TIME", "Created at or before this; of a day, until its end."
    )
    created_lt: str | None = _listing("TIME", "Created before this.")
    param: list[str] | None = _listing("KEY=VALUE", "Any other query parameter.")
    raw_csv: bool = _listing(
        None, "Leave cells as they are, also those that a spreadsheet would run.", "--raw-csv"
    )
    decimals: bool = _listing(
        None,
        "Write amounts of csv with their currency's decimals: 129.00; batch --decimals reads them.",
        "--decimals",
    )


class SharedOptions:
    """All shared options of one command line."""

    def __init__(self) -> None:
        self.everywhere = GlobalOptions()
        self.write = WriteOptions()
        self.listing = ListOptions()
        self.preview = PreviewOptions()
        self.fields: dict[str, Any] = {}


DECLARED: Final[Mapping[Set, type[OptionSet]]] = {
    "preview": PreviewOptions,
    "everywhere": GlobalOptions,
    "write": WriteOptions,
    "listing": ListOptions,
}


@cache
def options_of(name: Set) -> tuple[Any, ...]:
    """The options of a set, made once for every command of a command line."""
    app = typer.Typer(add_completion=False)
    app.command()(DECLARED[name])
    return tuple(typer.main.get_command(app).params)


@contextmanager
def collect(ctx: Any, sets: Iterable[Set]) -> Iterator[None]:
    """Moves what a command line gave of these sets to the session, also where it is refused."""
    try:
        yield
    finally:
        for name in sets if ctx.obj is not None else ():  # none where only the tree is read
            target = getattr(ctx.obj.given, name)
            for option in options_of(name):
                value = ctx.params.pop(option.name, None)
                if value is not None:
                    setattr(target, option.name, value)


def flag(name: str, words: str, **more: Any) -> bool:
    """An option without a value: it has the one name and no opposite."""
    return cast("bool", typer.Option(False, name, help=fill(words), **more))


def argument(
    metavar: str, words: str, *, default: Any = REQUIRED, show_default: str | bool = False
) -> Any:
    """An argument by its name and its help."""
    return typer.Argument(default, metavar=metavar, help=words, show_default=show_default)


EVENT_ID: Final = argument("ID", "The event, evt_...")
WAIT: Final = flag("--wait", "Wait until it is settled, at most --max-time seconds.")
OVER_LIMIT: Final = flag(
    "--over-limit", "Send more than a limit allows; a person must say yes to it."
)


def until(words: Sequence[str]) -> Any:
    """The option that says which state is waited for."""
    states = f"{', '.join(words[:-1])} or {words[-1]}"
    return option("STATUS[,STATUS]", f"Wait for this, or for one of several as a,b: {states}.")


def status(words: Sequence[str]) -> Any:
    """The option that lists only objects in one of these states."""
    return option("STATUS", f"Only those that are {', '.join(words[:-1])} or {words[-1]}.")


def id_of(kind: str) -> Any:
    """The option that lists only what belongs to one object."""
    return option("ID", f"Only of this {kind}.")
