"""Serves the inspector: binds its port, makes its secret address, and passes records to the feed.

`svc events listen --inspect` starts an `Inspector` in the listener's event loop.
"""

import asyncio
import logging
import socket
from typing import Final

import uvicorn
from uvicorn.server import ServerState

from svc.clock import Clock
from svc.errors import LocalError
from svc.listen.inspector.app import InspectorApp
from svc.listen.inspector.feed import Feed
from svc.listen.inspector.history import DeliveryList
from svc.listen.inspector.http import HEAD_MAX, GuardedPages, PageConnection, make_token
from svc.listen.inspector.page import PageFrame, Times
from svc.listen.inspector.replay import Replayer
from svc.listen.output_records import ListenerRecord
from svc.listen.receiver.server import bind
from svc.service.facts import INSPECTOR_PORT

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
        self._pages: InspectorApp | None = None
        self._serving = ServerState()
        self._server: asyncio.Server | None = None

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
        self._pages = InspectorApp(frame, self.catalogue, self._feed, again, self._clock)
        config = _config(GuardedPages(self._token, self._port, self._pages.respond))
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: PageConnection(config, self._serving, {}), sock=self._bound
        )

    async def close(self) -> None:
        """Ends every connection without waiting for other processes (promise R78)."""
        self.catalogue.shorten_timeout(_SECONDS_TO_END)
        if self._server is not None:
            self._server.close()
        for one in tuple(self._serving.connections):
            one.transport.abort()
        tasks = tuple(self._serving.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._feed.close()
        if self._pages is not None:
            await asyncio.get_running_loop().run_in_executor(None, self._pages.close)


def _config(app: GuardedPages) -> uvicorn.Config:
    """What uvicorn is told: nothing of it is printed, and no signal is its own."""
    log = logging.getLogger("uvicorn")
    log.addHandler(logging.NullHandler())
    log.propagate = False
    config = uvicorn.Config(
        app,
        http=PageConnection,
        ws="none",
        lifespan="off",
        interface="asgi3",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=HEAD_MAX,
    )
    config.load()
    return config
