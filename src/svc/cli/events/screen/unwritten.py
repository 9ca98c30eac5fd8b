"""A buffer for output that a stream has not taken yet: in memory, then in a temporary file.

`streams` has one for stdout and one for stderr.
"""

import os
from collections import deque
from collections.abc import Callable
from typing import IO, Final

from svc.errors import LocalError, system_words

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
            self._refill()
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

    def _refill(self) -> None:
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
