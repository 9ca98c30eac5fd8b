"""What the pages show: deliveries of the inbox and, in between, what was rejected."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from svc.journal import Row
from svc.listen.archive import Archive, Content, Entry, Wanted
from svc.listen.delivery import Facts, read_facts
from svc.listen.inspector.feed import TurnedAway
from svc.listen.inspector.wanted import Filter

PAGE_ROWS: Final = 50
SCANNED_MAX: Final = 5_000
_REMEMBERED: Final = 2_000
_SEARCHED_BYTES: Final = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """A delivery in the list."""

    entry: Entry
    facts: Facts

    @property
    def time(self) -> float:
        return self.entry.received_at


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the list, the newest first; `older` is where the next page begins.

    `cut`: not everything in the inbox was looked through.
    """

    lines: tuple[Line | TurnedAway, ...]
    older: int | None
    cut: bool


@dataclass(frozen=True, slots=True)
class Whole:
    """One delivery with all that became of it."""

    entry: Entry
    facts: Facts
    content: Content
    forwards: tuple[Row, ...]


class Catalogue:
    """Reads from the inbox; its calls block, and raise LocalError."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._facts: dict[int, Facts] = {}

    def page(self, wanted: Filter, turned_away: list[TurnedAway]) -> Page:
        """Gives a page of the list; `turned_away` holds the rejections, the newest first."""
        search = _Search(self._archive, wanted)
        entries = islice(self._archive.entries(Wanted()), SCANNED_MAX)
        top: float | None = None
        found: list[Line] = []
        more, seen = False, 0
        for entry in entries if wanted.wants_kept else ():
            seen += 1
            if wanted.before is not None and entry.seq >= wanted.before:
                top = entry.received_at
            elif search.takes(entry):
                more = len(found) == PAGE_ROWS
                if more:
                    break
                found.append(Line(entry, self.facts(entry)))
        bottom = found[-1].time if more else None
        lines: list[Line | TurnedAway] = [*found, *_between(turned_away, wanted, top, bottom)]
        lines.sort(key=lambda line: line.time, reverse=True)
        older = found[-1].entry.seq if more else None
        return Page(tuple(lines), older, cut=(seen == SCANNED_MAX or search.tired) and not more)

    def whole(self, event_id: str) -> Whole | None:
        """Gives one delivery."""
        entry = self._archive.find(event_id)
        if entry is None:
            return None
        content = self._archive.content(entry)
        forwards = tuple(self._archive.forwards(entry))
        return Whole(entry, self.facts(entry), content, forwards)

    def facts(self, entry: Entry) -> Facts:
        """Gives what the payload says; it is read once."""
        found = self._facts.get(entry.seq)
        if found is None:
            found = self._facts[entry.seq] = read_facts(self._archive.content(entry).body)
            if len(self._facts) > _REMEMBERED:
                del self._facts[next(iter(self._facts))]
        return found


class _Search:
    """Looks for what is wanted; reads so much of payloads and then no more."""

    def __init__(self, archive: Archive, wanted: Filter) -> None:
        self._archive = archive
        self._wanted = wanted
        self._left = _SEARCHED_BYTES

    @property
    def tired(self) -> bool:
        """True once payloads were left unread."""
        return self._left < 0

    def takes(self, entry: Entry) -> bool:
        """Says whether a delivery belongs into the list."""
        wanted = self._wanted
        if not wanted.takes(entry):
            return False
        status = str(entry.status or "")
        parts = (entry.id, entry.type, entry.object_id, entry.target, entry.error, status)
        return wanted.finds(*parts) or wanted.finds(self._body(entry))

    def _body(self, entry: Entry) -> str:
        if self.tired:
            return ""
        body = self._archive.content(entry).body
        self._left -= len(body)
        return body.decode("utf-8", "replace")


def _between(
    turned_away: list[TurnedAway], wanted: Filter, top: float | None, bottom: float | None
) -> Iterator[TurnedAway]:
    for one in turned_away:
        below = top is None or one.time < top
        above = bottom is None or one.time >= bottom
        if below and above and wanted.takes_rejected(one):
            yield one
