"""Asking before a list of rows moves money in live mode (promise R19)."""

from svc.batch.operations import Operation
from svc.batch.plan import Plan
from svc.batch.tally import money_planned
from svc.cli.batch_report import in_words
from svc.cli.confirm import is_yes
from svc.cli.session import Session
from svc.errors import UsageError


def confirm_rows(session: Session, operation: Operation, todo: Plan) -> None:
    """Asks at a terminal, with the totals; elsewhere `--yes` must stand on the command line.

    Raises:
        UsageError: when nobody can be asked and `--yes` is not given, or the answer is no; nothing
            was sent.
    """
    settings = session.settings
    if not operation.moves or settings.mode != "live" or session.given.everywhere.yes:
        return
    if not todo.tasks:
        return
    sums = f" ({in_words(money_planned(todo))})" if operation.total else ""
    action = operation.moves.format(len(todo.tasks))
    what = f"{action}{sums}, live mode, profile {settings.profile}"
    if session.given.everywhere.no_input or not session.streams.person_answers:
        raise UsageError(f"This moves real money ({what}).", hint="Add --yes to go ahead")
    if not is_yes(session, f"About to {what}", f"{settings.base_url}."):
        raise UsageError("Stopped: the answer was not yes. Nothing was sent.")
