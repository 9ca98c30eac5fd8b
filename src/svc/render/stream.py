"""A text stream on which writing cannot fail for lack of a character (LANG=C must work)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from svc.redaction import Veil
from svc.render.json_text import escaped
from svc.render.text import encodable, visible

if TYPE_CHECKING:  # loaded where a runner reads
    from svc.render.workflow import Workflow


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
        secret: Callable[[], str | None] = lambda: None,
        workflow: bool = False,
    ) -> None:
        self._stream = stream
        self._veil = Veil(secret)
        self._form = escaped if json else visible
        self._workflow = _workflow(self._form) if workflow else None
        name = (stream.encoding or "utf-8").lower().replace("-", "").replace("_", "")
        self.encoding = None if name.startswith("utf") else stream.encoding

    def write(self, text: str) -> None:
        """Writes text that is safe to show already."""
        self._put(self._veil.through(text))

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
        if rest := self._veil.rest():
            self._put(rest)
        self._stream.flush()

    def _put(self, text: str) -> None:
        if self._workflow is not None:
            text = self._workflow.through(text)
        self._stream.write(encodable(text, self.encoding, self._form) if self.encoding else text)


def _workflow(form: Callable[[str], str]) -> "Workflow":
    from svc.render.workflow import Workflow

    return Workflow(form)
