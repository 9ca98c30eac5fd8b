"""Writes a listener's stdout and stderr without waiting, so that it always receives (R122).

Lines of one pass of the event loop leave in one write. Bytes that a pipe or terminal has no room
for wait in an `UnwrittenOutput`, in memory, then in a temporary file; a signal ends the listener
all the same.

`run` puts a `Printing` in place of stdout and stderr while a listener runs.
"""

import asyncio
import io
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, TextIO

from svc.cli.framework.streams import Streams
from svc.errors import LocalError, system_words
from svc.listen.owners import own
from svc.system import signals
from svc.system.files import make_private
from svc.system.outlets import Outlet, is_file, open_outlet, write_whole

MEMORY_BYTES: Final = 256 * 1024
FILE_BYTES: Final = 1 << 30
_PIECE: Final = 64 * 1024


class UnwrittenOutput:
    """Bytes that wait to be written, in order.

    With `open_file` nothing is dropped: bytes that memory has no room for go to that file and come
    back from it. Without it lines for people are dropped and counted, and the count is written.
    """

    def __init__(
        self,
        open_file: Callable[[], IO[bytes]] | None,
        *,
        memory_bytes: int = MEMORY_BYTES,
        file_bytes: int = FILE_BYTES,
    ) -> None:
        self._open_file = open_file
        self._memory_bytes = memory_bytes
        self._file_bytes = file_bytes
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._file: IO[bytes] | None = None
        self._read_to = self._written_to = 0
        self._dropped = 0

    def __bool__(self) -> bool:
        return bool(self._pieces) or self._read_to < self._written_to or self._dropped > 0

    @property
    def lines(self) -> int:
        """How many whole lines wait in memory or were dropped; lines in the file do not count."""
        return self._dropped + sum(piece.count(b"\n") for piece in self._pieces)

    @property
    def is_lossless(self) -> bool:
        return self._open_file is not None

    def add(self, data: bytes) -> None:
        """Adds whole lines, or the rest of a line that was begun.

        Raises:
            LocalError: nothing may be dropped, and neither memory nor the disk has room.
        """
        fits = self._size + len(data) <= self._memory_bytes or not self._pieces
        if self._open_file is None:
            if fits and not self._dropped:  # else their count would stand in the wrong place
                self._keep(data)
            else:
                self._dropped += data.count(b"\n")
        elif fits and self._read_to == self._written_to:
            self._keep(data)
        else:
            self._spill(data)

    def head(self) -> bytes:
        """Returns the next bytes to write; empty when all are written."""
        if not self._pieces:
            if self._file is not None and self._read_to < self._written_to:
                self._file.seek(self._read_to)
                piece = self._file.read(_PIECE)
                self._read_to += len(piece)
                self._keep(piece)
                if self._read_to == self._written_to:
                    self._read_to = self._written_to = 0
                    os.ftruncate(self._file.fileno(), 0)
            elif self._dropped:
                many = f"{self._dropped:,} line{'s' if self._dropped > 1 else ''}"
                self._dropped = 0
                self._keep(f"... {many} not shown: the screen was paused\n".encode())
        return self._pieces[0] if self._pieces else b""

    def note_taken(self, count: int) -> None:
        """Notes that so many bytes of the head were written."""
        piece = self._pieces.popleft()
        self._size -= count
        if count < len(piece):
            self._pieces.appendleft(piece[count:])

    def close(self) -> None:
        """Closes the temporary file, which deletes it."""
        if self._file is not None:
            self._file.close()

    def _keep(self, data: bytes) -> None:
        self._pieces.append(data)
        self._size += len(data)

    def _spill(self, data: bytes) -> None:
        assert self._open_file is not None
        try:
            if self._file is None:
                self._file = self._open_file()
            if self._written_to + len(data) > self._file_bytes:
                raise _build_full(f"{self._file_bytes >> 20} MiB wait for a reader")
            rest = memoryview(data)
            while rest:
                self._file.seek(self._written_to)
                count = self._file.write(rest)
                self._written_to += count
                rest = rest[count:]
        except OSError as error:
            raise _build_full(system_words(error)) from error


def _build_full(why: str) -> LocalError:
    return LocalError(
        f"Nothing reads the output, and there is no more room to keep it: {why}.",
        code="output_not_read",
        hint="Read the output, or leave out what need not be printed: --print none",
    )


