"""The streams of a log: how they should be configured, what they hold, where a reader stands.

`svc events log create` makes the streams by it; `checks` and `status` judge what they hold;
`log_cursor` finds by `find_start` where its reading begins.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from svc.listen.inbox.interfaces import Position
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import LogConnection, Message
from svc.listen.log.errors import LogDown, LogMissing, LogRefusal, no_majority, no_stream
from svc.listen.log.messages import id_of
from svc.listen.log.proof import fingerprint
from svc.service.facts import WEBHOOK_RETRY_WINDOW_SECONDS, Mode

_NANO: Final = 1_000_000_000
_DAY: Final = 24 * 3600
MAX_AGE_SECONDS: Final = 7 * _DAY
# For a receiver that publishes again because no answer came. Each id in the window costs every
# server about 200 bytes; what comes later than that, readers know by its id or by its mark.
DUPLICATE_SECONDS: Final = 120
EVENT_BYTES: Final = 1600  # an order's payment, with headers and proof: 151 GiB of 10,000 a minute
_FAILED_BYTES: Final = 64 * 1024**2
_READERS_BYTES: Final = 1024**2
ACK_SECONDS: Final = 30
# Given back with a delay of a minute at most (R129), so often takes longer than the three days in
# which the service tries: only then does the log set an event aside by itself.
BACK_SECONDS: Final = (1, 2, 4, 8, 16, 32, 60)
MAX_DELIVERIES: Final = WEBHOOK_RETRY_WINDOW_SECONDS // BACK_SECONDS[-1] + len(BACK_SECONDS)
_ADVISORY: Final = "$JS.EVENT.ADVISORY.CONSUMER"
_ORIGIN: Final = "svc-origin"
_MODE: Final = "svc-mode"
_KEY: Final = "svc-key"
GROUP_PREFIX: Final = "g_"
_LEADERLESS: Final = 10008
NO_ROOM: Final = frozenset((10002, 10023, 10028, 10047))  # of the account, memory, storage


# What all streams of a log have in common.
_STREAM: Final = {"retention": "limits", "storage": "file", "allow_direct": True}


def events_stream(
    address: LogAddress, mode: Mode, origin: str, replicas: int, max_bytes: int, key: str
) -> dict[str, Any]:
    """The stream of the events of one mode; of the log's `key` it has the fingerprint.

    It refuses new events when it is full: dropping old ones would lose, in silence, what has not
    been read yet. It announces each event, without its body, so that readers need not ask.
    """
    return {
        "name": address.stream(mode),
        "description": "Webhook events of svc, as their receivers verified them",
        "subjects": [address.subjects(mode)],
        **_STREAM,
        "num_replicas": replicas,
        "max_age": MAX_AGE_SECONDS * _NANO,
        "max_bytes": max_bytes,
        "max_msgs": -1,
        "max_consumers": -1,
        "discard": "new",
        "duplicate_window": DUPLICATE_SECONDS * _NANO,
        "deny_delete": True,
        "deny_purge": True,
        "republish": {
            "src": address.subjects(mode),
            "dest": address.notices(address.subjects(mode)),
            "headers_only": True,
        },
        "metadata": {_ORIGIN: origin, _MODE: mode, _KEY: fingerprint(key)},
    }


def readers_stream(address: LogAddress, mode: Mode, replicas: int) -> dict[str, Any]:
    """The stream with the last report of each laptop: how far it has read, and no more."""
    return {
        "name": address.readers_stream(mode),
        "description": "How far each laptop has read",
        "subjects": [address.reader_subject(mode, "*")],
        **_STREAM,
        "num_replicas": replicas,
        "max_age": 4 * MAX_AGE_SECONDS * _NANO,
        "max_bytes": _READERS_BYTES,
        "max_msgs_per_subject": 1,
        "max_msg_size": 1024,
        "discard": "old",
    }


def describe_failed_stream(address: LogAddress, mode: Mode, replicas: int) -> dict[str, Any]:
    """The stream that notes what groups could not do; it needs no right of any job."""
    stream = address.stream(mode)
    return {
        "name": address.name_failed_stream(mode),
        "description": "Events that no job of a group could take",
        "subjects": [
            f"{_ADVISORY}.MSG_TERMINATED.{stream}.>",
            f"{_ADVISORY}.MAX_DELIVERIES.{stream}.>",
        ],
        **_STREAM,
        "num_replicas": replicas,
        "max_age": MAX_AGE_SECONDS * _NANO,
        "max_bytes": _FAILED_BYTES,
        "discard": "old",
    }


def group_name(group: str) -> str:
    """Returns the name of a group's consumer in the log."""
    return f"{GROUP_PREFIX}{group}"


