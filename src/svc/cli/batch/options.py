"""The options of `svc batch`, and where its results go."""

import os
from pathlib import Path
from typing import Final

import typer

from svc.batch.operations import OPERATIONS
from svc.cli.framework.options import OptionSet, argument
from svc.errors import UsageError
from svc.inputs import STDIN

CONCURRENCY_MAX: Final = 64


class BatchOptions(OptionSet):
    """The options of one `svc batch`."""

    operation: str = argument("OPERATION", f"One of {', '.join(OPERATIONS)}.")
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
    ignore_column: list[str] | None = typer.Option(
        None,
        "--ignore-column",
        metavar="NAME",
        help="A column that is no field, to be left out; repeatable.",
    )
    dry_run: bool = typer.Option(False, "--dry-run", help="Check every row and send nothing.")

    @property
    def size(self) -> int:
        """Requests at a time."""
        return 1 if self.strict_order else self.concurrency

    @property
    def lacks_results(self) -> bool:
        """Whether it is not said where the results go: a check can do without, a run cannot."""
        return self.results is None and self.file == STDIN

    def results_path(self) -> Path:
        """Where the results go: beside the file unless they were given a name of their own.

        Raises:
            UsageError: there is no file to lie beside, or it is the file itself.
        """
        if self.lacks_results:
            raise UsageError(
                "The results of rows from standard input need a file.",
                param="--results",
                hint="Add --results FILE",
            )
        # Not Path.resolve, which ends with an error of its own where links lead in a circle.
        file = Path(os.path.realpath(self.file))
        if self.results is None:
            from svc.batch.results import RESULTS_ENDING

            return file.with_name(file.name + RESULTS_ENDING)
        path = Path(self.results).absolute()
        if Path(os.path.realpath(path)) == file:
            raise UsageError("The results would overwrite the rows.", param="--results")
        return path
