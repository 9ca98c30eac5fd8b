"""Runs a command for each event, with the interface of a connection to a target.

The result of a run is translated to that of a request: exit code 0 to an answer of 200, any other
to 500, a run that exceeded its time to no answer, a missing program to a target that is away.
Retries and rests then follow the rules of all targets.

A pump (`svc.listen.forward.pump`) sends to a `CommandLane` as it does to a URL; `sender_for`
chooses the sender for either kind of target. A `CommandRun` is the one process of a run; an
examination (`svc.listen.examine.effects`) starts it too, for its checks.
"""

import asyncio
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from svc.errors import system_words
from svc.listen.commands import CommandTarget
from svc.listen.forward.request import ForwardSender, HeaderText, TargetRequest, TargetSender
from svc.listen.forward.signing import HeaderSigner
from svc.listen.http.answers import BODY_MAX, KEPT_BYTES
from svc.listen.http.connection import ForwardTrouble, TargetReply
from svc.listen.http.dial import Connect, open_connection
from svc.listen.owners import own, own_task
from svc.listen.routes import AnyTarget
from svc.listen.targets import AS_USUAL, TargetTrust
from svc.listen.verify.verify import read_facts
from svc.redaction import redact_bytes
from svc.system.processes import Group, build_group_options, job_of, wrap_to_die_with_us

_LAST_WORDS_SECONDS: Final = 0.2
_LOOK_SECONDS: Final = 0.01


