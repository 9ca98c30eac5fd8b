"""Takes from this Python what one on Windows lacks, before the program starts.

A stand-in: it shows that nothing here is needed, not that Windows works. Python reads this file
at its start, and so do the processes that the program starts, when its folder is in PYTHONPATH.
"""

# What the standard library needs itself, it gets before it is gone.
import asyncio.unix_events
import ctypes
import errno
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

MODULES = ("fcntl", "grp", "pty", "pwd", "readline", "resource", "termios", "tty")
OF_OS = """
    O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK chown fchmod fchown fork forkpty getegid geteuid
    getgid getpgid getuid killpg mkfifo posix_spawn posix_spawnp register_at_fork setsid
"""
OF_SIGNAL = "SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGQUIT SIGUSR1 SIGUSR2 pthread_kill"
KILL = 9

byte_range_locks = import_module("byte_range_locks")
job_objects = import_module("job_objects")
real_kill, real_open, real_unlink, real_replace = os.kill, os.open, os.unlink, os.replace


def kill(pid: int, number: int) -> None:
    """On Windows 0 and 1 are Ctrl-C and Ctrl-Break, and any other number is the end."""
    if number in {0, 1}:
        raise RuntimeError(f"os.kill(pid, {number}) is a key on Windows")
    real_kill(pid, KILL)


def open_file(path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
    """On Windows a folder cannot be opened."""
    if Path(path).is_dir():
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return real_open(path, flags, mode, **more)


def unlink(path: Any, **more: Any) -> None:
    """On Windows an open file cannot be removed."""
    refuse_open(path)
    real_unlink(path, **more)


def replace(old: Any, new: Any, **more: Any) -> None:
    """On Windows an open file can be neither moved nor replaced."""
    refuse_open(old)
    refuse_open(new)
    real_replace(old, new, **more)


def refuse_open(path: Any) -> None:
    try:
        facts = os.lstat(path)
    except OSError:
        return
    for link in Path("/proc/self/fd").iterdir():
        try:
            is_it = os.path.samestat(os.fstat(int(link.name)), facts)
        except OSError:
            continue
        if is_it:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def terminate(process: Any) -> None:
    process.send_signal(signal.SIGTERM)


for module in MODULES:
    sys.modules[module] = None  # type: ignore[assignment]
for name in OF_OS.split():
    delattr(os, name)
for name in OF_SIGNAL.split():
    delattr(signal, name)
vars(subprocess)["_USE_POSIX_SPAWN"] = False  # Python 3.13 has chosen it already
loop: Any = asyncio.unix_events._UnixSelectorEventLoop
del loop.add_signal_handler, loop.remove_signal_handler
subprocess.Popen.kill = terminate  # type: ignore[method-assign, assignment]
os.kill, os.open, os.unlink, os.remove = kill, open_file, unlink, unlink
os.replace = os.rename = replace  # type: ignore[assignment]
sys.modules["msvcrt"] = byte_range_locks
vars(ctypes)["WinDLL"] = job_objects.Kernel32
