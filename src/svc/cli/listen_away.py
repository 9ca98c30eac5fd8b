"""Telling that a target is away once, not with every attempt to reach it."""

from dataclasses import dataclass
from typing import Final, Literal

from svc.listen.records import Forwarded

_REFUSED: Final = "connection refused"
_GROWN: Final = 1.5


@dataclass(frozen=True, slots=True)
class Told:
    """What to print of an attempt.

    `away`: the target was not reached and everything for it waits; `still`: it is away for longer;
    `nothing`: that is known. `ask` whether it runs. `back_after` is in seconds, of a target that
    was away.
    """

    what: Literal["attempt", "away", "still", "nothing"] = "attempt"
    ask: bool = False
    back_after: float | None = None


@dataclass(slots=True)
class _Absence:
    since: float
    delay: float


class Away:
    """Remembers which targets are away; `holds`: events for such a target wait for it.

    While the time between two attempts grows, each is told; from then on nothing is until the
    target is back.
    """

    def __init__(self, *, holds: bool) -> None:
        self._holds = holds
        self._absent: dict[str, _Absence] = {}
        self._asked: set[str] = set()

    def tell(self, record: Forwarded) -> Told:
        """Says what to print of an attempt."""
        if record.status is not None:
            return self._answered(record)
        if not self._holds or record.retry_in is None:
            return Told(ask=self._is_to_ask(record))
        absence = self._absent.get(record.url)
        if absence is None:
            self._absent[record.url] = _Absence(record.time, record.retry_in)
            return Told("away", ask=self._is_to_ask(record))
        grown = record.retry_in > absence.delay * _GROWN
        absence.delay = max(absence.delay, record.retry_in)
        return Told("still" if grown else "nothing")

    def _answered(self, record: Forwarded) -> Told:
        self._asked.discard(record.url)
        absence = self._absent.pop(record.url, None)
        return Told(back_after=record.time - absence.since if absence else None)

    def _is_to_ask(self, record: Forwarded) -> bool:
        """Says whether to ask if the server runs: once, until it has answered."""
        if record.url in self._asked or not (record.error or "").startswith(_REFUSED):
            return False
        self._asked.add(record.url)
        return True
