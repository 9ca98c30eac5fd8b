"""Checks a row of a batch against the service: its currency, and that its last request failed.

A worker (`batch.workers`) calls it for each row, just before the row is sent. If the file has the
currency, the object whose money is moved is read and compared. If the row is sent anew because its
last request made an object that failed, such as a refund, that object is read: it must have failed.
"""

from svc.client import find
from svc.client.client import Client
from svc.client.operations import failure_of
from svc.client.text import one_line
from svc.delivery.rows import RowJob
from svc.errors import Conflict, SvcError


def check_before_sending(client: Client, job: RowJob) -> SvcError | None:
    """Compares a row with the object that it is about; returns the reason not to send it (R119).

    A row that may have been sent before is not compared: its idempotency key prevents a second
    effect.
    """
    if job.intent.sent_before:
        return None
    try:
        return _compare_currency(client, job) or _confirm_failure(client, job)
    except SvcError as error:
        error.outcome = "not_sent"
        return error


def _compare_currency(client: Client, job: RowJob) -> SvcError | None:
    wanted = job.row.compared_currency
    reading = find.money_of(job.call) if wanted is not None else None
    if reading is None:
        return None
    found = client.send(reading).data.get("currency")
    if found == wanted:
        return None
    about = reading.path.rsplit("/", 1)[-1]
    said = f"{about} does not say its currency" if found is None else f"{about} is in {found}"
    return Conflict(
        f"The row says {wanted}, and {one_line(said)}.",
        code="currency_mismatch",
        param="currency",
        outcome="not_sent",
        hint="Correct the row, or take its currency out",
    )


def _confirm_failure(client: Client, job: RowJob) -> SvcError | None:
    if job.failed is None:
        return None
    data = client.send(find.retrieve(job.failed)).data
    if failure_of(job.call, data) is not None:
        return None
    return Conflict(
        f"{job.failed} has not failed: it is {data.get('status')}.",
        code="object_not_failed",
        outcome="not_sent",
        hint=f"See it: svc get {job.failed}",
    )
