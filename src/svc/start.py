"""Starts the command line quickly and ends the process; called by `__main__` alone.

It imports Typer without the modules that no command needs, answers `--version` before that, runs
`cli.main`, flushes the streams and exits with the command's code, without the interpreter's
cleanup.
"""

import gc
import os
import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # later, and without a wait
    from typing import Any

# Typer, or what it stands on, imports these for what no command does with them: to open a browser,
# to unpack archives, to read source code. With each what is taken out of it by its name; what only
# these import goes with them. Measured: 13 of the 43 ms that `import typer` takes.
_POSTPONED = {
    "ast": ("NodeVisitor",),
    "datetime": ("datetime",),
    "difflib": ("get_close_matches",),
    "gettext": ("gettext",),
    "linecache": (),
    "platform": (),
    "shellingham": (),
    "shutil": ("get_terminal_size",),
    "subprocess": (),
    "tokenize": (),
    "traceback": ("FrameSummary", "StackSummary"),
    "urllib.parse": ("quote_from_bytes",),
    "uuid": ("UUID",),
}


def run_program() -> None:
    """Runs the command line and ends the process."""
    # A short command ends before the collector would pay; long-running ones enable it again.
    gc.disable()
    if sys.argv[1:] in (["--version"], ["-V"]):
        # Answered before Typer is imported: five times faster.
        from svc import __version__

        os._exit(_write_line(f"svc {__version__}\n".encode()))
    _leave_no_core()
    code = _run()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            # The reader has gone; the exit code was chosen when that was first noticed. A note that
            # could not be printed beside a result does not change the exit code.
            code = code or (141 if stream is sys.stdout else 0)
    # Skips the interpreter's tidying up, a quarter of a short command's time; everything that
    # must last was flushed or committed.
    os._exit(code)


def _run() -> int:
    """Runs the command line; an error outside its boundary is said in one line, too (R79)."""
    try:
        _import_typer()
        from svc.cli.main import main as run

        return run()
    except Exception as error:  # noqa: BLE001  a broken installation, or a bug in reporting bugs
        return _report_lost(error)


class _Postponed(ModuleType):
    """Stands for a module where it was imported, and loads it when it is asked for something."""

    def __init__(self, name: str, taken: tuple[str, ...]) -> None:
        super().__init__(name)
        for each in taken:  # a class, as a type must be one; called, it calls the real thing
            setattr(self, each, type(each, (), {"__new__": partial(self._call, each)}))

    def __getattr__(self, name: str) -> Callable[..., object]:
        if name == "__path__":  # what `from ... import` asks for first; none of them is a package
            raise AttributeError(name)
        from importlib import import_module

        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        found: Callable[..., object] = getattr(import_module(self.__name__), name)
        return found

    def _call(self, name: str, _: type, *values: object, **named: object) -> object:
        return self.__getattr__(name)(*values, **named)


def _import_typer() -> None:
    """Imports Typer without what is postponed; who imports that behind it gets the real modules."""
    standing = {
        name: _Postponed(name, taken)
        for name, taken in _POSTPONED.items()
        if name not in sys.modules
    }
    if "gettext" in standing:
        # There are no translations to be looked for: what it says is English.
        vars(standing["gettext"])["gettext"] = str
    sys.modules.update(standing)
    try:
        import typer  # noqa: F401  for all that follows
    finally:
        for name, each in standing.items():
            if sys.modules.get(name) is each:
                del sys.modules[name]


def _report_lost(error: Exception) -> int:
    """Says that there is no going on: first of all, whether a library is what is wrong."""
    from contextlib import suppress

    from svc.cli.framework.requirements import find_unmet

    wrong = find_unmet()
    if wrong is not None:
        text = f"{wrong}\n  Next: {wrong.hint}"
    else:
        text = f"svc could not go on ({type(error).__name__}). What was sent: svc requests list"
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"Error: {text}\n")
    return 1 if wrong is None else wrong.exit_code


def _leave_no_core() -> None:
    """Lets no crash write what is in memory, a key for one, to the disk (promise R42)."""
    try:
        resource: Any = __import__("resource")
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def _write_line(line: bytes) -> int:
    """Writes to stdout and gives the exit code: it may be closed or full (promise R77)."""
    try:
        sys.stdout.buffer.write(line)
        sys.stdout.flush()
    except BrokenPipeError:
        return 141
    except (OSError, ValueError, AttributeError):
        if sys.stderr is not None:
            sys.stderr.write("Error: the result could not be written.\n")
        return 10
    return 0
