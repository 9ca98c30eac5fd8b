"""`svc batch`: run an operation for every row of a file, each exactly once."""

from math import inf
from typing import Annotated, Final

import typer

from svc.batch.operations import OPERATIONS
from svc.cli.framework.app import new_app, verb
from svc.cli.framework.session import Session
from svc.errors import UsageError

app = new_app()

_CONCURRENCY_MAX: Final = 64


@verb(app)
def batch(
    ctx: typer.Context,
    operation: Annotated[
        str,
        typer.Argument(
            metavar="OPERATION", help=f"One of {', '.join(OPERATIONS)}.", show_default=False
        ),
    ],
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A CSV or NDJSON file; - reads NDJSON from standard input.",
            show_default=False,
        ),
    ],
    concurrency: Annotated[
        int,
        typer.Option(
            metavar="N", help=f"How many requests are under way at a time, 1 to {_CONCURRENCY_MAX}."
        ),
    ] = 8,
    rate: Annotated[
        float | None, typer.Option(metavar="N", help="At most so many requests a second.")
    ] = None,
    strict_order: Annotated[
        bool, typer.Option("--strict-order", help="Send one at a time, in the order of the file.")
    ] = False,
    results: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where to write how each row ended, a line a row.",
            show_default="FILE.results.ndjson",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite a results file of something else.")
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(
            "--import",
            metavar="NAME",
            help="The name of the list.",
            show_default="the path of FILE",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Send rows that another list has carried out, too.")
    ] = False,
    goes_on: Annotated[
        bool,
        typer.Option("--continue", help="Send the rows that were added since the list was done."),
    ] = False,
    raw_csv: Annotated[
        bool, typer.Option("--raw-csv", help="Take cells as they are, as list --raw-csv wrote.")
    ] = False,
    blank_means_all: Annotated[
        bool,
        typer.Option("--blank-means-all", help="Take a blank amount for all that is left."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check every row and send nothing.")
    ] = False,
) -> None:
    """Run an operation for every row of a CSV or NDJSON file, each exactly once.

    The columns of a CSV are bracket paths, such as amount or items[0][name]; rows that change
    something have a column id. What `list --all -o csv` wrote is taken back.

    To go on after an interruption, or when rows were corrected or added, run the same command
    again: rows that were carried out are skipped, rows whose outcome is unknown are sent with
    their own idempotency key. A list is known by the path of its file, or by --import NAME.

    $ svc batch refunds.create refunds.csv --dry-run
    $ svc batch refunds.create refunds.csv --results refunded.ndjson
    $ svc batch payouts.create payouts.csv --rate 20 --import salaries-2026-11 --live --yes
    $ svc orders list --status authorized --all -o csv --fields id > held.csv && svc batch orders.capture held.csv
    """  # noqa: E501  an example is one line
    if not 1 <= concurrency <= _CONCURRENCY_MAX:
        raise UsageError(f"--concurrency is 1 to {_CONCURRENCY_MAX}.", param="--concurrency")
    if rate is not None and not 0 < rate < inf:
        raise UsageError("--rate is more than 0.", param="--rate")
    from svc.cli.batch.rows import BatchOptions
    from svc.cli.batch.run import check_list, run_list

    asked = BatchOptions(
        operation=operation,
        file=file,
        size=1 if strict_order else concurrency,
        in_order=strict_order,
        rate=rate,
        results=results,
        force=force,
        name=name,
        again=again,
        goes_on=goes_on,
        raw_csv=raw_csv,
        blank_means_all=blank_means_all,
    )
    session = Session.of(ctx)
    session.is_long_running()
    (check_list if dry_run else run_list)(session, asked)
