"""The inspector's routes: each request of the browser to the page or action that answers it.

The guard of `http` lets requests through. `svc events listen --inspect` starts an `Inspector` in
the listener's event loop: it binds its port, makes its secret address and feeds the pages.
"""

import asyncio
import logging
import shlex
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from typing import Final, TypeVar

import uvicorn
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from uvicorn.server import ServerState

from svc.clock import Clock
from svc.errors import LocalError, UsageError
from svc.html import Markup, stylesheet
from svc.listen.http.connection import TargetReply
from svc.listen.http.requests import Refused
from svc.listen.inbox.history import Content
from svc.listen.inspector import http
from svc.listen.inspector.feed import Feed
from svc.listen.inspector.history import DeliveryList, ListFilter, fields, parse_number
from svc.listen.inspector.http import HEAD_MAX, GuardedPages, PageConnection, make_token
from svc.listen.inspector.page import (
    ICON,
    SCRIPT,
    STYLE,
    PageFrame,
    Times,
    document,
    format_raw,
    header_lines,
    notice,
    status_text,
)
from svc.listen.inspector.pages import Replayed, deliveries, delivery, rejection
from svc.listen.inspector.replay import Replayer
from svc.listen.output_records import ListenerRecord
from svc.listen.receiver.server import bind
from svc.listen.routes import AnyTarget
from svc.render.text import escape
from svc.service.facts import INSPECTOR_PORT

T = TypeVar("T")

_FILES: Final = {
    STYLE: "text/css",
    SCRIPT: "text/javascript",
    ICON: "image/svg+xml",
}
_FORM: Final = "application/x-www-form-urlencoded"
_GONE: Final = "It is not in the inbox, or not any more."
_LOST: Final = "Only the last rejections are kept, and only while the listener runs."
_SAID_MAX: Final = 32


