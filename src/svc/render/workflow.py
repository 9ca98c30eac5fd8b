"""Lines that a workflow runner would take for commands, such as `::stop-commands::`, made text.

GitHub's runner reads the log of every step: a line that begins with `::`, after blanks, is a
command, and so is `##[...]` wherever it stands. What svc prints may hold the words of strangers.
"""

import re
from collections.abc import Callable
from typing import Final

_COMMAND: Final = re.compile(r"(?:^|(?<=[\r\n]))(?P<start>\s*:):|(?P<hash>##)\[")
_BEGINNING: Final = re.compile(r"\s*:?")
_TEXT: Final = "x"  # stands for the beginning of a line that is no command any more


class Workflow:
    """Rewrites a stream piece by piece; `form` is how one character is written as an escape."""

    def __init__(self, form: Callable[[str], str]) -> None:
        self._form = form
        self._before = ""

    def through(self, text: str) -> str:
        """Gives a piece as it may be printed behind those before it."""
        whole = self._before + text
        done = _COMMAND.sub(self._rewritten, whole)[len(self._before) :]
        line = re.split(r"[\r\n]", whole)[-1]
        # What may yet become a command: a line's beginning, or the first half of its mark.
        self._before = line if _BEGINNING.fullmatch(line) else _TEXT + line[-2:]
        return done

    def _rewritten(self, found: re.Match[str]) -> str:
        if found["hash"]:
            return found["hash"] + self._form("[")
        return found["start"] + self._form(":")
