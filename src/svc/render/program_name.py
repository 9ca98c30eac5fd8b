"""By which name the program is to be called again, in the commands that it suggests.

`cli.framework.invocation` makes one `ProgramName` for each command. It is `svc` where a shell finds
this program by that name, else its path; help pages, errors and hints put it before their commands.
"""

import os
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Final

PROGRAM: Final = "svc"


class ProgramName:
    """The name by which `svc` was called, so that suggested commands can be typed unchanged.

    `typed` is the path of the running program, `search` is $PATH, and `words` are those that may
    follow the name. Only texts for people are rewritten; output for programs always says `svc`.
    """

    def __init__(self, typed: str, search: str | None, words: Iterable[str]) -> None:
        self._typed = typed
        self._search = search
        self._words = words

    @cached_property
    def name(self) -> str:
        """The plain name where a shell finds this very program by it, else the path to it."""
        there = Path(self._typed)
        if there.name != PROGRAM or self._find_on_path() == there.resolve():
            return PROGRAM
        from shlex import quote

        return quote(self._typed)

    def _find_on_path(self) -> Path | None:
        """What a shell runs by the plain name; `shutil` is slow to load, and help asks, too."""
        folders = (self._search or "").split(os.pathsep)
        paths = (Path(folder, PROGRAM) for folder in folders)
        found = (path for path in paths if path.is_file() and os.access(path, os.X_OK))
        return next((path.resolve() for path in found), None)

    def within(self, text: str) -> str:
        """A text whose commands begin with that name; a sentence about svc stays as it is."""
        if f"{PROGRAM} " not in text or self.name == PROGRAM:
            return text
        return self._commands.sub(lambda _: self.name, text)

    @cached_property
    def _commands(self) -> re.Pattern[str]:
        words = "|".join(map(re.escape, self._words))
        return re.compile(
            rf"(?<![\w./~-]){PROGRAM}(?= (?:--[a-z]+|{words})(?:[\s'\"`);:,]|\.?$|\.\s))"
        )
