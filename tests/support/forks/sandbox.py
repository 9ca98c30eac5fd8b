"""A sandbox in the background as a fork of whoever starts it, who has it loaded already.

An interpreter and the sandbox's imports are three quarters of what a start costs. Everything else
is as `svc.system.processes` does it: a session of its own, no input, one pipe for what it says, and
an end that nobody waits for. `launch.start` in a test is a start of an interpreter still, but for
those who ask for `quick_sandboxes`.
"""

import gc
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Final
from unittest.mock import patch

from support.forks.program import Forked, Forking
from svc.system import processes
from svc.system.processes import Apart

SANDBOX: Final = ("-P", "-m", "svc.sandbox")
MODULE: Final = "svc.sandbox.__main__"
_start_apart: Final = processes.start_apart


def load() -> None:
    """Imports what a sandbox needs, and has every sandbox that this process starts be a fork."""
    import_module(MODULE)
    processes.start_apart = start_apart


def main() -> None:
    """Runs `python -m svc.sandbox` as an entry of the fork server."""
    os.setsid()
    code = import_module(MODULE).main(sys.argv[1])
    sys.stdout.flush()
    os._exit(code)


@contextmanager
def forked_by(forking: Forking) -> Iterator[list[Forked]]:
    """Has the sandboxes that this process itself starts be forks of the loaded program.

    They stay after the block; whoever has the list ends them.
    """
    started: list[Forked] = []

    def ask(argv: Sequence[str], env: Mapping[str, str]) -> Apart:
        if tuple(argv[1:4]) != SANDBOX or not forking.can_run(env):
            return _start_apart(argv, env)
        ours, theirs = os.pipe()
        try:
            started.append(forking.start(argv[4:], env, theirs, theirs, entry=__name__))
        finally:
            os.close(theirs)
        return Apart(started[-1].pid, ours, started[-1].kill)

    with patch.object(processes, "start_apart", ask):
        yield started


def start_apart(argv: Sequence[str], env: Mapping[str, str]) -> Apart:
    """Starts a sandbox as a fork, any other program as the original does."""
    if tuple(argv[1:4]) != SANDBOX:
        return _start_apart(argv, env)
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(argv, env, theirs)
    os.close(theirs)
    return Apart(pid, ours, lambda: processes._end(pid))


def _become(argv: Sequence[str], env: Mapping[str, str], out: int) -> None:
    """Turns a fork into `python -m svc.sandbox`; does not return."""
    code = 1
    try:
        os.setsid()
        as_after_exec((None, out, out))
        os.environ.clear()
        os.environ.update(env)
        sys.argv = [str(import_module(MODULE).__file__), *argv[4:]]
        code = import_module(MODULE).main(argv[4])
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001  as the interpreter would have it
        sys.excepthook(*sys.exc_info())
    os._exit(code)


def as_after_exec(streams: tuple[int | None, int, int], kept: int = 0) -> None:
    """Leaves nothing of the caller's: his files are closed, his handlers gone, his objects kept.

    What he had open stays taken, as nothing: an object of his that goes later closes its number.
    Streams are input, output and errors, the input None for nothing; `kept` stays open beside them.
    """
    gc.freeze()
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    null = os.open(os.devnull, os.O_RDWR)
    for stream, source in reversed([*enumerate(streams)]):
        os.dup2(null if source is None else source, stream)
    for fd in [int(path.name) for path in Path("/proc/self/fd").iterdir()]:
        if fd > 2 and fd not in (null, kept):
            os.dup2(null, fd, inheritable=False)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115  as they are
        for number, mode in ((0, "r"), (1, "w"), (2, "w"))
    )
