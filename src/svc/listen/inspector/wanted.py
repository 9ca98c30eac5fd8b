"""Which deliveries the list shows: type, state and text, as they stand in the address."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import parse_qsl, urlencode

from svc.listen.archive import Entry
from svc.listen.inspector.feed import TurnedAway

STATES: Final = ("forwarded", "failed", "pending", "kept", "withheld", "rejected")
_REJECTED: Final = STATES[-1]
_TEXT_MAX: Final = 200
_NUMBER_MAX: Final = 18


@dataclass(frozen=True, slots=True)
class Filter:
    """What the list is narrowed to; `before` is the number of the delivery it begins behind."""

    type: str = ""
    state: str = ""
    text: str = ""
    before: int | None = None

    @classmethod
    def parse(cls, query: str) -> "Filter":
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

    def takes(self, entry: Entry) -> bool:
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
