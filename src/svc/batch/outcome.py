"""What an ended job means: for the journal, the results file, and the rest of the batch."""

from typing import NamedTuple

from svc.batch.operations import BatchOperation
from svc.batch.results import ResultLine, failure
from svc.batch.rows import Bad
from svc.batch.workers import JobEnd, RowJob
from svc.client.reply import NOT_OURS, Reply
from svc.delivery.journal.entry import Settled, settled_by, settled_with
from svc.delivery.journal.refusals import not_ours
from svc.errors import (
    AuthError,
    Forbidden,
    OutcomeUnknown,
    RateLimited,
    ReplyContradiction,
    SvcError,
    Unauthorized,
    UsageError,
)
from svc.redaction import redact

# The key is refused before the row is looked at, so every other row would fare the same.
_KEY_REFUSED = (Unauthorized, Forbidden)
OPEN_ENDS = ("unknown", "not_sent")
_STOPPING = (AuthError, UsageError, ReplyContradiction)


class RowVerdict(NamedTuple):
    """One row's end.

    Attributes:
        settled: for the journal; None leaves the request as unresolved as it was.
        total: currency and amount (minor units) that the answer states.
        error: why it is not done, where something went wrong.
        stop: why no other row should be begun.
    """

    job: RowJob
    settled: Settled | None
    line: ResultLine
    total: tuple[str, int] | None = None
    error: SvcError | None = None
    stop: BaseException | None = None


def stop_of(each: RowVerdict, *, strained: bool) -> BaseException | None:
    """Why the whole batch ends with a row, or None.

    `strained` says that a row without a definite end is reason enough: the service is down, or rows
    must not overtake each other.
    """
    if each.stop is None and strained and each.line.outcome in OPEN_ENDS:
        return each.error
    return each.stop


def verdict(ended: JobEnd, operation: BatchOperation) -> RowVerdict:
    """Judges one job."""
    if ended.reply is not None:
        return _done(ended.job, ended.reply, operation)
    if ended.error is not None:
        return _failed(ended.job, ended.error)
    return _unsent(ended.job, ended.bug)


def error_fields(error: SvcError) -> dict[str, object]:
    """The part of an error that a results line holds."""
    code, message = error.code or error.type, redact(error.message)
    return failure(code, message, error.param, error.status, error.request_id)


def advised_fields(error: SvcError) -> dict[str, object]:
    """The same of an error that leaves it to a person what to do next; the message says what."""
    advice = redact(f"{error.message} {error.hint or ''}".rstrip())
    return {**error_fields(error), "message": advice}


def bad_line(bad: Bad) -> ResultLine:
    """The line of a row that is not sent because it is bad."""
    error = failure(bad.code, redact(bad.message), bad.param)
    return ResultLine(bad.number, bad.line, "invalid", None, error)


def _done(job: RowJob, reply: Reply, operation: BatchOperation) -> RowVerdict:
    settled = settled_by(reply)
    line = _line(job, "done", identifier=settled.object_id)
    return RowVerdict(job, settled, line, _total(reply, operation.total))


def _failed(job: RowJob, error: SvcError) -> RowVerdict:
    settled: Settled | None = settled_with(error)
    key_refused = isinstance(error, _KEY_REFUSED)
    if key_refused or isinstance(error, RateLimited):
        # Not carried out, and the row's key stays its own (promise R11).
        settled = settled_with(error)._replace(outcome="not_sent")
    elif isinstance(error, AuthError | UsageError):
        # There was no connection to send it over.
        settled = None if job.intent.sent_before else settled_with(error)
    cause = error.__cause__ if isinstance(error, OutcomeUnknown) else None
    is_ours = error.code != NOT_OURS
    stop = error if key_refused or isinstance(error, _STOPPING) or not is_ours else None
    if isinstance(cause, _KEY_REFUSED):
        stop = cause
    outcome = "unknown" if settled is None else settled.outcome
    made = None if settled is None else settled.object_id
    line = _line(job, outcome, identifier=made, error=error_fields(error))
    return RowVerdict(job, settled, line, error=error, stop=stop)


def taken(each: RowVerdict) -> RowVerdict:
    """What a row's end is whose answer belongs to another request (promise R93)."""
    assert each.settled is not None
    error = not_ours(each.job.intent, each.settled)
    line = _line(each.job, "unknown", error=error_fields(error))
    return RowVerdict(each.job, None, line, error=error, stop=error)


def _unsent(job: RowJob, bug: BaseException | None) -> RowVerdict:
    if job.intent.sent_before or bug is not None:
        return RowVerdict(job, None, _line(job, "unknown"), stop=bug)
    return RowVerdict(job, Settled("not_sent"), _line(job, "not_sent"))


def _line(
    job: RowJob,
    outcome: str,
    *,
    identifier: str | None = None,
    error: dict[str, object] | None = None,
) -> ResultLine:
    key = job.intent.stored.idempotency_key
    return ResultLine(job.row, job.line, outcome, identifier, error, key, job.intent.id)


def _total(reply: Reply, field: str) -> tuple[str, int] | None:
    data = reply.data
    if not field or not isinstance(data, dict):
        return None
    amount, currency = data.get(field), data.get("currency")
    if not isinstance(amount, int) or not isinstance(currency, str):
        return None
    return currency, amount
