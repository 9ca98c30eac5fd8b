"""What the pages show: deliveries of the inbox and, in between, what was rejected."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final
from urllib.parse import parse_qsl, urlencode

from svc.listen.inbox.history import Content, InboxEntry, InboxFilter, InboxHistory
from svc.listen.inspector.feed import TurnedAway
from svc.listen.verify.verify import Facts, read_facts
from svc.state import Row

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
_TEXT_MAX: Final = 200
_NUMBER_MAX: Final = 18


@dataclass(frozen=True, slots=True)
class ListFilter:
    """What the list is narrowed to; `before` is the number of the delivery it begins behind."""

    type: str = ""
    state: str = ""
    text: str = ""
    before: int | None = None

    @classmethod
    def parse(cls, query: str) -> "ListFilter":
        """Reads a query string; what makes no sense is left out."""
        given = fields(query)
        before = given.get("before", "")
        known = before.isascii() and before.isdigit() and len(before) <= _NUMBER_MAX
        return cls(
            type=given.get("type", "").strip()[:_TEXT_MAX],
            state=given.get("state", "") if given.get("state") in STATES else "",
            text=given.get("text", "").strip()[:_TEXT_MAX],
            before=int(before) if known else None,
        )

    @property
    def narrows(self) -> bool:
        """Says whether it leaves anything out."""
        return bool(self.type or self.state or self.text)

    def query(self) -> str:
        """Gives the query string, with its question mark, that `parse` reads."""
        before = "" if self.before is None else str(self.before)
        values = {"type": self.type, "state": self.state, "text": self.text, "before": before}
        text = urlencode({name: value for name, value in values.items() if value})
        return f"?{text}" if text else ""

    def behind(self, before: int | None) -> str:
        """Gives the query string of another page of the same list; None is the first page."""
        return replace(self, before=before).query()

    def takes(self, entry: InboxEntry) -> bool:
        """Says whether a delivery is of the type and in the state."""
        return self.type in ("", entry.type) and self.state in ("", entry.state)

    def finds(self, *parts: str | None) -> bool:
        """Says whether the text stands in one of these."""
        wanted = self.text.casefold()
        return not wanted or any(wanted in part.casefold() for part in parts if part)

    def takes_rejected(self, one: TurnedAway) -> bool:
        """Says whether a rejection is wanted: it has no type that could be trusted."""
        if self.type or self.state not in ("", _REJECTED):
            return False
        return self.finds(_REJECTED, one.rejected.reason, one.rejected.message)

    @property
    def wants_kept(self) -> bool:
        """Says whether anything in the inbox can be in the list."""
        return self.state != _REJECTED


def fields(query: str) -> Mapping[str, str]:
    """Reads form fields; of one that comes twice the last counts."""
    try:
        return dict(parse_qsl(query, keep_blank_values=True, max_num_fields=50))
    except ValueError:
        return {}


PAGE_ROWS: Final = 50
SCANNED_MAX: Final = 5_000
_REMEMBERED: Final = 2_000
SEARCHED_BYTES: Final = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ListedDelivery:
    """A delivery in the list."""

    entry: InboxEntry
    facts: Facts

    @property
    def time(self) -> float:
        return self.entry.received_at


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Some of the list, the newest first; `older` is where the next page begins.

    `cut`: not everything in the inbox was looked through.
    """

    lines: tuple[ListedDelivery | TurnedAway, ...]
    older: int | None
    cut: bool


@dataclass(frozen=True, slots=True)
class Whole:
    """One delivery with all that became of it."""

    entry: InboxEntry
    facts: Facts
    content: Content
    forwards: tuple[Row, ...]


class DeliveryList:
    """Reads from the inbox; its calls block, and raise LocalError.

    Of payloads a search reads `searched_bytes`, and says then that there are more.
    """

    def __init__(self, archive: InboxHistory, searched_bytes: int) -> None:
        self._archive = archive
        self._searched_bytes = searched_bytes
        self._facts: dict[int, Facts] = {}

    def page(self, wanted: ListFilter, turned_away: list[TurnedAway]) -> HistoryPage:
        """Gives a page of the list; `turned_away` holds the rejections, the newest first."""
        search = _Search(self._archive, wanted, self._searched_bytes)
        entries = islice(self._archive.entries(InboxFilter()), SCANNED_MAX)
        top: float | None = None
        found: list[ListedDelivery] = []
        more, seen = False, 0
        for entry in entries if wanted.wants_kept else ():
            seen += 1
            if wanted.before is not None and entry.seq >= wanted.before:
                top = entry.received_at
            elif search.takes(entry):
                more = len(found) == PAGE_ROWS
                if more:
                    break
                found.append(ListedDelivery(entry, self.facts(entry)))
        bottom = found[-1].time if more else None
        lines: list[ListedDelivery | TurnedAway] = [
            *found,
            *_between(turned_away, wanted, top, bottom),
        ]
        lines.sort(key=lambda line: line.time, reverse=True)
        older = found[-1].entry.seq if more else None
        return HistoryPage(
            tuple(lines), older, cut=(seen == SCANNED_MAX or search.tired) and not more
        )

    def whole(self, event_id: str) -> Whole | None:
        """Gives one delivery."""
        entry = self._archive.find(event_id)
        if entry is None:
            return None
        content = self._archive.content(entry)
        forwards = tuple(self._archive.forwards(entry))
        return Whole(entry, self.facts(entry), content, forwards)

    def facts(self, entry: InboxEntry) -> Facts:
        """Gives what the payload says; it is read once."""
        found = self._facts.get(entry.seq)
        if found is None:
            found = self._facts[entry.seq] = read_facts(self._archive.content(entry).body)
            if len(self._facts) > _REMEMBERED:
                del self._facts[next(iter(self._facts))]
        return found


class _Search:
    """Looks for what is wanted; reads so many bytes of payloads and then no more."""

    def __init__(self, archive: InboxHistory, wanted: ListFilter, searched_bytes: int) -> None:
        self._archive = archive
        self._wanted = wanted
        self._left = searched_bytes

    @property
    def tired(self) -> bool:
        """True once payloads were left unread."""
        return self._left < 0

    def takes(self, entry: InboxEntry) -> bool:
        """Says whether a delivery belongs into the list."""
        wanted = self._wanted
        if not wanted.takes(entry):
            return False
        status = str(entry.status or "")
        parts = (entry.id, entry.type, entry.object_id, entry.target, entry.error, status)
        return wanted.finds(*parts) or wanted.finds(self._body(entry))

    def _body(self, entry: InboxEntry) -> str:
        if self.tired:
            return ""
        body = self._archive.content(entry).body
        self._left -= len(body)
        return body.decode("utf-8", "replace")


def _between(
    turned_away: list[TurnedAway], wanted: ListFilter, top: float | None, bottom: float | None
) -> Iterator[TurnedAway]:
    for one in turned_away:
        below = top is None or one.time < top
        above = bottom is None or one.time >= bottom
        if below and above and wanted.takes_rejected(one):
            yield one
