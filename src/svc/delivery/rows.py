"""Records the rows of a batch in the journal before they are sent, and settles them, in groups.

One transaction with one fsync records many rows (promise R2). Another transaction, which does not
wait for the disk, settles them.

The loop of `batch.run` calls it: tasks in, jobs for the workers out; then results in, outcomes out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Final, NamedTuple

from svc.base_url import BaseUrl
from svc.client.call import Call, Encoding
from svc.client.contradiction import CONTRADICTED
from svc.client.refusal import NOT_OURS, is_about_key
from svc.client.reply import Reply
from svc.client.request import Prepared
from svc.delivery.evidence import Evidence, Known
from svc.delivery.journal.batches import BatchName
from svc.delivery.journal.entry import (
    KEY_REUSED,
    NO_OTHER_KEYS,
    OBJECT_FAILED,
    Charge,
    Intent,
    KeyEquivalence,
    NewIntent,
    Settled,
    Stored,
    restore_call,
    settle_by_error,
    settle_by_reply,
)
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.limits import LimitReachedError
from svc.delivery.journal.refusals import ROW_KNOWN_OTHERWISE, build_not_ours
from svc.delivery.plan import BatchRow, Task
from svc.errors import (
    AuthError,
    CheckFailed,
    Conflict,
    Forbidden,
    LocalError,
    Outcome,
    OutcomeUnknown,
    RateLimited,
    ReplyContradiction,
    SvcError,
    Unauthorized,
    UsageError,
)

# The key is refused before the row is looked at, so every other row would fare the same.
_KEY_REFUSED: Final = (Unauthorized, Forbidden)
# The code of a refusal that names none: something answered in the service's place.
NOT_BY_SERVICE: Final = "refused_by_gateway"
_OPEN_ENDS: Final = ("unknown", "not_sent")
_STOPPING: Final = (AuthError, UsageError, ReplyContradiction)


class RowJob(NamedTuple):
    """The recorded request of a row.

    Attributes:
        failed: the id of the object of its last request; the row is sent only if it has failed.
    """

    row: BatchRow
    intent: Intent
    call: Call
    prepared: Prepared
    failed: str | None = None


class RowEnd(NamedTuple):
    """The result of a job, and its consequences.

    Attributes:
        settled: the outcome for the journal; None leaves the request unresolved.
        outcome: the outcome for the results file.
        reply: the answer; None also if no request was sent.
        error: why the row is not done, or None.
        stop: why no other row should be begun, or None.
        is_spent: whether the service only repeated an earlier refusal, so that the row's next key
            has to be sent.
        is_open: whether the service gave no definite answer.
    """

    job: RowJob
    settled: Settled | None
    outcome: Outcome
    reply: Reply | None = None
    error: SvcError | None = None
    stop: BaseException | None = None
    is_spent: bool = False

    @property
    def is_open(self) -> bool:
        return self.settled is None or self.settled.outcome in _OPEN_ENDS


def classify_claimed_by_other(end: RowEnd) -> RowEnd:
    """Builds the result of a row whose answer belongs to another request (promise R93)."""
    assert end.settled is not None
    error = build_not_ours(end.job.intent, end.settled)
    return RowEnd(end.job, None, "unknown", error=error, stop=error)


def stop_of(end: RowEnd, *, strained: bool) -> BaseException | None:
    """Returns why a row stops the whole batch, or None.

    With `strained` a row without a definite outcome stops it: the service is failing, or rows have
    to be sent in order.
    """
    if end.stop is None and strained and end.is_open:
        return end.error
    return end.stop


def classify_unsent(job: RowJob, bug: BaseException | None = None) -> RowEnd:
    """Builds the result of a job whose request was not sent, or was stopped by a bug of svc."""
    if job.intent.sent_before or bug is not None:
        return RowEnd(job, None, "unknown", stop=bug)
    return RowEnd(job, Settled("not_sent"), "not_sent")


def classify_reply(job: RowJob, reply: Reply) -> RowEnd:
    """Classifies an answer for the journal, the results file and the other rows."""
    settled = settle_by_reply(reply)
    if reply.failure is None:
        return RowEnd(job, settled, "done", reply)
    failed = CheckFailed(
        f"It was carried out, and has failed: {reply.failure}.",
        code=settled.error_code,
        outcome="failed",
        status=reply.status,
        request_id=reply.request_id,
        hint=f"svc get {settled.object_id}",
    )
    return RowEnd(job, settled, "failed", reply, failed)


def classify_error(job: RowJob, error: SvcError) -> RowEnd:
    """Classifies an error for the journal, the results file and the other rows."""
    if isinstance(error, Conflict) and is_about_key(error.type, error.code):
        return _classify_taken_key(job, error)
    settled: Settled | None = settle_by_error(error)
    key_refused = isinstance(error, _KEY_REFUSED)
    if key_refused or isinstance(error, RateLimited):
        # Not carried out, and the row's key stays its own (promise R11).
        settled = settle_by_error(error)._replace(outcome="not_sent")
    elif isinstance(error, AuthError | UsageError):
        # There was no connection to send it over.
        settled = None if job.intent.sent_before else settle_by_error(error)
    cause = error.__cause__ if isinstance(error, OutcomeUnknown) else None
    is_ours = error.code != NOT_OURS
    stop = error if key_refused or isinstance(error, _STOPPING) or not is_ours else None
    if isinstance(error, ReplyContradiction) and _was_contradicted(job.intent):
        stop = None  # it was told to a person, who has run the others again
    if isinstance(cause, _KEY_REFUSED):
        stop = cause
    outcome: Outcome = "unknown" if settled is None else settled.outcome
    if outcome == "refused" and not error.proved:
        error.code = error.code or NOT_BY_SERVICE
    spent = outcome == "refused" and error.replayed and not job.intent.key_given
    return RowEnd(job, settled, outcome, error=error, stop=stop, is_spent=spent)


def _was_contradicted(intent: Intent) -> bool:
    """Whether an answer of an earlier run contradicted the row: then it is in doubt alone."""
    return intent.settled is not None and intent.settled.error_code == CONTRADICTED


def _classify_taken_key(job: RowJob, error: SvcError) -> RowEnd:
    """Classifies an error that says that the row's key was used with other parameters.

    If these were refused, the row has been corrected since, and its next key is sent. Otherwise the
    old row may have been carried out, by another machine or before the journal was lost.
    """
    if job.intent.is_refused_for_good and not job.intent.key_given:
        return RowEnd(job, job.intent.settled, "refused", error=error, is_spent=True)
    settled = settle_by_error(error)._replace(error_code=KEY_REUSED, proved=False)
    told = ROW_KNOWN_OTHERWISE.about(job.intent, answer=error)
    return RowEnd(job, settled, "unknown", error=told)


# How a request ended of which a results file tells, by what that says; None where it is open.
_TOLD: Final[dict[Known, Callable[[Evidence], Settled | None]]] = {
    Known.UNKNOWN: lambda _: None,
    Known.KEY_TAKEN: lambda _: Settled("refused", error_code=KEY_REUSED),
    Known.FAILED: lambda one: Settled("done", None, one.object_id, error_code=OBJECT_FAILED),
    Known.CONTRADICTED: lambda one: Settled("done", None, one.object_id, error_code=CONTRADICTED),
    Known.DONE: lambda one: Settled("done", None, one.object_id, world=one.world),
}


class RowJournal(NamedTuple):
    """Turns tasks into jobs and keeps how jobs ended.

    `account` is what is known of other keys, `encoding` is the operation's, `api_version` is sent
    with new requests; one that was recorded before is sent as it was (promise R1). `served` gives
    what a sandbox's clock says, `charges` what rows move, by their numbers, where limits hold.
    """

    journal: Journal
    batch: BatchName
    base_url: BaseUrl
    encoding: Encoding
    api_version: str | None
    account: KeyEquivalence = NO_OTHER_KEYS
    served: Callable[[], float | None] = lambda: None
    charges: Mapping[int, Charge] = MappingProxyType({})

    def record(self, tasks: Sequence[Task]) -> tuple[list[RowJob], list[tuple[Task, SvcError]]]:
        """Commits the requests of tasks; returns the jobs, and the tasks that may not be sent now.

        Raises:
            LocalError: the requests could not be committed; none may be sent.
        """
        try:
            return list(self._jobs(tasks)), []
        except (Conflict, LimitReachedError, OutcomeUnknown):
            return self._one_by_one(tasks)

    def keep_known_from_results(
        self, told: Iterable[tuple[Evidence, BatchRow | None]], path: str
    ) -> None:
        """Records outcomes that only a results file has, so that they outlive that file (R116).

        `path` is that of requests whose row is gone. These, and requests whose row has other
        parameters now, are recorded without a body.
        """
        found: list[tuple[NewIntent, Settled | None]] = []
        for one, row in told:
            is_same = row is not None and row.alike == one.alike
            if one.known is Known.UNKNOWN and not is_same:
                continue  # it could not be sent again
            body = row.body if row is not None and is_same else b""
            kept = Stored(row.path if row else path, self.encoding, body, one.key, self.api_version)
            asked = NewIntent(
                kept,
                self.batch.scope._replace(
                    key_fingerprint=one.key_fingerprint or self.batch.scope.key_fingerprint
                ),
                self.batch.id,
                one.row,
                server_time=one.server_time,
                alike=(row.digest if row is not None and is_same else one.alike, one.alike),
                row_id=one.row_id,
                first_sent_at=one.at,
            )
            found.append((asked, _TOLD[one.known](one)))
        self.journal.keep_known_from_results(found)

    def settle(self, ends: Iterable[RowEnd]) -> frozenset[str]:
        """Settles jobs in one transaction; a job without an outcome stays unresolved.

        Returns the ids of requests whose answer belongs to another request (promise R93).
        """
        kept: list[tuple[Intent, Settled]] = []
        for each in ends:
            if each.settled is None:
                self.journal.release(each.job.intent)
            else:
                kept.append((each.job.intent, each.settled))
        return self.journal.settle_many(kept) if kept else frozenset()

    def find_claimed_by_others(self, ends: Iterable[RowEnd]) -> frozenset[str]:
        """Returns the result of `settle` from a journal that cannot be written (promise R93)."""
        with suppress(LocalError):
            return frozenset(
                each.job.intent.id
                for each in ends
                if each.settled is not None and each.settled.object_id is not None
                if self.journal.is_claimed_by_other(
                    each.job.intent, each.settled.object_id, each.settled.world
                )
            )
        return frozenset()

    def _jobs(self, tasks: Sequence[Task]) -> Iterator[RowJob]:
        kept = [self._bytes_of(task) for task in tasks]
        calls = [restore_call(one, self.base_url) for one in kept]
        server_time = self.served()
        asked = [
            NewIntent(
                stored,
                self.batch.scope,
                self.batch.id,
                task.row.number,
                self.account,
                key_given=task.row.given_key is not None,
                server_time=server_time,
                alike=(task.row.digest, task.row.alike or task.row.likeness),
                row_id=task.row.row_id,
                first_sent_at=task.sent_at,
                charge=self.charges.get(task.row.number),
            )
            for task, stored in zip(tasks, kept, strict=True)
        ]
        intents = self.journal.record_many(asked)
        for task, intent, (call, prepared) in zip(tasks, intents, calls, strict=True):
            yield RowJob(task.row, intent, call, prepared, task.failed)

    def _one_by_one(
        self, tasks: Sequence[Task]
    ) -> tuple[list[RowJob], list[tuple[Task, SvcError]]]:
        """Records tasks one by one, after one request of the group could not be recorded."""
        jobs: list[RowJob] = []
        refused: list[tuple[Task, SvcError]] = []
        for task in tasks:
            try:
                jobs += self._jobs([task])
            except (Conflict, LimitReachedError, OutcomeUnknown) as error:
                refused.append((task, error))
        return jobs, refused

    def _bytes_of(self, task: Task) -> Stored:
        if task.intent is not None and task.intent.stored.body:
            return task.intent.stored
        return Stored(task.row.path, self.encoding, task.row.body, task.key, self.api_version)
