"""How a log is at this moment, as numbers: for `svc events log status`, and for doctor."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from svc.errors import SvcError
from svc.listen.inbox.inbox import Position
from svc.listen.log.connection import LogConnection
from svc.listen.log.streams import find_start, moment, replicas_current, stream_info
from svc.listen.log.troubles import LogRefusal, is_missing
from svc.service.facts import Mode


@dataclass(frozen=True, slots=True)
class GroupStatus:
    """One shared queue: events that wait, that a job has, that were handed out again."""

    name: str
    waiting: int
    unacknowledged: int
    redelivered: int


@dataclass(frozen=True, slots=True)
class LogStatus:
    """A log and, where a listener of this machine reads it, how far behind that one is.

    `oldest_seconds` is the age of the oldest event, None of an empty log. `failed` counts what
    groups could not do, None where the user may not look. `missed` counts what was dropped before
    this machine's listener came back.
    """

    address: str
    version: str
    events: int
    bytes: int
    max_bytes: int
    oldest_seconds: float | None
    replicas: int
    replicas_current: int
    failed: int | None
    groups: tuple[GroupStatus, ...] | None
    behind: int | None
    missed: int | None

    @property
    def redelivered(self) -> int:
        """How often something was handed out again, in all groups."""
        return sum(group.redelivered for group in self.groups or ())

    def as_data(self) -> dict[str, Any]:
        """The same as `-o json` shows it."""
        found = asdict(self)
        groups = found.pop("groups")
        shown = {"object": "log", **found, "redelivered": self.redelivered, "groups": groups}
        return {**shown, "groups": None if groups is None else list(groups)}


async def look(
    connection: LogConnection, mode: Mode, position: Position | None, now: float
) -> LogStatus:
    """Asks a log how it is; `now` is in unix seconds.

    Raises:
        NotFound: it has no stream of this mode.
    """
    info = await stream_info(connection, mode)
    state, config = info["state"], info["config"]
    current, wanted = replicas_current(info)
    behind, missed = None, None
    if position is not None:
        start = await find_start(connection, mode, position)
        behind, missed = start.behind, start.missed
    events = int(state["messages"])
    return LogStatus(
        address=str(connection.address),
        version=connection.version,
        events=events,
        bytes=int(state["bytes"]),
        max_bytes=int(config["max_bytes"]),
        oldest_seconds=max(now - moment(state["first_ts"]), 0.0) if events else None,
        replicas=wanted,
        replicas_current=current,
        failed=await _failed(connection, mode),
        groups=await _groups(connection, mode),
        behind=behind,
        missed=missed,
    )


async def _failed(connection: LogConnection, mode: Mode) -> int | None:
    stream = connection.address.failed_stream(mode)
    try:
        found = await connection.info(f"STREAM.INFO.{stream}")
    except LogRefusal as error:
        return 0 if is_missing(error) else None
    except SvcError:  # a right that a laptop need not have
        return None
    return int(found["state"]["messages"])


async def _groups(connection: LogConnection, mode: Mode) -> tuple[GroupStatus, ...] | None:
    stream = connection.address.stream(mode)
    try:
        found = await connection.api(f"CONSUMER.LIST.{stream}", {"offset": 0})
    except SvcError:
        return None
    listed = found.get("consumers") or []
    return tuple(_group(one) for one in listed if str(one.get("name", "")).startswith("g_"))


def _group(info: Mapping[str, Any]) -> GroupStatus:
    return GroupStatus(
        str(info["name"]).removeprefix("g_"),
        int(info.get("num_pending", 0)),
        int(info.get("num_ack_pending", 0)),
        int(info.get("num_redelivered", 0)),
    )
