"""One sandbox process: binds the socket, runs the app, says when it is ready, ends gracefully."""

import asyncio
import json
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

import uvicorn

from svc.errors import LocalError, system_words
from svc.sandbox.app import OnServed, SandboxApp
from svc.sandbox.process.launch import LaunchOptions
from svc.sandbox.process.protocol import DeadlineProtocol, PortSplitter
from svc.sandbox.process.records import LOOPBACK, RunRecord, hold, listen_on
from svc.sandbox.webhooks.sender import HttpSender
from svc.system.signals import STOPPING

OnReady = Callable[[RunRecord], None]

_LOG_MAX: Final = 1024 * 1024  # bytes; a longer log begins anew with the next start
_GRACE: Final = 0.3  # seconds for requests in flight once a stop is asked for (promise R78)
_KEEP_ALIVE: Final = 75  # seconds that an idle connection stays open


def _app(options: LaunchOptions) -> SandboxApp:
    state = None
    if options.state is not None:
        try:
            state = json.loads(Path(options.state).read_bytes())
        except (OSError, ValueError) as error:
            raise LocalError(f"{options.state} is no exported state: {error}.") from error
    return SandboxApp(
        options.db,
        seed=options.seed,
        fixture=options.fixture,
        strict_https=options.strict_https or options.tls,
        hosts=options.hosts,
        state=state,
        settings=options.settings,
        sender=HttpSender(ca_bundle=options.ca_bundle),
    )


def serve(
    options: LaunchOptions,
    on_ready: OnReady,
    on_served: OnServed | None = None,
    make_app: Callable[[LaunchOptions], SandboxApp] = _app,
) -> None:
    """Runs a sandbox in this process until SIGINT, SIGTERM or SIGHUP.

    It stops within about a second then, and raises the signal again. `on_ready` is called once the
    first request would be answered, `on_served` after each one.

    Raises:
        LocalError: when the port, the database or the state folder cannot be used.
    """
    with ExitStack() as stack:
        socks = [stack.enter_context(each) for each in listen_on(options.port, options.bind)]
        record = _record(options, socks[0].getsockname()[1])
        with _keep_record(options, record):
            app = make_app(options)
            app.on_served = on_served
            caught = _run(app, options, socks, lambda: on_ready(record))
    for number in caught:
        # All is closed; the parent process decides what the signal means to it.
        signal.raise_signal(number)


def _run(
    app: SandboxApp,
    options: LaunchOptions,
    socks: list[socket.socket],
    on_ready: Callable[[], None],
) -> list[int]:
    server = _Server(_config(app, options), app, on_ready)
    app.under_way = server.server_state.tasks
    # Not the loop that Windows would choose: the port splitter asks which sockets can be read.
    runner = asyncio.Runner(loop_factory=asyncio.SelectorEventLoop)
    with _stop_by_signals(server) as caught, runner:
        runner.run(server.serve(socks))
    if server.failure is not None:
        raise server.failure
    return caught


def _config(app: SandboxApp, options: LaunchOptions) -> uvicorn.Config:
    protocol: Any = partial(DeadlineProtocol, refuse=app.refuse)
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        loop="asyncio",
        lifespan="on",
        interface="asgi3",
        access_log=False,
        log_config=None,
        server_header=False,
        # No proxy stands before the sandbox: X-Forwarded-Proto would let plain HTTP pass as https.
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,  # type: ignore[arg-type]  # asyncio takes fractions
        ssl_certfile=options.certificate,
        ssl_keyfile=options.private_key,
    )


class _Server(uvicorn.Server):
    """uvicorn's server, telling when it is ready and leaving signals to `run`."""

    def __init__(
        self, config: uvicorn.Config, app: SandboxApp, on_ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._app = app
        self._on_ready = on_ready
        self.failure: Exception | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await self._open_port(sockets or [])
        except SystemExit:
            if self._app.failure is None:
                raise
            raise self._app.failure from None
        try:
            self._on_ready()
        except Exception as error:  # noqa: BLE001  raised by `_serve` once all is closed
            self.failure = error
            self.should_exit = True

    async def _open_port(self, sockets: list[socket.socket]) -> None:
        context = self.config.ssl
        if context is None:
            await super().startup(sockets)
            return
        await super().startup([])
        servers: list[Any] = self.servers
        servers.extend(PortSplitter(sock, context, self._protocol) for sock in sockets)

    def _protocol(self) -> asyncio.Protocol:
        """What uvicorn makes for each connection."""
        make: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        return make(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn would raise the signal again inside the event loop, before the run record is gone.
        yield


@contextmanager
def _stop_by_signals(server: uvicorn.Server) -> Iterator[list[int]]:
    """Turns the first signal into a graceful stop and the second into a quick one."""
    caught: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the handler's signature
        server.force_exit = bool(caught)
        server.should_exit = True
        if not caught:
            caught.append(number)

    # A signal that the parent process ignores stays ignored: `nohup` means its SIGHUP.
    heard = [number for number in STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in heard}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _record(options: LaunchOptions, port: int) -> RunRecord:
    return RunRecord(
        pid=os.getpid(),
        port=port,
        url=f"{'https' if options.tls else 'http'}://{LOOPBACK}:{port}",
        db=options.db,
        started=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        log=str(options.folder / f"sandbox-{port}.log") if options.state_dir else "",
        certificate=options.authority or options.certificate,
        bind=None if options.bind == LOOPBACK else options.bind,
    )


@contextmanager
def _keep_record(options: LaunchOptions, record: RunRecord) -> Iterator[None]:
    """Holds the run record and writes the log, where there is a folder for them."""
    if not options.state_dir:
        yield
        return
    with hold(options.folder, record), _log_to(Path(record.log)):
        yield


@contextmanager
def _log_to(path: Path) -> Iterator[None]:
    """Sends warnings and errors of the server to a file: a terminal gets no tracebacks."""
    try:
        mode = "a" if not path.exists() or path.stat().st_size < _LOG_MAX else "w"
        handler = logging.FileHandler(path, mode=mode, encoding="utf-8")
        path.chmod(0o600)
    except OSError as error:
        raise LocalError(f"The log {path} cannot be written: {system_words(error)}.") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    handler.setLevel(logging.WARNING)
    handler.addFilter(_is_no_cut)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


def _is_no_cut(record: logging.LogRecord) -> bool:
    """Leaves out the traceback of a request that a stop has cut off: how many is told already."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
