"""Jobs as rows: what is to happen at which moment of the sandbox's clock."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from svc.sandbox.store import Row, Store
from svc.sandbox.times import moment

ATTEMPT = "webhook.attempt"  # the engine's own jobs; all others belong to its `handlers`
DISABLE = "webhook.disable"
MAIN = ""  # the lane of ordinary jobs; each webhook endpoint has a lane named by its id

_FIELDS = "seq, due, mode, name, subject, args, lane"


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to do: `due` is what its handler sees as now."""

    name: str
    subject: str
    args: dict[str, Any]
    due: datetime
    mode: str
    seq: int = 0
    lane: str = MAIN


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
    store.write(
        "INSERT INTO jobs(due, mode, name, subject, args, lane) VALUES(?, ?, ?, ?, ?, ?)",
        due,
        mode,
        name,
        subject,
        json.dumps(args),
        lane,
    )


def cancel(store: Store, mode: str, name: str, subject: str) -> int:
    """Deletes the jobs of this name and subject; returns how many there were."""
    sql = "DELETE FROM jobs WHERE subject = ? AND name = ? AND mode = ?"
    return store.write(sql, subject, name, mode)


def finish(store: Store, seq: int) -> bool:
    """Deletes a job in the transaction of its effects; false if it was gone already."""
    return store.write("DELETE FROM jobs WHERE seq = ?", seq) > 0


def of_subject(store: Store, name: str, subject: str) -> list[Job]:
    """The jobs of this name and subject, in the order in which they run."""
    sql = f"SELECT {_FIELDS} FROM jobs WHERE subject = ? AND name = ? ORDER BY due, seq"  # noqa: S608
    return [_job(row) for row in store.all(sql, subject, name)]


def next_due(store: Store, lane: str, busy: Collection[int] = ()) -> int | None:
    """The earliest due moment (microseconds) in a lane; `busy` are jobs to leave out."""
    marks = ",".join("?" * len(busy))
    sql = f"SELECT MIN(due) FROM jobs WHERE lane = ? AND seq NOT IN ({marks})"  # noqa: S608
    row = store.one(sql, lane, *busy)
    due: int | None = row[0] if row else None
    return due


def due(store: Store, lane: str, until: int, limit: int, busy: Collection[int] = ()) -> list[Job]:
    """A lane's jobs due at or before `until`, in the order in which they run."""
    marks = ",".join("?" * len(busy))
    rows = store.all(
        f"SELECT {_FIELDS} FROM jobs WHERE lane = ? AND due <= ? AND seq NOT IN ({marks})"  # noqa: S608
        " ORDER BY due, seq LIMIT ?",
        lane,
        until,
        *busy,
        limit,
    )
    return [_job(row) for row in rows]


def _job(row: Row) -> Job:
    seq, when, mode, name, subject, args, lane = row
    return Job(name, subject, json.loads(args), moment(when), mode, seq, lane)
