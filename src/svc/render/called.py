"""By which name the program is to be called again, in the commands that it suggests."""

import os
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Final

PROGRAM: Final = "svc"


class Called:
    """The name by which `svc` was called: what is suggested can be typed as it stands.

    `typed` is the path of the running program, `search` is $PATH, and `words` are those that may
    follow the name. Programs read `svc` itself: what is written for people alone passes here.
    """

    def __init__(self, typed: str, search: str | None, words: Iterable[str]) -> None:
        self._typed = typed
        self._search = search
        self._words = words

    @cached_property
    def name(self) -> str:
        """The plain name where a shell finds this very program by it, else the path to it."""
        there = Path(self._typed)
        if there.name != PROGRAM or self._is_found(there):
            return PROGRAM
        from shlex import quote

        return quote(self._typed)

    def _is_found(self, there: Path) -> bool:
        # As `shutil.which` does it, which takes longer to load than a help page to write.
        search = os.defpath if self._search is None else self._search
        for folder in search.split(os.pathsep) if search else ():
            first = Path(folder, PROGRAM)
            if os.access(first, os.X_OK) and first.is_file():
                return first.resolve() == there.resolve()
        return False

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
