"""Reads what the inspector's pages show: the deliveries in the inbox, and the rejected ones.

`app` asks a `DeliveryList` for one delivery or for a page of the list. It passes in the rejections,
which are not in the inbox; those of the page's time are put between the deliveries.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final
from urllib.parse import parse_qsl, urlencode

from svc.clock import Clock
from svc.listen.inbox.history import (
    AtTarget,
    Content,
    FoundEntries,
    InboxEntry,
    InboxHistory,
    InboxScope,
    SearchFilter,
)
from svc.listen.inspector.feed import TurnedAway
from svc.listen.verify.verify import Facts, read_facts
from svc.state import Database, Row

# What became of a delivery, in a word and in words.
STATES: Final = {
    "forwarded": "every target took it",
    "failed": "a target did not take it, and it is not tried again",
    "pending": "still to be forwarded",
    "kept": "no target is for it",
    "withheld": "of the other mode, so not forwarded",
    "rejected": "not shown to be the service's, so not kept",
}
_REJECTED: Final = "rejected"
_DIGITS_MAX: Final = 18


@dataclass(frozen=True, slots=True)
class ListFilter(SearchFilter):
    """The conditions of the list, as its form holds them."""

    @classmethod
    def parse(cls, query: str) -> "ListFilter":
        """Reads a query string; conditions that make no sense are left out."""
        given = fields(query)
        names = ("type", "target", "object", "text")
        texts = {name: given.get(name, "").strip() for name in names}
        state = given.get("state", "")
        before = parse_number(given.get("before", ""))
        return cls(**texts, state=state if state in STATES else "", before=before)

    @property
    def narrows(self) -> bool:
        """Returns whether there is a condition other than `before`."""
        return bool(self.type or self.state or self.target or self.object or self.text)

    def query(self) -> str:
        """Returns the query string, with its question mark, that `parse` reads."""
        given = asdict(self)
        text = urlencode({name: value for name, value in given.items() if value not in ("", None)})
        return f"?{text}" if text else ""

    def behind(self, before: int | None) -> str:
        """Returns the query string of another page of the same list; None is the first page."""
        return replace(self, before=before).query()

    def takes_rejected(self, one: TurnedAway) -> bool:
        """Returns whether a rejection fits the conditions.

        None fits one of `type`, `target` or `object`: what a rejected delivery says is unverified.
        """
        if self.type or self.target or self.object or self.state not in ("", _REJECTED):
            return False
        shown = (_REJECTED, one.rejected.reason, one.rejected.message)
        return any(self.text.casefold() in part.casefold() for part in shown)


def parse_number(text: str) -> int | None:
    """Reads a whole number that a database can hold; None where it is none."""
    is_one = text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX
    return int(text) if is_one else None


def fields(query: str) -> Mapping[str, str]:
    """Reads form fields from a query string; of a field that comes twice the last value counts."""
    return dict(parse_qsl(query))


PAGE_ROWS: Final = 50
SEARCH_SECONDS: Final = 2.0  # for one page; the next one goes on where it ended
_REMEMBERED: Final = 2_000


@dataclass(frozen=True, slots=True)
class ListedDelivery:
    """A delivery of the inbox, with what its payload says, for one line of the list."""

    entry: InboxEntry
    facts: Facts

    @property
    def time(self) -> float:
        return self.entry.received_at


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A page of the list, the newest first; `older` is `before` of the next page, if there is one.

    `cut`: the search took too long to fill the page.
    """

    lines: tuple[ListedDelivery | TurnedAway, ...]
    older: int | None
    cut: bool


@dataclass(frozen=True, slots=True)
class Whole:
    """One delivery with its payload, all attempts to forward it, and its state at each target."""

    entry: InboxEntry
    facts: Facts
    content: Content
    forwards: list[Row]
    targets: list[AtTarget]


class DeliveryList(InboxHistory):
    """The inbox, as the pages show it; its calls block, and raise LocalError."""

    def __init__(
        self,
        state: Database,
        whose: InboxScope,
        clock: Clock,
        search_seconds: float = SEARCH_SECONDS,
    ) -> None:
        super().__init__(state, whose)
        self._clock = clock
        self._search_seconds = search_seconds
        self._facts: dict[int, Facts] = {}

    def shorten_timeout(self, seconds: float) -> None:
        """Waits from now on at most so long for other processes."""
        self._state.shorten_timeout(seconds)

    def page(self, wanted: ListFilter, turned_away: list[TurnedAway]) -> HistoryPage:
        """Returns a page of the list; `turned_away` holds the rejections, the newest first."""
        until = self._clock.monotonic() + self._search_seconds
        found = FoundEntries([], None, unfinished=False)
        if wanted.state != _REJECTED:  # which is no state of a delivery in the inbox
            found = self.search(wanted, PAGE_ROWS, lambda: self._clock.monotonic() > until)
        lines: list[ListedDelivery | TurnedAway] = [
            ListedDelivery(entry, self.facts(entry)) for entry in found.entries
        ]
        top = None if wanted.before is None else self.find_received_behind(wanted.before)
        bottom = found.entries[-1].received_at if found.entries and found.older else None
        lines += _between(turned_away, wanted, top, bottom)
        lines.sort(key=lambda line: line.time, reverse=True)
        return HistoryPage(tuple(lines), found.older, cut=found.unfinished)

    def load_whole(self, event_id: str) -> Whole | None:
        """Returns one delivery by its event's id; None if the inbox does not have it."""
        entry = self.find(event_id)
        if entry is None:
            return None
        forwards, targets = self.forwards(entry), self.at_targets(entry.seq)
        return Whole(entry, self.facts(entry), self.content(entry), forwards, targets)

    def facts(self, entry: InboxEntry) -> Facts:
        """Returns what a delivery's payload says, and remembers it."""
        found = self._facts.get(entry.seq)
        if found is None:
            found = self._facts[entry.seq] = read_facts(self.content(entry).body)
            if len(self._facts) > _REMEMBERED:
                del self._facts[next(iter(self._facts))]
        return found


def _between(
    turned_away: list[TurnedAway], wanted: ListFilter, top: float | None, bottom: float | None
) -> Iterator[TurnedAway]:
    for one in turned_away:
        below = top is None or one.time < top
        above = bottom is None or one.time >= bottom
        if below and above and wanted.takes_rejected(one):
            yield one
