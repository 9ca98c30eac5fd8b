"""What every test gets around it, whatever the caller's terminal, shell or service has set up.

A run begins under `nohup`, in the background of a script, in a pipeline of another company or on a
laptop in Tokyo. None of that is to change what a test sees.
"""

import locale
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import MutableMapping
from pathlib import Path
from typing import Final

# What a process needs to find programs and to be measured; everything else is ours to set.
KEPT: Final = (
    "PATH",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
    "SVC_TEST_LONG",
    "SVC_TEST_AT_REST",
    "CHAOS_EVENTS",
    "GOLDEN",
)
KEPT_PREFIXES: Final = ("PYTEST_", "HYPOTHESIS_", "COV")
GIVEN: Final = {
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "TERM": "xterm",
    "PYTHONDONTWRITEBYTECODE": "1",
    "NO_COLOR": "1",
}
# Where folders of tests lie in memory; None where there is no such place, or too little of it.
_SHARED: Final = Path("/dev/shm")
_ROOM: Final = 2 << 30  # bytes
# Python ignores these itself, and gives children their defaults back.
OF_PYTHON: Final = (signal.SIGPIPE, signal.SIGXFSZ)


def memory() -> Path | None:
    """The folder that lies in memory: a disk's syncs take more time than all of what they save.

    There is none where it is small, as in most containers, or where nothing in it may be executed.
    """
    if not os.access(_SHARED, os.W_OK | os.X_OK) or shutil.disk_usage(_SHARED).free < _ROOM:
        return None
    return None if os.statvfs(_SHARED).f_flag & os.ST_NOEXEC else _SHARED


def work_in_memory(environ: MutableMapping[str, str]) -> None:
    """Has every temporary folder made there, where there is one and the caller names no other."""
    there = memory()
    if there is not None and "TMPDIR" not in environ:
        environ["TMPDIR"] = str(there)
        tempfile.tempdir = None  # so that it is asked for again


def take_over(environ: MutableMapping[str, str], home: str) -> None:
    """Gives this process, and whatever it starts, surroundings that are always the same."""
    clean_environment(environ, home)
    time.tzset()
    locale.setlocale(locale.LC_ALL, "C.UTF-8")
    os.umask(0o022)
    hear_signals()
    sys.dont_write_bytecode = False  # tests are compiled in every worker of every run otherwise


def clean_environment(environ: MutableMapping[str, str], home: str) -> None:
    """Removes what the caller has set and a test could notice."""
    for name in list(environ):
        if name not in KEPT and not name.startswith(KEPT_PREFIXES):
            del environ[name]
    environ.update(GIVEN, HOME=home)


def hear_signals() -> None:
    """Lets what we start have every signal's default, though the caller ignores or blocks some.

    An ignored signal would be ignored by every process below us as well; one that is handled is
    not. This process itself goes on ignoring it, as the caller wished.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals():
        if number not in OF_PYTHON and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, ignored)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def ignored(number: int, frame: object) -> None:
    """Does nothing, and is not passed on to children."""
