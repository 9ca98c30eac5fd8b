"""Following a list to its end, with the checks that keep it from going round (promise R18)."""

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from svc.client.call import Call
from svc.client.client import Client
from svc.client.reply import Reply
from svc.errors import PartlyDone, ReplyContradiction, SvcError
from svc.service.facts import LIMIT_MAX

# Ids of this many latest objects are remembered; cursors, one a page, are remembered for ever.
# Together they find every loop and keep memory flat over millions of objects.
WINDOW = 10_000


class ListItem(NamedTuple):
    """One object of a list: parsed, and the exact text that the service sent for it."""

    data: dict[str, Any]
    text: str


class ListPage(NamedTuple):
    """One answer of a list.

    Attributes:
        items: what is new in it and within the caller's maximum.
        has_more: whether the service has objects beyond these.
    """

    reply: Reply
    items: tuple[ListItem, ...]
    has_more: bool


def pages(client: Client, call: Call, *, max_items: int | None = None) -> Iterator[ListPage]:
    """Yields the pages of a list call one by one, so that a caller can print as they arrive.

    A call that names no `limit` asks for the largest page. Nothing but the present page is kept.

    Raises:
        PartlyDone: when the list ends early after some objects; names the last id.
        ReplyContradiction: when the first page breaks the rules of a list.
        SvcError: whatever the first request raises.
    """
    walk = Walk(call, max_items)
    while True:
        try:
            page = walk.take(client.send(walk.call))
        except SvcError as error:
            raise walk.end_early(error) from error
        yield page
        if not page.has_more or walk.is_full:
            return


class Walk:
    """Where a walk through a list stands; judges each page without sending anything."""

    def __init__(self, call: Call, max_items: int | None = None) -> None:
        self._limit = _limit(call, max_items)
        self.call = _with(call, "limit", str(self._limit))
        self._max = max_items
        self._count = 0
        self._last: str | None = None
        self._cursors = {value for name, value in call.query if name == "starting_after"}
        self._recent: deque[str] = deque(maxlen=WINDOW)
        self._known: set[str] = set()

    @property
    def is_full(self) -> bool:
        """Whether the caller's maximum is reached."""
        return self._max is not None and self._count >= self._max

    def take(self, reply: Reply) -> ListPage:
        """Checks a page, moves the cursor behind it and gives what is new in it.

        Raises:
            ReplyContradiction: on a page over the limit, an empty page or one without anything
                new that says there is more, a cursor that was there before, an object without id.
        """
        entries, has_more = reply.data["data"], reply.data["has_more"]
        if len(entries) > self._limit:
            raise _build_contradiction(
                reply, f"it holds {len(entries)} objects, over the limit {self._limit}"
            )
        found = [
            ListItem(entry, text)
            for entry, text in zip(entries, reply.slices, strict=True)
            if self._is_new(_id_of(reply, entry))
        ]
        if has_more:
            self._move(reply, found)
        items = tuple(found if self._max is None else found[: self._max - self._count])
        self._count += len(items)
        self._last = items[-1].data["id"] if items else self._last
        return ListPage(reply, items, has_more or len(items) < len(found))

    def end_early(self, error: SvcError) -> SvcError:
        """Turns an error after some objects into PartlyDone; before any it stays as it is."""
        if self._last is None:
            return error
        return PartlyDone(
            f"The list ended early after {self._count} objects: {error.message}",
            code=error.code,
            param=error.param,
            status=error.status,
            request_id=error.request_id,
            retryable=error.retryable,
            retry_after=error.retry_after,
            hint=f"The last one was {self._last}; continue with --starting-after {self._last}",
        )

    def _is_new(self, identifier: str) -> bool:
        if identifier in self._known:
            return False
        if len(self._recent) == WINDOW:
            self._known.discard(self._recent[0])
        self._recent.append(identifier)
        self._known.add(identifier)
        return True

    def _move(self, reply: Reply, found: list[ListItem]) -> None:
        if not reply.data["data"]:
            raise _build_contradiction(reply, "it is empty but says that there is more")
        cursor = _id_of(reply, reply.data["data"][-1])
        if cursor in self._cursors or not found:
            raise _build_contradiction(
                reply, f"it comes back to {cursor}, so the list would never end"
            )
        self._cursors.add(cursor)
        self.call = _with(self.call, "starting_after", cursor)


def _limit(call: Call, max_items: int | None) -> int:
    for name, value in call.query:
        if name == "limit" and value.isascii() and value.isdigit():
            return int(value)
    return LIMIT_MAX if max_items is None else max(1, min(LIMIT_MAX, max_items))


def _with(call: Call, name: str, value: str) -> Call:
    rest = tuple(pair for pair in call.query if pair[0] != name)
    return call._replace(query=(*rest, (name, value)))


def _id_of(reply: Reply, entry: dict[str, Any]) -> str:
    identifier = entry.get("id")
    if not isinstance(identifier, str) or not identifier:
        raise _build_contradiction(reply, "it holds an object without an id")
    return identifier


def _build_contradiction(reply: Reply, why: str) -> ReplyContradiction:
    return ReplyContradiction(
        f"A page of the list cannot be right: {why}.",
        code="list_broken",
        status=reply.status,
        request_id=reply.request_id,
    )
