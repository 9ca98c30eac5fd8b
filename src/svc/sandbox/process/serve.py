"""Serves one sandbox in this process: binds, runs the app, reports readiness, stops cleanly.

`svc sandbox start` calls `serve` in its own process; with `--detach`, `sandbox/__main__.py` calls
it in the process that `launch` starts.
"""

import asyncio
import logging
import os
import signal
import socket
from asyncio import CancelledError
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import uvicorn

from svc.errors import LocalError, system_words
from svc.sandbox.app import SandboxApp
from svc.sandbox.options import LOOPBACK
from svc.sandbox.process.protocol import DeadlineProtocol, PortSplitter, Refuse
from svc.sandbox.process.records import RunRecord, hold, listen_on
from svc.system.loops import catch_signals
from svc.system.signals import STOPPING

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
    try:
        mode = "a" if not path.exists() or path.stat().st_size < _LOG_MAX else "w"
        handler = logging.FileHandler(path, mode=mode, encoding="utf-8")
        path.chmod(0o600)
    except OSError as error:
        raise LocalError(f"The log {path} cannot be written: {system_words(error)}.") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    # Without the traceback of a request that the stop has cut off: their number is logged once.
    handler.addFilter(lambda each: not each.exc_info or each.exc_info[0] is not CancelledError)
    logging.getLogger().addHandler(handler)
