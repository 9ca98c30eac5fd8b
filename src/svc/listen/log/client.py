"""One client of nats-py after the other, for as long as a log is wanted; each for one server.

nats-py reconnects by itself, also to servers that it heard of from another one; then a password
would go to hosts that no person named (R127). So each of its clients is connected once, to a
server of the address, and another one is made when that has ended. nats-py also takes a server's
word for it that there is no TLS, and tells of a refused right in a callback alone.
"""

import asyncio
import logging
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from svc.errors import AuthError
from svc.listen.log.address import LogAddress
from svc.listen.log.credentials import Credentials
from svc.listen.log.troubles import (
    LogDown,
    credentials_refused,
    right_missing,
    unreachable,
    worded,
)

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription

_ROUND_SECONDS: Final = 0.2  # between two rounds through the servers
_ONE_SECONDS: Final = 2.5  # for one server
_LOOK_SECONDS: Final = 0.02
_PONG_SECONDS: Final = 2.0
_CLOSE_SECONDS: Final = 1.0
_TOLD_SECONDS: Final = 0.005
_STRANGER: Final = ("authorization", "authentication")  # with a time-out a server is only slow
_VIOLATION: Final = re.compile(r"permissions violation for (publish|subscription) to \"([^\"]+)\"")
_USELESS: Final = "eof_received() has no effect when using ssl"  # asyncio of nats-py's reader


class LogLoop(asyncio.SelectorEventLoop):
    """An event loop that knows the sockets opened in it, so that one can be dropped at once."""

    def __init__(self) -> None:
        super().__init__()
        self._wires: list[asyncio.BaseTransport] = []

    async def create_connection(self, *args: Any, **more: Any) -> Any:
        wire, protocol = await super().create_connection(*args, **more)
        self._wires.append(wire)
        return wire, protocol

    def drop_wires(self) -> None:
        """Drops all connections, with what has not been sent."""
        for wire in self._wires:
            if isinstance(wire, asyncio.WriteTransport):
                wire.abort()
        self._wires.clear()


