"""The one way to the standard streams: it masks secrets and what acts on a terminal (R126).

Nothing else in the program writes to one; a test of the architecture sees to that.
"""

import re
from collections.abc import Callable
from typing import Final, TextIO

from svc.redaction import Redactor, redact
from svc.render.text import encodable, escape_json, make_visible


class Writer:
    """Writes to a TextIO; what its encoding has no bytes for is written as an escape.

    `json` chooses JSON's escapes, which a reader turns back. `secret` gives the key in use, which
    is masked wherever it stands (promise R39). `workflow` says that GitHub's runner reads along,
    which takes some lines for commands (promise R107). An OSError passes up.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        json: bool = False,
        secret: Callable[[], str | None] = lambda: None,
        workflow: bool = False,
    ) -> None:
        self._stream = stream
        self._redactor = Redactor(secret)
        self._form = escape_json if json else make_visible
        self._workflow = Workflow(self._form) if workflow else None
        name = (stream.encoding or "utf-8").lower().replace("-", "").replace("_", "")
        self.encoding = None if name.startswith("utf") else stream.encoding

    def write(self, text: str) -> None:
        """Writes a result: text that is safe to show already; of secrets the key in use is masked.

        A result may be a secret itself, such as a new endpoint's.
        """
        self._put(self._redactor.through(text))

    def write_masked(self, text: str) -> None:
        """Writes whole lines that may hold the words of others: whatever looks secret is masked."""
        self._put(self._redactor.through(redact(text)))

    def write_command(self, text: str) -> None:
        """Writes whole lines that a workflow runner shall take for commands."""
        workflow, self._workflow = self._workflow, None
        try:
            self.write(text)
            self.flush()
        finally:
            self._workflow = workflow

    def write_bytes(self, data: bytes) -> None:
        """Writes a file's bytes past the text stream, which would change line ends."""
        self.flush()
        raw = getattr(self._stream, "buffer", None)
        if raw is None:
            self.write(data.decode())
        else:
            raw.write(data)
            raw.flush()

    def flush(self) -> None:
        """Hands what was written on."""
        if rest := self._redactor.rest():
            self._put(rest)
        self._stream.flush()

    def _put(self, text: str) -> None:
        if self._workflow is not None:
            text = self._workflow.through(text)
        self._stream.write(encodable(text, self.encoding, self._form) if self.encoding else text)


# GitHub's runner reads the log of every step: a line that begins with `::`, after blanks, is a
# command, and so is `##[...]` wherever it stands. What svc prints may hold the words of strangers.
_COMMAND: Final = r"(?:^|(?<=[\r\n]))(?P<start>\s*:):|(?P<hash>##)\["
_BEGINNING: Final = r"\s*:?"
_TEXT: Final = "x"  # stands for the beginning of a line that is no command any more


class Workflow:
    """Makes text of what a runner would take for commands, such as `::stop-commands::` (R107).

    It takes a stream piece by piece; `form` is how one character is written as an escape.
    """

    def __init__(self, form: Callable[[str], str]) -> None:
        self._form = form
        self._before = ""

    def through(self, text: str) -> str:
        """Gives a piece as it may be printed behind those before it."""
        whole = self._before + text
        done = re.sub(_COMMAND, self._rewrite, whole)[len(self._before) :]
        line = re.split(r"[\r\n]", whole)[-1]
        # What may yet become a command: a line's beginning, or the first half of its mark.
        self._before = line if re.fullmatch(_BEGINNING, line) else _TEXT + line[-2:]
        return done

    def _rewrite(self, found: re.Match[str]) -> str:
        if found["hash"]:
            return found["hash"] + self._form("[")
        return found["start"] + self._form(":")
