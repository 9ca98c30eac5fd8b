"""Asking before a list of rows moves money in live mode (promise R19)."""

from svc.batch.operations import Operation
from svc.batch.plan import Plan
from svc.batch.tally import money_planned
from svc.cli.asking import confirm
from svc.cli.batch_report import in_words
from svc.cli.session import Session


def confirm_rows(session: Session, operation: Operation, todo: Plan) -> None:
    """Asks at a terminal, with the totals; elsewhere `--yes` must stand on the command line.

    Raises:
        UsageError: when nobody can be asked and `--yes` is not given, or the answer is no; nothing
            was sent.
    """
    settings = session.settings
    if not operation.moves or settings.mode != "live" or not todo.tasks:
        return
    sums = f" ({in_words(money_planned(todo))})" if operation.total else ""
    what = f"{operation.moves.format(len(todo.tasks))}{sums}"
    where = f"live mode, profile {settings.profile}"
    confirm(session, f"This moves real money: {what}", where, f"{settings.base_url}.")