class CommandRun(asyncio.SubprocessProtocol):
    """One process: its input, the first `kept` bytes of its output, and its end.

    A StreamReader is not used: in some versions of Python the end of a process is told only when
    its output has ended too, which a child that it leaves behind can keep open.
    """

    def __init__(self, kept: int = KEPT_BYTES) -> None:
        self.output = bytearray()
        self._kept = kept
        self._count = 0
        self._ended = asyncio.Event()
        self._silent = asyncio.Event()
        self._transport: Any = None
        self._group: Group | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        leader = self._transport.get_pid()
        self._group = Group(leader, self._ended.is_set, job_of(leader))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._count += len(data)
        self.output += data[: max(self._kept - len(self.output), 0)]
        pipe = self._transport.get_pipe_transport(fd)
        if self._count > BODY_MAX and pipe is not None:  # a flood is read, but not at any speed
            pipe.pause_reading()
            asyncio.get_running_loop().call_later(_LOOK_SECONDS, own(pipe.resume_reading))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002  asyncio's signature
        if fd == 1:
            self._silent.set()

    def process_exited(self) -> None:
        self._ended.set()

    async def finish(self, body: bytes, limit: float) -> int | None:
        """Writes the payload, which a command need not read, and waits for the end.

        Gives the exit code, a signal's number below zero; None after `limit` seconds.
        """
        stdin = self._transport.get_pipe_transport(0)
        if stdin is not None:
            stdin.write(body)
            stdin.close()
        try:
            async with asyncio.timeout(limit):
                await self._ended.wait()
        except TimeoutError:
            return None
        return int(self._transport.get_returncode())

    async def end(self, seconds: float) -> None:
        """Ends the process and all of its group, by force after `seconds`."""
        assert self._group is not None
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        try:
            if self._group.lives():
                self._group.ask(signal.SIGTERM)
            while self._group.lives() and loop.time() < end:  # noqa: ASYNC110  no event tells of it
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            self._group.kill()
            await self._hear_the_last()
            self._transport.close()

    async def _hear_the_last(self) -> None:
        """Waits for the end of the process and of its output; what has left its group may write on.

        That is short, and no loop ends before: else its end would be told to a loop that is closed.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + _LAST_WORDS_SECONDS
        while loop.time() < end and not (self._ended.is_set() and self._silent.is_set()):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(_LOOK_SECONDS / 10)


_MARKER: Final = "SVC_REDELIVERED"
_END: Final = b"\0\0"
_SECONDS_TO_END: Final = 0.5  # between the request to end and the end by force
_CUT_SECONDS: Final = 0.1  # the same where the listener ends: promise R78
_TAKEN: Final = 200
_FAILED: Final = 500


class CommandSender:
    """Builds what a command gets: its variables and the payload.

    Attributes:
        link: gives a lane in which one run follows the other.
    """

    def __init__(self, target: CommandTarget) -> None:
        self.target = target
        self.seconds = target.seconds
        self.link = partial(CommandLane, target)

    def request(self, headers: bytes, body: bytes, redelivered: int = 0) -> TargetRequest:  # noqa: ARG002  a payload is not signed for it
        """Encodes the variables (`NAME=value` and a NUL each), one more NUL, and the payload."""
        facts = read_facts(body)  # whose forms hold no NUL
        variables = {
            "SVC_EVENT_ID": facts.id,
            "SVC_EVENT_TYPE": facts.type,
            "SVC_OBJECT_ID": facts.object_id,
        }
        if redelivered:
            variables[_MARKER] = str(redelivered)
        pairs = [f"{name}={value}".encode() for name, value in variables.items()]
        return TargetRequest(b"\0".join(pairs) + _END + body)


def sender_for(
    target: AnyTarget,
    extra: Sequence[HeaderText] = (),
    connect: Connect = open_connection,
    sign: HeaderSigner | None = None,
    trust: TargetTrust = AS_USUAL,
) -> ForwardSender:
    """Returns what builds requests for a target, whatever its kind, and opens links to it."""
    if isinstance(target, CommandTarget):
        return CommandSender(target)
    return TargetSender(target, extra, connect, sign, trust)


class CommandLane:
    """Runs a command, once at a time; made inside a loop.

    Each run has a session of its own and ends with all that it has left in it; on Linux it dies
    with the listener, also by kill -9, so no run of an earlier listener is under way beside one
    of ours.

    Attributes:
        sent: 1 where the run under way has been started.
    """

    def __init__(self, target: CommandTarget) -> None:
        self._target = target
        self._loop = asyncio.get_running_loop()
        self._running: asyncio.Task[None] | None = None
        self._on_reply: Callable[[TargetReply], None] | None = None
        self._started = 0.0
        self.sent = 0

    def exchange(
        self,
        request: bytes,
        limit: float,
        on_reply: Callable[[TargetReply], None],
        again: Callable[[], bytes] | None = None,  # noqa: ARG002  no run goes unnoticed
    ) -> None:
        """Runs the command once and calls back with the result, soon after `limit` seconds."""
        self._on_reply, self._started, self.sent = on_reply, self._loop.time(), 0
        run = partial(self._run, request, limit)
        # A bug that ends it leaves its lane free (R121).
        broken = partial(self._report, trouble="closed", error="a bug in svc ended it")
        self._running = self._loop.create_task(own_task(run, broken))

    def probe(self, limit: float, on_reply: Callable[[TargetReply], None]) -> None:  # noqa: ARG002  it takes no time
        """Checks that the program exists, and runs nothing."""
        program, why = self._target.find()
        reply = TargetReply(0.0) if program else TargetReply(0.0, trouble="unreachable", error=why)
        self._loop.call_soon(own(on_reply), reply)

    def close(self) -> None:
        """Ends a run under way with its children; the callback is not called."""
        self._on_reply = None
        if self._running is not None:
            self._running.cancel()

    async def _run(self, request: bytes, limit: float) -> None:
        head, _, body = request.partition(_END)
        env = {name: value for name, value in self._target.env.items() if name != _MARKER}
        env |= dict(pair.decode().split("=", 1) for pair in head.split(b"\0"))
        program, why = self._target.find()
        if program is None:
            self._report(trouble="unreachable", error=why)
            return
        self.sent = 1
        argv = wrap_to_die_with_us([program, *self._target.argv[1:]])
        try:
            _, run = await self._loop.subprocess_exec(
                CommandRun,
                *argv,
                env=env,
                stderr=asyncio.subprocess.STDOUT,
                **build_group_options(),
            )
        except OSError as error:
            self.sent = 0
            self._report(trouble="unreachable", error=system_words(error))
            return
        try:
            code = await run.finish(body, limit)
        finally:
            await run.end(_SECONDS_TO_END if self._on_reply else _CUT_SECONDS)
        if code is None:
            self._report(trouble="timeout", error=f"ended after {limit:g} s", body=run.output)
        elif code == 0:
            self._report(_TAKEN, body=run.output)
        else:
            self._report(_FAILED, body=run.output, error=_words(code))

    def _report(
        self,
        status: int | None = None,
        trouble: ForwardTrouble | None = None,
        error: str | None = None,
        body: bytes | bytearray = b"",
    ) -> None:
        on_reply, self._on_reply = self._on_reply, None
        if on_reply is not None:
            spent = (self._loop.time() - self._started) * 1000
            # Before anything is kept or shown of it (R39, R126).
            on_reply(
                TargetReply(spent, status, redact_bytes(bytes(body)), trouble, error, self.sent)
            )


def _words(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"
