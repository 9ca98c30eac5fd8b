"""Writes to the standard streams, masks secrets and escapes workflow commands (R126).

Its callers escape control characters first, by `text` or as JSON. No other module writes to a
standard stream, as a test of the architecture checks.

`cli.framework.invocation` makes one `Writer` for each stream; `output` and the printing of `svc
events listen` write through it.
"""

import re
from collections.abc import Callable
from typing import Final, TextIO

from svc.redaction import Redactor, redact
from svc.render.text import encodable, escape_json, make_visible


class Writer:
    """Writes to a TextIO; characters that its encoding does not have are escaped.

    `json` uses JSON's escapes, which a reader decodes. `secret` returns the key in use, which is
    masked everywhere (promise R39). `workflow` is whether a GitHub runner reads the output, which
    executes some lines as commands (promise R107). An OSError is not caught.
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
        """Writes a result, which is safe for a terminal already; masks only the key in use.

        A result may be a secret itself, such as that of a new endpoint.
        """
        self._put(self._redactor.through(text))

    def write_masked(self, text: str) -> None:
        """Writes complete lines with text from outside: masks all text that looks like a secret."""
        self._put(self._redactor.through(redact(text)))

    def write_command(self, text: str) -> None:
        """Writes complete lines that a workflow runner is to execute as commands."""
        workflow, self._workflow = self._workflow, None
        try:
            self.write(text)
            self.flush()
        finally:
            self._workflow = workflow

    def write_bytes(self, data: bytes) -> None:
        """Writes bytes to the underlying stream, because the text stream would change line ends."""
        self.flush()
        raw = getattr(self._stream, "buffer", None)
        if raw is None:
            self.write(data.decode())
        else:
            raw.write(data)
            raw.flush()

    def flush(self) -> None:
        """Flushes the stream."""
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
    """Escapes text that a runner would execute as commands, such as `::stop-commands::` (R107).

    The text of a stream is passed in pieces; `form` escapes one character.
    """

    def __init__(self, form: Callable[[str], str]) -> None:
        self._form = form
        self._before = ""

    def through(self, text: str) -> str:
        """Returns a piece of text as it may be printed after the earlier pieces."""
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
