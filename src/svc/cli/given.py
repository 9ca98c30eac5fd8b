"""Options that many commands share, and where their values are collected.

They are added to each command's parameters by `cli.app`, so that they are accepted before the
resource and after the verb alike (the verb's value wins) and no command has to name them.

The classes hold their defaults themselves: every command makes them at its start, and a dataclass
takes half a millisecond.
"""

from collections.abc import Callable, Sequence
from typing import Any

from typer.core import TyperOption

from svc.errors import UsageError

FORMATS = ("human", "json", "ndjson", "csv", "id")
COLORS = ("auto", "always", "never")


class GlobalOptions:
    """Values of the global options; None means not given."""

    profile: str | None = None
    live: bool | None = None
    base_url: str | None = None
    api_version: str | None = None
    output: str | None = None
    query: str | None = None
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


class Given:
    """All shared options of one command line."""

    def __init__(self) -> None:
        self.everywhere = GlobalOptions()
        self.write = WriteOptions()
        self.listing = ListOptions()


def global_options() -> list[TyperOption]:
    """Builds the global options anew for one command."""
    option = _into("everywhere", "Global options")
    return [
        option("--profile", metavar="NAME", help="Account settings to use."),
        option("--live/--test", help="Mode; test unless said otherwise.", is_flag=True),
        option("--base-url", metavar="URL", help="API root without /v1."),
        option("--api-version", metavar="DATE", help="Sent as Svc-Version."),
        option("--output", "-o", metavar="FORMAT", help=_choices(FORMATS), check=FORMATS),
        option("--query", metavar="EXPR", help="JMESPath over the whole result."),
        option("--fields", metavar="A,B.C", help="Columns of human lists and csv."),
        option("--max-time", metavar="SECONDS", type=float, help="Total deadline (60)."),
        option("--proxy", metavar="URL", help="Proxy for https origins."),
        option("--ca-bundle", metavar="FILE", help="More certificate authorities."),
        option("--yes", "-y", help="Answer confirmations with yes.", is_flag=True),
        option("--no-input", help="Never prompt.", is_flag=True),
        option("--quiet", "-q", help="Errors only.", is_flag=True),
        option("--verbose", "-v", help="One line per HTTP attempt on stderr.", is_flag=True),
        option("--color", metavar="WHEN", help=_choices(COLORS), check=COLORS),
        option("--utc", help="Times in UTC instead of local.", is_flag=True),
    ]


def write_options() -> list[TyperOption]:
    """Builds the options of every writing command anew."""
    option = _into("write", "Request options")
    return [
        option(
            "--data",
            "-d",
            metavar="PATH=VALUE",
            multiple=True,
            help="Any field: PATH=TEXT, PATH:=JSON, PATH=@FILE; paths as in shipping[country].",
        ),
        option("--body", metavar="FILE|-", help="A JSON object; options and -d win over it."),
        option(
            "--idempotency-key", metavar="KEY", help="Your own key; a new one if it is not given."
        ),
        option(
            "--new-request",
            help="Send it although the same request is unresolved.",
            is_flag=True,
        ),
        option("--dry-run", help="Print the request as JSON and send nothing.", is_flag=True),
        option("--curl", help="Print the same call for curl and send nothing.", is_flag=True),
        option("--form", help="Send the body form-encoded.", is_flag=True),
        option("--json-body", help="Send the body as JSON.", is_flag=True),
    ]


def list_options() -> list[TyperOption]:
    """Builds the options of every listing command anew."""
    option = _into("listing", "List options")
    return [
        option("--limit", metavar="1..100", type=int, help="Objects a page (25)."),
        option("--starting-after", metavar="ID", help="Begin behind this object."),
        option("--all", help="Follow all pages.", is_flag=True),
        option("--max", metavar="N", type=int, help="Stop after N objects; follows pages."),
        option(
            "--created-gte", metavar="TIME", help="Created at or after, as 2026-10-01T09:00:00Z."
        ),
        option("--created-gt", metavar="TIME", help="Created after."),
        option("--created-lte", metavar="TIME", help="Created at or before."),
        option("--created-lt", metavar="TIME", help="Created before."),
        option("--param", metavar="KEY=VALUE", multiple=True, help="Any other query parameter."),
        option("--raw-csv", help="Leave cells as they are that a spreadsheet runs.", is_flag=True),
    ]


def _choices(values: tuple[str, ...]) -> str:
    return f"One of {', '.join(values)}."


def _into(target: str, panel: str) -> Callable[..., TyperOption]:
    def option(*names: str, check: tuple[str, ...] = (), **settings: Any) -> TyperOption:
        def remember(ctx: Any, param: Any, value: Any) -> None:
            if value is None or value == ():
                return
            if check and value not in check:
                raise UsageError(
                    f"{names[0]} is {value!r}.", hint=f"Use one of: {', '.join(check)}"
                )
            setattr(getattr(ctx.obj.given, target), param.name, value)

        return TyperOption(
            param_decls=list(names),
            callback=remember,
            expose_value=False,
            default=None,
            rich_help_panel=panel,
            **settings,
        )

    return option
