"""Filling a log again from the copies that a receiver has kept on its own disk.

A log whose servers lost what they had acknowledged gets it back; what it still has is recognised
by its id. The order of what is filled in is that of its arrival, behind what is there.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from svc.errors import LocalError, SvcError
from svc.listen.inbox.inbox import Arrival, Batch, Inbox, Kept
from svc.listen.verify.verify import Delivery, read_facts
from svc.state import Database, Row

_PAGE = 256
_PAGE_BYTES = 8 * 1024 * 1024
# What listeners have read in a log is no copy of it; what was withheld belongs to another mode's
# log, if to any.
_COPIES = """
SELECT seq, received_at, headers, body FROM (
  SELECT i.seq, i.received_at, p.headers, p.body,
    SUM(LENGTH(p.body)) OVER (ORDER BY i.seq) - LENGTH(p.body) AS before
  FROM inbox i JOIN payloads p ON p.inbox_seq = i.seq JOIN listeners l ON l.id = i.listener
  WHERE l.origin = ? AND l.profile = ? AND l.mode = ? AND i.seq > ? AND i.received_at >= ?
    AND instr(l.scope, '|nats') = 0 AND i.outcome IS NOT 'withheld' AND i.outcome IS NOT 'reset'
  ORDER BY i.seq LIMIT ?
) WHERE before < ? ORDER BY seq"""


@dataclass(frozen=True, slots=True)
class Refilled:
    """How many copies there were, and how many of them the log did not have any more."""

    copies: int = 0
    added: int = 0


def copies(
    state: Database, origin: str, profile: str, mode: str, since: float
) -> Iterator[Delivery]:
    """Gives what the receivers of this machine have verified since then (unix seconds), in order.

    Raises:
        LocalError: the state database cannot be used.
    """
    seq = 0
    while True:
        rows = state.rows(_COPIES, (origin, profile, mode, seq, since, _PAGE, _PAGE_BYTES))
        if not rows:
            return
        yield from map(_delivery, rows)
        seq = rows[-1]["seq"]


def refill(found: Iterator[Delivery], log: Inbox) -> Refilled:
    """Publishes copies; each under its own id, so that it may be done again.

    Raises:
        LocalError: the log did not take one; those before are in it.
    """
    done, group = Refilled(), list[Arrival]()
    for one in found:
        group.append(Arrival(one, "unrouted"))
        if len(group) == _PAGE:
            done, group = _published(done, group, log), []
    return _published(done, group, log)


def _published(done: Refilled, group: list[Arrival], log: Inbox) -> Refilled:
    results = log.store(Batch(group)) if group else []
    for one in results:
        if isinstance(one, SvcError):
            raise LocalError(
                f"{one.message} {done.copies} copies were looked at before.",
                code=one.code,
                hint="Run the command again: what the log has is recognised by its id",
            )
    new = sum(isinstance(one, Kept) and not one.duplicate for one in results)
    return replace(done, copies=done.copies + len(group), added=done.added + new)


def _delivery(row: Row) -> Delivery:
    return Delivery(row["body"], row["headers"], row["received_at"], read_facts(row["body"]))
