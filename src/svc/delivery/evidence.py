"""What is known of a request, from all that shows an outcome: one pure function over few states.

Evidence is the journal's record of a request and the line of a results file. Done anywhere is done;
unknown anywhere, and done nowhere, is unknown; only not sent everywhere is not sent (promise R116).
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from svc.client.contradiction import CONTRADICTED
from svc.delivery.journal.entry import KEY_REUSED, Intent
from svc.delivery.likeness import row_likeness


class Known(IntEnum):
    """What evidence says of a request; of two kinds of evidence the greater one counts."""

    NOTHING = 0
    NOT_SENT = 1
    REFUSED = 2
    KEY_TAKEN = 3  # the service knows its key with other parameters
    UNKNOWN = 4
    FAILED = 5
    CONTRADICTED = 6
    DONE = 7


# Of these something may have come, so that the API key that was used must be of the same account.
EFFECTIVE: Final = frozenset(one for one in Known if one >= Known.KEY_TAKEN)
# The code of a row that is not sent because a single command has done the same.
DONE_BY_HAND: Final = "done_by_hand"
# The outcome of a results line, as what it says; other outcomes say nothing that a key needs.
_OUTCOMES: Final = {"done": Known.DONE, "failed": Known.FAILED, "unknown": Known.UNKNOWN}
_BY_CODE: Final = {
    ("done", CONTRADICTED): Known.CONTRADICTED,
    ("unknown", KEY_REUSED): Known.KEY_TAKEN,
}


class PastLine(NamedTuple):
    """A line of a results file that an earlier run has left.

    Attributes:
        row_id: what the file of rows calls the row, where it names rows.
        first_sent: when it was sent first (unix seconds); None in files of an older form.
        key_fingerprint: the fingerprint of the API key that it was sent with.
        code: of its error, where it has one.
        row, about: its row's number, and the digest of what it is about.
    """

    outcome: str
    likeness: str | None
    row_id: str | None
    key: str
    request: str | None
    id: str | None
    first_sent: float | None
    world: str | None = None
    key_fingerprint: str = ""
    code: str | None = None
    row: int | None = None
    about: str | None = None


class Evidence(NamedTuple):
    """What is known of one request of a batch.

    Attributes:
        likeness: of its row, or of the row's own id.
        alike: of its parameters, whatever the file calls the row; empty where that is not known.
        at: when it was sent first (unix seconds on this machine's clock).
        server_time: the same on a sandbox's clock, where that was noted.
        intent: the journal's record; None where only a results file tells.
    """

    known: Known
    likeness: str
    key: str
    at: float
    server_time: float | None = None
    object_id: str | None = None
    request: str | None = None
    world: str | None = None
    key_fingerprint: str = ""
    intent: Intent | None = None
    alike: str = ""
    row: int | None = None
    line: PastLine | None = None


def of_intent(intent: Intent, likeness: str) -> Evidence:
    """What the journal says of a request."""
    settled = intent.settled
    return Evidence(
        read_known(intent),
        likeness,
        intent.stored.idempotency_key,
        intent.first_sent_at,
        intent.server_time,
        settled.object_id if settled else None,
        intent.id,
        settled.world if settled else None,
        intent.scope.key_fingerprint,
        intent,
        intent.likeness,
        intent.row,
    )


def read_known(intent: Intent) -> Known:
    """What the journal's record of a request says."""
    if intent.is_unresolved:
        return Known.UNKNOWN
    if intent.state == "done":
        if intent.is_contradicted:
            return Known.CONTRADICTED
        return Known.FAILED if intent.is_failed else Known.DONE
    if intent.state == "not_sent":
        return Known.NOT_SENT
    return Known.KEY_TAKEN if intent.is_key_taken else Known.REFUSED


def of_line(line: PastLine, likeness: str) -> Evidence:
    """What a line of a results file says."""
    return Evidence(
        _BY_CODE.get((line.outcome, line.code or ""), _OUTCOMES.get(line.outcome, Known.NOTHING)),
        likeness,
        line.key,
        line.first_sent or 0.0,
        object_id=line.id,
        request=line.request,
        world=line.world,
        key_fingerprint=line.key_fingerprint,
        alike=line.likeness or "",
        row=line.row,
        line=line,
    )


def join(journal: Evidence | None, results: Evidence | None) -> Evidence | None:
    """Joins what journal and results file say of one request (promise R116).

    The journal's details are kept where both say the same; the earlier time of sending counts.
    """
    if journal is None or results is None:
        return journal or results
    strongest = max(journal.known, results.known)
    if strongest is results.known and strongest is not journal.known:
        return results._replace(
            at=min(journal.at, results.at), server_time=journal.server_time, intent=journal.intent
        )
    return journal._replace(at=min(journal.at, results.at) if results.at else journal.at)


def gather(
    intents: Iterable[Intent],
    lines: Sequence[PastLine],
    *,
    is_named: bool,
    world: str | None,
) -> list[Evidence]:
    """Joins all evidence of a batch, request by request, which idempotency keys tell apart.

    `is_named` says that the file has an id for each row. What was done in a sandbox that has been
    reset since is gone: `world` names its state, None for other services.
    """

    def match_of(row_id: str | None, likeness: str) -> str:
        return row_likeness(row_id) if is_named and row_id else likeness

    told = {line.key: line for line in lines}
    found: list[Evidence] = []
    for intent in intents:
        likeness = match_of(intent.row_id, intent.likeness)
        line = told.pop(intent.stored.idempotency_key, None)
        joined = join(of_intent(intent, likeness), of_line(line, likeness) if line else None)
        assert joined is not None
        found.append(joined)
    for line in told.values():
        likeness = match_of(line.row_id, line.likeness or "")
        found.append(of_line(line, likeness))
    return [
        one for one in found if one.known is not Known.NOTHING and not _is_gone(one.world, world)
    ]


def _is_gone(made_in: str | None, world: str | None) -> bool:
    return world is not None and made_in is not None and made_in != world


def age_of(at: float, server_time: float | None, now: float, served_now: float | None) -> float:
    """Seconds since something was sent, by whichever clock says more (promise R4)."""
    here = now - at
    if server_time is None or served_now is None:
        return here
    return max(here, served_now - server_time)
