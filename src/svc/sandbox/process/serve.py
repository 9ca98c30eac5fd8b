"""Serves one sandbox in this process: binds, runs the app, reports readiness, stops cleanly.

`svc sandbox start` calls `serve` in its own process; with `--detach`, `sandbox/__main__.py` calls
it in the process that `launch` starts. uvicorn has a `DeadlineProtocol` for each connection; with
`--tls` a `PortSplitter` tells TLS from plain HTTP on the one port.
"""

import asyncio
import logging
import os
import signal
import socket
import ssl
from asyncio import CancelledError
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from svc.errors import name_failure
from svc.sandbox.app import SandboxApp
from svc.sandbox.http.exchange import HttpReply
from svc.sandbox.options import LOOPBACK
from svc.sandbox.parameters.problems import Problem, build_late, http_invalid
from svc.sandbox.process.records import RunRecord, hold, listen_on
from svc.system.loops import catch_signals
from svc.system.signals import STOPPING

HEAD_SECONDS: Final = 10.0  # for a request line and headers once their first byte is there
_HEAD: Final = b"HTTP/1.1 "
_GO_ON: Final = _HEAD + b"1"  # 100 Continue

Refuse = Callable[[Problem], HttpReply]


class JoinedWrites:
    """A transport that sends the head of an answer with what follows it.

    uvicorn writes them apart, in two packets that each wake the caller. After a head uvicorn always
    writes again, if only the empty end of an answer. `100 Continue` is sent at once, for the caller
    waits for it.
    """

    def __init__(self, inner: asyncio.Transport) -> None:
        self._inner = inner
        self._held = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def is_closing(self) -> bool:  # asked several times a request
        return self._inner.is_closing()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if data[: len(_HEAD)] == _HEAD and data[: len(_GO_ON)] != _GO_ON:
            self._send()
            self._held = bytes(data)
        else:
            self._send(data)

    def close(self) -> None:
        self._send()
        self._inner.close()

    def abort(self) -> None:
        self._send()
        self._inner.abort()

    def _send(self, more: bytes | bytearray | memoryview = b"") -> None:
        held, self._held = self._held, b""
        if (held or more) and not self._inner.is_closing():
            self._inner.write(held + more)


class DeadlineProtocol(H11Protocol):
    """One connection, closed when it is idle for too long or a request's head is too slow.

    `refuse` makes the answer to bytes that never became a request, as an error of the API.
    """

    _head_timer: asyncio.TimerHandle | None = None

    def __init__(
        self, *args: Any, refuse: Refuse, head_seconds: float = HEAD_SECONDS, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self._head_seconds = head_seconds
        self._refusal_of = refuse

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(JoinedWrites(transport))  # type: ignore[arg-type]
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._between_requests:
            self._stop_timer()
        elif self._head_timer is None and not self.transport.is_closing():
            late = build_late("head", self._head_seconds)
            self._head_timer = self.loop.call_later(self._head_seconds, self._refuse, late)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  in uvicorn's own words
        self._refuse(http_invalid("The request is not valid HTTP/1.1."))

    @property
    def _between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, why: Problem) -> None:
        """Answers what is no request, unless an answer is under way, and closes the connection."""
        self._stop_timer()
        if self._between_requests or not self.cycle.response_started:
            reply = self._refusal_of(why)
            status = HTTPStatus(reply.status)
            lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode()]
            lines += [b"%s: %s" % line for line in reply.encode_headers()]
            self.transport.write(b"\r\n".join([*lines, b"", reply.body]))
        self.transport.close()


_TLS_HANDSHAKE: Final = b"\x16"
_PATIENCE: Final = 10.0  # seconds for a first byte, and for a handshake
_PAUSE: Final = 0.1  # seconds after a connection that could not be accepted

_log: Final = logging.getLogger(__name__)


class PortSplitter:
    """Accepts connections on a socket, with TLS or without; uvicorn treats it as a server."""

    def __init__(
        self,
        sock: socket.socket,
        context: ssl.SSLContext,
        make_protocol: Callable[[], asyncio.Protocol],
    ) -> None:
        self._sock = sock
        self._context = context
        self._make_protocol = make_protocol
        self._waiting: set[asyncio.Task[None]] = set()
        sock.setblocking(False)
        self._accepting = asyncio.create_task(self._accept())

    def close(self) -> None:
        """Stops accepting connections; closes those on which nothing was sent yet."""
        for task in (self._accepting, *self._waiting):
            task.cancel()

    async def wait_closed(self) -> None:
        """Returns when no connection waits to be accepted."""
        await asyncio.wait([self._accepting, *self._waiting])

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(self._sock)
            except OSError as error:  # too many open files, say
                _log.warning("a connection could not be accepted: %s", error)
                await asyncio.sleep(_PAUSE)
                continue
            task = asyncio.create_task(self._sort(connection))
            self._waiting.add(task)
            task.add_done_callback(self._waiting.discard)

    async def _sort(self, connection: socket.socket) -> None:
        handed_over = False
        try:
            connection.setblocking(False)
            async with asyncio.timeout(_PATIENCE):
                first = await _first_byte(connection)
            if first:
                context = self._context if first == _TLS_HANDSHAKE else None
                handed_over = True  # from here on the transport closes it
                await asyncio.get_running_loop().connect_accepted_socket(
                    self._make_protocol,
                    connection,
                    ssl=context,
                    ssl_handshake_timeout=None if context is None else _PATIENCE,
                )
        except (OSError, TimeoutError) as error:  # ssl.SSLError is one of the first
            _log.info("a connection came to nothing: %s", error)
        finally:
            if not handed_over:
                connection.close()


