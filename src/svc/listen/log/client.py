"""One client of nats-py, connected again for as long as it is wanted; it lives in one event loop.

nats-py ends for good at some of a server's words, hears of a refused right in a callback alone,
and takes half a minute to notice that the other end of a connection has vanished.
"""

import asyncio
import logging
import re
import time
from collections.abc import Callable, Mapping
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
    import ssl

    from nats.aio.client import Client
    from nats.aio.msg import Msg

_RETRY_SECONDS: Final = 0.2
_LOOK_SECONDS: Final = 0.02
_PONG_SECONDS: Final = 2.0
_CLOSE_SECONDS: Final = 1.0
_STRANGER: Final = ("authorization", "authentication")  # with a time-out a server is only slow
_VIOLATION: Final = re.compile(r"permissions violation for (publish|subscription) to \"([^\"]+)\"")


class LogClient:
    """Opens a connection when one is needed, and another one when that has ended for good.

    `told` hears of each loss of the connection, with the reason, and of its return, with None.
    `generation` counts the connections.
    """

    def __init__(
        self,
        address: LogAddress,
        credentials: Credentials | None,
        context: "ssl.SSLContext | None",
    ) -> None:
        self.told: Callable[[str | None], None] = lambda _: None
        self.generation = 0
        self._address = address
        self._credentials = credentials
        self._context = context
        self._client: Client | None = None
        self._opening = asyncio.Lock()
        self._trouble: BaseException | None = None
        self._waiting: dict[str, set[asyncio.Future[Msg]]] = {}
        self._refusals: dict[asyncio.Future[Msg], AuthError] = {}
        self._doubting: asyncio.Task[None] | None = None
        self._down = False

    @property
    def info(self) -> dict[str, Any]:
        """What the server said of itself when it was connected."""
        return {} if self._client is None else self._client._server_info  # noqa: SLF001

    async def ready(self, seconds: float) -> "Client":
        """Gives the client, connected; a new one where the old one has ended for good.

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
                    if client is None or client.is_closed:
                        async with self._opening:
                            if self._client is client:
                                await self._open(max(end - time.monotonic(), 0.1))
                                continue
                    await asyncio.sleep(_LOOK_SECONDS)
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
        asked = loop.create_task(_ask(client, subject, payload, headers, left))
        self._waiting.setdefault(subject, set()).add(asked)
        try:
            return await asked
        except asyncio.CancelledError:
            if asked in self._refusals:
                raise self._refusals[asked] from None
            asked.cancel()
            raise
        except LogDown:
            self.doubt()
            raise
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
        if self._client is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self._client.close()
            _abort(self._client)

    async def _look_at(self, client: "Client") -> None:
        received = client.stats["in_bytes"]
        with suppress(Exception):
            async with asyncio.timeout(_PONG_SECONDS):
                await client.flush()
                return
        if client.is_connected and client.stats["in_bytes"] == received:
            _abort(client)  # else nats-py waits until what it has written is sent
            await client.force_reconnect()

    async def _open(self, seconds: float) -> None:
        logging.getLogger("nats").disabled = True  # it would write tracebacks to stderr
        client = _client(tls=self._context is not None)
        user = self._credentials
        prefix = f"_INBOX_{user.label}" if user is not None and user.jwt is None else "_INBOX"
        options = user.options() if user is not None else {}
        if self._context is not None:
            options["tls"] = self._context
        self._trouble = None
        opening = asyncio.get_running_loop().create_task(
            client.connect(
                servers=self._address.servers,
                name="svc",
                max_reconnect_attempts=-1,
                reconnect_time_wait=_RETRY_SECONDS,  # type: ignore[arg-type]  # fractions too
                connect_timeout=2,
                ping_interval=10,
                error_cb=self._errors,
                disconnected_cb=self._lost,
                reconnected_cb=self._found,
                closed_cb=self._lost,
                inbox_prefix=prefix,
                **options,
            )
        )
        try:
            await self._opened(opening, seconds)
        except BaseException:
            opening.cancel()
            with suppress(BaseException):
                await opening
            with suppress(Exception):
                await client.close()
            raise
        self._client = client
        self.generation += 1
        self._tell(None)

    async def _opened(self, opening: "asyncio.Task[None]", seconds: float) -> None:
        """Waits for a connection; raises as soon as a server does not know the user."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not opening.done():
            if isinstance(self._trouble, AuthError):
                raise self._trouble
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
        if verb != "publish":
            self._trouble = refusal

    async def _lost(self) -> None:
        last = self._client.last_error if self._client is not None else None
        if last is not None:  # a server's last word comes no other way
            await self._errors(last)
        self._tell(unreachable(self._address, self._trouble).message)

    async def _found(self) -> None:
        self.generation += 1
        self._trouble = None
        self._tell(None)

    def _tell(self, reason: str | None) -> None:
        if (reason is not None) != self._down:
            self._down = reason is not None
            self.told(reason)


def _client(*, tls: bool) -> "Client":
    """Makes a client of nats-py; with `tls` one that says who it is to nobody without.

    nats-py itself takes the server's word for it that there is no TLS, and sends the password.
    """
    from nats.aio.client import Client
    from nats.errors import Error

    class Guarded(Client):
        def _connect_command(self) -> bytes:
            writer = getattr(self._transport, "_io_writer", None)
            if tls and (writer is None or writer.get_extra_info("ssl_object") is None):
                raise Error("it offers no TLS")
            return super()._connect_command()

    return Guarded()


async def _ask(
    client: "Client",
    subject: str,
    payload: bytes,
    headers: Mapping[str, str] | None,
    seconds: float,
) -> "Msg":
    with worded():
        return await client.request(
            subject, payload, timeout=seconds, headers=dict(headers) if headers else None
        )


def _abort(client: "Client") -> None:
    """Drops the socket at once, with what has not been sent."""
    writer = getattr(client._transport, "_io_writer", None)  # noqa: SLF001  it offers no other way
    if writer is not None:
        writer.transport.abort()