@dataclass(slots=True)
class InspectorApp:
    """Answers requests that the guard has let pass.

    Everything that reads or draws runs on a thread, so that the receiver never waits for it.
    """

    frame: PageFrame
    catalogue: DeliveryList
    feed: Feed
    again: Replayer
    clock: Clock
    _sent: int = 0
    _said: dict[int, tuple[str, str]] = field(default_factory=dict)
    _thread: ThreadPoolExecutor = field(default_factory=partial(ThreadPoolExecutor, 1, "inspector"))

    async def respond(self, request: Request, path: str) -> Response:
        """Answers one request for a path behind the token.

        Raises:
            Refused: its form is too large.
        """
        query = request.scope["query_string"].decode("latin-1")
        try:
            return await self._route(request, path.split("/"), query)
        except Refused:
            raise
        except LocalError as error:
            return self._sorry("Not possible now", error.message, 503)
        except Exception as error:  # noqa: BLE001  a page must not end the listener
            return self._sorry("This page broke", f"A bug in svc: {type(error).__name__}.", 500)

    def close(self) -> None:
        """Ends the thread once it has finished its present work."""
        self._thread.shutdown()

    async def _route(self, request: Request, path: list[str], query: str) -> Response:
        match (request.method, path):
            case ("POST", ["delivery", event_id, "replay"]):
                return await self._replay(request, event_id, query)
            case ("POST", _):
                return Response(status_code=404)
            case (_, ["changes"]):
                return http.stream(self.feed)
            case (_, [name]) if name in _FILES:
                text = files(__package__).joinpath(name).read_text(encoding="utf-8")
                text = stylesheet(text) if name == STYLE else text
                return Response(text, media_type=_FILES[name])
            case _:
                return await self._page(path, query)

    async def _page(self, path: list[str], query: str) -> Response:
        match path:
            case [""]:
                return await self._draw("", query, lambda _: None)
            case ["delivery", event_id]:
                return await self._delivery(event_id, query)
            case ["delivery", event_id, "curl"]:
                return await self._curl(event_id)
            case ["delivery", event_id, "replay"]:  # a refused form that is loaded again
                return RedirectResponse(self.frame.url(f"delivery/{event_id}"), 303)
            case ["rejected", number]:
                return await self._show_rejected(number, query)
            case _:
                return Response(status_code=404)

    async def _delivery(
        self, event_id: str, query: str, replayed: Replayed | None = None, status: int = 200
    ) -> Response:
        whole = await self._on_thread(lambda: self.catalogue.load_whole(event_id))
        if whole is None:
            return await self._build_missing(_GONE)
        said = replayed or Replayed(news=self._news(event_id, fields(query).get("sent", "")))

        def detail(filter_query: str) -> Markup:
            verdict = self.again.verdict(whole)
            return delivery(self.frame, whole, verdict, filter_query, said)

        return await self._draw(f"delivery/{event_id}", query, detail, status)

    async def _show_rejected(self, number: str, query: str) -> Response:
        known = parse_number(number)
        one = None if known is None else self.feed.find(known)
        if one is None:
            return await self._build_missing(_LOST)
        return await self._draw(
            f"rejected/{number}", query, lambda text: rejection(self.frame, one, text)
        )

    async def _curl(self, event_id: str) -> Response:
        def text() -> str | None:
            whole = self.catalogue.load_whole(event_id)
            if whole is None:
                return None
            try:
                headers = self.again.headers(whole, original=False)
            except UsageError:
                headers = whole.content.headers
            try:
                url = str(self.again.targets(whole, "")[0])
            except UsageError:
                url = None
            return curl(event_id, url, headers, whole.content)

        found = await self._on_thread(text)
        if found is None:
            return Response(status_code=404)
        return PlainTextResponse(f"{found}\n")

    async def _replay(self, request: Request, event_id: str, query: str) -> Response:
        kind = request.headers.get("content-type", "")
        if kind.partition(";")[0].strip().lower() != _FORM:
            return Response(status_code=415)
        form = fields((await http.body_of(request)).decode("latin-1"))
        to, original = form.get("to", "").strip(), "original" in form
        whole = await self._on_thread(lambda: self.catalogue.load_whole(event_id))
        if whole is None:
            return await self._build_missing(_GONE)
        try:
            targets = self.again.targets(whole, to)
            headers = await self._on_thread(lambda: self.again.headers(whole, original=original))
        except UsageError as error:
            replayed = Replayed("", error.message, to, original)
            return await self._delivery(event_id, query, replayed, 400)
        started = self.clock.now()
        before = await self._on_thread(lambda: self.again.begin(whole, targets))
        replies = await self.again.send(whole, targets, headers, before)
        await self._on_thread(lambda: self.again.note(whole, targets, replies, started))
        there = ListFilter.parse(query).query()
        number = self._keep_news(event_id, targets, replies)
        sent = f"{there}{'&' if there else '?'}sent={number}"
        return RedirectResponse(self.frame.url(f"delivery/{event_id}", sent, "said"), 303)

    def _keep_news(
        self, event_id: str, targets: Sequence[AnyTarget], replies: Sequence[TargetReply]
    ) -> int:
        """Keeps what came of a replay, for the page to which it leads; gives its number.

        The attempts in the inbox do not tell which were the last: a clock may be put back.
        """
        each = zip(targets, replies, strict=True)
        said = [f"{status_text(reply.status)} from {target}" for target, reply in each]
        self._sent += 1
        self._said[self._sent] = (event_id, f"Sent again: {', '.join(said)}.")
        self._said.pop(self._sent - _SAID_MAX, None)
        return self._sent

    def _news(self, event_id: str, sent: str) -> str:
        of, text = self._said.get(parse_number(sent) or 0, ("", ""))
        return text if of == event_id else ""

    async def _draw(
        self, chosen: str, query: str, detail: Callable[[str], Markup | None], status: int = 200
    ) -> Response:
        wanted = ListFilter.parse(query)
        turned_away = self.feed.turned_away

        def draw() -> Response:
            shown = self.catalogue.page(wanted, turned_away)
            listed = deliveries(self.frame, shown, wanted, chosen, self.clock.now())
            title = chosen.rpartition("/")[2] or "Deliveries"
            whole = document(self.frame, title, listed, detail(wanted.query()))
            return HTMLResponse(f"<!doctype html>{whole}", status)

        return await self._on_thread(draw)

    async def _build_missing(self, text: str) -> Response:
        detail = notice(self.frame, "Nothing here", text)
        return await self._draw("", "", lambda _: detail, 404)

    def _sorry(self, title: str, text: str, status: int) -> Response:
        whole = document(self.frame, title, Markup(), notice(self.frame, title, text))
        return HTMLResponse(f"<!doctype html>{whole}", status)

    async def _on_thread(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)


