"""A text stream on which writing cannot fail for lack of a character (LANG=C must work)."""

from collections.abc import Callable
from typing import TextIO

from svc.redaction import Veil
from svc.render.json_text import escaped
from svc.render.text import encodable, visible


class Stream:
    """Writes to a TextIO; what its encoding has no bytes for is written as an escape.

    `json` chooses JSON's escapes, which a reader turns back. `secret` gives the key in use, which
    is masked wherever it stands. An OSError passes up.
    """

    def __init__(
        self, stream: TextIO, *, json: bool, secret: Callable[[], str | None] = lambda: None
    ) -> None:
        self._stream = stream
        self._veil = Veil(secret)
        self._form = escaped if json else visible
        name = (stream.encoding or "utf-8").lower().replace("-", "").replace("_", "")
        self.encoding = None if name.startswith("utf") else stream.encoding

    def write(self, text: str) -> None:
        """Writes text that is safe to show already."""
        self._put(self._veil.through(text))

    def flush(self) -> None:
        """Hands what was written on."""
        if rest := self._veil.rest():
            self._put(rest)
        self._stream.flush()

    def _put(self, text: str) -> None:
        self._stream.write(encodable(text, self.encoding, self._form) if self.encoding else text)
