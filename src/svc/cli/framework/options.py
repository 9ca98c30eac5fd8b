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

Set = Literal["everywhere", "write", "listing"]


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
    dry_run: bool = False
    curl: bool = False
    form: bool = False
    json_body: bool = False


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
        self.fields: dict[str, Any] = {}
        self.refuse_incomplete: Callable[[Mapping[str, Any], Sequence[str]], None] = _anything


def _anything(body: Mapping[str, Any], argv: Sequence[str]) -> None:
    """A command without fields of its own needs none."""


_everywhere: Final = partial(typer.Option, None, rich_help_panel="Global options")
_writing: Final = partial(typer.Option, None, rich_help_panel="Request options")
_listing: Final = partial(typer.Option, None, rich_help_panel="List options")


_FORMAT_HELP: Final = f"One of {', '.join(FORMATS)}."
_COLOR_HELP: Final = f"One of {', '.join(get_args(Color))}."


def _global(
    profile: str | None = _everywhere("--profile", metavar="NAME", help="Account settings to use."),
    live: bool | None = _everywhere("--live/--test", help="Mode; test unless said otherwise."),
    base_url: str | None = _everywhere("--base-url", metavar="URL", help="API root without /v1."),
    api_version: str | None = _everywhere(
        "--api-version", metavar="DATE", help="Sent as Svc-Version."
    ),
    output: Format | None = _everywhere(  # noqa: B008  Typer reads it
        "--output", "-o", metavar="FORMAT", help=_FORMAT_HELP
    ),
    query: str | None = _everywhere(
        "--query", metavar="EXPR", help="JMESPath over the whole result."
    ),
    raw: bool | None = _everywhere("--raw", help="Texts that --query finds without quotes."),
    fields: str | None = _everywhere(
        "--fields", metavar="A,B.C", help="Columns of human lists and csv."
    ),
    max_time: float | None = _everywhere(
        "--max-time", metavar="SECONDS", help="Total deadline (60)."
    ),
    proxy: str | None = _everywhere("--proxy", metavar="URL", help="Proxy for https origins."),
    ca_bundle: str | None = _everywhere(
        "--ca-bundle", metavar="FILE", help="More certificate authorities."
    ),
    yes: bool | None = _everywhere("--yes", "-y", help="Answer confirmations with yes."),
    no_input: bool | None = _everywhere("--no-input", help="Never prompt."),
    quiet: bool | None = _everywhere("--quiet", "-q", help="Errors only."),
    verbose: bool | None = _everywhere(
        "--verbose", "-v", help="One line per HTTP attempt on stderr."
    ),
    color: Color | None = _everywhere(  # noqa: B008  Typer reads it
        "--color", metavar="WHEN", help=_COLOR_HELP
    ),
    utc: bool | None = _everywhere("--utc", help="Times in UTC instead of local."),
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
        "--idempotency-key", metavar="KEY", help="Your own key; a new one if it is not given."
    ),
    new_request: bool | None = _writing(
        "--new-request", help="Send it although the same request is unresolved."
    ),
    dry_run: bool | None = _writing(
        "--dry-run", help="Print the request as JSON and send nothing."
    ),
    curl: bool | None = _writing("--curl", help="Print the same call for curl and send nothing."),
    form: bool | None = _writing("--form", help="Send the body form-encoded."),
    json_body: bool | None = _writing("--json-body", help="Send the body as JSON."),
) -> None: ...


def _list(
    limit: int | None = _listing("--limit", metavar="1..100", help="Objects a page (25)."),
    starting_after: str | None = _listing(
        "--starting-after", metavar="ID", help="Begin behind this object."
    ),
    all: bool | None = _listing("--all", help="Follow all pages."),  # noqa: A002  the option's name
    max: int | None = _listing(  # noqa: A002  the same
        "--max", metavar="N", help="Stop after N objects; follows pages."
    ),
    created_gte: str | None = _listing(
        "--created-gte", metavar="TIME", help="Created at or after, as 2026-10-01T09:00:00Z."
    ),
    created_gt: str | None = _listing("--created-gt", metavar="TIME", help="Created after."),
    created_lte: str | None = _listing(
        "--created-lte", metavar="TIME", help="Created at or before."
    ),
    created_lt: str | None = _listing("--created-lt", metavar="TIME", help="Created before."),
    param: list[str] | None = _listing(  # noqa: B008  the same
        "--param", metavar="KEY=VALUE", help="Any other query parameter."
    ),
    raw_csv: bool | None = _listing(
        "--raw-csv", help="Leave cells as they are that a spreadsheet runs."
    ),
) -> None: ...


DECLARED: Final[Mapping[Set, Callable[..., None]]] = {
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

Status = Annotated[str | None, typer.Option(metavar="STATUS", help="Only these.")]
Wait = Annotated[
    bool, typer.Option("--wait", help="Wait until it is settled, at most --max-time seconds.")
]