async def _first_byte(connection: socket.socket) -> bytes:
    """Looks at the first byte without taking it; empty when the caller has hung up."""
    loop = asyncio.get_running_loop()
    said = asyncio.Event()
    loop.add_reader(connection, said.set)
    try:
        await said.wait()
    finally:
        loop.remove_reader(connection)
    with suppress(ConnectionError):
        return connection.recv(1, socket.MSG_PEEK)
    return b""


OnReady = Callable[[RunRecord], None]

_LOG_MAX: Final = 1024 * 1024  # bytes; a longer log begins anew with the next start
_GRACE: Final = 0.3  # seconds for requests in flight once a stop is asked for (promise R78)
_KEEP_ALIVE: Final = 75  # seconds that an idle connection stays open


def serve(app: SandboxApp, on_ready: OnReady) -> None:
    """Runs a sandbox in this process until SIGINT, SIGTERM or SIGHUP.

    After the signal it stops within about a second and raises the signal again. `on_ready` is
    called when requests can be answered.

    Raises:
        LocalError: when the port, the database or the state folder cannot be used.
    """
    options = app.options
    with ExitStack() as stack:
        socks = [stack.enter_context(each) for each in listen_on(options.port, options.bind)]
        port = socks[0].getsockname()[1]
        record = RunRecord(
            pid=os.getpid(),
            port=port,
            url=f"{'https' if options.tls else 'http'}://{LOOPBACK}:{port}",
            db=options.db,
            started=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            log=str(options.folder / f"sandbox-{port}.log") if options.state_dir else "",
            certificate=options.authority or options.certificate,
            bind=None if options.bind == LOOPBACK else options.bind,
        )
        if options.state_dir:
            stack.enter_context(hold(options.folder, record))
            _log_to(Path(record.log))
        # Not the loop that Windows would choose: the port splitter asks which sockets can be read.
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            number = runner.run(_run(app, socks, lambda: on_ready(record)))
    # All is closed; the parent process decides what the signal means to it.
    signal.raise_signal(number)


async def _run(app: SandboxApp, socks: list[socket.socket], on_ready: Callable[[], None]) -> int:
    """Serves until a signal: the first is a graceful stop, and the second a quick one."""
    config = _config(app)
    config.load()
    server = uvicorn.Server(config)  # in parts: whole, it would raise the signal before all is over
    server.lifespan = config.lifespan_class(config)
    state = server.server_state
    app.under_way = state.tasks
    caught: list[int] = []

    def stop(number: int) -> None:
        server.should_exit, server.force_exit = True, bool(caught)
        caught.append(number)

    with catch_signals(asyncio.get_running_loop(), STOPPING, stop):
        async with app.run():
            await server.startup(socks if config.ssl is None else [])
            if config.ssl is not None:
                make: Any = config.http_protocol_class
                connect = partial(make, config=config, server_state=state, app_state={})
                splitters: Any = [PortSplitter(sock, config.ssl, connect) for sock in socks]
                server.servers += splitters
            try:
                on_ready()
                await server.main_loop()
            finally:
                await server.shutdown(socks)
    return caught[0]


def _config(app: SandboxApp) -> uvicorn.Config:
    refuse: Refuse = lambda why: app.api.refuse(why)  # noqa: E731, PLW0108  it has no `api` yet
    protocol: Any = partial(DeadlineProtocol, refuse=refuse)
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        # No proxy stands before the sandbox: X-Forwarded-Proto would let plain HTTP pass as https.
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,  # type: ignore[arg-type]  # asyncio takes fractions
        ssl_certfile=app.options.certificate,
        ssl_keyfile=app.options.private_key,
    )


def _log_to(path: Path) -> None:
    """Sends warnings and errors of this process to a file: a terminal gets no tracebacks."""
    with name_failure(f"The log {path} cannot be written"):
        mode = "a" if not path.exists() or path.stat().st_size < _LOG_MAX else "w"
        handler = logging.FileHandler(path, mode=mode, encoding="utf-8")
        path.chmod(0o600)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    # Without the traceback of a request that the stop has cut off: their number is logged once.
    handler.addFilter(lambda each: not each.exc_info or each.exc_info[0] is not CancelledError)
    logging.getLogger().addHandler(handler)
