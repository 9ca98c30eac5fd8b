"""The program, loaded once and forked for each run: `fork_server.py SOCKET_FD`.

A fork is a process: its own id, signals, environment, files, locks, and an end by `os._exit`. Only
the interpreter's start and the imports are not repeated, nine tenths of a short command's time, and
what an interpreter does with each function the first time, half of the rest.
Each request brings four descriptors: stdin, stdout, stderr, and one for the id and the exit code.
"""

import fcntl
import gc
import json
import os
import selectors
import signal
import socket
import sys
import termios
import threading
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory
from typing import Any, Final

import svc

MOST: Final = 1 << 20
# What commands load when they need it; loaded here, it is there for all of them.
OFTEN: Final = (
    *("ssl", "sqlite3", "asyncio", "email", "h11", "jmespath", "rich.console", "tomllib"),
    *("tomlkit", "csv", "httpx", "keyring.backend", "platformdirs", "concurrent.futures"),
    *("nats", "nats.js", "nats.nkeys"),
)
STARTING: Final = ("sandbox", "start", "--detach", "--port", "0", "--db", ":memory:")
WARMING: Final = (
    "orders create --amount 100 --currency EUR --country DE --item name=a,quantity=1,unit_amount=100",
    "orders list",
    "orders list -o human",
    "orders retrieve ord_none",
    "payments list --all -o ndjson",
    "requests list",
    "sandbox requests",
    "sandbox trigger order.paid",
    "config get",
    "help money",
    "orders --help",
    "events listen --timeout 0.05",
)


def load() -> None:
    """Imports every command and what they use."""
    own = (found.name for found in walk_packages(svc.__path__, "svc."))
    for name in (*OFTEN, *own):
        with suppress(ImportError):  # of another system, or of an extra that is not here
            import_module(name)
    import_module("support.forks.sandbox").load()
    import_module("support.suite.schemas").copy_schemas()


def warm_up() -> None:
    """Runs what most tests run, against a sandbox of its own; all that is left of it is memory."""
    from support.running import inside

    with TemporaryDirectory() as home:
        env = {f"SVC_{name}_DIR": f"{home}/{name}" for name in ("CONFIG", "STATE", "CACHE")}
        env |= {"HOME": home, "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
        started = inside(*STARTING, env=env)
        env |= {"SVC_BASE_URL": json.loads(started.out)["url"], "SVC_API_KEY": "sk_test_sandbox"}
        for line in WARMING:
            inside(*line.split(), env=env)
        inside("sandbox", "stop", env=env)
        os.wait()
    assert threading.active_count() == 1  # a fork would have what it holds, and not the thread


class ForkServer:
    """Forks for each request and tells the exit code of each fork."""

    def __init__(self, requests: socket.socket) -> None:
        self.requests = requests
        self.telling: dict[int, int] = {}  # by process id, where its exit code is awaited
        self.woken, waking = os.pipe()
        os.set_blocking(self.woken, False)
        os.set_blocking(waking, False)
        signal.set_wakeup_fd(waking)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Until nobody asks any more; what still runs then is ended."""
        with selectors.DefaultSelector() as ready:
            ready.register(self.requests, selectors.EVENT_READ)
            ready.register(self.woken, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    if key.fd == self.woken:
                        os.read(self.woken, 4096)
                        self.reap()
                    elif not self.take():
                        for pid in self.telling:
                            os.kill(pid, signal.SIGKILL)
                        return

    def take(self) -> bool:
        data, fds, _, _ = socket.recv_fds(self.requests, MOST, 4)
        if not data:
            return False
        pid = os.fork()
        if pid == 0:
            become(json.loads(data), fds)
        *streams, telling = fds
        for fd in streams:
            os.close(fd)
        self.telling[pid] = telling
        self.tell(pid, f"{pid}\n")
        return True

    def tell(self, pid: int, what: str) -> None:
        with suppress(BrokenPipeError):  # it took too long, and nobody waits any more
            os.write(self.telling[pid], what.encode())

    def reap(self) -> None:
        for pid in list(self.telling):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self.tell(pid, f"{os.waitstatus_to_exitcode(status)}\n")
                os.close(self.telling.pop(pid))


def become(request: dict[str, Any], fds: list[int]) -> None:
    """Turns a fork into a run of the program, as `python -m svc` would be; does not return."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, fd in enumerate(fds[:3]):
        os.dup2(fd, number)
    os.closerange(3, 1 << 16)
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    see_terminals()
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    os.chdir(request["cwd"])
    os.umask(request["umask"])
    found = os.environ.get("PYTHONPATH")
    sys.path[1:1] = found.split(os.pathsep) if found else []
    try:
        main = import_module(request["entry"])
        sys.argv = [str(main.__file__), *request["argv"]]
        main.main()
    except BaseException:  # noqa: BLE001  as the interpreter would have it
        sys.excepthook(*sys.exc_info())
    os._exit(1)


def see_terminals() -> None:
    """Has streams that are terminals write line by line; those that are here were pipes."""
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if os.isatty(number):
            errors = "backslashreplace" if name == "stderr" else None
            setattr(sys, name, open(number, mode, encoding="utf-8", errors=errors, closefd=False))  # noqa: SIM115


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path[0] = str(Path(__file__).parents[2])  # entries of tests lie below it
    load()
    warm_up()
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as asked:
        with suppress(BrokenPipeError):  # nobody asks: the tests could not be collected
            asked.send(b"loaded")
        ForkServer(asked).serve()
