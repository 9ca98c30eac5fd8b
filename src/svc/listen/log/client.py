"""One client of nats-py after the other, for as long as a log is wanted; each for one server.

nats-py reconnects by itself, also to servers that it heard of from another one; then a password
would go to hosts that no person named (R127). So each of its clients is connected once, to a
server of the address, and another one is made when that has ended. nats-py also takes a server's
word for it that there is no TLS, and tells of a refused right in a callback alone.

`connection` has one `LogClient` in its event loop; no other module uses nats-py's own client.
"""

import asyncio
import logging
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from svc.errors import AuthError
from svc.listen.log.address import LogAddress
from svc.listen.log.credentials import Credentials
from svc.listen.log.errors import (
    LogDown,
    build_right_missing,
    build_unreachable,
    credentials_refused,
    worded,
)
from svc.listen.owners import own, own_task

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription

T = TypeVar("T")

_ROUND_SECONDS: Final = 0.2  # between two rounds through the servers
_ONE_SECONDS: Final = 2.5  # for one server
_PONG_SECONDS: Final = 2.0
_LATE_PONG_SECONDS: Final = 60  # nats-py ends a connection that is silent for half of it
_CLOSE_SECONDS: Final = 1.0
_HEARTBEAT: Final = "100"
_TOLD_SECONDS: Final = 0.005
_STRANGER: Final = ("authorization", "authentication")  # with a time-out a server is only slow
_VIOLATION: Final = re.compile(r"permissions violation for (publish|subscription) to \"([^\"]+)\"")
_USELESS: Final = "eof_received() has no effect when using ssl"  # asyncio of nats-py's reader


class LogLoop(asyncio.SelectorEventLoop):
    """An event loop that knows the connections made in it, and can drop them at once.

    `has_tls` says whether the newest is encrypted, `certificate_ends` when its certificate ends
    (unix seconds).
    """

    def __init__(self) -> None:
        super().__init__()
        self._wires: list[asyncio.BaseTransport] = []
        self.has_tls = False
        self.certificate_ends: float | None = None

    async def create_connection(self, *args: Any, **more: Any) -> Any:
        self.has_tls, self.certificate_ends = False, None
        wire, protocol = await super().create_connection(*args, **more)
        self._wires.append(wire)
        return wire, protocol

    async def start_tls(self, *args: Any, **more: Any) -> Any:
        wire = await super().start_tls(*args, **more)
        found = (wire.get_extra_info("peercert") if wire is not None else None) or {}
        if isinstance(ends := found.get("notAfter"), str):
            self.certificate_ends = ssl.cert_time_to_seconds(ends)
        self.has_tls = True
        return wire

    def drop_wires(self) -> None:
        """Drops all connections, with what has not been sent."""
        for wire in self._wires:
            if isinstance(wire, asyncio.WriteTransport):
                wire.abort()
        self._wires.clear()


