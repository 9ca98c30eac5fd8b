"""The options of `svc batch`, and the path of its results file.

Typer fills a `BatchOptions` from the command line; `run`, `rows`, `facts` and `workers` read it.
"""

import os
import re
from pathlib import Path
from typing import Final

import typer

from svc.batch.operations import names
from svc.cli.framework.figures import fill
from svc.cli.framework.options import OptionSet, OverLimit, argument
from svc.delivery.plan import Permissions
from svc.errors import UsageError
from svc.inputs import is_read_once

CONCURRENCY_MAX: Final = 64
LABEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class BatchOptions(OptionSet):
    """The options of one `svc batch`."""

    operation: str = argument("OPERATION", f"One of {', '.join(names())}.")
    file: str = argument("FILE", "A CSV or NDJSON file; - reads NDJSON from standard input.")
    concurrency: int = typer.Option(
        8,
        metavar="N",
        help=f"How many requests are under way at a time, 1 to {CONCURRENCY_MAX}.",
    )
    rate: float | None = typer.Option(None, metavar="N", help="At most so many requests a second.")
    strict_order: bool = typer.Option(
        False, "--strict-order", help="Send one at a time, in the order of the file."
    )
    results: str | None = typer.Option(
        None,
        metavar="FILE",
        help="Where to write the result of each row, one line a row.",
        show_default="FILE.results.ndjson",
    )
    force: bool = typer.Option(
        False, "--force", help="Overwrite a results file that belongs to another batch."
    )
    name: str | None = typer.Option(
        None,
        "--import",
        metavar="NAME",
        help="The name of the batch, the same on every machine; or its id, as in its results file.",
        show_default="the path of FILE, on this machine only",
    )
    run: str | None = typer.Option(
        None,
        "--run",
        metavar="LABEL",
        help="The occasion, such as 2026-11: the same label continues, another does it anew.",
    )
    row_id: str | None = typer.Option(
        None,
        "--row-id",
        metavar="COLUMN",
        help="The column that names a row, such as an invoice number, whatever is corrected in it.",
    )
    again: bool = typer.Option(
        False, "--again", help="Do all rows once more, under a new label, which is printed."
    )
    goes_on: bool = typer.Option(
        False,
        "--continue",
        help=fill("Skip what was done {done_hours} hours ago or more, and send the rest."),
    )
    edited: bool = typer.Option(
        False, "--edited", help="Send rows that look like a done row whose values were changed."
    )
    skip_done: bool = typer.Option(
        False, "--skip-done", help="Count a row as done where a single command has sent the same."
    )
    retry_failed: bool = typer.Option(
        False, "--retry-failed", help="Send rows again whose refund or payout has failed."
    )
    decimals: bool = typer.Option(
        False,
        "--decimals",
        help="Read amounts of a CSV with their currency's own decimals, as list --decimals wrote; "
        "it needs a column currency.",
    )
    raw_csv: bool = typer.Option(
        False, "--raw-csv", help="Take cells as they are, as list --raw-csv wrote."
    )
    blank_means_all: bool = typer.Option(
        False, "--blank-means-all", help="Take a blank amount for all that is left."
    )
    ignore_column: list[str] | None = typer.Option(
        None,
        "--ignore-column",
        metavar="NAME",
        help="A column that is not a field, to be ignored; repeatable.",
    )
    over_limit: OverLimit = False
    dry_run: bool = typer.Option(False, "--dry-run", help="Check every row and send nothing.")

    @property
    def permissions(self) -> Permissions:
        """The options that permit to skip or send rows in doubt: --continue, --edited and such."""
        return Permissions(self.goes_on, self.skip_done, self.retry_failed, self.edited, self.again)

    @property
    def size(self) -> int:
        """How many requests are under way at a time."""
        return 1 if self.strict_order else self.concurrency

    @property
    def lacks_results(self) -> bool:
        """Whether neither --results nor a file names the results file; only a check needs none."""
        return self.results is None and is_read_once(self.file)

    def results_path(self, label: str = "") -> Path:
        """Returns the path of the results file: --results, or a file beside the rows.

        Each `label` (--run) has a results file of its own, named after it.

        Raises:
            UsageError: the rows come from a pipe and --results is missing, or names their file.
        """
        if self.lacks_results:
            raise UsageError(
                "The rows come from a pipe, which cannot be read twice, and no results file is "
                "named. Nothing was sent.",
                code="results_nameless",
                param="--results",
                hint="Add --results FILE",
            )
        # Not Path.resolve, which ends with an error of its own where links lead in a circle.
        file = Path(os.path.realpath(self.file))
        if self.results is None:
            from svc.batch.results import RESULTS_ENDING

            named = f"{file.name}.{label}" if label else file.name
            return file.with_name(named + RESULTS_ENDING)
        path = Path(self.results).absolute()
        if Path(os.path.realpath(path)) == file:
            raise UsageError(
                "The results file is the file of the rows: it would be overwritten.",
                param="--results",
            )
        return path
