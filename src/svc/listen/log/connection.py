"""One connection to a log, in an event loop of its own: the only place that speaks to nats-py.

The client library works with asyncio, an inbox is called from a thread that waits: whoever calls
hands a coroutine over to the loop here. What nats-py says late or vaguely is put into words here:
a refused right comes to it as a time-out, and a server's last word ends its client for good.
"""

import asyncio
import json
import re
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from svc.errors import ApiError, AuthError, ConfigError, NetworkError, NotFound, SvcError
from svc.listen.log.address import LogAddress
from svc.listen.log.credentials import Credentials

if TYPE_CHECKING:
    import ssl

    from nats.aio.client import Client
    from nats.aio.msg import Msg

T = TypeVar("T")
Headers = Mapping[str, str]

_CONNECT_SECONDS: Final = 5.0
_CALL_SECONDS: Final = 5.0
_RETRY_SECONDS: Final = 0.2
_LOOK_SECONDS: Final = 0.02
_VIOLATION: Final = re.compile(r"permissions violation for (publish|subscription) to \"([^\"]+)\"")
_NOT_FOUND: Final = 404
_API: Final = "$JS.API."


class LogDown(NetworkError):  # noqa: N818  it says what is the matter
    """The log was not reached, or did not answer in time."""

    type = "log_unavailable"