class LogClient:
    """Opens a connection when one is needed, and another one when that has ended.

    `on_state_change` is called, in the loop, at each loss of the connection, with the reason, and
    at its return, with None.
    `generation` counts the connections: nothing of an earlier one comes in a later one.
    """

    def __init__(
        self,
        address: LogAddress,
        credentials: Credentials | None,
        context: ssl.SSLContext | None,
    ) -> None:
        self.on_state_change: Callable[[str | None], None] = lambda _: None
        self.generation = 0
        self._address = address
        self._credentials = credentials
        self._context = context
        self._client: Client | None = None
        self._closed: asyncio.Future[None] | None = None  # done once that client has ended
        self._opening = asyncio.Lock()
        self._first = 0  # which server is tried first
        self._trouble: BaseException | None = None
        self._waiting: set[tuple[str, asyncio.Future[AuthError]]] = set()
        self._doubting: asyncio.Task[None] | None = None
        self._pings: set[asyncio.Task[None]] = set()
        self._down = False

    @property
    def version(self) -> str:
        """The version of the server that is connected, empty where none was yet."""
        found = self._client.connected_server_version if self._client is not None else None
        return f"{found.major}.{found.minor}.{found.patch}" if found is not None else ""

    @property
    def max_payload(self) -> int:
        """The largest message that the server takes, headers included, in bytes."""
        return self._client.max_payload if self._client is not None else 1 << 20

    @property
    def is_connected(self) -> bool:
        """True while a server is connected."""
        return self._client is not None and self._client.is_connected

    async def get_ready(self, seconds: float) -> "Client":
        """Returns the client, connected; a new one where the old one has ended.

        Raises:
            LogDown, AuthError: there is none in so many seconds.
        """
        end = time.monotonic() + seconds
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                # By the clock as well: nats-py may swallow the one cancellation that a limit sends.
                while time.monotonic() < end:
                    client = self._client
                    if client is not None and client.is_connected:
                        return client
                    async with self._opening:
                        if self._client is client:
                            await self._open(max(end - time.monotonic(), 0.1))
        raise build_unreachable(self._address, self._trouble)

    async def ask(
        self, subject: str, payload: bytes, headers: Mapping[str, str] | None, seconds: float
    ) -> "Msg":
        """Sends a message and waits for its answer.

        Raises:
            LogDown: there was none in time.
            AuthError: the user has no right to ask.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        client = await self.get_ready(seconds)
        left = max(end - loop.time(), 0.01)
        asked = client.request(
            subject, payload, timeout=left, headers=dict(headers) if headers else None
        )
        return await self._unless_refused(subject, asked)

    async def gather(
        self, subject: str, payload: bytes, seconds: float, *, most: int
    ) -> "list[Msg]":
        """Sends a message and gives up to `most` answers; one with a status is the last.

        Raises:
            LogDown: an answer did not come in time.
            AuthError: the user has no right to ask.
        """
        client = await self.get_ready(seconds)
        answers = _Answers(most, self._closed)

        async def answered() -> "list[Msg]":
            subscription = await client.subscribe(client.new_inbox(), cb=answers.take)
            try:
                await client.publish(subject, payload, reply=subscription.subject)
                return await answers.collect(seconds)
            finally:
                with suppress(Exception):
                    await subscription.unsubscribe()

        return await self._unless_refused(subject, answered())

    async def subscribe(
        self, subject: str, got: "Callable[[Msg], Awaitable[None]]", seconds: float
    ) -> "Subscription":
        """Subscribes to a subject; returns once the server has confirmed it.

        Raises:
            LogDown: it does not answer.
            AuthError: the user has no right to.
        """
        client = await self.get_ready(seconds)

        async def subscribed() -> "Subscription":
            found = await client.subscribe(subject, cb=got)
            async with asyncio.timeout(seconds):  # the ping itself goes on, see there
                await asyncio.shield(self._ping(client))
            await asyncio.sleep(_TOLD_SECONDS)  # a refusal is told in a task of its own
            return found

        return await self._unless_refused(subject, subscribed())

    async def _unless_refused(self, subject: str, call: Coroutine[Any, Any, T]) -> T:
        """Waits for an answer, or until the server refuses the right to ask."""
        loop = asyncio.get_running_loop()
        asked, refusal = loop.create_task(call), loop.create_future()
        self._waiting.add((subject, refusal))
        try:
            await asyncio.wait([asked, refusal], return_when=asyncio.FIRST_COMPLETED)
            if refusal.done():
                raise refusal.result()
            with worded():
                return asked.result()
        except LogDown:
            self.doubt()
            raise
        finally:
            self._waiting.discard((subject, refusal))
            asked.cancel()

    def doubt(self) -> None:
        """Checks whether the server still responds, after an answer did not come."""
        client = self._client
        doubting = self._doubting is not None and not self._doubting.done()
        if client is not None and client.is_connected and not doubting:
            loop = asyncio.get_running_loop()
            self._doubting = loop.create_task(own_task(partial(self._look_at, client)))

    async def close(self) -> None:
        """Closes the connection without calling back."""
        self.on_state_change = lambda _: None
        await _end(self._client)

    async def _look_at(self, client: "Client") -> None:
        received = client.stats["in_bytes"]
        ping = self._ping(client)
        await asyncio.wait([ping], timeout=_PONG_SECONDS)
        if ping.done() and not ping.cancelled() and ping.exception() is None:
            return
        if client.is_connected and client.stats["in_bytes"] == received:
            _drop_wires()  # else nats-py waits until what it has written is sent
            await _end(client)

    def _ping(self, client: "Client") -> "asyncio.Task[None]":
        """Asks the server for a pong; the task ends when it has come.

        Never cancelled: nats-py stops reading when a pong comes for a waiter that has gone.
        """
        ping = asyncio.get_running_loop().create_task(client.flush(timeout=_LATE_PONG_SECONDS))
        self._pings.add(ping)
        ping.add_done_callback(own(self._forget_ping))
        return ping

    def _forget_ping(self, ping: "asyncio.Task[None]") -> None:
        self._pings.discard(ping)
        if not ping.cancelled():
            ping.exception()  # its own waiter, where there still is one, is told

    async def _open(self, seconds: float) -> None:
        """Tries the servers of the address in turn, from the one behind the last that was used."""
        end = time.monotonic() + seconds
        # What nats-py and asyncio log of connections stays off stderr; we tell of them.
        logger = logging.getLogger("nats")  # above those of its modules, which pass records on
        logger.propagate, logger.handlers = False, [logging.NullHandler()]
        logger = logging.getLogger("asyncio")
        if _is_useful not in logger.filters:
            logger.addFilter(_is_useful)
        servers = self._address.servers
        while time.monotonic() < end:
            self._trouble = None
            for number in range(len(servers)):
                at = (self._first + number) % len(servers)
                if await self._connect_to(servers[at], min(end - time.monotonic(), _ONE_SECONDS)):
                    self._first = at + 1
                    self.generation += 1
                    self._trouble = None
                    self._report_state(None)
                    return
            if isinstance(self._trouble, AuthError):
                raise self._trouble
            await asyncio.sleep(_ROUND_SECONDS)

    async def _connect_to(self, server: str, seconds: float) -> bool:
        """Says whether a client is connected to a server; what it met otherwise is the trouble."""
        from nats.aio.client import Client

        client = Client()
        # It looks at each letter of each name: a third of what a message takes there.
        client._parse_header_lines = parse_headers  # type: ignore[method-assign]  # noqa: SLF001
        try:
            async with asyncio.timeout(max(seconds, 0.1)):
                closed = await self._connect(client, server)
        except Exception as error:  # noqa: BLE001  whatever it is, it is told, or the next one tried
            if not isinstance(self._trouble, AuthError):
                self._trouble = self._trouble or error
            await _end(client)
            return False
        self._client, self._closed = client, closed
        return True

    async def _connect(self, client: "Client", server: str) -> "asyncio.Future[None]":
        """Connects a client; returns what is done once it has ended."""
        user, options = self._credentials, dict[str, Any]()
        if user is not None:
            options = {name: self._after_tls(of) for name, of in user.options().items()}
            if user.user is not None and user.jwt is None:
                options["inbox_prefix"] = f"_INBOX_{user.label}"
        if self._context is not None:
            options["tls"] = self._context

        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def closed() -> None:
            ended.set_result(None)
            await self._handle_loss(client)

        await client.connect(
            servers=[server],
            name="svc",
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            connect_timeout=2,
            ping_interval=10,
            error_cb=self._errors,
            closed_cb=closed,
            **options,
        )
        self._check_tls()
        return ended

    def _after_tls(self, secret: Callable[..., Any]) -> Callable[..., Any]:
        """Returns what hands a secret out once there is TLS, where there is to be any."""

        def given(*asked: Any) -> Any:
            self._check_tls()
            return secret(*asked)

        return given

    def _check_tls(self) -> None:
        from nats.errors import Error

        loop = asyncio.get_running_loop()
        if self._context is not None and not (isinstance(loop, LogLoop) and loop.has_tls):
            raise Error("it offers no TLS")

    async def _errors(self, error: Exception) -> None:
        text = str(error).lower()
        violation = _VIOLATION.search(text)
        if violation is not None:
            # All who wait are told that no answer comes, and why; the subject is in lower case.
            for subject, refusal in self._waiting:
                if subject.lower() == violation[2] and not refusal.done():
                    refusal.set_result(build_right_missing(self._user, violation[1], subject))
        elif any(word in text for word in _STRANGER) and "timeout" not in text:
            self._trouble = credentials_refused(self._address, self._user, text)
        elif not isinstance(self._trouble, AuthError):
            self._trouble = error

    @property
    def _user(self) -> str | None:
        return self._credentials.user if self._credentials is not None else None

    async def _handle_loss(self, client: "Client") -> None:
        if client is not self._client:
            return  # one that was never in use
        if client.last_error is not None:  # a server's last word comes no other way
            await self._errors(client.last_error)
        self._report_state(build_unreachable(self._address, self._trouble).message)

    def _report_state(self, reason: str | None) -> None:
        if (reason is not None) != self._down:
            self._down = reason is not None
            self.on_state_change(reason)


def parse_headers(raw: bytes) -> dict[str, str]:
    """Reads the lines of a message's headers just as nats-py does; a test compares the two."""
    found = {}
    for line in raw.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        key = _parse_name(name) if colon else None
        if key is not None:
            found[key] = value.strip().decode("utf-8", "replace")
    return found


