"""One connection to a team's log, in an event loop of its own thread, for callers that block.

The client library works with asyncio, the inbox from threads that wait: such a thread hands a
coroutine over to the loop here.

`cli.events.team.open_log` makes it for the commands that talk to a log (`listen --from`, `receive`,
`audit`, `log create`, `status`, `refill` and `failed`) and for `svc doctor`: requests in, answers
out, errors in words.

`read_page` and `read_stream` read a log without anything that it keeps for its reader. A page is
asked for by its first number; nothing in such a request can have the log send to another subject,
make a consumer or change anything. The numbers of its messages show whether all have come.
"""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from svc.errors import AuthError, SvcError
from svc.listen.log.address import LogAddress
from svc.listen.log.client import LogClient, LogLoop, is_status
from svc.listen.log.credentials import Credentials
from svc.listen.log.errors import LogDown, LogMissing, LogRefusal, NoResponder, worded
from svc.system import signals

if TYPE_CHECKING:
    import ssl

    from nats.aio.msg import Msg

T = TypeVar("T")
LogHeaders = Mapping[str, str]

_CONNECT_SECONDS: Final = 5.0
_CALL_SECONDS: Final = 5.0
_TRIES_SECONDS: Final = (1.0, 1.5, 2.5)  # of a call's five
_NO_RESPONDER: Final = "503"
_NOT_FOUND: Final = 404
# Members are in accounts of their own, which reach the log's under the first of these names; its
# admin, and who uses a log without such accounts, under the second.
_APIS: Final = ("LOG.API.", "$JS.API.")
_OF_ANOTHER_ACCOUNT: Final = 10039


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `reply` is where its receipt is acknowledged.

    `status` is what the server says in the place of one, such as 404.
    """

    subject: str
    reply: str
    headers: LogHeaders
    body: bytes
    status: str = ""


class LogConnection:
    """Connects when it is entered and stays connected until it is left.

    `client` has the state of the connection; what it does is asked for here.
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
        self._seconds = seconds
        self._context = context
        self.client = LogClient(address, credentials, context)
        self._apis: tuple[str, ...] = _APIS
        self._loop = LogLoop()
        self._loop.set_exception_handler(lambda *_: None)  # what nats-py leaves behind at its end
        self._thread = threading.Thread(target=self._loop.run_forever, name="log", daemon=True)

    def __enter__(self) -> Self:
        """Connects.

        Raises:
            LogDown: no server was reached in time.
            AuthError: the log does not know the user.
        """
        self._thread.start()
        try:
            self.run(self.client.get_ready(self._seconds))
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

    def list_servers(self) -> list[tuple[str, float | None]]:
        """Returns the version, and the end of the certificate, of each server that is reached."""
        found = [(self.client.version, self.certificate_ends)]
        for host in self.address.hosts if len(self.address.hosts) > 1 else ():
            one = replace(self.address, hosts=(host,))
            with (
                suppress(SvcError),
                LogConnection(one, self.credentials, self._context, 2.0) as there,
            ):
                found.append((there.client.version, there.certificate_ends))
        return found

    @property
    def certificate_ends(self) -> float | None:
        """When the certificate of the connected server ends (unix seconds); None without TLS."""
        return self._loop.certificate_ends

    @property
    def is_apart(self) -> bool:
        """True if the user's account is not the log's, and has only the rights that it imports."""
        return self._apis == _APIS[:1]

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine in the loop and waits for its end; raises Stopped: a signal came."""
        done = self.submit(call)
        ended = threading.Event()
        done.add_done_callback(lambda _: ended.set())
        signals.wait(ended.wait, None)
        return done.result()

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

        async def asked(subject: str) -> dict[str, Any]:
            return decode(await self.request(subject, payload, seconds=seconds))

        return await self._by_api(verb, asked)

    async def gather(
        self, verb: str, body: Mapping[str, Any], most: int, seconds: float = _CALL_SECONDS
    ) -> list[Message]:
        """Asks JetStream what has up to `most` answers; one with a status is the last.

        Raises:
            LogDown: there was no answer in time.
            AuthError: the user has no right to ask.
        """
        payload = json.dumps(body).encode()

        async def asked(subject: str) -> list[Message]:
            got = await self.client.gather(subject, payload, seconds, most=most)
            answers = [_message(one) for one in got]
            if answers[0].status == _NO_RESPONDER:
                raise NoResponder("The log does not answer (no leader, or JetStream is off).")
            return answers

        return await self._by_api(verb, asked)

    async def _by_api(self, verb: str, asked: Callable[[str], Awaitable[T]]) -> T:
        """Asks by the name that is known to work here, else by one after the other."""
        failures: list[SvcError] = []
        for api in self._apis:
            try:
                answer = await asked(f"{api}{verb}")
            except (NoResponder, AuthError) as error:
                failures.append(error)
            except LogRefusal as error:
                if error.number != _OF_ANOTHER_ACCOUNT:
                    self._apis = (api,)
                    raise
                failures.append(error)
            else:
                self._apis = (api,)
                return answer
        # A right that is missing says more than that nothing listens.
        raise min(failures, key=lambda one: not isinstance(one, AuthError))

    async def info(self, verb: str) -> dict[str, Any]:
        """Asks how a stream or a consumer is, such as `STREAM.INFO.name`; the same errors.

        A request while the stream or consumer has no leader is never answered: the request is
        repeated within the time of a call.
        """
        loop = asyncio.get_running_loop()
        *first, last = _TRIES_SECONDS
        for seconds in first:
            again = loop.time() + seconds
            try:
                return await self.api(verb, seconds=seconds)
            except LogDown:
                await asyncio.sleep(again - loop.time())
        return await self.api(verb, seconds=last)

    async def request(
        self,
        subject: str,
        payload: bytes,
        headers: LogHeaders | None = None,
        seconds: float = _CALL_SECONDS,
    ) -> Message:
        """Sends a message and waits for its answer; the same errors, but LogRefusal."""
        return _message(await self.client.ask(subject, payload, headers, seconds))

    async def publish(self, subject: str, payload: bytes) -> None:
        """Sends a message that has no answer."""
        client = await self.client.get_ready(_CALL_SECONDS)
        with worded():
            await client.publish(subject, payload)

    async def subscribe(
        self, subject: str, on_message: Callable[[Message], Awaitable[None]]
    ) -> Callable[[], Coroutine[Any, Any, None]]:
        """Listens to a subject; gives what ends it. Raises as `request` does."""

        async def got(msg: "Msg") -> None:
            await on_message(_message(msg))

        subscription = await self.client.subscribe(subject, got, _CALL_SECONDS)

        async def end() -> None:
            with suppress(Exception):
                await subscription.unsubscribe()

        return end

    async def _close(self) -> None:
        await self.client.close()
        pending = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)


def decode(message: Message) -> dict[str, Any]:
    """Returns JetStream's answer; raises LogRefusal: it is an error."""
    try:
        data = json.loads(message.body)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise LogRefusal(500, 0, "The log's answer is no JSON object.")
    error = data.get("error")
    if isinstance(error, dict):
        text = str(error.get("description", "unknown error"))
        status = int(error.get("code", 500))
        kind = LogMissing if status == _NOT_FOUND else LogRefusal
        raise kind(status, int(error.get("err_code", 0)), text)
    return data


