"""What every format prints with: a stream that is safe to write to, and objects in chunks."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TextIO

from svc.errors import SvcError
from svc.redaction import Redactor
from svc.render.dump import escaped
from svc.render.text import encodable, visible

Write = Callable[[str], None]
Objects = Iterator[tuple[str, object]]


class Stream:
    """Writes to a TextIO; what its encoding has no bytes for is written as an escape.

    `json` chooses JSON's escapes, which a reader turns back. `secret` gives the key in use, which
    is masked wherever it stands. `workflow` says that GitHub's runner reads along, which takes some
    lines for commands (promise R107). An OSError passes up.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        json: bool,
        secret: Callable[[], str | None],
        workflow: bool,
    ) -> None:
        self._stream = stream
        self._redactor = Redactor(secret)
        self._form = escaped if json else visible
        self._workflow = Workflow(self._form) if workflow else None
        name = (stream.encoding or "utf-8").lower().replace("-", "").replace("_", "")
        self.encoding = None if name.startswith("utf") else stream.encoding

    def write(self, text: str) -> None:
        """Writes text that is safe to show already."""
        self._put(self._redactor.through(text))

    def write_command(self, text: str) -> None:
        """Writes whole lines that a workflow runner shall take for commands."""
        workflow, self._workflow = self._workflow, None
        try:
            self.write(text)
            self.flush()
        finally:
            self._workflow = workflow

    def flush(self) -> None:
        """Hands what was written on."""
        if rest := self._redactor.rest():
            self._put(rest)
        self._stream.flush()

    def _put(self, text: str) -> None:
        if self._workflow is not None:
            text = self._workflow.through(text)
        self._stream.write(encodable(text, self.encoding, self._form) if self.encoding else text)


class Printer:
    """One format's way to print results: `write` takes text, `warn` a sentence for people.

    An object comes as the text that was sent and the same parsed.
    """

    def __init__(self, write: Write, warn: Write) -> None:
        self._write = write
        self._warn = warn

    def one(self, text: str, data: object) -> None:
        """Prints one object."""
        del text
        self.value(data)

    def page(self, text: str, data: dict[str, Any]) -> None:
        """Prints the objects of a list object."""
        del text
        self.value(data["data"])

    def stream(self, objects: Objects) -> None:
        """Prints objects as they arrive."""
        raise NotImplementedError

    def value(self, data: object) -> None:
        """Prints parsed JSON of any shape."""
        raise NotImplementedError


_SIZE: Final = 100  # the largest page of the service: a piece waits for no second request


def chunks(objects: Iterator[tuple[str, object]]) -> Iterator[list[object]]:
    """Yields lists of at most 100 parsed objects.

    When the objects end in an error, those that came before it are yielded first: what an export
    says that it has received must be on stdout.
    """
    piece: list[object] = []
    failure: SvcError | None = None
    try:
        for _, data in objects:
            piece.append(data)
            if len(piece) == _SIZE:
                yield piece
                piece = []
    except SvcError as error:
        failure = error
    if piece:
        yield piece
    if failure:
        raise failure


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
        done = re.sub(_COMMAND, self._rewritten, whole)[len(self._before) :]
        line = re.split(r"[\r\n]", whole)[-1]
        # What may yet become a command: a line's beginning, or the first half of its mark.
        self._before = line if re.fullmatch(_BEGINNING, line) else _TEXT + line[-2:]
        return done

    def _rewritten(self, found: re.Match[str]) -> str:
        if found["hash"]:
            return found["hash"] + self._form("[")
        return found["start"] + self._form(":")