@lru_cache(maxsize=64)
def _parse_name(raw: bytes) -> str | None:
    """Returns a header's name; None where it is none."""
    try:
        name = raw.strip().decode("ascii")
    except UnicodeDecodeError:
        return None
    return None if any(char.isspace() for char in name) else name


class _Answers:
    """Collects the answers to one message, up to `most`; one with a status is the last.

    nats-py calls `take` with one after the other: to ask it for each takes five turns of the loop.
    """

    def __init__(self, most: int, closed: "asyncio.Future[None] | None") -> None:
        """`closed` is done once the connection has ended."""
        assert closed is not None
        self._most = most
        self._closed = closed
        self._loop = asyncio.get_running_loop()
        self._whole: asyncio.Future[None] = self._loop.create_future()
        self._found: list[Msg] = []
        self._heard_at = 0.0

    async def take(self, message: "Msg") -> None:
        """Adds an answer; a heartbeat only shows that there are more to come."""
        self._heard_at = self._loop.time()
        status = is_status(message)
        if self._whole.done() or (status and (message.headers or {})["Status"] == _HEARTBEAT):
            return
        self._found.append(message)
        if status or len(self._found) == self._most:
            self._whole.set_result(None)

    async def collect(self, seconds: float) -> "list[Msg]":
        """Returns the answers; raises TimeoutError, OSError: none for so long, or never again."""
        self._heard_at = self._loop.time()
        while not self._whole.done():
            left = self._heard_at + seconds - self._loop.time()
            if left <= 0:
                raise TimeoutError
            both = (self._whole, self._closed)
            await asyncio.wait(both, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if self._closed.done() and not self._whole.done():
                raise ConnectionResetError("the connection is closed")
        return self._found


def _is_useful(record: logging.LogRecord) -> bool:
    return _USELESS not in record.getMessage()


def is_status(message: "Msg") -> bool:
    """Returns whether the server itself has answered so: an event has a body and is of a stream."""
    headers = message.headers or {}
    is_stored = "Nats-Sequence" in headers or message.reply.startswith("$JS.ACK.")
    return not message.data and "Status" in headers and not is_stored


async def _end(client: "Client | None") -> None:
    """Ends a client, in a second at most, and its socket with it."""
    if client is not None:
        with suppress(Exception):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await client.close()
    _drop_wires()


def _drop_wires() -> None:
    loop = asyncio.get_running_loop()
    if isinstance(loop, LogLoop):
        loop.drop_wires()
