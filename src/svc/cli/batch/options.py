"""The options of `svc batch`, and the path of its results file.

Typer fills a `BatchOptions` from the command line; `run`, `rows`, `facts` and `workers` read it.
"""

import os
import re
from pathlib import Path
from typing import Final

from svc.batch.operations import names
from svc.cli.framework.options import OVER_LIMIT, OptionSet, argument, flag, option
from svc.delivery.plan import Permissions
from svc.errors import UsageError
from svc.inputs import is_read_once

CONCURRENCY_MAX: Final = 64
LABEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class BatchOptions(OptionSet):
    """The options of one `svc batch`."""

    operation: str = argument("OPERATION", f"One of {', '.join(names())}.")
    file: str = argument("FILE", "A CSV or NDJSON file; - reads NDJSON from standard input.")
    concurrency: int = option(
        "N", f"How many requests are under way at a time, 1 to {CONCURRENCY_MAX}.", default=8
    )
    rate: float | None = option("N", "At most so many requests a second.")
    strict_order: bool = flag("--strict-order", "Send one at a time, in the order of the file.")
    results: str | None = option(
        "FILE",
        "Where to write the result of each row, one line a row.",
        show_default="FILE.results.ndjson",
    )
    force: bool = flag("--force", "Overwrite a results file that belongs to another batch.")
    name: str | None = option(
        "NAME",
        "The name of the batch, the same on every machine; or its id, as in its results file.",
        "--import",
        show_default="the path of FILE, on this machine only",
    )
    run: str | None = option(
        "LABEL", "The occasion, such as 2026-11: the same label continues, another does it anew."
    )
    row_id: str | None = option(
        "COLUMN",
        "The column that names a row, such as an invoice number, whatever is corrected in it.",
    )
    again: bool = flag("--again", "Do all rows once more, under a new label, which is printed.")
    goes_on: bool = flag(
        "--continue", "Skip what was done {done_hours} hours ago or more, and send the rest."
    )
    edited: bool = flag(
        "--edited", "Send rows that look like a done row whose values were changed."
    )
    skip_done: bool = flag(
        "--skip-done", "Count a row as done where a single command has sent the same."
    )
    retry_failed: bool = flag(
        "--retry-failed", "Send rows again whose refund or payout has failed."
    )
    decimals: bool = flag(
        "--decimals",
        "Read amounts of a CSV with their currency's own decimals, as list --decimals wrote; "
        "it needs a column currency.",
    )
    raw_csv: bool = flag("--raw-csv", "Take cells as they are, as list --raw-csv wrote.")
    blank_means_all: bool = flag("--blank-means-all", "Take a blank amount for all that is left.")
    ignore_column: list[str] | None = option(
        "NAME", "A column that is not a field, to be ignored; repeatable."
    )
    over_limit: bool = OVER_LIMIT
    dry_run: bool = flag("--dry-run", "Check every row and send nothing.")

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
