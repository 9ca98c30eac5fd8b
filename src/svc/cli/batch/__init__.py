"""`svc batch OPERATION FILE`: runs an operation for every row of a file, each exactly once.

Begin with `run`, the steps of one run: `options` are typed, `rows` reads the file, `facts` collects
what is known, `svc.delivery.planner` decides, `workers` starts `svc.batch` on what is left,
`report` prints.
"""

from math import inf

from svc.cli.batch.options import CONCURRENCY_MAX, LABEL, BatchOptions
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.session import Session
from svc.errors import UsageError

app = make_app()


@verb(app, options=BatchOptions)
def batch(session: Session, options: BatchOptions) -> None:
    """Run an operation for every row of a CSV or NDJSON file, each exactly once.

    Each column of a CSV names a field. Brackets name a field inside another, such as
    shipping[country] or, of the first item, items[0][name]. Rows that change something have a
    column id. What `list --all -o csv` wrote is taken back. A column idempotency_key has a key of
    your own for each row; a column that is not a field stops the batch, unless --ignore-column
    names it.

    On one machine: a row that was done is skipped, wherever it stands in the file. A row whose
    outcome is unknown is sent again with its own idempotency key. A row that a single command has
    done since, or in the {duplicate_days} days before, is left out; --skip-done counts the row as done. Rows
    that were done {done_hours} hours ago or more stop the batch: --continue skips them, --run LABEL does
    them all as a new occasion; within {duplicate_days} days it needs --again as well. A done row that was changed stops it too, in a file of another name as
    well, or is left out where --row-id names it: --edited sends it.

    On two machines: with --import NAME all make the same keys, and within {service_hours} hours of its first
    sending the service does no row twice. There a corrected row is known by --row-id alone. A
    machine that knows nothing of the batch reads its results file, which a killed run has left
    incomplete. Live rows from a pipe, or on a machine without a journal (its record of what was
    sent), need --import.

    After {service_hours} hours: a row whose outcome is unknown is not sent any more; its line says where to
    look. The hours count by this machine's clock and by the service's Date, where it has answered.
    What another account has done is never skipped.

    To go on after an interruption, or when rows were corrected or added, run the same command
    again. A batch is known by the path of its file, or by --import NAME.

    $ svc batch refunds.create refunds.csv --dry-run
    $ svc batch refunds.create refunds.csv --results refunded.ndjson
    $ svc batch payouts.create payouts.csv --rate 20 --import salaries --run 2026-11 --live --yes
    $ svc orders list --status authorized --all -o csv --fields id > held.csv && svc batch orders.capture held.csv
    """  # noqa: E501  an example is one line
    if not 1 <= options.concurrency <= CONCURRENCY_MAX:
        raise UsageError(
            f"--concurrency must be from 1 to {CONCURRENCY_MAX}.", param="--concurrency"
        )
    if options.rate is not None and not 0 < options.rate < inf:
        raise UsageError("--rate must be more than 0.", param="--rate")
    if options.run is not None and not LABEL.fullmatch(options.run):
        raise UsageError(
            f"--run {options.run!r} is not a valid label.",
            param="--run",
            hint="A label is 1 to 64 letters, digits, dots, _ or -, such as 2026-11",
        )
    from svc.cli.batch.run import check_batch, run_batch

    session.prepare_long_run()
    (check_batch if options.dry_run else run_batch)(session, options)
