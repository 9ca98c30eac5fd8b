"""What a run has to do: each row of the file against what the journal knows of its list.

A row takes, of the requests that say the same, first one that was carried out, then one whose end
nobody knows, then one that was never carried out; only after these does it get a new key. A request
that was refused for good is closed: the same row becomes a new request (promise R12).
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from svc.batch.rows import Bad, BatchRow
from svc.client.refusal import is_about_key
from svc.delivery.journal.commands import Say, in_full, resume_command
from svc.delivery.journal.entry import Intent
from svc.delivery.journal.lists import key_of
from svc.delivery.journal.refusals import is_in_the_future, is_too_old, not_again
from svc.delivery.journal.stored import unread
from svc.errors import Conflict, SvcError

_SHOWN: Final = 3


class Task(NamedTuple):
    """A row that is to be sent; `intent` is its request of an earlier run."""

    row: BatchRow
    key: str
    intent: Intent | None


class DoneBefore(NamedTuple):
    """A row that an earlier run has carried out."""

    row: BatchRow
    intent: Intent


class Stale(NamedTuple):
    """A row whose outcome is unknown and which is too old to be sent again (promise R4)."""

    row: BatchRow
    intent: Intent
    error: SvcError


@dataclass(slots=True)
class BatchPlan:
    """The rows of a file by what becomes of them, each in the order of the file."""

    tasks: list[Task] = field(default_factory=list)
    done: list[DoneBefore] = field(default_factory=list)
    stale: list[Stale] = field(default_factory=list)
    bad: list[Bad] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return len(self.tasks) + len(self.done) + len(self.stale) + len(self.bad)

    @property
    def is_begun(self) -> bool:
        """Whether a row of the file was, or may have been, carried out in this list."""
        return len(self.fresh) + len(self.bad) < self.rows

    @property
    def fresh(self) -> list[BatchRow]:
        """The rows of which no request may have been carried out before."""
        return [
            task.row for task in self.tasks if task.intent is None or not task.intent.is_unresolved
        ]


def plan(
    import_id: str,
    rows: Iterable[BatchRow | Bad],
    known: Sequence[Intent],
    *,
    now: float,
    refusal: Callable[[Intent], SvcError | None] | None = None,
    say: Say = in_full,
) -> BatchPlan:
    """Compares a file's rows with the requests of its list.

    `refusal` says what else than its age on this machine (promise R4) keeps a request whose outcome
    is unknown from being sent again. `say` writes the command lines of hints.

    Raises:
        Conflict: the outcome of some request is unknown, and no row of the file says the same any
            more. Sending a corrected row now might do both.
    """
    known_intents = _KnownIntents(import_id, known)
    found = BatchPlan()
    for row in rows:
        if isinstance(row, Bad):
            found.bad.append(row)
            continue
        intent = known_intents.take(row)
        if intent is None:
            found.tasks.append(Task(row, known_intents.new_key(row.identity), None))
        elif intent.state == "done":
            found.done.append(DoneBefore(row, intent))
        elif error := _stale(intent, now, refusal, say):
            found.stale.append(Stale(row, intent, error))
        else:
            found.tasks.append(Task(row, intent.stored.idempotency_key, intent))
    orphans = [
        (intent, _stale(intent, now, refusal, say))
        for intent in known_intents.left()
        if intent.is_unresolved
    ]
    if orphans:
        raise _unresolved(orphans)
    return found


class _KnownIntents:
    """The requests of a list, by what they say."""

    def __init__(self, import_id: str, known: Sequence[Intent]) -> None:
        self._import_id = import_id
        self._keys = {intent.stored.idempotency_key for intent in known}
        self._used: Counter[str] = Counter()
        self._by_identity: dict[str, deque[Intent]] = {}
        for intent in sorted((one for one in known if not _is_closed(one)), key=_order):
            self._by_identity.setdefault(intent.identity, deque()).append(intent)

    def take(self, row: BatchRow) -> Intent | None:
        # One whose body was let go of before identities were kept is known by its digest alone.
        for same in (row.identity, unread(row.body_sha256)):
            shelf = self._by_identity.get(same)
            if shelf:
                return shelf.popleft()
        return None

    def new_key(self, identity: str) -> str:
        """The first key of equal rows that no request has had."""
        while True:
            key = key_of(self._import_id, identity, self._used[identity])
            self._used[identity] += 1
            if key not in self._keys:
                return key

    def left(self) -> list[Intent]:
        return [intent for shelf in self._by_identity.values() for intent in shelf]


def _is_closed(intent: Intent) -> bool:
    # That the service knows the key with another request is no reason for a second key.
    code = intent.settled.error_code if intent.settled is not None else None
    contested = is_about_key(code, code)
    return intent.state == "refused" and not intent.may_go_again and not contested


def _order(intent: Intent) -> tuple[int, int]:
    if intent.state == "done":
        return 0, intent.seq
    return (1 if intent.is_unresolved else 2), intent.seq


def _stale(
    intent: Intent,
    now: float,
    refusal: Callable[[Intent], SvcError | None] | None,
    say: Say,
) -> SvcError | None:
    if not intent.is_unresolved:
        return None
    if is_too_old(intent, now) or is_in_the_future(intent, now):
        return not_again(intent, now, say)
    return None if refusal is None else refusal(intent)


def _unresolved(orphans: Sequence[tuple[Intent, SvcError | None]]) -> Conflict:
    """What stops a run: requests, each with what keeps it from being sent again, if anything does.

    One that can be sent again is shown first; where there is none, the old file is of no use.
    """
    names = ", ".join(intent.id for intent, _ in orphans[:_SHOWN])
    more = f" and {len(orphans) - _SHOWN} more" if len(orphans) > _SHOWN else ""
    rows = "row" if len(orphans) == 1 else "rows"
    first, error = next((one for one in orphans if one[1] is None), orphans[0])
    again = f"Run the file once more as it was, or settle them: {resume_command(first)}"
    step = again if error is None else error.hint
    return Conflict(
        f"{len(orphans)} {rows} of an earlier run may have been carried out and are not in the "
        f"file any more ({names}{more}). Nothing was sent.",
        code="rows_unresolved",
        outcome="not_sent",
        request=first.id,
        idempotency_key=first.stored.idempotency_key,
        hint=f"{step}; to see all: svc requests list --unresolved",
    )
