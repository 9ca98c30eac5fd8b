"""The log as a receiver's inbox: an event is stored once most of its servers have it on disk.

Unless `--no-copy` is given, a receiver (`svc events receive`) stores by a `CopiedInbox`: on its own
disk first, then in the log; with it by a `LogInbox`, in the log alone.

If the servers lose events that they had acknowledged, `backfill` publishes the receivers' copies
again, for `svc events log refill`. Events that the log still has are recognised by their ids; the
others are added at the end of the log.
"""

import asyncio
from collections.abc import Collection, Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Final

from svc.errors import LocalError, SvcError
from svc.listen.inbox.interfaces import (
    Batch,
    InboundEvent,
    Inbox,
    OpenItem,
    Oversized,
    Retries,
    StoreResult,
)
from svc.listen.log.connection import LogConnection, decode, read_stream
from svc.listen.log.errors import LogDown, LogRefusal
from svc.listen.log.messages import (
    Trust,
    Unreadable,
    check_proof,
    headers_of,
    id_of,
    is_later_attempt,
    size_of,
)
from svc.listen.log.streams import time_text
from svc.listen.verify.verify import Delivery
from svc.service.facts import Mode

# A group may have to wait for the one before: both, and the copy on disk, fit into the 9 seconds
# in which the service gets its answer.
PUBLISH_SECONDS: Final = 3.0
_PAUSE_SECONDS: Final = 0.1
_FULL: Final = frozenset((10077, 10023, 10047))  # bytes, messages, storage of the account
_UNAVAILABLE: Final = 503
_IN_PROCESS: Final = 10158


class _NothingOpen:
    """The part of an inbox that serves forwarding, for an inbox that forwards nothing."""

    def begin(self, targets: Sequence[str], *, ordered: bool, anew: bool) -> None:
        """Does nothing: a run of a receiver forwards nothing."""

    def leave(self, target: str) -> list[OpenItem]:  # noqa: ARG002  the seam's signature
        return []

    def due(self, target: str, after: int, most: int) -> list[OpenItem]:  # noqa: ARG002
        return []

    def again(self, target: str, now: float, most: int) -> Retries:  # noqa: ARG002
        return Retries([], None)

    def count(self, targets: Sequence[str]) -> int:  # noqa: ARG002  the seam's signature
        return 0

    def count_failed(self, seqs: Collection[int]) -> int:
        return len(seqs)


class LogInbox(_NothingOpen):
    """Publishes events with their ids, by which the log recognises duplicates for a while."""

    def __init__(self, connection: LogConnection, mode: Mode, key: str) -> None:
        self._connection = connection
        self._mode = mode
        self._key = key

    def store(self, batch: Batch) -> list[StoreResult | LocalError]:
        if not batch.inbound_events:
            return []
        return self._connection.run(self._publish(batch.inbound_events))

    def prune(self, now: float, after: int) -> None:
        """Does nothing: the log has a retention limit of its own."""

    async def _publish(
        self, inbound_events: Sequence[InboundEvent]
    ) -> list[StoreResult | LocalError]:
        end = asyncio.get_running_loop().time() + PUBLISH_SECONDS
        return await asyncio.gather(
            *(self._publish_event(inbound, end) for inbound in inbound_events)
        )

    async def _publish_event(self, inbound: InboundEvent, end: float) -> StoreResult | LocalError:
        """Publishes one event; without an answer it is published again with the same id."""
        address, delivery = self._connection.address, inbound.delivery
        again = inbound.redelivered > 0 or is_later_attempt(delivery)
        headers = headers_of(delivery, address, self._mode, self._key, again=again)
        size, most = size_of(headers, delivery.body), self._connection.client.max_payload
        if size > most:  # the server would close the connection on all others
            return Oversized(f"The event is {size} bytes with its headers; the log takes {most}.")
        subject = address.subject(self._mode, delivery.facts.type)
        loop = asyncio.get_running_loop()
        while True:
            left = end - loop.time()
            try:
                answer = decode(
                    await self._connection.request(subject, delivery.body, headers, max(left, 0.01))
                )
                seq, duplicate = int(answer["seq"]), bool(answer.get("duplicate"))
                return StoreResult(seq, duplicate, again=False, open=False)
            except (SvcError, OSError) as error:
                if not _may_pass(error) or end - loop.time() < _PAUSE_SECONDS:
                    return _in_words(error)
            await asyncio.sleep(_PAUSE_SECONDS)