_TICK_SECONDS: Final = 0.01
_LAST_SECONDS: Final = 0.15  # for what is left when a signal has come, of the second of R78
_WARNED: Final = 0.2

Failed = Callable[[Exception], None]


class PrintedStream(io.StringIO):
    """Stands for a standard stream while a listener runs; any thread may write to it."""

    def __init__(self, raw: TextIO, put: Callable[["PrintedStream", str], None]) -> None:
        super().__init__()
        self.raw = raw
        self._put = put

    def write(self, text: str) -> int:
        self._put(self, text)
        return len(text)

    def flush(self) -> None:
        """Does nothing: what a pass has written leaves at its end."""

    def isatty(self) -> bool:
        return self.raw.isatty()

    def fileno(self) -> int:
        return self.raw.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.raw.encoding

    def encode(self, text: str) -> bytes:
        """Returns the bytes that the stream itself would have written."""
        return text.encode(self.raw.encoding or "utf-8", self.raw.errors or "backslashreplace")


@dataclass(slots=True)
class _Destination:
    """Where bytes of a stream go: to a file at once, else as there is room, or by a thread."""

    stream: PrintedStream
    backlog: UnwrittenOutput
    outlet: Outlet | None = None
    direct: Callable[[str], None] | None = None
    thread: threading.Thread | None = None
    is_waiting: bool = False  # the loop calls when there is room