class LogRefusal(ApiError):  # noqa: N818  the log's own answer
    """The log answered with an error: `status` as HTTP has it, `number` the log's own."""

    def __init__(self, status: int, number: int, message: str) -> None:
        super().__init__(message, status=status)
        self.number = number


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `reply` is where its receipt is acknowledged."""

    subject: str
    reply: str
    headers: Headers
    body: bytes


class LogConnection:
    """Connects when it is entered and stays connected until it is left.

    `told` hears of each loss of the connection, with the reason, and of its return, with None. It
    is called in the loop of the connection.
    """

    def __init__(
        self,
        address: LogAddress,
        credentials: Credentials | None,
        context: "ssl.SSLContext | None" = None,
        seconds: float = _CONNECT_SECONDS,
    ) -> None:
        self.address = address
        self.credentials = credentials
        self.told: Callable[[str | None], None] = lambda _: None
        self.generation = 0
        self._context = context
        self._seconds = seconds
        self._client: Client | None = None
        self._opening: asyncio.Lock | None = None
        self._trouble: BaseException | None = None
        self._waiting: dict[str, set[asyncio.Future[Msg]]] = {}
        self._refusals: dict[asyncio.Future[Msg], AuthError] = {}
        self._down = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="log", daemon=True)

    def __enter__(self) -> Self:
        """Connects.

        Raises:
            ConfigError: the extra is not installed.
            LogDown: no server was reached in time.
            AuthError: the log does not know the user.
        """
        check_installed()
        self._thread.start()
        try:
            self.run(self._ready(self._seconds))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):
            self.run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def version(self) -> str:
        """The version of the server that is connected."""
        return str(self._info.get("version", ""))

    @property
    def server_name(self) -> str:
        """The name of the server that is connected."""
        return str(self._info.get("server_name", ""))

    @property
    def max_payload(self) -> int:
        """The largest message that the server takes, headers included, in bytes."""
        return int(self._info.get("max_payload", 1 << 20))

    @property
    def _info(self) -> dict[str, Any]:
        return {} if self._client is None else self._client._server_info  # noqa: SLF001

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine in the loop here and waits for its end."""
        return self.submit(call).result()

    def submit(self, call: Coroutine[Any, Any, T]) -> "Future[T]":
        """Begins a coroutine in the loop here."""
        return asyncio.run_coroutine_threadsafe(call, self._loop)

    async def api(
        self, verb: str, body: Mapping[str, Any] | None = None, seconds: float = _CALL_SECONDS
    ) -> dict[str, Any]:
        """Asks JetStream, such as `STREAM.INFO.name`.

        Raises:
            LogDown: there was no answer in time.
            LogRefusal: the answer is an error.
            AuthError: the user has no right to ask.
        """
        payload = json.dumps(body).encode() if body is not None else b""
        answer = await self.request(f"{_API}{verb}", payload, seconds=seconds)
        return decoded(answer)

    async def request(
        self,
        subject: str,
        payload: bytes,
        headers: Headers | None = None,
        seconds: float = _CALL_SECONDS,
    ) -> Message:
        """Sends a message and waits for its answer; the same errors, but LogRefusal."""
        end = self._loop.time() + seconds
        client = await self._ready(seconds)
        left = max(end - self._loop.time(), 0.01)
        asked = self._loop.create_task(_ask(client, subject, payload, headers, left))
        self._waiting.setdefault(subject, set()).add(asked)
        try:
            return _message(await asked)
        except asyncio.CancelledError:
            if asked in self._refusals:
                raise self._refusals[asked] from None
            asked.cancel()
            raise
        finally:
            self._refusals.pop(asked, None)
            self._waiting[subject].discard(asked)
            if not self._waiting[subject]:
                del self._waiting[subject]

    async def publish(self, subject: str, payload: bytes, reply: str = "") -> None:
        """Sends a message that nobody answers, except to `reply`."""
        client = await self._ready(_CALL_SECONDS)
        with _worded():
            await client.publish(subject, payload, reply=reply)

    async def subscribe(
        self, heard: Callable[[Message], Awaitable[None]]
    ) -> tuple[str, Callable[[], Awaitable[None]]]:
        """Gives a subject of our own, and what ends it; `heard` gets what is sent there."""
        client = await self._ready(_CALL_SECONDS)
        subject = client.new_inbox()

        async def got(msg: "Msg") -> None:
            await heard(_message(msg))

        subscription = await client.subscribe(subject, cb=got)

        async def end() -> None:
            with suppress(Exception):
                await subscription.unsubscribe()

        return subject, end

    async def _ready(self, seconds: float) -> "Client":
        """Gives the client, connected; a new one where the old one has ended for good."""
        end = time.monotonic() + seconds
        if self._opening is None:
            self._opening = asyncio.Lock()
        try:
            async with asyncio.timeout(seconds):
                while True:
                    client = self._client
                    if client is not None and client.is_connected:
                        return client
                    if client is None or client.is_closed:
                        async with self._opening:
                            if self._client is client:
                                await self._open(max(end - time.monotonic(), 0.1))
                                continue
                    await asyncio.sleep(_LOOK_SECONDS)
        except TimeoutError:
            raise self._why() from None

    async def _open(self, seconds: float) -> None:
        from nats.aio.client import Client

        client = Client()
        user = self.credentials
        prefix = f"_INBOX_{user.label}" if user is not None and user.jwt is None else "_INBOX"
        options = user.options() if user is not None else {}
        if self._context is not None:
            options["tls"] = self._context
        self._trouble = None
        opening = self._loop.create_task(
            client.connect(
                servers=self.address.servers,
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
        await self._tell(None)

    async def _opened(self, opening: "asyncio.Task[None]", seconds: float) -> None:
        """Waits for a connection; raises as soon as a server does not know the user."""
        end = self._loop.time() + seconds
        while not opening.done():
            if isinstance(self._trouble, AuthError):
                raise self._trouble
            if self._loop.time() > end:
                raise TimeoutError
            await asyncio.wait([opening], timeout=_LOOK_SECONDS)
        opening.result()

    def _why(self) -> SvcError:
        """Says why there is no connection."""
        trouble = self._trouble
        if isinstance(trouble, SvcError):
            return trouble
        text = _words(trouble) if trouble is not None else "it does not answer"
        return LogDown(
            f"The log {self.address} cannot be reached: {text}.",
            code="log_unavailable",
            retryable=True,
            hint="Look whether a majority of its servers runs, and at address and certificate",
        )

    async def _errors(self, error: Exception) -> None:
        text = str(error)
        violation = _VIOLATION.search(text.lower())
        if violation is not None:
            self._refused(violation[1], violation[2])
        elif "authorization" in text.lower() or "authentication" in text.lower():
            self._trouble = self._stranger(text)
        elif not isinstance(self._trouble, AuthError):
            self._trouble = error

    def _refused(self, verb: str, lowered: str) -> None:
        """Tells all who wait for an answer that there will be none, and why.

        nats-py hands the subject on in lower case.
        """
        asked_for = [one for one in self._waiting if one.lower() == lowered]
        subject = asked_for[0] if asked_for else lowered
        user = self.credentials.user if self.credentials is not None else "without credentials"
        right = "publish to" if verb == "publish" else "subscribe to"
        refusal = AuthError(
            f"The log does not let its user {user} {right} {subject}.",
            code="log_right_missing",
            hint="Whoever runs the log gives that right: svc events log template shows them all",
        )
        for asked in tuple(self._waiting.get(subject, ())):
            self._refusals[asked] = refusal
            asked.cancel()
        if verb != "publish":
            self._trouble = refusal

    def _stranger(self, text: str) -> AuthError:
        user = f"its user {self.credentials.user}" if self.credentials else "a user without a name"
        what = "have expired" if "expired" in text.lower() else "are not taken"
        return AuthError(
            f"The log {self.address} refuses {user}: the credentials {what}.",
            code="log_credentials_refused",
            hint=f"svc events log login {self.address.name}, or in CI: SVC_LOG_CREDENTIALS",
        )

    async def _lost(self) -> None:
        last = self._client.last_error if self._client is not None else None
        if last is not None:  # a server's last word comes no other way
            await self._errors(last)
        await self._tell(self._why().message)

    async def _found(self) -> None:
        self.generation += 1
        self._trouble = None
        await self._tell(None)

    async def _tell(self, reason: str | None) -> None:
        if (reason is not None) != self._down:
            self._down = reason is not None
            self.told(reason)

    async def _close(self) -> None:
        self.told = lambda _: None
        if self._client is not None:
            await self._client.close()
        pending = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)


def check_installed() -> None:
    """Looks for the client library without loading it.

    Raises:
        ConfigError: it is not there.
    """
    from importlib.util import find_spec

    if find_spec("nats") is None:
        raise ConfigError(
            "A team's log needs the client of NATS, which is not installed.",
            code="log_extra_missing",
            hint="pip install 'svc-cli[nats]'",
        )


def decoded(message: Message) -> dict[str, Any]:
    """Gives JetStream's answer.

    Raises:
        LogRefusal: it is an error.
    """
    try:
        data = json.loads(message.body)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise LogRefusal(500, 0, "The log's answer is no JSON object.")
    error = data.get("error")
    if isinstance(error, dict):
        text = str(error.get("description", "unknown error"))
        raise LogRefusal(int(error.get("code", 500)), int(error.get("err_code", 0)), text)
    return data


def is_missing(error: LogRefusal) -> bool:
    """Says whether a stream or consumer is not there."""
    return error.status == _NOT_FOUND


def no_stream(address: LogAddress, stream: str) -> NotFound:
    """The error of a log that has no such stream."""
    return NotFound(
        f"The log {address} has no stream {stream}.",
        code="log_stream_missing",
        hint=f"Whoever runs it makes it once: svc events log create --to {address}",
    )


async def _ask(
    client: "Client", subject: str, payload: bytes, headers: Headers | None, seconds: float
) -> "Msg":
    with _worded():
        return await client.request(
            subject, payload, timeout=seconds, headers=dict(headers) if headers else None
        )


class _worded:  # noqa: N801  a context manager reads as a word
    """Turns what nats-py raises into our errors."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        from nats.errors import Error

        if isinstance(error, Error | TimeoutError | OSError):
            raise LogDown(f"The log: {_words(error)}.", retryable=True) from error


def _words(error: BaseException) -> str:
    name = type(error).__name__
    known = {
        "TimeoutError": "it did not answer in time",
        "NoRespondersError": "nobody there answers (no leader, or JetStream is off)",
        "ConnectionRefusedError": "connection refused",
        "ConnectionClosedError": "the connection is closed",
        "OutboundBufferLimitError": "the connection is down",
        "SSLCertVerificationError": f"its certificate is not trusted ({error})",
        "NoServersError": "no server answers",
        "gaierror": "its host name is not known",
    }
    text = known.get(name, str(error) or name)
    return text.removeprefix("nats: ").rstrip(".")


def _message(msg: "Msg") -> Message:
    return Message(msg.subject, msg.reply, msg.headers or {}, msg.data)