def _message(msg: "Msg") -> Message:
    headers = msg.headers or {}
    status = headers["Status"] if is_status(msg) else ""
    return Message(msg.subject, msg.reply, headers, msg.data, status)


PAGE: Final = 256
_PAGE_BYTES: Final = 8 * 1024 * 1024  # more than the largest event, and little enough for memory
_SEQ: Final = "Nats-Sequence"
_END: Final = "204"
_NONE: Final = "404"


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message, its number in the stream and its subject there."""

    seq: int
    subject: str
    message: Message


async def read_page(
    connection: LogConnection, stream: str, start: Mapping[str, Any], subject: str
) -> list[StoredMessage]:
    """Returns what a stream has of a subject from a `start` (`seq` or `start_time`) on, in order.

    Raises:
        LogDown: a message was lost on the way, or nothing came in time.
        AuthError: the user may not read.
    """
    asked = {**start, "batch": PAGE, "max_bytes": _PAGE_BYTES, "next_by_subj": subject}
    *messages, end = await connection.gather(f"DIRECT.GET.{stream}", asked, most=PAGE + 1)
    page = [
        StoredMessage(int(one.headers.get(_SEQ, "0")), one.headers.get("Nats-Subject", ""), one)
        for one in messages
    ]
    if end.status == _NONE:
        return page
    before = [0, *(one.seq for one in page)]
    said = [int(one.headers.get("Nats-Last-Sequence", "-1")) for one in (*messages, end)]
    if end.status != _END or said[1:] != before[1:]:
        raise LogDown("The log: a message was lost on the way.")
    return page


async def read_stream(
    connection: LogConnection, stream: str, start: Mapping[str, Any], subject: str
) -> AsyncIterator[StoredMessage]:
    """Returns all that a stream has of a subject from a `start` on; raises as `read_page` does."""
    while page := await read_page(connection, stream, start, subject):
        for one in page:
            yield one
        start = {"seq": page[-1].seq + 1}
