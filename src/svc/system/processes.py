"""What svc needs to start and end other processes: command lines, arguments of `Popen`, and groups.

The callers start their processes themselves: `--exec` and `--run` of `svc events listen`, tunnels,
`svc quickstart`; a `Group` signals one and all that it has started. Only a detached sandbox is
started here (`start_apart`). `keys.command` uses `find_program` alone.
"""

import errno
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from svc.errors import LocalError
from svc.system.signals import KILL

if TYPE_CHECKING:
    from svc.system.jobs import JobObject

_POSIX: Final[Any] = os  # with what is not on every system
_HAS_GROUPS: Final = hasattr(os, "killpg")
_HAS_EXEC: Final = hasattr(os, "fork")  # what Windows calls exec ends us and starts a stranger
_PDEATHSIG: Final = Path(__file__).with_name("pdeathsig.py")
_NOBODY: Final = (errno.ESRCH, errno.EINVAL)  # the second is how Windows says it


def split_command(text: str) -> list[str]:
    """Splits a command line as a POSIX shell does; raises ValueError. Windows keeps backslashes."""
    import shlex

    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if sys.platform == "win32":
        lexer.escape = ""
    return list(lexer)


def find_program(name: str, env: Mapping[str, str]) -> str | None:
    """Finds a program on PATH, but never in the working directory (R43); None if there is none."""
    import shutil

    found = shutil.which(name, path=env.get("PATH", ""))
    return found if found is not None and Path(found).is_absolute() else None


def build_group_options() -> dict[str, Any]:
    """The arguments of `Popen` for a process that a Ctrl-C in svc's terminal does not reach."""
    if _HAS_GROUPS:
        return {"start_new_session": True}
    import subprocess

    return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}


def build_own_command(module: str, env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """The command line and environment that run a module of this same installation of svc.

    If svc runs from a zip archive (zipapp, shiv, pex), the environment has its import path.

    Raises:
        LocalError: svc is a single executable with its own Python, which cannot run a module.
    """
    if getattr(sys, "frozen", False):
        raise LocalError(
            "This build of svc is one file, which cannot start a sandbox or a quickstart.",
            code="no_sandbox_in_this_build",
            hint="Install it as a package: pipx install svc-cli",
        )
    # -P: a folder named svc in the working directory must not run instead of this one (R43).
    argv = [sys.executable, "-P", "-m", module]
    from zipfile import is_zipfile  # 4 ms, and few start others

    if not is_zipfile(sys.argv[0]):
        return argv, dict(env)
    return argv, {**env, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def wrap_to_die_with_us(argv: Sequence[str]) -> list[str]:
    """The command line for a child process that is killed when svc ends, even by kill -9.

    `argv` begins with an absolute path. On Linux the main thread must start the process; on Windows
    `job_of` does the same; elsewhere the child only ends when svc ends normally.
    """
    if not _HAS_EXEC or not _PDEATHSIG.is_file():  # in a zip archive it is none
        return [*argv]
    return [sys.executable, "-I", "-S", str(_PDEATHSIG), str(os.getpid()), *argv]


def job_of(pid: int) -> "JobObject | None":
    """Ties a child process to the end of svc on Windows by a job object; None elsewhere."""
    if _HAS_GROUPS:
        return None
    import ctypes

    from svc.system.jobs import JobObject

    windows: Any = ctypes
    return JobObject(pid, windows.WinDLL("kernel32"))


@dataclass(frozen=True, slots=True)
class Group:
    """A process group: its leader, which svc has started, and the leader's descendants.

    Attributes:
        leader: the process id of the leader. Until svc has reaped it, the system does not reuse it.
        leader_ended: whether the leader has ended.
        job: the job object of the group on Windows, which does not list its processes.
    """

    leader: int
    leader_ended: Callable[[], bool]
    job: "JobObject | None" = None

    def lives(self) -> bool:
        """Whether a process of the group is alive; on Windows whether the leader is."""
        # Never by `os.kill(pid, 0)`: on Windows 0 is Ctrl-C.
        return self._send(0) if _HAS_GROUPS else not self.leader_ended()

    def ask(self, number: int) -> None:
        """Sends a signal to the group, on Windows Ctrl-Break."""
        self._send(number if _HAS_GROUPS else getattr(signal, "CTRL_BREAK_EVENT", number))

    def kill(self) -> None:
        """Kills every process of the group."""
        self._send(KILL) if self.job is None else self.job.kill()

    def _send(self, number: int) -> bool:
        try:
            if _HAS_GROUPS:
                _POSIX.killpg(self.leader, number)
            elif not self.leader_ended():
                os.kill(self.leader, number)
        except OSError:  # no such process, or another user's
            return False
        return True


def send_signal(pid: int, number: int) -> bool:
    """Sends a signal to a process, on Windows ends it; False if there is no such process.

    Raises:
        PermissionError: the process belongs to another user.
    """
    try:
        os.kill(pid, number)
    except OSError as error:
        if error.errno not in _NOBODY:
            raise
        return False
    return True


@dataclass(frozen=True, slots=True)
class Apart:
    """A detached process, which may outlive svc.

    Attributes:
        pid: the process id.
        pipe: the descriptor from which its output is read; the caller closes it.
        kill: ends the process by force.
    """

    pid: int
    pipe: int
    kill: Callable[[], None]


def start_apart(argv: Sequence[str], env: Mapping[str, str]) -> Apart:
    """Starts a program without input, with stdout and stderr as one pipe; raises OSError."""
    return _spawn(argv, env) if hasattr(os, "posix_spawn") else _open_process(argv, env)


def _spawn(argv: Sequence[str], env: Mapping[str, str]) -> Apart:
    ours, theirs = os.pipe()
    try:
        pid = _POSIX.posix_spawn(
            argv[0],
            list(argv),
            env,
            setsid=True,
            file_actions=[
                (_POSIX.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (_POSIX.POSIX_SPAWN_DUP2, theirs, 1),
                (_POSIX.POSIX_SPAWN_DUP2, theirs, 2),
            ],
        )
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    return Apart(pid, ours, lambda: _end(pid))


def _end(pid: int) -> None:
    """Kills and reaps a child process, which may have ended already."""
    with suppress(ProcessLookupError):
        os.kill(pid, KILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


def _open_process(argv: Sequence[str], env: Mapping[str, str]) -> Apart:
    import subprocess

    process = subprocess.Popen(  # noqa: S603  our caller's own program
        argv,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        # A hidden console of its own: the end of ours does not reach it.
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        | getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    assert process.stdout is not None
    with process.stdout as stream:
        pipe = os.dup(stream.fileno())

    def kill() -> None:
        with suppress(OSError):
            process.kill()
        process.wait()

    return Apart(process.pid, pipe, kill)


_READY: Final = b"READY=1"


def notify_systemd(env: Mapping[str, str]) -> None:
    """Notifies systemd: writes READY to the socket that NOTIFY_SOCKET names, if it listens.

    A name that begins with `@` is in Linux's abstract namespace, without a file.
    """
    address = env.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")) or not hasattr(socket, "AF_UNIX"):
        return
    if address.startswith("@"):
        address = f"\0{address[1:]}"
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notice:
        notice.sendto(_READY, address)