@dataclass(slots=True)
class Printing:
    """The stdout and stderr of one listener; `streams` replaces the real ones from the beginning.

    `lossless`: stdout carries data, of which nothing is dropped; `folder` holds the file where data
    waits when memory has no more room.
    """

    real: Streams
    folder: Path
    lossless: bool
    streams: Streams = field(init=False)
    _ends: list[_Destination] = field(init=False)
    _texts: list[tuple[PrintedStream, str]] = field(init=False, default_factory=list)
    _lock: threading.RLock = field(init=False, default_factory=threading.RLock)
    _loop: asyncio.AbstractEventLoop | None = field(init=False, default=None)
    _thread: int = field(init=False, default=0)
    _failed: Failed | None = field(init=False, default=None)
    _hurried: bool = field(init=False, default=False)
    _over: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        for stream in (self.real.stdout, self.real.stderr):
            stream.flush()
        out = PrintedStream(self.real.stdout, self._take)
        err = PrintedStream(self.real.stderr, self._take)
        self.streams = Streams(self.real.stdin, out, err)
        self._ends = [
            self._end(out, UnwrittenOutput(self._open_file if self.lossless else None)),
            self._end(err, UnwrittenOutput(None)),
        ]

    def start(self, failed: Failed) -> None:
        """From now on writes once a pass of the running loop; calls `failed` if writing fails."""
        with self._lock:
            self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
            self._failed = failed

    def soon(self, write: Callable[[], None]) -> None:
        """Has what is gathered for these streams written in the next pass of the running loop."""
        if self._loop is None:
            write()
        else:
            self._loop.call_soon(own(write))

    async def finish(self, is_hurried: Callable[[], bool]) -> int:
        """Writes the remaining output while stdout is read; after a signal for at most 0.15 s.

        Returns how many lines, at least, were left unwritten.
        """
        self._flush()
        loop = asyncio.get_running_loop()
        end = None
        while any(each.backlog for each in self._ends):
            self._hurried = is_hurried()
            data_waits = any(each.backlog and each.backlog.is_lossless for each in self._ends)
            if end is None and (self._hurried or not data_waits):
                end = loop.time() + _LAST_SECONDS
            if end is not None and loop.time() > end:
                break
            await asyncio.sleep(_TICK_SECONDS)
        for each in self._ends:
            self._stop_waiting(each)
        self._flush()
        self._loop = self._failed = None
        return sum(each.backlog.lines for each in self._ends)

    def end(self) -> Streams:
        """Returns the streams to print to from now on: the real ones, unless one is blocked."""
        if any(each.backlog for each in self._ends):
            return self.streams
        self._over = True
        for each in self._ends:
            if each.outlet is not None:
                each.outlet.close()
            each.backlog.close()
        return self.real

    def _end(self, stream: PrintedStream, backlog: UnwrittenOutput) -> _Destination:
        try:
            descriptor = stream.fileno()
            plain = is_file(descriptor)
        except (OSError, ValueError):  # a stream of a program that runs this one inside itself
            return _Destination(stream, backlog, direct=_make_write_whole(stream.raw))
        if plain:
            return _Destination(
                stream, backlog, direct=lambda text: write_whole(descriptor, stream.encode(text))
            )
        return _Destination(stream, backlog, outlet=open_outlet(descriptor))

    def _open_file(self) -> IO[bytes]:
        from tempfile import TemporaryFile

        make_private(self.folder)
        return TemporaryFile(dir=self.folder, buffering=0)

    def _take(self, stream: PrintedStream, text: str) -> None:
        with self._lock:
            self._texts.append((stream, text))
            if self._loop is None:
                self._flush()
            elif len(self._texts) > 1:
                return
            elif threading.get_ident() == self._thread:
                self._loop.call_soon(own(self._flush))
            else:
                with suppress(RuntimeError):  # the loop has ended
                    self._loop.call_soon_threadsafe(own(self._flush))

    def _flush(self) -> None:
        """Writes what has come, in its order; texts for one stream together."""
        with self._lock:
            texts, self._texts = self._texts, []
            for stream, text in _join(texts):
                end = next(one for one in self._ends if one.stream is stream)
                try:
                    self._push(end, text)
                except (OSError, LocalError) as error:
                    self._fail(end, error)

    def _fail(self, end: _Destination, error: Exception) -> None:
        """Ends the listener; a reader that is gone gets nothing more."""
        if isinstance(error, OSError):
            self._stop_waiting(end)
            end.backlog, end.direct = UnwrittenOutput(None), lambda _: None
        if self._failed is None:
            raise error
        self._failed(error)

    def _push(self, end: _Destination, text: str) -> None:
        if end.direct is not None:
            end.direct(text)
            return
        data = end.stream.encode(text)
        if end.outlet is None:
            end.backlog.add(data)
            if end.thread is None:
                end.thread = threading.Thread(
                    target=self._write_by_thread, args=(end,), daemon=True
                )
                end.thread.start()
            return
        if not end.backlog:
            data = data[end.outlet.write(data) :]
        if data:
            end.backlog.add(data)
            self._wait(end, end.outlet)

    def _wait(self, end: _Destination, outlet: Outlet) -> None:
        """Has the rest written when there is room: by the loop, or here where none runs."""
        if self._loop is None:
            self._write_now(end, outlet)
        elif not end.is_waiting:
            end.is_waiting = True
            self._loop.add_writer(outlet.descriptor, own(self._write_some), end, outlet)

    def _write_now(self, end: _Destination, outlet: Outlet) -> None:
        """Waits for the reader, but after a signal not for long."""
        while end.backlog:
            if not signals.wait_ready(
                outlet.descriptor, _WARNED if self._hurried else None, write=True
            ):
                return
            end.backlog.note_taken(outlet.write(end.backlog.head()))

    def _write_some(self, end: _Destination, outlet: Outlet) -> None:
        with self._lock:
            try:
                while end.backlog and (count := outlet.write(end.backlog.head())):
                    end.backlog.note_taken(count)
            except OSError as error:
                self._fail(end, error)
            if not end.backlog:
                self._stop_waiting(end)

    def _stop_waiting(self, end: _Destination) -> None:
        if end.is_waiting and end.outlet is not None and self._loop is not None:
            self._loop.remove_writer(end.outlet.descriptor)
        end.is_waiting = False

    def _write_by_thread(self, end: _Destination) -> None:
        """Writes what waits, every 10 ms: a call that waits for a reader holds up this thread."""
        descriptor = end.stream.fileno()
        pause = threading.Event()
        while not self._over:
            with self._lock:
                data = end.backlog.head()
            if not data:
                pause.wait(_TICK_SECONDS)
                continue
            try:
                count = os.write(descriptor, data)
            except OSError as error:
                with self._lock, suppress(RuntimeError):  # the loop has ended
                    if self._loop is not None:
                        self._loop.call_soon_threadsafe(own(self._fail), end, error)
                return
            with self._lock:
                end.backlog.note_taken(count)


def _join(texts: Sequence[tuple[PrintedStream, str]]) -> list[tuple[PrintedStream, str]]:
    joined: list[tuple[PrintedStream, list[str]]] = []
    for stream, text in texts:
        if joined and joined[-1][0] is stream:
            joined[-1][1].append(text)
        else:
            joined.append((stream, [text]))
    return [(stream, "".join(parts)) for stream, parts in joined]


def _make_write_whole(raw: TextIO) -> Callable[[str], None]:
    def write(text: str) -> None:
        raw.write(text)
        raw.flush()

    return write
