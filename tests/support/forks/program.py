"""Runs the program by forking one that is loaded already: see fork_server.py."""

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, ClassVar, Final, Self, cast

SERVER: Final = Path(__file__).with_name("server.py")
# Variables that an interpreter reads once, when it starts: a fork comes too late for them.
AT_START: Final = ("LANG", "LC_", "PYTHON")
NOT_AT_START: Final = ("PYTHONPATH", "PYTHON_KEYRING_BACKEND")


@dataclass(frozen=True)
class EndedRun:
    """What a run has left: its exit code, negative for the signal that ended it, and its bytes."""

    code: int
    out: bytes
    err: bytes


class Forking:
    """The loaded program; it keeps the environment in which it is loaded.

    Attributes:
        shared: the one that the process has loaded of which this one is a fork.
    """

    shared: "ClassVar[Forking | None]" = None

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started_with = at_start(os.environ)
        self._asking, self._there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._asking.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)

    def __enter__(self) -> Self:
        self.load()
        self.wait_until_loaded()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def load(self) -> None:
        """Starts the server, which loads the program."""
        with self._there as there:
            self._process = subprocess.Popen(
                [sys.executable, str(SERVER), str(there.fileno())],
                stdin=subprocess.PIPE,  # as those of a run: the streams are made for pipes
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[there.fileno()],
            )

    def wait_until_loaded(self) -> None:
        """Without it what is asked first would pay for the loading with its limit."""
        assert self._asking.recv(64), self._process.communicate()[1]

    def end(self) -> None:
        """Ends what it has loaded, once no fork of this process has it any more."""
        self._asking.close()
        said = self._process.communicate()[1]
        assert not said, said

    def fileno(self) -> int:
        """The number by which a fork of this process has it."""
        return self._asking.fileno()

    def can_run(self, env: Mapping[str, str]) -> bool:
        """Whether an environment asks for nothing that only a new interpreter gives."""
        folders = env.get("PYTHONPATH", "").split(os.pathsep)
        customised = any(Path(folder, "sitecustomize.py").exists() for folder in folders)
        return at_start(env) == self._started_with and not customised

    def run(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        stdin: bytes = b"",
        limit: float = 150.0,
        entry: str = "svc.__main__",
    ) -> EndedRun:
        """Calls `main` of a module, as `svc ARGV...` would, and waits for the end.

        Raises:
            subprocess.TimeoutExpired: it took longer than `limit` seconds, and was killed.
        """
        with ExitStack() as ours:
            with self._lock:  # a fork elsewhere must not inherit what is being opened here
                pipes = [_pipe(ours, into=number == 0) for number in range(4)]
                theirs = [pipe[0] for pipe in pipes]
                try:
                    self._ask(argv, env, entry, theirs)
                finally:
                    for fd in theirs:
                        os.close(fd)
            run = _RunStreams(argv, [pipe[1] for pipe in pipes], stdin, limit)
            return run.until_it_ends()

    def start(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        out: int,
        err: int,
        entry: str = "svc.__main__",
    ) -> "Forked":
        """Calls `main` of a module as `run` does, and leaves it running; it reads from nothing."""
        with Path(os.devnull).open("rb") as null:
            return self._leave_running(argv, env, entry, (null.fileno(), out, err))

    def start_on(
        self, terminal: int, argv: Sequence[str], env: Mapping[str, str], out: int | None = None
    ) -> "Forked":
        """Leaves the program running on a terminal that is its own; `out` is another stdout."""
        streams = (terminal, terminal if out is None else out, terminal)
        return self._leave_running(argv, env, "svc.__main__", streams)

    def begin(
        self, argv: Sequence[str], env: Mapping[str, str], entry: str = "svc.__main__"
    ) -> "Begun":
        """Leaves the program running, and keeps what it says."""
        out, err = TemporaryFile(), TemporaryFile()  # noqa: SIM115  closed when they are read
        return Begun(self.start(argv, env, out.fileno(), err.fileno(), entry), out, err)

    def _leave_running(
        self, argv: Sequence[str], env: Mapping[str, str], entry: str, streams: Sequence[int]
    ) -> "Forked":
        with self._lock:
            reading, writing = os.pipe()
            try:
                self._ask(argv, env, entry, [*streams, writing])
            finally:
                os.close(writing)
        return Forked(argv, os.fdopen(reading, "rb", buffering=0))

    def _ask(
        self, argv: Sequence[str], env: Mapping[str, str], entry: str, fds: Sequence[int]
    ) -> None:
        request = {
            "argv": argv,
            "env": dict(env),
            "cwd": str(Path.cwd()),
            "umask": _umask(),
            "entry": entry,
        }
        socket.send_fds(self._asking, [json.dumps(request).encode()], fds)


