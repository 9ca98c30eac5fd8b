"""A job handler that notes what ran, and jobs for it."""

from typing import Any

from svc.sandbox.store.jobs import Job
from svc.sandbox.store.transaction import Transaction
from unit.sandbox.lab import Lab


class Diary:
    """A job handler that notes what ran, when the world said it was, and with what."""

    def __init__(self, lab: Lab) -> None:
        self.entries: list[tuple[str, str, str]] = []
        lab.handlers.update(note=self.note, again=self.again, breaks=self.breaks, stops=self.stops)

    def note(self, tx: Transaction, job: Job) -> None:
        assert job.mode == tx.mode
        assert job.due == tx.now_micros
        self.entries.append((tx.now_text[11:19], job.subject, str(job.args.get("x", ""))))

    def again(self, tx: Transaction, job: Job) -> None:
        self.note(tx, job)
        tx.schedule(job.args["every"], "again", job.subject, **job.args)

    def breaks(self, tx: Transaction, job: Job) -> None:
        tx.set_balance("EUR", -1)
        raise RuntimeError("a mistake in a handler")

    def stops(self, tx: Transaction, job: Job) -> None:
        self.note(tx, job)
        tx.cancel_jobs("note", job.args["victim"])


def plan(*jobs: tuple[int, str]) -> Any:
    """Schedules notes: seconds from now, subject."""

    def schedule(tx: Transaction) -> None:
        for seconds, subject in jobs:
            tx.schedule(seconds, "note", subject)

    return schedule
