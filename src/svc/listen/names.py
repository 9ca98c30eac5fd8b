"""Builds and parses a listener's name, the *scope* under which the state database stores it.

A scope is `ORIGIN|PROFILE|MODE|WAY|EVENTS|NUMBER`. WAY says how deliveries reach the listener, such
as a tunnel or a team's log. Events that were kept before a sandbox was reset belong to the same
name with `|until SEQ` behind it.

`identity` and `inbox.listeners` store listeners under it; `svc doctor` and `svc events log` find
the logs of this machine's listeners by `log_of`.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

_UNTIL: Final = "|until "
_FILLS: Final = " to "
_LOG: Final = "nats"  # no other way begins like the address of a log
# Stands in the scope of a reader of a log, and in no other one.
READER: Final = f"|{_LOG}"


@dataclass(frozen=True, slots=True)
class Listening:
    """What makes two listeners the same: service, profile, mode, way in and events."""

    origin: str
    profile: str
    mode: str
    way: str
    events: tuple[str, ...]

    def scope(self, number: int) -> str:
        """Names the listener in the state database; `number` counts those that run at once."""
        parts = (self.origin, self.profile, self.mode, self.way, ",".join(self.events))
        return "|".join((*parts, str(number)))


def name_receiver(way: str, log: object | None) -> str:
    """The WAY of a receiver: how requests reach it, and the log that it fills, if any."""
    return way if log is None else f"{way}{_FILLS}{log}"


def name_reader(stream: str, group: str | None, name: str | None) -> str:
    """The WAY of a reader of a log, in a group or by a name of its own.

    It has the log's stream, not its address, which may change (R130).
    """
    return f"{_LOG} {stream} {group or ''} {name or ''}".rstrip()


class LogUse(NamedTuple):
    """A log that a listener fills, by its address, or reads, by its stream."""

    log: str
    fills: bool


def log_of(scope: str) -> LogUse | None:
    """Returns the log that a listener reads or fills, if there is one."""
    way = scope.partition(_UNTIL)[0].split("|", 3)[-1].rsplit("|", 2)[0]
    if way.startswith(f"{_LOG} "):
        return LogUse(way.split(" ")[1], fills=False)
    _, filled, log = way.partition(_FILLS)
    return LogUse(log, fills=True) if filled else None


def name_past(scope: str, seq: int | str = "") -> str:
    """Names the events that a listener kept up to `seq`, before a reset of the sandbox.

    Without `seq`, the beginning of all such names.
    """
    return f"{scope}{_UNTIL}{seq}"
