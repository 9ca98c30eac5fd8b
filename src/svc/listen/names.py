"""What a listener is called in the state database: said here and read here, nowhere else.

A name, its *scope*, is `ORIGIN|PROFILE|MODE|WAY|EVENTS|NUMBER`. What was kept before a sandbox was
reset belongs to the same name with `|until SEQ` behind it.
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


def receiving(way: str, log: object | None) -> str:
    """The way of a receiver that is reached in one way, and may fill a log."""
    return way if log is None else f"{way}{_FILLS}{log}"


def reading(log: object, group: str | None, name: str | None) -> str:
    """The way of a reader of a log, in a group or by a name of its own."""
    return f"{log} {group or ''} {name or ''}".rstrip()


class LogUse(NamedTuple):
    """A log, by its address, and whether a listener fills it; else it reads there."""

    address: str
    fills: bool


def log_of(scope: str) -> LogUse | None:
    """Gives the log that a listener reads or fills, if there is one."""
    way = scope.partition(_UNTIL)[0].split("|", 3)[-1].rsplit("|", 2)[0]
    if way.startswith(_LOG):
        return LogUse(way.split(" ")[0], fills=False)
    _, filled, log = way.partition(_FILLS)
    return LogUse(log, fills=True) if filled else None


def number_of(scope: str) -> int:
    """Gives how many listeners of the same kind ran already when this one began."""
    return int(scope.rpartition("|")[2])


def past(scope: str, seq: int | str = "") -> str:
    """Names what a listener kept up to `seq`, before a reset; without it, how such names begin."""
    return f"{scope}{_UNTIL}{seq}"
