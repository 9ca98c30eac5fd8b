"""Determines the outcome of each request of a batch from the journal and the results file.

A request that either of them calls done is done. Otherwise it is unknown if either calls it
unknown. It counts as not sent only if none of them says more (promise R116).

`svc batch` gathers the evidence before it plans (`cli.batch.facts`); `planner` matches it to rows.
"""

from enum import IntEnum
from typing import Final, NamedTuple

from svc.client.contradiction import CONTRADICTED
from svc.delivery.journal.entry import KEY_REUSED, OBJECT_FAILED, Intent


class Known(IntEnum):
    """The outcome of a request by its evidence; of journal and results file the greater counts."""

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
# An outcome by its word, and by the code of its error; other outcomes say nothing that a key needs.
_OUTCOMES: Final = {"done": Known.DONE, "failed": Known.FAILED, "unknown": Known.UNKNOWN}
_BY_CODE: Final = {
    ("done", CONTRADICTED): Known.CONTRADICTED,
    ("done", OBJECT_FAILED): Known.FAILED,
    ("unknown", KEY_REUSED): Known.KEY_TAKEN,
}


class Evidence(NamedTuple):
    """The facts about one request of a batch.

    Attributes:
        likeness: matches the request to a row: the digest of the row's own id if it has one, else
            of the parameters.
        key: the idempotency key.
        at: when it was sent first (Unix seconds on this machine's clock); 0 in a results file of an
            older version.
        server_time: when it was sent first by the sandbox's clock, if that is known.
        object_id: the id of the object that was created or changed.
        request: the id in the journal.
        alike: the digest of the parameters in every case; empty if it is not known.
        row: the number of the row.
        row_id: the row's own id, if a results file has the request and the file of rows has ids.
        about: the digest of its subject, such as the payment of a refund, if a results file has it.
        intent: the journal's record; None if only a results file has the request.
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
    alike: str = ""
    row: int | None = None
    row_id: str | None = None
    about: str | None = None
    intent: Intent | None = None


def build_intent_evidence(intent: Intent, likeness: str) -> Evidence:
    """Builds the evidence of a record of the journal."""
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
        intent.likeness,
        intent.row,
        intent=intent,
    )


def read_known(intent: Intent) -> Known:
    """Reads the outcome of a record of the journal."""
    if intent.is_unresolved:
        return Known.UNKNOWN
    if intent.state == "done":
        return read_outcome("done", intent.settled.error_code if intent.settled else None)
    if intent.state == "not_sent":
        return Known.NOT_SENT
    return Known.KEY_TAKEN if intent.is_key_taken else Known.REFUSED


def read_outcome(outcome: str, code: str | None) -> Known:
    """Reads an outcome of the journal or of a results file, with the code of its error."""
    return _BY_CODE.get((outcome, code or ""), _OUTCOMES.get(outcome, Known.NOTHING))


def merge_evidence(journal: Evidence, results: Evidence | None) -> Evidence:
    """Joins the evidence of the journal and of the results file for one request (promise R116).

    If both have the same outcome, the journal's details are kept. The earlier time of sending
    counts.
    """
    if results is None:
        return journal
    strongest = max(journal.known, results.known)
    if strongest is results.known and strongest is not journal.known:
        return results._replace(
            at=min(journal.at, results.at), server_time=journal.server_time, intent=journal.intent
        )
    is_earlier = bool(results.at) and results.at < journal.at
    return journal._replace(at=results.at if is_earlier else journal.at, about=results.about)


def age_of(at: float, server_time: float | None, now: float, served_now: float | None) -> float:
    """Seconds since a request was sent: the greater age of two clocks (promise R4)."""
    here = now - at
    if server_time is None or served_now is None:
        return here
    return max(here, served_now - server_time)
