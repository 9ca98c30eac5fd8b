"""A stand-in for Windows's kernel32 where it has job objects: a job with one process in it."""

import os
from contextlib import suppress
from typing import Any

KILL = 9
real_kill = os.kill


class Function:
    """One function of the library; `ctypes` lets a caller say what it returns."""

    restype: Any = None

    def __init__(self, library: "Kernel32", name: str) -> None:
        self._library = library
        self._name = name

    def __call__(self, *given: Any) -> int:
        return self._library.call(self._name, given)


class Kernel32:
    """Keeps the process of the job and ends it by force; handles are numbers."""

    def __init__(self, name: str) -> None:
        assert name == "kernel32"
        self._functions: dict[str, Function] = {}
        self._pid = 0

    def __getattr__(self, name: str) -> Function:
        return self._functions.setdefault(name, Function(self, name))

    def call(self, name: str, given: tuple[Any, ...]) -> int:
        if name == "OpenProcess":
            self._pid = given[2]
        elif name == "TerminateJobObject":
            with suppress(ProcessLookupError):  # a job may be empty
                real_kill(self._pid, KILL)
        return 1