class _Handshake:
    """Whether the TLS of one connection is there: nothing secret is said before it is."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self.is_due = context is not None
        self.certificate_ends: float | None = None  # unix seconds
        if context is not None:
            notes = self

            class Noting(ssl.SSLObject):
                def do_handshake(self) -> None:
                    super().do_handshake()
                    notes.is_due = False
                    found = self.getpeercert() or {}
                    if isinstance(ends := found.get("notAfter"), str):
                        notes.certificate_ends = ssl.cert_time_to_seconds(ends)

            context.sslobject_class = Noting

    def before(self, secret: Callable[..., Any]) -> Callable[..., Any]:
        """Gives what hands a secret out after the handshake, and raises before."""

        def given(*asked: Any) -> Any:
            self.check()
            return secret(*asked)

        return given

    def check(self) -> None:
        """Raises an error of nats-py where there is no TLS and should be."""
        from nats.errors import Error

        if self.is_due:
            raise Error("it offers no TLS")


class LogClient:
    """Opens a connection when one is needed, and another one when that has ended.

    `told` hears of each loss of the connection, with the reason, and of its return, with None.
    `generation` counts the connections: nothing of an earlier one comes in a later one.
    """

    def __init__(
        self,
        address: LogAddress,
        credentials: Credentials | None,
        context: ssl.SSLContext | None,
    ) -> None:
        self.told: Callable[[str | None], None] = lambda _: None
        self.generation = 0
        self._address = address
        self._credentials = credentials
        self._context = context
        self._client: Client | None = None
        self.certificate_ends: float | None = None  # of the server that is connected, unix seconds
        self._opening = asyncio.Lock()
        self._first = 0  # which server is tried first
        self._trouble: BaseException | None = None
        self._waiting: dict[str, set[asyncio.Future[Any]]] = {}
        self._refusals: dict[asyncio.Future[Any], AuthError] = {}
        self._doubting: asyncio.Task[None] | None = None
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

    async def ready(self, seconds: float) -> "Client":
        """Gives the client, connected; a new one where the old one has ended.

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
        raise unreachable(self._address, self._trouble)

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
        client = await self.ready(seconds)
        left = max(end - loop.time(), 0.01)

        async def answered() -> "Msg":
            with worded():
                return await client.request(
                    subject, payload, timeout=left, headers=dict(headers) if headers else None
                )

        answer: Msg = await self._unless_refused(subject, loop.create_task(answered()))
        return answer

    async def gather(
        self, subject: str, payload: bytes, seconds: float, *, most: int
    ) -> "list[Msg]":
        """Sends a message and gives its answers, up to the one with a status, at most so many.

        Raises:
            LogDown: an answer did not come in time.
            AuthError: the user has no right to ask.
        """
        client = await self.ready(seconds)

        async def answered() -> "list[Msg]":
            with worded():
                heard = await client.subscribe(client.new_inbox())
                try:
                    await client.publish(subject, payload, reply=heard.subject)
                    found: list[Msg] = []
                    while len(found) <= most:
                        found.append(await heard.next_msg(timeout=seconds))
                        if found[-1].headers and "Status" in found[-1].headers:
                            break
                    return found
                finally:
                    with suppress(Exception):
                        await heard.unsubscribe()

        asked = asyncio.get_running_loop().create_task(answered())
        answers: list[Msg] = await self._unless_refused(subject, asked)
        return answers

    async def subscribe(
        self, subject: str | None, got: "Callable[[Msg], Awaitable[None]]", seconds: float
    ) -> "Subscription":
        """Listens to a subject, or to a new one of our own, once the server has heard of it.

        Raises:
            LogDown: it does not answer.
            AuthError: the user has no right to.
        """
        client = await self.ready(seconds)
        heard = client.new_inbox() if subject is None else subject

        async def subscribed() -> "Subscription":
            with worded():
                found = await client.subscribe(heard, cb=got)
                await client.flush()
                await asyncio.sleep(_TOLD_SECONDS)  # a refusal is told in a task of its own
                return found

        asked = asyncio.get_running_loop().create_task(subscribed())
        found: Subscription = await self._unless_refused(heard, asked)
        return found

    async def _unless_refused(self, subject: str, asked: "asyncio.Task[Any]") -> Any:
        """Waits for an answer; ends as soon as the server refuses the right to ask."""
        self._waiting.setdefault(subject, set()).add(asked)
        try:
            answer = await asked
        except asyncio.CancelledError:
            if asked in self._refusals:
                raise self._refusals[asked] from None
            asked.cancel()
            raise
        except LogDown:
            self.doubt()
            raise
        else:
            if asked in self._refusals:  # its cancellation was swallowed on the way
                raise self._refusals[asked]
            return answer
        finally:
            self._refusals.pop(asked, None)
            self._waiting[subject].discard(asked)
            if not self._waiting[subject]:
                del self._waiting[subject]

    def doubt(self) -> None:
        """Looks whether the other end is still there, since no answer came from it."""
        client = self._client
        doubting = self._doubting is not None and not self._doubting.done()
        if client is not None and client.is_connected and not doubting:
            self._doubting = asyncio.get_running_loop().create_task(self._look_at(client))

    async def close(self) -> None:
        """Lets go of the connection; nothing is told of it."""
        self.told = lambda _: None
        await _ended(self._client)

    async def _look_at(self, client: "Client") -> None:
        received = client.stats["in_bytes"]
        with suppress(Exception):
            async with asyncio.timeout(_PONG_SECONDS):
                await client.flush()
                return
        if client.is_connected and client.stats["in_bytes"] == received:
            _drop_wires()  # else nats-py waits until what it has written is sent
            await _ended(client)

    async def _open(self, seconds: float) -> None:
        """Tries the servers of the address in turn, from the one behind the last that was used."""
        end = time.monotonic() + seconds
        _quieten()
        servers = self._address.servers
        while time.monotonic() < end:
            self._trouble = None
            for number in range(len(servers)):
                at = (self._first + number) % len(servers)
                if await self._opened(servers[at], min(end - time.monotonic(), _ONE_SECONDS)):
                    self._first = at + 1
                    self.generation += 1
                    self._trouble = None
                    self._tell(None)
                    return
            if isinstance(self._trouble, AuthError):
                raise self._trouble
            await asyncio.sleep(_ROUND_SECONDS)

    async def _opened(self, server: str, seconds: float) -> bool:
        """Says whether a client is connected to a server; what it met otherwise is the trouble."""
        from nats.aio.client import Client

        client, shake = Client(), _Handshake(self._context)
        opening = asyncio.get_running_loop().create_task(self._connect(client, server, shake))
        try:
            await self._waited(opening, seconds)
            shake.check()
        except Exception as error:  # noqa: BLE001  whatever it is, it is told, or the next one tried
            if not isinstance(self._trouble, AuthError):
                self._trouble = self._trouble or error
            await _let_go(opening)
            await _ended(client)
            return False
        except BaseException:
            await _let_go(opening)
            raise
        self._client, self.certificate_ends = client, shake.certificate_ends
        return True

    async def _connect(self, client: "Client", server: str, shake: _Handshake) -> None:
        user = self._credentials
        options: dict[str, Any] = {
            name: shake.before(of) for name, of in (user.options() if user else {}).items()
        }
        if self._context is not None:
            options["tls"] = self._context
        if user is not None and user.user is not None and user.jwt is None:
            options["inbox_prefix"] = f"_INBOX_{user.label}"

        async def closed() -> None:
            await self._lost(client)

        await client.connect(
            servers=[server],
            name="svc",
            allow_reconnect=False,
            max_reconnect_attempts=1,
            connect_timeout=2,
            ping_interval=10,
            error_cb=self._errors,
            closed_cb=closed,
            **options,
        )

    async def _waited(self, opening: "asyncio.Task[None]", seconds: float) -> None:
        """Waits for a connection; no longer than until its first trouble."""
        loop = asyncio.get_running_loop()
        end, before = loop.time() + max(seconds, 0.1), self._trouble
        while not opening.done():
            if self._trouble is not before:
                raise TimeoutError
            if loop.time() > end:
                raise TimeoutError
            await asyncio.wait([opening], timeout=_LOOK_SECONDS)
        opening.result()

    async def _errors(self, error: Exception) -> None:
        text = str(error).lower()
        violation = _VIOLATION.search(text)
        if violation is not None:
            self._refused(violation[1], violation[2])
        elif any(word in text for word in _STRANGER) and "timeout" not in text:
            self._trouble = credentials_refused(self._address, self._user, text)
        elif not isinstance(self._trouble, AuthError):
            self._trouble = error

    @property
    def _user(self) -> str | None:
        return self._credentials.user if self._credentials is not None else None

    def _refused(self, verb: str, lowered: str) -> None:
        """Tells all who wait for an answer that there will be none, and why.

        nats-py hands the subject on in lower case.
        """
        asked_for = [one for one in self._waiting if one.lower() == lowered]
        subject = asked_for[0] if asked_for else lowered
        refusal = right_missing(self._user, verb, subject)
        for asked in tuple(self._waiting.get(subject, ())):
            self._refusals[asked] = refusal
            asked.cancel()

    async def _lost(self, client: "Client") -> None:
        if client is not self._client:
            return  # one that was never in use
        if client.last_error is not None:  # a server's last word comes no other way
            await self._errors(client.last_error)
        self._tell(unreachable(self._address, self._trouble).message)

    def _tell(self, reason: str | None) -> None:
        if (reason is not None) != self._down:
            self._down = reason is not None
            self.told(reason)


def _quieten() -> None:
    """Keeps from stderr what nats-py and asyncio log of connections; we tell of them."""
    logging.getLogger("nats").disabled = True
    logger = logging.getLogger("asyncio")
    if _is_useful not in logger.filters:
        logger.addFilter(_is_useful)


def _is_useful(record: logging.LogRecord) -> bool:
    return _USELESS not in record.getMessage()


async def _let_go(opening: "asyncio.Task[None]") -> None:
    opening.cancel()
    with suppress(BaseException):
        await opening


async def _ended(client: "Client | None") -> None:
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
