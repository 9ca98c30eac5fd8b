"""Jobs that broke: out of the others' way for a minute at a time, and never given up."""

import logging
from typing import Final

from svc.sandbox.jobs import Job
from svc.sandbox.times import SECOND

RETRY_SECONDS: Final = 60  # of the sandbox's clock

_log: Final = logging.getLogger(__name__)


class Parking:
    """Broken jobs by number, each with the moment (microseconds) at which it is tried again.

    The first failure of a job is logged with its cause, and its success after that as well.
    """

    def __init__(self) -> None:
        self._until: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._until)

    def park(self, job: Job, now: int) -> None:
        """Sets a job aside; to be called while its exception is handled."""
        if job.seq not in self._until:
            _log.exception(
                "the job %s of %s broke; it is tried again every %d seconds and at each advance",
                job.name,
                job.subject,
                RETRY_SECONDS,
            )
        self._until[job.seq] = now + RETRY_SECONDS * SECOND

    def done(self, job: Job) -> None:
        """Forgets a job that went through."""
        if self._until.pop(job.seq, None) is not None:
            _log.warning("the job %s of %s broke before and is done now", job.name, job.subject)

    def held(self, now: int) -> list[int]:
        """The jobs that are not to be tried yet."""
        return [seq for seq, until in self._until.items() if until > now]

    def next(self, now: int) -> int | None:
        """When the first of them is tried again."""
        return min((until for until in self._until.values() if until > now), default=None)

    def clear(self) -> None:
        """Begins anew: whatever is still there is tried again at the next occasion."""
        self._until.clear()
