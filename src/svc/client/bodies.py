"""Collecting an answer's body under a cap, also through gzip (promise R20)."""

from typing import TYPE_CHECKING

from svc.client.exchange import Headers, Trouble, header

if TYPE_CHECKING:
    from zlib import _Decompress

MIB = 1024 * 1024
BODY_MAX = 16 * MIB
# An error's first megabyte says all that it has to say; the status has said the rest.
ERROR_BODY_MAX = MIB
_GZIP = 31  # zlib's word for: gzip header, largest window


class Broken(Exception):  # noqa: N818  it describes a connection
    """An exchange went wrong on the wire; becomes a `Failure` and never leaves this package."""

    def __init__(self, trouble: Trouble, detail: str = "") -> None:
        super().__init__(detail)
        self.trouble = trouble
        self.detail = detail


class Collector:
    """Takes a body as it comes and keeps what is within the cap of `most` bytes."""

    def __init__(self, status: int, headers: Headers, most: int = BODY_MAX) -> None:
        self._strict = status < 300  # noqa: PLR2004
        self._most = most
        self._left = most if self._strict else ERROR_BODY_MAX
        if self._strict and int(header(headers, "content-length") or 0) > most:
            raise self._too_large()
        self._parts: list[bytes] = []
        self._gunzip = self._decoder(header(headers, "content-encoding") or "identity")
        self.full = False

    def add(self, data: bytes) -> None:
        """Takes the next piece.

        Raises:
            Broken: when a 2xx exceeds the cap, or is not the gzip that it says it is.
        """
        plain = data if self._gunzip is None else self._inflated(self._gunzip, data)
        if len(plain) > self._left:
            if self._strict:
                raise self._too_large()
            self.full = True
        self._parts.append(plain[: self._left])
        self._left -= len(self._parts[-1])

    def finish(self) -> bytes:
        """Gives the whole body.

        Raises:
            Broken: when the gzip data of a 2xx ends early.
        """
        if self._strict and self._parts and self._gunzip is not None and not self._gunzip.eof:
            raise Broken(Trouble.TRUNCATED, "the compressed body ends early")
        return b"".join(self._parts)

    def _too_large(self) -> Broken:
        return Broken(Trouble.TOO_LARGE, f"over {self._most // MIB} MiB")

    def _decoder(self, encoding: str) -> "_Decompress | None":
        name = encoding.strip().lower()
        if name in ("gzip", "x-gzip"):
            from zlib import decompressobj

            return decompressobj(_GZIP)
        if name not in ("", "identity"):
            if self._strict:
                raise Broken(Trouble.GARBLED, f"encoded as {name[:20]!r}, which was not asked for")
            self._left = 0
        return None

    def _inflated(self, gunzip: "_Decompress", data: bytes) -> bytes:
        from zlib import error

        try:
            plain = gunzip.decompress(data, self._left + 1)
        except error as problem:
            if self._strict:
                raise Broken(Trouble.GARBLED, str(problem)) from None
            self.full = True
            return b""
        if gunzip.unused_data and self._strict:
            raise Broken(Trouble.GARBLED, "data follows the compressed body")
        return plain