class Forked:
    """A run of the program that goes on; to be used as a process that was started.

    Attributes:
        pid: its process id.
        returncode: its exit code, negative for the signal that ended it; None while it runs.
    """

    def __init__(self, argv: Sequence[str], telling: IO[bytes]) -> None:
        self.args = ["svc", *argv]
        self.returncode: int | None = None
        self._telling = telling
        self.pid = int(telling.readline())

    def poll(self) -> int | None:
        """Its exit code, if it has ended."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float = 150.0) -> int:
        """Waits for its end.

        Raises:
            subprocess.TimeoutExpired: it has not ended after `timeout` seconds.
        """
        if self.returncode is None:
            with selectors.DefaultSelector() as ready:
                ready.register(self._telling, selectors.EVENT_READ)
                if not ready.select(timeout):
                    raise subprocess.TimeoutExpired(self.args, timeout)
            self.returncode = int(self._telling.readline())
            self._telling.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Sends a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has, and that is still to be told
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Ends it as a power cut would."""
        self.send_signal(signal.SIGKILL)


class Begun:
    """A run that goes on and whose words are kept; to be used as `subprocess.Popen[str]`."""

    def __init__(self, forked: Forked, out: IO[bytes], err: IO[bytes]) -> None:
        self.args, self.pid = forked.args, forked.pid
        self.poll, self.wait = forked.poll, forked.wait
        self.send_signal, self.kill = forked.send_signal, forked.kill
        self._forked, self._said = forked, (out, err)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.kill()
        self.wait()
        for file in self._said:
            file.close()

    @property
    def returncode(self) -> int | Any:
        """Its exit code, negative for the signal that ended it; None while it runs."""
        return self._forked.returncode

    def communicate(self, timeout: float = 150.0) -> tuple[str, str]:
        """Waits for its end; gives what it wrote."""
        self.wait(timeout)
        out, err = (_whole(file) for file in self._said)
        return out, err


def _whole(file: IO[bytes]) -> str:
    with file:
        file.seek(0)
        return file.read().decode()


def at_start(env: Mapping[str, str]) -> dict[str, str]:
    """What an interpreter reads of an environment before the program begins."""
    return {
        name: value
        for name, value in env.items()
        if name.startswith(AT_START) and name not in NOT_AT_START
    }


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


def _pipe(ours: ExitStack, *, into: bool) -> tuple[int, IO[bytes]]:
    """Gives the program's end of a pipe, and ours."""
    reading, writing = os.pipe()
    theirs, kept = (reading, writing) if into else (writing, reading)
    os.set_blocking(kept, False)
    return theirs, ours.enter_context(os.fdopen(kept, "wb" if into else "rb", buffering=0))


class _RunStreams:
    """Feeds one run and reads what it says."""

    def __init__(
        self, argv: Sequence[str], ours: list[IO[bytes]], stdin: bytes, limit: float
    ) -> None:
        self._argv = argv
        self._limit = limit
        self._deadline = time.monotonic() + limit
        self._feeding, *self._reading = ours
        self._left = memoryview(stdin)
        self._read = {file: bytearray() for file in self._reading}

    def until_it_ends(self) -> EndedRun:
        with selectors.DefaultSelector() as ready:
            ready.register(self._feeding, selectors.EVENT_WRITE)
            for file in self._reading:
                ready.register(file, selectors.EVENT_READ)
            while ready.get_map():
                for key, _ in ready.select(self._remaining()):
                    if not (self._feed() if key.fileobj is self._feeding else self._hear(key)):
                        ready.unregister(key.fileobj)
                        if key.fileobj is self._feeding:
                            self._feeding.close()
        out, err, told = (bytes(read) for read in self._read.values())
        return EndedRun(int(told.split()[1]), out, err)

    def _feed(self) -> bool:
        """Writes once; false when all is written, or nobody reads any more."""
        with suppress(BrokenPipeError):
            self._left = self._left[os.write(self._feeding.fileno(), self._left[: 1 << 16]) :]
            return len(self._left) > 0
        return False

    def _hear(self, key: selectors.SelectorKey) -> bool:
        """Reads once; false at the end."""
        data = os.read(key.fd, 1 << 16)
        self._read[cast("IO[bytes]", key.fileobj)] += data
        return bool(data)

    def _remaining(self) -> float:
        remaining = self._deadline - time.monotonic()
        if remaining > 0:
            return remaining
        out, err, told = (bytes(read) for read in self._read.values())
        if len(told.split()) == 1:
            os.kill(int(told), signal.SIGKILL)
        raise subprocess.TimeoutExpired(["svc", *self._argv], self._limit, out, err)
