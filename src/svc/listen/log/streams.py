"""The streams of a log as they should be, what they hold, and where a reader of them stands."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from svc.listen.inbox.inbox import Position
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import LogConnection
from svc.listen.log.messages import ID_HEADER
from svc.listen.log.troubles import LogRefusal, is_missing, no_stream
from svc.listen.verify.verify import read_facts
from svc.service.facts import Mode

_NANO: Final = 1_000_000_000
_DAY: Final = 24 * 3600
MAX_AGE_SECONDS: Final = 7 * _DAY
DUPLICATE_SECONDS: Final = 3 * _DAY
MAX_BYTES: Final = 10 * 1024**3
_FAILED_BYTES: Final = 64 * 1024**2
ACK_SECONDS: Final = 30
MAX_DELIVERIES: Final = 20
_ADVISORY: Final = "$JS.EVENT.ADVISORY.CONSUMER"
_ORIGIN: Final = "svc-origin"
_MODE: Final = "svc-mode"


@dataclass(frozen=True, slots=True)
class Difference:
    """Something about a stream that is not as it should be."""

    stream: str
    field: str
    wanted: Any
    found: Any


def events_stream(
    address: LogAddress, mode: Mode, origin: str, replicas: int, max_bytes: int
) -> dict[str, Any]:
    """The stream of the events of one mode.

    It refuses new events when it is full: dropping old ones would lose, in silence, what somebody
    has not read yet.
    """
    return {
        "name": address.stream(mode),
        "description": "Webhook events of svc, as their receivers verified them",
        "subjects": [address.subjects(mode)],
        "retention": "limits",
        "storage": "file",
        "num_replicas": replicas,
        "max_age": MAX_AGE_SECONDS * _NANO,
        "max_bytes": max_bytes,
        "max_msgs": -1,
        "max_consumers": -1,
        "discard": "new",
        "duplicate_window": DUPLICATE_SECONDS * _NANO,
        "allow_direct": True,
        "deny_delete": True,
        "deny_purge": True,
        "metadata": {_ORIGIN: origin, _MODE: mode},
    }


def failed_stream(address: LogAddress, mode: Mode, replicas: int) -> dict[str, Any]:
    """The stream that notes what groups could not do; it needs no right of any job."""
    stream = address.stream(mode)
    return {
        "name": address.failed_stream(mode),
        "description": "Events that no job of a group could take",
        "subjects": [
            f"{_ADVISORY}.MSG_TERMINATED.{stream}.>",
            f"{_ADVISORY}.MAX_DELIVERIES.{stream}.>",
        ],
        "retention": "limits",
        "storage": "file",
        "num_replicas": replicas,
        "max_age": MAX_AGE_SECONDS * _NANO,
        "max_bytes": _FAILED_BYTES,
        "discard": "old",
        "allow_direct": True,
    }


def group_consumer(group: str, replicas: int, *, start: Mapping[str, Any]) -> dict[str, Any]:
    """The shared queue of a group; `start` says from where it reads when it is made."""
    return {
        "durable_name": group_name(group),
        "name": group_name(group),
        "ack_policy": "explicit",
        "ack_wait": ACK_SECONDS * _NANO,
        "max_deliver": MAX_DELIVERIES,
        "max_ack_pending": 1000,
        "num_replicas": replicas,
        "replay_policy": "instant",
        **start,
    }


def group_name(group: str) -> str:
    """What a group's consumer is called."""
    return f"g_{group}"


async def stream_info(connection: LogConnection, mode: Mode) -> dict[str, Any]:
    """Gives what the log says of the stream of a mode.

    Raises:
        NotFound: there is none yet.
    """
    stream = connection.address.stream(mode)
    try:
        return await connection.info(f"STREAM.INFO.{stream}")
    except LogRefusal as error:
        if is_missing(error):
            raise no_stream(connection.address, stream) from None
        raise


async def make(connection: LogConnection, wanted: dict[str, Any]) -> list[Difference] | None:
    """Makes a stream; None if it was made, else how the one that is there differs."""
    name = wanted["name"]
    try:
        info = await connection.info(f"STREAM.INFO.{name}")
    except LogRefusal as error:
        if not is_missing(error):
            raise
        await connection.api(f"STREAM.CREATE.{name}", wanted, seconds=15)
        return None
    return differences(wanted, info["config"])


async def make_group(connection: LogConnection, mode: Mode, wanted: dict[str, Any]) -> bool:
    """Makes a group's queue; says whether there was none."""
    stream, name = connection.address.stream(mode), wanted["name"]
    try:
        await connection.info(f"CONSUMER.INFO.{stream}.{name}")
    except LogRefusal as error:
        if not is_missing(error):
            raise
        body = {"stream_name": stream, "config": wanted, "action": "create"}
        await connection.api(f"CONSUMER.CREATE.{stream}.{name}", body, seconds=15)
        return True
    return False


def differences(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> list[Difference]:
    """Compares what matters of two configurations."""
    compared = ("subjects", "storage", "num_replicas", "max_age", "max_bytes", "discard")
    more = ("duplicate_window", "deny_delete", "deny_purge", "allow_direct")
    given = [
        Difference(wanted["name"], name, wanted[name], found.get(name))
        for name in (*compared, *more)
        if name in wanted and found.get(name, False) != wanted[name]
    ]
    ours, theirs = wanted.get("metadata") or {}, found.get("metadata") or {}
    return given + [
        Difference(wanted["name"], name, ours[name], theirs.get(name))
        for name in ours
        if theirs.get(name) != ours[name]
    ]


def origin_and_mode(config: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Gives whose events a stream holds, as far as it says so."""
    metadata = config.get("metadata") or {}
    return metadata.get(_ORIGIN), metadata.get(_MODE)


def replicas_current(info: Mapping[str, Any]) -> tuple[int, int]:
    """Gives how many replicas have everything, and how many there are to be."""
    wanted = int(info["config"].get("num_replicas", 1))
    cluster = info.get("cluster") or {}
    others = cluster.get("replicas") or []
    current = sum(bool(one.get("current")) and not one.get("offline") for one in others)
    return current + bool(cluster.get("leader") or not cluster), wanted


def moment(text: str) -> float:
    """Reads a time of the log, which may have nanoseconds, as unix seconds."""
    whole, point, rest = text.removesuffix("Z").partition(".")
    fraction = f".{rest[:6].ljust(6, '0')}" if point else ""
    return datetime.fromisoformat(f"{whole}{fraction}+00:00").timestamp()


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
