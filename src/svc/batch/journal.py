"""The journal's side of a batch: rows recorded in groups before they are sent, settled in groups.

One transaction and one fsync serve the intents of many rows (promise R2); another one, which need
not wait for the disk, their ends.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from svc.base_url import BaseUrl
from svc.batch.outcome import RowVerdict, advised_fields
from svc.batch.plan import Task
from svc.batch.results import ResultLine
from svc.batch.workers import RowJob
from svc.client.call import Encoding
from svc.delivery.journal.entry import NOBODY_ELSE, Account, Intent, NewIntent, Settled
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.stored import Scope, Stored, restored
from svc.errors import Conflict, OutcomeUnknown, SvcError


class BatchJournal(NamedTuple):
    """Turns tasks into jobs and keeps how jobs ended.

    `account` is what is known of other keys, `encoding` is the operation's, `api_version` is sent
    with new requests; one that was recorded before is sent as it was (promise R1). `served` gives
    what a sandbox's clock says.
    """

    intents: Journal
    import_id: str
    scope: Scope
    base_url: BaseUrl
    encoding: Encoding
    api_version: str | None
    account: Account = NOBODY_ELSE
    served: Callable[[], float | None] = lambda: None

    def record(self, tasks: Sequence[Task]) -> tuple[list[RowJob], list[ResultLine]]:
        """Commits the requests of tasks; gives the jobs, and the rows that may not be sent now.

        Raises:
            LocalError: they could not be committed; none may be sent.
        """
        try:
            return list(self._jobs(tasks)), []
        except (Conflict, OutcomeUnknown):
            return self._one_by_one(tasks)

    def settle(self, verdicts: Iterable[RowVerdict]) -> frozenset[str]:
        """Keeps how jobs ended, in one transaction; what is undecided stays unresolved.

        Gives the journal's ids of those whose answer belongs to another request (promise R93).
        """
        ends: list[tuple[Intent, Settled]] = []
        for each in verdicts:
            if each.settled is None:
                self.intents.release(each.job.intent)
            else:
                ends.append((each.job.intent, each.settled))
        return self.intents.settle_many(ends) if ends else frozenset()

    def hurry(self, seconds: float) -> None:
        """From now on waits no longer for a journal that another process holds (R78)."""
        self.intents.hurry(seconds)

    def _jobs(self, tasks: Sequence[Task]) -> Iterator[RowJob]:
        calls = [restored(self._stored(task), self.base_url) for task in tasks]
        served_at = self.served()
        asked = [
            NewIntent(
                call,
                prepared,
                self.scope,
                self.import_id,
                task.row.number,
                self.account,
                served_at=served_at,
                same_as=task.row.identity,
            )
            for task, (call, prepared) in zip(tasks, calls, strict=True)
        ]
        intents = self.intents.record_many(asked)
        for task, intent, (call, prepared) in zip(tasks, intents, calls, strict=True):
            yield RowJob(task.row.number, task.row.line, intent, call, prepared)

    def _one_by_one(self, tasks: Sequence[Task]) -> tuple[list[RowJob], list[ResultLine]]:
        """One request of a group is in other hands; the others must not wait for it."""
        jobs: list[RowJob] = []
        lines: list[ResultLine] = []
        for task in tasks:
            try:
                jobs += self._jobs([task])
            except (Conflict, OutcomeUnknown) as error:
                lines.append(_refused(task, error))
        return jobs, lines

    def _stored(self, task: Task) -> Stored:
        if task.intent is not None:
            return task.intent.stored
        row = task.row
        return Stored(row.path, self.encoding, row.body, task.key, self.api_version)


def _refused(task: Task, error: SvcError) -> ResultLine:
    request = task.intent.id if task.intent is not None else error.request
    row = task.row
    return ResultLine(
        row.number, row.line, "unknown", None, advised_fields(error), task.key, request
    )
