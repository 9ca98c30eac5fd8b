"""Counts what happened in a run, and notices when what `--until` waits for has come.

`ingest` and `dispatcher` note events in one `ListenerProgress`; `listener` ends once `reached` is
true, and emits the `summary` last.
"""

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from svc.errors import UsageError
from svc.listen.output_records import Summary
from svc.listen.routes import check_glob
from svc.service.facts import EVENT_TYPES


@dataclass(frozen=True, slots=True)
class Until:
    """The condition that ends a listener: `count` events of the types that fit `glob`."""

    glob: str
    count: int

    @classmethod
    def parse(cls, text: str, events: Sequence[str] = EVENT_TYPES) -> Self:
        """Reads `TYPE[:N]` as given with `--until`, where these events are asked for.

        Raises:
            UsageError: no event type matches, none of those that are asked for does, or N is no
                number of 1 or more.
        """
        glob, colon, number = text.partition(":")
        check_glob(glob, "--until")
        if not any(fnmatch.fnmatchcase(each, glob) for each in events):
            raise UsageError(
                f"--until {glob} can never come: --events leaves it out.",
                param="--until",
                hint=f"Add --events '{glob}'",
            )
        if colon and not (number.isascii() and number.isdigit() and int(number)):
            raise UsageError(
                f"{text!r}: {number!r} is not a count.", hint="Write TYPE:N, N from 1."
            )
        return cls(glob, int(number) if colon else 1)


@dataclass(slots=True)
class ListenerProgress:
    """The counts of a listener; `retaken`: failed events that a replay brought to their targets."""

    until: Until | None
    received: int = 0
    duplicates: int = 0
    rejected: int = 0
    refused: int = 0
    withheld: int = 0
    forwarded: int = 0
    failed: set[int] = field(default_factory=set)
    retaken: int = 0
    _matched: set[int] = field(default_factory=set)

    def note_started(self, seq: int) -> None:
        """Counts an event that is to be forwarded."""
        self.failed.discard(seq)

    def note_settled(self, seq: int, *, taken: bool) -> None:
        """Records that the forwards of an event have all ended."""
        if taken:
            self.forwarded += 1
        else:
            self.failed.add(seq)

    def note_ended(self, seq: int, event_type: str) -> None:
        """Counts an event, once, that was received and, where it has a target, forwarded."""
        if self.until is None or self.reached:
            return
        if fnmatch.fnmatchcase(event_type, self.until.glob):
            self._matched.add(seq)

    @property
    def reached(self) -> bool | None:
        """Whether the condition of `--until` is reached; None without one."""
        return None if self.until is None else len(self._matched) >= self.until.count

    def summary(self, now: float, seconds: float, pending: int) -> Summary:
        """Returns the counts at `now` (unix seconds); `pending` events remain to be forwarded."""
        return Summary(
            time=now,
            seconds=seconds,
            received=self.received,
            duplicates=self.duplicates,
            rejected=self.rejected,
            refused=self.refused,
            withheld=self.withheld,
            forwarded=self.forwarded + self.retaken,
            failed=len(self.failed) - self.retaken,
            pending=pending,
            until_reached=self.reached,
        )
