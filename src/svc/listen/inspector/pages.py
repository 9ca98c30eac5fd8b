"""The inspector's routes: each request to its page."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import Final, TypeVar

from svc.clock import Clock
from svc.errors import LocalError, UsageError
from svc.listen.framing import Head, Request
from svc.listen.inspector import answer
from svc.listen.inspector.answer import Answer
from svc.listen.inspector.catalogue import Catalogue, Whole
from svc.listen.inspector.curl import curl
from svc.listen.inspector.detail_view import delivery, rejection
from svc.listen.inspector.feed import Feed
from svc.listen.inspector.frame import ICON, SCRIPT, STYLE, Place, document, notice
from svc.listen.inspector.list_view import deliveries
from svc.listen.inspector.markup import Markup
from svc.listen.inspector.replay_view import Replayed
from svc.listen.inspector.sending_again import Again
from svc.listen.inspector.shown import status_text
from svc.listen.inspector.wanted import Filter, fields

T = TypeVar("T")

_FILES: Final = {
    STYLE: "text/css; charset=utf-8",
    SCRIPT: "text/javascript; charset=utf-8",
    ICON: "image/svg+xml",
}
_FORM: Final = b"application/x-www-form-urlencoded"
_GONE: Final = "It is not in the inbox, or not any more."
_LOST: Final = "Only the last rejections are kept, and only while the listener runs."
_NUMBER_MAX: Final = 9


class Pages:
    """Answers requests that the guard has let pass.

    Everything that reads or draws runs on a thread, so that the receiver never waits for it.
    """

    def __init__(
        self,
        place: Place,
        path_of: Callable[[Head], str],
        catalogue: Catalogue,
        feed: Feed,
        again: Again,
        clock: Clock,
    ) -> None:
        self._place = place
        self._path_of = path_of
        self._catalogue = catalogue
        self._feed = feed
        self._again = again
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, "inspector")

    async def respond(self, request: Request) -> Answer:
        """Answers one request; never fails."""
        path, _, query = self._path_of(request.head).partition("?")
        try:
            return await self._route(request, path.split("/"), query)
        except LocalError as error:
            return self._sorry("Not possible now", error.message, 503)
        except Exception as error:  # noqa: BLE001  a page must not end the listener
            return self._sorry("This page broke", f"A bug in svc: {type(error).__name__}.", 500)

    def close(self) -> None:
        """Ends the thread once it has done what it is at."""
        self._thread.shutdown(cancel_futures=True)

    async def _route(self, request: Request, path: list[str], query: str) -> Answer:
        match (request.head.method, path):
            case (b"POST", ["delivery", event_id, "replay"]):
                return await self._replay(request, event_id, query)
            case (b"POST", _):
                return Answer(404)
            case (_, ["changes"]):
                return answer.stream()
            case (_, [name]) if name in _FILES:
                content = files(__package__).joinpath(name).read_bytes()
                return answer.of_kind(_FILES[name], content)
            case _:
                return await self._page(path, query)

    async def _page(self, path: list[str], query: str) -> Answer:
        match path:
            case [""]:
                return await self._draw("", query, lambda _: None)
            case ["delivery", event_id]:
                return await self._delivery(event_id, query)
            case ["delivery", event_id, "curl"]:
                return await self._curl(event_id)
            case ["delivery", event_id, "replay"]:  # a refused form that is loaded again
                return answer.see_other(self._place.url(f"delivery/{event_id}"))
            case ["rejected", number]:
                return await self._rejected(number, query)
            case _:
                return Answer(404)

    async def _delivery(
        self, event_id: str, query: str, replayed: Replayed | None = None, status: int = 200
    ) -> Answer:
        whole = await self._on_thread(lambda: self._catalogue.whole(event_id))
        if whole is None:
            return await self._missing(_GONE)
        said = replayed or Replayed(news=_news(whole, fields(query).get("sent", "")))

        def detail(filter_query: str) -> Markup:
            verdict = self._again.verdict(whole)
            return delivery(self._place, whole, verdict, filter_query, said)

        return await self._draw(f"delivery/{event_id}", query, detail, status)

    async def _rejected(self, number: str, query: str) -> Answer:
        known = number.isascii() and number.isdigit() and len(number) <= _NUMBER_MAX
        one = self._feed.find(int(number)) if known else None
        if one is None:
            return await self._missing(_LOST)
        return await self._draw(
            f"rejected/{number}", query, lambda text: rejection(self._place, one, text)
        )

    async def _curl(self, event_id: str) -> Answer:
        def text() -> str | None:
            whole = self._catalogue.whole(event_id)
            if whole is None:
                return None
            try:
                headers = self._again.headers(whole, original=False)
            except UsageError:
                headers = whole.content.headers
            try:
                url = str(self._again.targets(whole, "")[0])
            except UsageError:
                url = None
            return curl(event_id, url, headers, whole.content)

        found = await self._on_thread(text)
        if found is None:
            return Answer(404)
        return answer.of_kind("text/plain; charset=utf-8", f"{found}\n".encode())

    async def _replay(self, request: Request, event_id: str, query: str) -> Answer:
        kinds = request.head.values(b"content-type")
        if not kinds or kinds[0].partition(b";")[0].strip().lower() != _FORM:
            return Answer(415)
        form = fields(request.body.decode("latin-1"))
        to, original = form.get("to", "").strip(), "original" in form
        whole = await self._on_thread(lambda: self._catalogue.whole(event_id))
        if whole is None:
            return await self._missing(_GONE)
        try:
            targets = self._again.targets(whole, to)
            headers = await self._on_thread(lambda: self._again.headers(whole, original=original))
        except UsageError as error:
            replayed = Replayed("", error.message, to, original)
            return await self._delivery(event_id, query, replayed, 400)
        started = self._clock.now()
        replies = await self._again.send(whole, targets, headers)
        await self._on_thread(lambda: self._again.note(whole, targets, replies, started))
        self._feed.changed()
        there = Filter.parse(query).query()
        sent = f"{there}{'&' if there else '?'}sent={len(replies)}"
        return answer.see_other(self._place.url(f"delivery/{event_id}", sent, "said"))

    async def _draw(
        self, chosen: str, query: str, detail: Callable[[str], Markup | None], status: int = 200
    ) -> Answer:
        wanted = Filter.parse(query)
        turned_away = self._feed.turned_away

        def draw() -> Answer:
            shown = self._catalogue.page(wanted, turned_away)
            listed = deliveries(self._place, shown, wanted, chosen, self._clock.now())
            title = chosen.rpartition("/")[2] or "Deliveries"
            whole = document(self._place, title, listed, detail(wanted.query()))
            return answer.page(whole, status)

        return await self._on_thread(draw)

    async def _missing(self, text: str) -> Answer:
        detail = notice(self._place, "Nothing here", text)
        return await self._draw("", "", lambda _: detail, 404)

    def _sorry(self, title: str, text: str, status: int) -> Answer:
        return answer.page(
            document(self._place, title, Markup(), notice(self._place, title, text)), status
        )

    async def _on_thread(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)


def _news(whole: Whole, sent: str) -> str:
    """Says what came of the last so many replays."""
    count = int(sent) if sent.isascii() and sent.isdigit() and len(sent) <= _NUMBER_MAX else 0
    replays = [row for row in whole.forwards if row["replay"]]
    replays.sort(key=lambda row: row["attempt"])
    last = replays[-count:] if count else []
    said = [f"{status_text(row['status'])} from {row['url']}" for row in last]
    return f"Sent again: {', '.join(said)}." if said else ""
