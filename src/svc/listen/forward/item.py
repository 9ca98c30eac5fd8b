"""An event on its way to a target, as a pump holds it."""

from svc.listen.inbox.inbox import Arrival, OpenItem
from svc.listen.values import value_class


@value_class
class ForwardItem:
    """One event on its way to one target; `attempt` is the number of the next try, from 1.

    `seen_at` is the loop's time when the ledger had it as open; `last_at` (unix seconds) when its
    last attempt began. `redelivered`: how often somebody may have had it already. `again`: it goes
    once more on a new connection, since the one that was kept had closed. `signed_anew`: the
    request that is under way says that its signature is a new one.
    """

    seq: int
    event_id: str
    type: str
    object_id: str
    headers: bytes
    body: bytes
    attempt: int
    seen_at: float
    last_at: float = 0.0
    redelivered: int = 0
    again: bool = False
    signed_anew: bool = False


def arrived(seq: int, arrival: Arrival, seen_at: float) -> ForwardItem:
    """Gives an event that has just been received, for its first attempt."""
    delivery, facts = arrival.delivery, arrival.delivery.facts
    return ForwardItem(
        seq,
        facts.id,
        facts.type,
        facts.object_id,
        delivery.headers,
        delivery.body,
        1,
        seen_at,
        0.0,
        arrival.redelivered,
    )


def read_back(one: OpenItem, seen_at: float) -> ForwardItem:
    """Gives an event that was read from the ledger, for its next attempt."""
    return ForwardItem(
        one.seq,
        one.event_id,
        one.type,
        one.object_id,
        one.headers,
        one.body,
        one.attempts + 1,
        seen_at,
        one.last_at,
        one.redelivered,
    )