async def stream_info(connection: LogConnection, mode: Mode) -> dict[str, Any]:
    """Returns what the log says of the stream of a mode.

    Raises:
        NotFound: there is none yet.
        LogDown: no server is reached, or fewer than a majority of them run.
    """
    stream = connection.address.stream(mode)
    try:
        return await connection.info(f"STREAM.INFO.{stream}")
    except LogMissing:
        raise no_stream(connection.address, stream) from None
    except LogRefusal as error:
        if error.number == _LEADERLESS:
            raise no_majority(connection.address) from None
        raise
    except LogDown as error:
        if connection.client.is_connected:
            raise no_majority(connection.address) from error
        raise


async def make(
    connection: LogConnection, wanted: dict[str, Any], change: Collection[str] = ()
) -> dict[str, Any]:
    """Makes a stream, or changes what may be of the one that is there; raises LogRefusal.

    `change` names parts of the configuration. Returns what `svc events log create` reports: whether
    the stream was made, or what was changed and what still differs.
    """
    name = wanted["name"]
    try:
        info = await connection.info(f"STREAM.INFO.{name}")
    except LogMissing:
        await connection.api(f"STREAM.CREATE.{name}", wanted, seconds=15)
        return {"name": name, "made": True, "changed": [], "differs": []}
    found = info["config"]
    may_change = {*change, *(wanted["metadata"] if "metadata" in change else ())}
    changed = [one["field"] for one in differences(wanted, found) if one["field"] in may_change]
    if changed:
        changes = {one: wanted[one] for one in change}
        info = await connection.api(f"STREAM.UPDATE.{name}", {**found, **changes}, seconds=15)
    differs = differences(wanted, info["config"])
    return {"name": name, "made": False, "changed": changed, "differs": differs}


async def make_group(
    connection: LogConnection, mode: Mode, group: str, start: Mapping[str, str]
) -> bool:
    """Makes a group's queue, with as many copies as the events have; says whether there was none.

    `start` says from where it reads when it is made.
    """
    stream, name = connection.address.stream(mode), group_name(group)
    try:
        await connection.info(f"CONSUMER.INFO.{stream}.{name}")
    except LogMissing:
        info = await stream_info(connection, mode)
        wanted = {
            "durable_name": name,
            "name": name,
            "ack_policy": "explicit",
            "ack_wait": ACK_SECONDS * _NANO,
            "max_deliver": MAX_DELIVERIES,
            "max_ack_pending": 1000,
            "num_replicas": int(info["config"]["num_replicas"]),
            "replay_policy": "instant",
            **start,
        }
        body = {"stream_name": stream, "config": wanted, "action": "create"}
        await connection.api(f"CONSUMER.CREATE.{stream}.{name}", body, seconds=15)
        return True
    return False


_COMPARED: Final = (
    *("subjects", "storage", "num_replicas", "max_age", "max_bytes", "discard"),
    *("duplicate_window", "deny_delete", "deny_purge", "allow_direct", "republish"),
)


