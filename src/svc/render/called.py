"""By which name the program is to be called again, in the commands that it suggests."""

import re
import shlex
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
        from shutil import which

        there = Path(self._typed)
        found = which(PROGRAM, path=self._search)
        if there.name != PROGRAM or (found and Path(found).resolve() == there.resolve()):
            return PROGRAM
        return shlex.quote(self._typed)

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