_INLINE_MAX: Final = 64 * 1024


def curl(event_id: str, url: str | None, headers: bytes, content: Content) -> str:
    """Writes a curl command that sends a delivery; without a `url` it reads one from $TARGET.

    A body that holds a secret, or something a terminal might act on, is not written into it but
    read from the inbox.
    """
    words = ["curl", "-sS", "-i", "-X", "POST", shlex.quote(url) if url else '"$TARGET"']
    for name, value in header_lines(headers):
        words += ["-H", shlex.quote(f"{name.decode('latin-1')}: {value.decode('latin-1')}")]
    body = _find_harmless(content.body)
    if body is not None:
        return " ".join([*words, "--data-raw", shlex.quote(body)])
    source = f"svc events inbox show {event_id} -o json --query payload_base64 | tr -d '\"' "
    return source + " ".join(["| base64 -d |", *words, "--data-binary", "@-"])


def _find_harmless(body: bytes) -> str | None:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    if len(body) > _INLINE_MAX or escape(text) != text or format_raw(body) != text:
        return None
    return text


_SECONDS_TO_END: Final = 0.3


def bind_inspector(port: int | None) -> socket.socket:
    """Binds a port on 127.0.0.1: the given one, else the usual one, else any free one.

    Raises:
        LocalError: the port that was asked for is taken.
    """
    if port is not None:
        return bind(port)
    try:
        return bind(INSPECTOR_PORT)
    except LocalError:
        return bind(0)


class Inspector:
    """Serves one bound socket while a listener runs."""

    def __init__(
        self, bound: socket.socket, mode: str, catalogue: DeliveryList, clock: Clock, *, utc: bool
    ) -> None:
        self._bound = bound
        self._port: int = bound.getsockname()[1]
        self._token = make_token()
        self._mode = mode
        self.catalogue = catalogue
        self._clock = clock
        self._times = Times(utc=utc)
        self._feed = Feed()
        self._serving = ServerState()
        self._started: tuple[asyncio.Server, InspectorApp] | None = None

    @property
    def url(self) -> str:
        """The address of the page; every program that has it may use it."""
        return f"http://127.0.0.1:{self._port}/{self._token}/"

    def emit(self, record: ListenerRecord) -> None:
        """Passes a record of the listener to the feed."""
        self._feed.emit(record)

    async def start(self, again: Replayer) -> None:
        """Accepts connections from now on."""
        described = " · ".join(again.plan.routes.describe_routes())
        way = f"Forwarding {described}" if described else "No target: deliveries are kept"
        frame = PageFrame(f"/{self._token}/", self._mode, way, self._times)
        pages = InspectorApp(frame, self.catalogue, self._feed, again, self._clock)
        # Nothing of uvicorn is printed, and no signal is its own.
        logging.getLogger("uvicorn").addHandler(logging.NullHandler())
        config = uvicorn.Config(
            GuardedPages(self._token, self._port, pages.respond),
            http=PageConnection,
            ws="none",
            log_config=None,
            proxy_headers=False,
            h11_max_incomplete_event_size=HEAD_MAX,
        )
        config.load()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: PageConnection(config, self._serving, {}), sock=self._bound
        )
        self._started = server, pages

    async def close(self) -> None:
        """Ends every connection without waiting for other processes (promise R78)."""
        if self._started is None:
            return
        server, pages = self._started
        self.catalogue.shorten_timeout(_SECONDS_TO_END)
        server.close()
        for one in tuple(self._serving.connections):
            one.transport.abort()
        tasks = tuple(self._serving.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.get_running_loop().run_in_executor(None, pages.close)