def differences(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Lists what matters of two configurations and is not the same, also facts of the metadata."""
    ours = {name: wanted[name] for name in _COMPARED if name in wanted}
    ours |= wanted.get("metadata") or {}
    theirs = {**(found.get("metadata") or {}), **found}
    return [
        {"field": name, "wanted": value, "found": theirs.get(name)}
        for name, value in ours.items()
        if theirs.get(name, False) != value
    ]


def origin_and_mode(config: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Returns whose events a stream holds, as far as it says so."""
    metadata = config.get("metadata") or {}
    return metadata.get(_ORIGIN), metadata.get(_MODE)


def key_fingerprint(config: Mapping[str, Any]) -> str | None:
    """Returns the fingerprint of the log's key from a stream's configuration; None: no key."""
    found = (config.get("metadata") or {}).get(_KEY)
    return found if isinstance(found, str) else None


def replicas_current(info: Mapping[str, Any]) -> tuple[int, int]:
    """Returns how many replicas have everything, and how many there are to be."""
    wanted = int(info["config"].get("num_replicas", 1))
    cluster = info.get("cluster") or {}
    others = cluster.get("replicas") or []
    current = sum(bool(one.get("current")) and not one.get("offline") for one in others)
    return current + bool(cluster.get("leader") or not cluster), wanted


def moment(text: str) -> float:
    """Reads a time of the log, which may have nanoseconds, as unix seconds."""
    return datetime.fromisoformat(text).timestamp()


@dataclass(frozen=True, slots=True)
class Start:
    """From which place reading goes on, in the stream that was made at `made` and ends at `last`.

    `missed` events before it were dropped for their age. `behind` counts those that are there to
    be read. `other` says that the log is another one than before, or an older copy of it: then up
    to `gone` events that were read, or announced, are not in it any more (R130).
    """

    seq: int
    made: str
    behind: int
    last: int
    missed: int = 0
    other: bool = False
    gone: int = 0


def mark_of(made: str, event_id: str) -> str:
    """Returns the text in a position that identifies its stream (made at `made`) and its event."""
    return f"{made} {event_id}"


async def find_start(connection: LogConnection, mode: Mode, position: Position) -> Start:
    """Compares a position with the log as it is now.

    The number alone says nothing: a log that was lost and made anew counts from 1 again.

    Raises:
        NotFound: there is no such stream.
    """
    info = await stream_info(connection, mode)
    state, made = info["state"], str(info["created"])
    first, last = max(int(state["first_seq"]), 1), int(state["last_seq"])
    whole = int(state["messages"])
    if position.seq == 0 and not position.event_id:
        return Start(first, made, whole, last)
    its, _, event_id = position.event_id.partition(" ")
    same = its == made
    if same and position.seq < first:
        return Start(first, made, whole, last, missed=first - position.seq - 1)
    there = same and position.seq <= last and await event_at(connection, mode, position.seq)
    if there == event_id:
        return Start(position.seq + 1, made, last - position.seq, last)
    return Start(first, made, whole, last, other=True, gone=max(position.seq - last, 0))


async def event_at(connection: LogConnection, mode: Mode, seq: int) -> str | None:
    """Returns the id of the event at a place, None where there is none."""
    message = await message_at(connection, mode, seq)
    return None if message is None else id_of(message)


async def message_at(connection: LogConnection, mode: Mode, seq: int) -> Message | None:
    """Returns the message at a place, None where there is none."""
    stream = connection.address.stream(mode)
    [answer] = await connection.gather(f"DIRECT.GET.{stream}", {"seq": seq}, most=1)
    return None if answer.status else answer


async def end_of(connection: LogConnection, mode: Mode) -> Position:
    """Returns the place of the newest event; the beginning of an empty log."""
    info = await stream_info(connection, mode)
    last, made = int(info["state"]["last_seq"]), str(info["created"])
    there = await event_at(connection, mode, last) if last else None
    return Position(last, mark_of(made, there or ""))


async def before(connection: LogConnection, mode: Mode, moment: float) -> Position:
    """Returns the place before the first event that came at a moment (unix seconds) or later."""
    stream, subjects = connection.address.stream(mode), connection.address.subjects(mode)
    asked = {"start_time": time_text(moment), "next_by_subj": subjects}
    [answer] = await connection.gather(f"DIRECT.GET.{stream}", asked, most=1)
    found = int(answer.headers.get("Nats-Sequence", "0"))
    if not found:
        return await end_of(connection, mode)
    earlier = await event_at(connection, mode, found - 1)
    if earlier is None:
        return Position(0, "")
    made = str((await stream_info(connection, mode))["created"])
    return Position(found - 1, mark_of(made, earlier))


async def report(connection: LogConnection, mode: Mode, name: str, seq: int, now: float) -> None:
    """Publishes how far a laptop has read, at a moment (unix seconds).

    Raises:
        SvcError: the log keeps no such reports, or the user has no right to.
    """
    text = json.dumps({"seq": seq, "time": now}).encode()
    await connection.request(connection.address.reader_subject(mode, name), text, seconds=2)


def time_text(moment: float) -> str:
    """Writes unix seconds as the log reads them."""
    return datetime.fromtimestamp(moment, UTC).isoformat()
