"""Reads how a log is at this moment, as numbers, for `svc events log status` and `svc doctor`."""

import re
from collections import Counter
from typing import Any, Final

from svc.errors import SvcError
from svc.listen.inbox.interfaces import Position
from svc.listen.log.connection import LogConnection, read_stream
from svc.listen.log.errors import LogMissing
from svc.listen.log.streams import GROUP_PREFIX, find_start, moment, replicas_current, stream_info
from svc.service.facts import Mode

_REPORT: Final = re.compile(rb'\{"seq": (\d{1,18}), "time": (\d{1,12}(?:\.\d{1,9})?)\}')


async def read_status(
    connection: LogConnection, mode: Mode, position: Position | None, now: float
) -> dict[str, Any]:
    """Asks a log how it is, and returns it as `-o json` shows it; `now` is in unix seconds.

    `behind` is how far a listener of this machine is that has read to `position`; `missed` counts
    the events that the log dropped for their age before it had read them. `oldest_seconds` is the
    age of the oldest event, None of an empty log. `failed` counts events that groups have put
    aside, `redelivered` those that were handed out again. `failed` and `groups` are None where the
    user may not look, `readers` where the user is no admin.

    Raises:
        NotFound: no stream of this mode.
    """
    info = await stream_info(connection, mode)
    state, config = info["state"], info["config"]
    current, wanted = replicas_current(info)
    behind, missed = None, None
    if position is not None:
        start = await find_start(connection, mode, position)
        behind, missed = start.behind, start.missed
    events = int(state["messages"])
    failed = await _count_failed(connection, mode)
    groups = await _groups(connection, mode, failed)
    return {
        "object": "log",
        "address": str(connection.address),
        "version": connection.client.version,
        "events": events,
        "bytes": int(state["bytes"]),
        "max_bytes": int(config["max_bytes"]),
        "oldest_seconds": round(max(now - moment(state["first_ts"]), 0.0), 1) if events else None,
        "replicas": wanted,
        "replicas_current": current,
        "failed": None if failed is None else failed.total(),
        "behind": behind,
        "missed": missed,
        "redelivered": sum(one["redelivered"] for one in groups or ()),
        "groups": groups,
        "readers": await _readers(connection, mode, int(state["last_seq"]), now),
    }


async def _count_failed(connection: LogConnection, mode: Mode) -> Counter[str] | None:
    stream = connection.address.name_failed_stream(mode)
    try:
        found = await connection.api(f"STREAM.INFO.{stream}", {"subjects_filter": ">"})
    except LogMissing:
        return Counter()
    except SvcError:  # a right that a user need not have
        return None
    counts: Counter[str] = Counter()
    for subject, count in (found["state"].get("subjects") or {}).items():
        counts[subject.rpartition(f".{GROUP_PREFIX}")[2]] += int(count)
    return counts


async def _groups(
    connection: LogConnection, mode: Mode, failed: Counter[str] | None
) -> list[dict[str, Any]] | None:
    """Returns the shared queues: events that wait, that a job has, that were handed out again."""
    try:
        found = await connection.api(
            f"CONSUMER.LIST.{connection.address.stream(mode)}", {"offset": 0}
        )
    except SvcError:
        return None
    names = {str(one.get("name", "")): one for one in found.get("consumers") or []}
    return [
        {
            "name": (group := name.removeprefix(GROUP_PREFIX)),
            "waiting": int(info.get("num_pending", 0)),
            "unacknowledged": int(info.get("num_ack_pending", 0)),
            "redelivered": int(info.get("num_redelivered", 0)),
            "failed": None if failed is None else failed[group],
        }
        for name, info in names.items()
        if name.startswith(GROUP_PREFIX)
    ]


async def _readers(
    connection: LogConnection, mode: Mode, last: int, now: float
) -> list[dict[str, Any]] | None:
    """Returns how many events each laptop is behind, and how many seconds ago it reported that.

    Only a user of the log's own account may ask.
    """
    if connection.is_apart:
        return None
    stream = connection.address.readers_stream(mode)
    reports = read_stream(connection, stream, {"seq": 1}, ">")
    try:
        found = [_reader(one.subject, one.message.body, last, now) async for one in reports]
    except SvcError:
        return None
    return [one for one in found if one is not None]


def _reader(subject: str, body: bytes, last: int, now: float) -> dict[str, Any] | None:
    """Reads a report; None of one that is none: a laptop writes what it likes in its own."""
    report = _REPORT.fullmatch(body)
    if report is None:
        return None
    behind, ago = max(last - int(report[1]), 0), max(now - float(report[2]), 0.0)
    name = subject.rpartition(".")[2]
    return {"name": name, "behind": behind, "reported_seconds": round(ago, 1)}
