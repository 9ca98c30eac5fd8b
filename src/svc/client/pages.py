"""Reads all pages of a list, with checks against endless repetition (promise R18).

`pages` serves `--all` and `--max` of list commands, `svc timeline` and `svc events audit`: the call
of a list in, its pages out, one at a time.
"""

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
    """One object of a list, parsed and with the exact text of the answer."""

    data: dict[str, Any]
    text: str


class ListPage(NamedTuple):
    """One page of a list.

    Attributes:
        items: the objects that no earlier page had, up to the caller's maximum.
        has_more: whether the service has further objects.
    """

    reply: Reply
    items: tuple[ListItem, ...]
    has_more: bool


def pages(client: Client, call: Call, *, max_items: int | None = None) -> Iterator[ListPage]:
    """Yields the pages of a list call as they arrive; only the present page is in memory.

    Without a `limit` in the call, the largest page size is used.

    Raises:
        PartlyDone: an error came after some objects; the error has the last id.
        ReplyContradiction: the first page breaks the rules of a list.
        SvcError: the error of the first request.
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
    """The state of reading a list; checks each page, and sends nothing."""

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
        """Whether the caller's maximum number of objects is reached."""
        return self._max is not None and self._count >= self._max

    def take(self, reply: Reply) -> ListPage:
        """Checks a page, moves the cursor after it and returns its new objects.

        Raises:
            ReplyContradiction: the page exceeds the limit; or it has no new object and says that
                there are more; or its cursor is repeated; or an object has no id.
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
        """Converts an error to PartlyDone if objects were read; else returns it unchanged."""
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
