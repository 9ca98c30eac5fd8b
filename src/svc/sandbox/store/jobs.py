"""The table of jobs: what is to happen at which moment of the sandbox's clock.

`Transaction.schedule` adds a job, `jobs.runner` takes due ones. A job that raised an exception is
set aside for a minute at a time, and never given up.
"""

import json
import logging
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from svc.errors import LocalError
from svc.sandbox.clock import LAST, SECOND
from svc.sandbox.store.sqlite import Store

ATTEMPT = "webhook.attempt"  # the engine's own jobs; all others belong to its `handlers`
DISABLE = "webhook.disable"
LANES = (ATTEMPT, DISABLE)  # what runs in the lane of an endpoint
MAIN = ""  # the lane of ordinary jobs; each webhook endpoint has a lane named by its id

_FIELDS = "seq, due, mode, name, subject, args, lane"


class Job(NamedTuple):
    """One thing to do: `due` is what its handler sees as now, in microseconds."""

    seq: int
    due: int
    mode: str
    name: str
    subject: str
    written: str
    lane: str

    @property
    def args(self) -> dict[str, Any]:
        """What it was scheduled with; raises ValueError: damaged; the runner sets the job aside."""
        return _read(self.due, self.written)


def add(
    store: Store,
    mode: str,
    due: int,
    name: str,
    subject: str,
    args: Mapping[str, Any],
    lane: str = MAIN,
) -> None:
    """Schedules a job for `due` (microseconds)."""
    sql = "INSERT INTO jobs(due, mode, name, subject, args, lane) VALUES(?, ?, ?, ?, ?, ?)"
    store.write(sql, due, mode, name, subject, json.dumps(args), lane)


def cancel(store: Store, mode: str, name: str, subject: str) -> None:
    """Deletes the jobs of this name and subject."""
    store.write("DELETE FROM jobs WHERE subject = ? AND name = ? AND mode = ?", subject, name, mode)


def finish(store: Store, job: Job) -> bool:
    """Deletes a job in the transaction of its effects; false if it was gone already.

    Numbers begin anew with a reset, so name and subject must be the job's as well.
    """
    sql = "DELETE FROM jobs WHERE seq = ? AND name = ? AND subject = ?"
    return store.write(sql, job.seq, job.name, job.subject) > 0


def of_subject(store: Store, name: str, subject: str) -> list[Job]:
    """The jobs of this name and subject, in the order in which they run."""
    sql = f"SELECT {_FIELDS} FROM jobs WHERE subject = ? AND name = ? ORDER BY due, seq"  # noqa: S608
    return [Job(*row) for row in store.all(sql, subject, name)]


def next_due(store: Store, lane: str, busy: Collection[int] = ()) -> int | None:
    """The earliest due moment (microseconds) in a lane; `busy` are jobs to leave out.

    A moment that is no date counts as the nearest one that is.
    """
    marks = ",".join("?" * len(busy))
    sql = f"SELECT MIN(due) FROM jobs WHERE lane = ? AND seq NOT IN ({marks})"  # noqa: S608
    ((due,),) = store.all(sql, lane, *busy)
    return None if due is None else min(max(due, 0), LAST)


def earliest(moments: Iterable[int | None]) -> int | None:
    """The first of the moments that there are, or None."""
    return min((moment for moment in moments if moment is not None), default=None)


def due(store: Store, lane: str, until: int, limit: int, busy: Collection[int]) -> list[Job]:
    """A lane's jobs due at or before `until`, in the order in which they run."""
    marks = ",".join("?" * len(busy))
    sql = (
        f"SELECT {_FIELDS} FROM jobs WHERE lane = ? AND due <= ? AND seq NOT IN ({marks})"  # noqa: S608
        " ORDER BY due, seq LIMIT ?"
    )
    return [Job(*row) for row in store.all(sql, lane, until, *busy, limit)]


def check(row: Mapping[str, Any], names: Collection[str]) -> None:
    """Checks a row of the table from an import; `names` are the existing jobs.

    Raises:
        ValueError: what is wrong with it.
    """
    _read(row["due"], row["args"])
    if row["name"] not in names:
        raise ValueError(f"no job is called {row['name']}")
    if (row["name"] in LANES) == (row["lane"] == MAIN):
        raise ValueError(f"the lane of {row['name']} is not {row['lane'] or 'empty'}")


def _read(due: int, written: str) -> dict[str, Any]:
    args = None
    with suppress(ValueError):
        args = json.loads(written)
    if not isinstance(args, dict) or not 0 <= due <= LAST:
        why = "its row cannot be read: args are an object, due is a moment before 10000"
        raise ValueError(why)
    return args


RETRY_SECONDS: Final = 60  # of the sandbox's clock

_log: Final = logging.getLogger(__name__)


class BrokenJobs:
    """Broken jobs by number, each with the moment (microseconds) at which it is tried again.

    The first failure of a job is logged with its cause, and its success after that as well.
    """

    def __init__(self) -> None:
        self._until: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._until)

    def add(self, job: Job, now: int, error: Exception) -> None:
        """Sets a job aside; one that could not be saved is logged without a traceback."""
        if job.seq not in self._until:
            unsaved = isinstance(error, LocalError)
            _log.error(
                "the job %s of %s broke%s; it is tried again every %d seconds and at each advance",
                job.name,
                job.subject,
                f" ({error})" if unsaved else "",
                RETRY_SECONDS,
                exc_info=None if unsaved else error,
            )
        self._until[job.seq] = now + RETRY_SECONDS * SECOND

    def done(self, job: Job) -> None:
        """Removes a job that has succeeded."""
        if self._until.pop(job.seq, None) is not None:
            _log.warning("the job %s of %s broke before and is done now", job.name, job.subject)

    def list_waiting(self, now: int) -> list[int]:
        """The jobs that are not to be tried yet."""
        return [seq for seq, until in self._until.items() if until > now]

    def next(self, now: int) -> int | None:
        """When the first of the waiting jobs is tried again (microseconds), or None."""
        return earliest(until for until in self._until.values() if until > now)

    def forget_after(self, now: int) -> None:
        """Forgets what broke after a moment (microseconds): the clock was set back to it."""
        latest = now + RETRY_SECONDS * SECOND
        self._until = {seq: until for seq, until in self._until.items() if until <= latest}

    def clear(self) -> None:
        """Begins anew: whatever is still there is tried again at the next occasion."""
        self._until.clear()
