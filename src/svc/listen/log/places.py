"""Where a reader stands in a log, and where it goes on."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from svc.listen.inbox.inbox import Position
from svc.listen.log.connection import LogConnection
from svc.listen.log.messages import ID_HEADER
from svc.listen.log.streams import stream_info
from svc.listen.verify.verify import read_facts
from svc.spec import Mode


@dataclass(frozen=True, slots=True)
class Start:
    """From which place reading goes on; `missed` events before it are not there any more.

    `behind` counts those that are there to be read; `anew`: the log is another one than before.
    """

    seq: int
    missed: int
    anew: bool
    behind: int


async def find_start(connection: LogConnection, mode: Mode, position: Position) -> Start:
    """Compares a position with the log as it is now.

    The number alone says nothing: a log that was lost and made anew counts from 1 again.

    Raises:
        NotFound: there is no such stream.
    """
    state = (await stream_info(connection, mode))["state"]
    first, last = int(state["first_seq"]), int(state["last_seq"])
    whole = int(state["messages"])
    if position.seq == 0:
        return Start(max(first, 1), 0, anew=False, behind=whole)
    if position.seq < first:
        return Start(first, first - position.seq - 1, anew=False, behind=whole)
    if position.seq <= last:
        there = await event_at(connection, mode, position.seq)
        if there == position.event_id:
            return Start(position.seq + 1, 0, anew=False, behind=last - position.seq)
    return Start(max(first, 1), 0, anew=True, behind=whole)


async def event_at(connection: LogConnection, mode: Mode, seq: int) -> str | None:
    """Gives the id of the event at a place, None where there is none."""
    stream = connection.address.stream(mode)
    answer = await connection.request(
        f"$JS.API.DIRECT.GET.{stream}", b'{"seq":%d}' % seq, seconds=5
    )
    if "Status" in answer.headers:
        return None
    return answer.headers.get(ID_HEADER) or read_facts(answer.body).id


async def end_of(connection: LogConnection, mode: Mode) -> Position:
    """Gives the place of the newest event; the beginning of an empty log."""
    state = (await stream_info(connection, mode))["state"]
    last = int(state["last_seq"])
    if last == 0 or int(state.get("messages", 0)) == 0:
        return Position(last, "")
    return Position(last, await event_at(connection, mode, last) or "")


async def before(connection: LogConnection, mode: Mode, moment: float) -> Position:
    """Gives the place before the first event that came at a moment (unix seconds) or later."""
    stream = connection.address.stream(mode)
    since = datetime.fromtimestamp(moment, UTC).isoformat()
    asked = {"start_time": since, "next_by_subj": connection.address.subjects(mode)}
    answer = await connection.request(f"$JS.API.DIRECT.GET.{stream}", json.dumps(asked).encode())
    found = int(answer.headers.get("Nats-Sequence", "0"))
    if not found:
        return await end_of(connection, mode)
    earlier = await event_at(connection, mode, found - 1) if found > 1 else None
    return Position(found - 1, earlier) if earlier is not None else Position(0, "")
