"""The base class of a listener's connections, which reads into one buffer that all share.

asyncio's own protocols make an object of 256 KiB for each read. `dial` and the receiver derive from
it.
"""

import asyncio
from typing import Final
from weakref import WeakKeyDictionary

_READ_BYTES: Final = 64 * 1024
_buffers: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, bytearray]] = WeakKeyDictionary()


class ReadingProtocol(asyncio.BufferedProtocol):
    """Calls `data_received` with the received bytes, as asyncio.Protocol does.

    asyncio's usual way makes a new 256 KiB object for each read and gives it back to the system;
    at thousands of small reads a second that alone is a sixth of all work. The protocols of one
    loop share one buffer: what was read is copied out of it before anything else runs.
    """

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._buffer = _buffers.get(loop) or _buffers.setdefault(loop, bytearray(_READ_BYTES))
        self._view = memoryview(self._buffer)

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002  asyncio's signature
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(bytes(self._view[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Handles received bytes, which are never empty."""
        raise NotImplementedError