class CopiedInbox(_NothingOpen):
    """Stores each event on this machine's disk, then in the log.

    A withheld event (of the other mode) stays on the disk alone.
    """

    def __init__(self, copy: Inbox, log: Inbox) -> None:
        self._copy = copy
        self._log = log

    def store(self, batch: Batch) -> list[StoreResult | LocalError]:
        closed = [replace(one, outcome=one.outcome or "unrouted") for one in batch.inbound_events]
        copied = self._copy.store(replace(batch, inbound_events=closed))
        there = [
            # What is here already may be in the log, or only have been on its way.
            replace(one, redelivered=1)
            if isinstance(stored, StoreResult) and stored.duplicate
            else one
            for one, stored in zip(closed, copied, strict=True)
            if one.outcome != "withheld" and not isinstance(stored, LocalError)
        ]
        logged: Iterator[StoreResult | LocalError] = iter(
            self._log.store(Batch(there)) if there else []
        )
        return [
            stored if one.outcome == "withheld" or isinstance(stored, LocalError) else next(logged)
            for one, stored in zip(closed, copied, strict=True)
        ]

    def prune(self, now: float, after: int) -> int | None:
        return self._copy.prune(now, after)


def _may_pass(error: BaseException) -> bool:
    """Whether publishing again with the same id may succeed."""
    if isinstance(error, LogRefusal):
        if error.number == _IN_PROCESS:  # the same id is on its way: soon it is a duplicate
            return True
        return error.status == _UNAVAILABLE and error.number not in _FULL
    return isinstance(error, LogDown | OSError)


def _in_words(error: BaseException) -> LocalError:
    text = (error.message if isinstance(error, SvcError) else str(error)).rstrip(".")
    if isinstance(error, LogRefusal) and error.number in _FULL:
        return LocalError(f"The log is full: {text}.", code="log_full")
    return LocalError(f"The log did not take it: {text}.", code="log_unavailable")


_GROUP: Final = 256


def backfill(found: Iterator[Delivery], held: Container[str], log: Inbox) -> dict[str, int]:
    """Publishes the local copies whose ids are not in `held`; may be repeated.

    Returns the number of `copies`, and how many of them were missing from the log and `added`.

    Raises:
        LocalError: the log refused an event; the events before it are in the log.
    """
    copies = added = 0
    while some := list(islice(found, _GROUP)):
        copies += len(some)
        missing = [
            InboundEvent(one, "unrouted", redelivered=1) for one in some if one.facts.id not in held
        ]
        for stored in log.store(Batch(missing)) if missing else ():
            if isinstance(stored, LocalError):
                raise LocalError(
                    f"{stored.message} {copies} copies were looked at before.",
                    code=stored.code,
                    hint="Run the command again: what the log has is recognised by its id",
                )
            added += not stored.duplicate
    return {"copies": copies, "added": added}


async def ids_since(connection: LogConnection, mode: Mode, since: float, trust: Trust) -> set[str]:
    """Returns the ids of all events with a valid proof in the log since a time (Unix seconds)."""
    start, held = {"start_time": time_text(since)}, set[str]()
    async for one in read_stream(
        connection, trust.stream, start, connection.address.subjects(mode)
    ):
        with suppress(Unreadable):  # a forger may name the id of a true one
            check_proof(one.message, trust)
            held.add(id_of(one.message))
    return held
