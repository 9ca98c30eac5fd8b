"""Options that several commands share, and where their values are kept.

Those of whole sets are added to each command's parameters by `framework.app`, so that they are
accepted before the resource and after the verb alike (the verb's value wins) and no command has to
name them. Each set is declared as the parameters of a function, as any command's are: how Typer
makes options of them is its own affair, and changes from release to release.

The classes hold their defaults themselves: every command makes them at its start, and a dataclass
takes half a millisecond.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Annotated, Any, Final, Literal, get_args

import typer

Format = Literal["human", "json", "ndjson", "csv", "id"]
Color = Literal["auto", "always", "never"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)

Set = Literal["everywhere", "write", "listing", "preview"]


class GlobalOptions:
    """Values of the global options; None means not given."""

    profile: str | None = None
    live: bool | None = None
    base_url: str | None = None
    api_version: str | None = None
    output: str | None = None
    query: str | None = None
    raw: bool | None = None
    fields: str | None = None
    max_time: float | None = None
    proxy: str | None = None
    ca_bundle: str | None = None
    yes: bool | None = None
    no_input: bool | None = None
    quiet: bool | None = None
    verbose: bool | None = None
    color: str | None = None
    utc: bool | None = None


class WriteOptions:
    """Values of the options of every writing command."""

    data: Sequence[str] = ()
    body: str | None = None
    idempotency_key: str | None = None
    new_request: bool = False
    form: bool = False
    json_body: bool = False


class PreviewOptions:
    """Values of the options that show a request in place of sending it."""

    dry_run: bool = False
    curl: bool = False


class ListOptions:
    """Values of the options of every listing command."""

    limit: int | None = None
    starting_after: str | None = None
    all: bool = False
    max: int | None = None
    param: Sequence[str] = ()
    created_gte: str | None = None
    created_gt: str | None = None
    created_lte: str | None = None
    created_lt: str | None = None
    raw_csv: bool = False


class SharedOptions:
    """All shared options of one command line."""

    def __init__(self) -> None:
        self.everywhere = GlobalOptions()
        self.write = WriteOptions()
        self.listing = ListOptions()
        self.preview = PreviewOptions()
        self.fields: dict[str, Any] = {}
        self.refuse_incomplete: Callable[[Mapping[str, Any], Sequence[str]], None] = _anything


def _anything(body: Mapping[str, Any], argv: Sequence[str]) -> None:
    """A command without fields of its own needs none."""


_everywhere: Final = partial(typer.Option, None, rich_help_panel="Global options")
_writing: Final = partial(typer.Option, None, rich_help_panel="Request options")
_listing: Final = partial(typer.Option, None, rich_help_panel="List options")
_preview: Final = partial(typer.Option, None, rich_help_panel="Instead of sending")


_FORMAT_HELP: Final = f"How results are printed: {', '.join(FORMATS)}."
_COLOR_HELP: Final = f"When to use colours: {', '.join(get_args(Color))}."


def _global(
    profile: str | None = _everywhere(
        "--profile", metavar="NAME", help="The profile: whose address and key are used."
    ),
    live: bool | None = _everywhere("--live/--test", help="The mode.", show_default="test"),
    base_url: str | None = _everywhere(
        "--base-url", metavar="URL", help="The address of the API, without /v1."
    ),
    api_version: str | None = _everywhere(
        "--api-version", metavar="DATE", help="The version of the API, sent as Svc-Version."
    ),
    output: Format | None = _everywhere(  # noqa: B008  Typer reads it
        "--output",
        "-o",
        metavar="FORMAT",
        help=_FORMAT_HELP,
        show_default="human on a terminal, else json",
    ),
    query: str | None = _everywhere(
        "--query", metavar="EXPR", help="What to take of the whole result, in JMESPath."
    ),
    raw: bool | None = _everywhere("--raw", help="Print texts that --query finds without quotes."),
    fields: str | None = _everywhere(
        "--fields", metavar="A,B.C", help="The columns of human lists and of csv."
    ),
    max_time: float | None = _everywhere(
        "--max-time", metavar="SECONDS", help="How long all of it may take.", show_default="60"
    ),
    proxy: str | None = _everywhere("--proxy", metavar="URL", help="A proxy, for https addresses."),
    ca_bundle: str | None = _everywhere(
        "--ca-bundle", metavar="FILE", help="Further certificate authorities to trust (PEM)."
    ),
    yes: bool | None = _everywhere("--yes", "-y", help="Answer every question with yes."),
    no_input: bool | None = _everywhere(
        "--no-input", help="Ask nothing; what needs an answer is refused."
    ),
    quiet: bool | None = _everywhere("--quiet", "-q", help="Print results and errors, no notes."),
    verbose: bool | None = _everywhere(
        "--verbose", "-v", help="Print a line for each HTTP attempt, on stderr."
    ),
    color: Color | None = _everywhere(  # noqa: B008  Typer reads it
        "--color", metavar="WHEN", help=_COLOR_HELP, show_default="auto"
    ),
    utc: bool | None = _everywhere("--utc", help="Show and read times in UTC, not in local time."),
) -> None: ...


def _write(
    data: list[str] | None = _writing(  # noqa: B008  Typer reads it
        "--data",
        "-d",
        metavar="PATH=VALUE",
        help="Any field: PATH=TEXT, PATH:=JSON, PATH=@FILE; paths as in shipping[country].",
    ),
    body: str | None = _writing(
        "--body", metavar="FILE|-", help="A JSON object; options and -d win over it."
    ),
    idempotency_key: str | None = _writing(
        "--idempotency-key", metavar="KEY", help="A key of your own, in place of a new one."
    ),
    new_request: bool | None = _writing(
        "--new-request", help="Send it, although the same request is unresolved."
    ),
    form: bool | None = _writing("--form", help="Send the body form-encoded."),
    json_body: bool | None = _writing("--json-body", help="Send the body as JSON."),
) -> None: ...


def _show(
    dry_run: bool | None = _preview(
        "--dry-run", help="Print the request as JSON and send nothing."
    ),
    curl: bool | None = _preview("--curl", help="Print the same call for curl and send nothing."),
) -> None: ...


def _list(
    limit: int | None = _listing(
        "--limit", metavar="1..100", help="How many objects a page has.", show_default="25"
    ),
    starting_after: str | None = _listing(
        "--starting-after", metavar="ID", help="Begin with what follows this object."
    ),
    all: bool | None = _listing("--all", help="List every object, page after page."),  # noqa: A002  the option's name
    max: int | None = _listing(  # noqa: A002  the same
        "--max", metavar="N", help="List N objects, over several pages at need."
    ),
    created_gte: str | None = _listing(
        "--created-gte",
        metavar="TIME",
        help="Created at or after this: 2026-11-21, 2026-11-21T09:00, 7d (ago) or yesterday.",
    ),
    created_gt: str | None = _listing(
        "--created-gt", metavar="TIME", help="Created after this; of a day, after it is over."
    ),
    created_lte: str | None = _listing(
        "--created-lte", metavar="TIME", help="Created at or before this; a day is in it."
    ),
    created_lt: str | None = _listing("--created-lt", metavar="TIME", help="Created before this."),
    param: list[str] | None = _listing(  # noqa: B008  the same
        "--param", metavar="KEY=VALUE", help="Any other query parameter."
    ),
    raw_csv: bool | None = _listing(
        "--raw-csv", help="Leave cells as they are, also those that a spreadsheet would run."
    ),
) -> None: ...


DECLARED: Final[Mapping[Set, Callable[..., None]]] = {
    "preview": _show,
    "everywhere": _global,
    "write": _write,
    "listing": _list,
}


@cache
def options_of(name: Set) -> tuple[Any, ...]:
    """The options of a set, made once for every command of a command line."""
    app = typer.Typer(add_completion=False)
    app.command()(DECLARED[name])
    return tuple(typer.main.get_command(app).params)


@contextmanager
def collecting(ctx: Any, sets: Iterable[Set]) -> Iterator[None]:
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


OrderId = Annotated[
    str, typer.Argument(metavar="ID", help="The order, ord_...", show_default=False)
]
PaymentId = Annotated[
    str, typer.Argument(metavar="ID", help="The payment, pay_...", show_default=False)
]
RefundId = Annotated[
    str, typer.Argument(metavar="ID", help="The refund, rf_...", show_default=False)
]
PayoutId = Annotated[
    str, typer.Argument(metavar="ID", help="The payout, po_...", show_default=False)
]
QuoteId = Annotated[
    str, typer.Argument(metavar="ID", help="The quote, lcq_...", show_default=False)
]
DisputeId = Annotated[
    str, typer.Argument(metavar="ID", help="The dispute, dp_...", show_default=False)
]
EventId = Annotated[
    str, typer.Argument(metavar="ID", help="The event, evt_...", show_default=False)
]


def only(words: Sequence[str]) -> str:
    """The help of an option that lets only some through, with every word that it takes."""
    return f"Only those that are {', '.join(words[:-1])} or {words[-1]}."


Wait = Annotated[
    bool, typer.Option("--wait", help="Wait until it is settled, at most --max-time seconds.")
]
