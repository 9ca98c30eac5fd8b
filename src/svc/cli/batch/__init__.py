"""`svc batch`: run an operation for every row of a file, each exactly once."""

from math import inf
from typing import Final

import typer

from svc.batch.operations import OPERATIONS
from svc.cli.framework.app import new_app, verb
from svc.cli.framework.options import OptionSet, with_options
from svc.cli.framework.session import Session
from svc.errors import UsageError

app = new_app()

_CONCURRENCY_MAX: Final = 64


class BatchOptions(OptionSet):
    """The options of one `svc batch`."""

    operation: str = typer.Argument(
        metavar="OPERATION", help=f"One of {', '.join(OPERATIONS)}.", show_default=False
    )
    file: str = typer.Argument(
        metavar="FILE",
        help="A CSV or NDJSON file; - reads NDJSON from standard input.",
        show_default=False,
    )
    concurrency: int = typer.Option(
        8,
        metavar="N",
        help=f"How many requests are under way at a time, 1 to {_CONCURRENCY_MAX}.",
    )
    rate: float | None = typer.Option(None, metavar="N", help="At most so many requests a second.")
    strict_order: bool = typer.Option(
        False, "--strict-order", help="Send one at a time, in the order of the file."
    )
    results: str | None = typer.Option(
        None,
        metavar="FILE",
        help="Where to write how each row ended, a line a row.",
        show_default="FILE.results.ndjson",
    )
    force: bool = typer.Option(False, "--force", help="Overwrite a results file of something else.")
    name: str | None = typer.Option(
        None,
        "--import",
        metavar="NAME",
        help="The name of the list.",
        show_default="the path of FILE",
    )
    again: bool = typer.Option(
        False, "--again", help="Send rows that another list has carried out, too."
    )
    goes_on: bool = typer.Option(
        False, "--continue", help="Send the rows that were added since the list was done."
    )
    raw_csv: bool = typer.Option(
        False, "--raw-csv", help="Take cells as they are, as list --raw-csv wrote."
    )
    blank_means_all: bool = typer.Option(
        False, "--blank-means-all", help="Take a blank amount for all that is left."
    )
    dry_run: bool = typer.Option(False, "--dry-run", help="Check every row and send nothing.")

    @property
    def size(self) -> int:
        """Requests at a time."""
        return 1 if self.strict_order else self.concurrency


@verb(app)
@with_options(BatchOptions)
def batch(ctx: typer.Context, asked: BatchOptions) -> None:
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
    if not 1 <= asked.concurrency <= _CONCURRENCY_MAX:
        raise UsageError(f"--concurrency is 1 to {_CONCURRENCY_MAX}.", param="--concurrency")
    if asked.rate is not None and not 0 < asked.rate < inf:
        raise UsageError("--rate is more than 0.", param="--rate")
    from svc.cli.batch.run import check_list, run_list

    session = Session.of(ctx)
    session.is_long_running()
    (check_list if asked.dry_run else run_list)(session, asked)
