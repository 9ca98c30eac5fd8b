"""What an ended job means: for the journal, for the results file, and for the rest of the batch."""

from typing import NamedTuple

from svc.batch.fleet import Ended, Job
from svc.batch.operations import Operation
from svc.batch.results import Line
from svc.batch.rows import Bad
from svc.client.journal.entry import Settled, settled_by, settled_with
from svc.client.journal.refusals import not_ours
from svc.client.replies import NOT_OURS, Reply
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


class Verdict(NamedTuple):
    """One row's end.

    Attributes:
        settled: for the journal; None leaves the request as unresolved as it was.
        total: currency and amount (minor units) that the answer states.
        error: why it is not done, where something went wrong.
        stop: why no other row should be begun.
    """

    job: Job
    settled: Settled | None
    line: Line
    total: tuple[str, int] | None = None
    error: SvcError | None = None
    stop: BaseException | None = None


def stop_of(each: Verdict, *, strained: bool) -> BaseException | None:
    """Why the whole batch ends with a row, or None.

    `strained` says that a row without a definite end is reason enough: the service is down, or rows
    must not overtake each other.
    """
    if each.stop is None and strained and each.line.outcome in OPEN_ENDS:
        return each.error
    return each.stop


def verdict(ended: Ended, operation: Operation) -> Verdict:
    """Judges one job."""
    if ended.reply is not None:
        return _done(ended.job, ended.reply, operation)
    if ended.error is not None:
        return _failed(ended.job, ended.error)
    return _unsent(ended.job, ended.bug)


def error_fields(error: SvcError) -> dict[str, object]:
    """The part of an error that a results line holds."""
    return {
        "code": error.code or error.type,
        "message": redact(error.message),
        "param": error.param,
        "status": error.status,
        "request_id": error.request_id,
    }


def advised_fields(error: SvcError) -> dict[str, object]:
    """The same of an error that leaves it to a person what to do next; the message says what."""
    advice = redact(f"{error.message} {error.hint or ''}".rstrip())
    return {**error_fields(error), "message": advice}


def bad_line(bad: Bad) -> Line:
    """The line of a row that is not sent because it is bad."""
    error = {
        "code": bad.code,
        "message": redact(bad.message),
        "param": bad.param,
        "status": None,
        "request_id": None,
    }
    return Line(bad.number, bad.line, "invalid", None, error)


def _done(job: Job, reply: Reply, operation: Operation) -> Verdict:
    settled = settled_by(reply)
    line = _line(job, "done", identifier=settled.object_id)
    return Verdict(job, settled, line, _total(reply, operation.total))


def _failed(job: Job, error: SvcError) -> Verdict:
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
    return Verdict(job, settled, line, error=error, stop=stop)


def taken(each: Verdict) -> Verdict:
    """What a row's end is whose answer belongs to another request (promise R93)."""
    assert each.settled is not None
    error = not_ours(each.job.intent, each.settled)
    line = _line(each.job, "unknown", error=error_fields(error))
    return Verdict(each.job, None, line, error=error, stop=error)


def _unsent(job: Job, bug: BaseException | None) -> Verdict:
    if job.intent.sent_before or bug is not None:
        return Verdict(job, None, _line(job, "unknown"), stop=bug)
    return Verdict(job, Settled("not_sent"), _line(job, "not_sent"))


def _line(
    job: Job,
    outcome: str,
    *,
    identifier: str | None = None,
    error: dict[str, object] | None = None,
) -> Line:
    key = job.intent.stored.idempotency_key
    return Line(job.row, job.line, outcome, identifier, error, key, job.intent.id)


def _total(reply: Reply, field: str) -> tuple[str, int] | None:
    data = reply.data
    if not field or not isinstance(data, dict):
        return None
    amount, currency = data.get(field), data.get("currency")
    if not isinstance(amount, int) or not isinstance(currency, str):
        return None
    return currency, amount
