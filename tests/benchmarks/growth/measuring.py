"""What grows, and what one go of work over it takes."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from math import log
from pathlib import Path
from typing import NamedTuple

SVC = str(Path(sys.executable).parent / "svc")
# Answers every POST with an object of its path at once, and every GET with an empty page.
SERVICE = """
import asyncio
class GrowthService(asyncio.Protocol):
    made = 10**15  # no object of the states that are made
    def connection_made(self, transport):
        self.transport, self.data = transport, b""
    def data_received(self, data):
        self.data += data
        while True:
            head, mark, rest = self.data.partition(b"\\r\\n\\r\\n")
            low = head.lower()
            at = low.find(b"content-length:")
            length = int(low[at + 15:].split(b"\\r\\n", 1)[0]) if at >= 0 else 0
            if not mark or len(rest) < length:
                return
            self.data = rest[length:]
            GrowthService.made += 1
            body = b'{"id":"ord_%024d","object":"order","status":"requires_payment",' % GrowthService.made
            body += b'"currency":"EUR","livemode":false}'
            if head.startswith(b"GET"):
                body = b'{"object":"list","data":[],"has_more":false}'
            reply = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\n"
            reply += b"Content-Length: %d\\r\\nRequest-Id: req_1\\r\\n\\r\\n" % len(body)
            self.transport.write(reply + body)
async def main():
    server = await asyncio.get_running_loop().create_server(GrowthService, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


class Spent(NamedTuple):
    """What one go took: seconds, of the processor where `is_wall` of the work is false; MB."""

    seconds: float
    megabytes: float


class Work(NamedTuple):
    """One kind of work over a state.

    Attributes:
        target: what it should take, in the words that are printed beside it.
        go: does it once.
        rounds: how often; the median counts.
    """

    name: str
    target: str
    go: Callable[[], Spent]
    rounds: int = 7


# Makes a state of so many things in a folder, by the store's own code, and gives the work over it.
State = Callable[[Path, int], AbstractContextManager[Sequence[Work]]]


def exponent(small: float, large: float, sizes: tuple[int, int]) -> float:
    """How fast something grows between two sizes: 0 not at all, 1 as they do, 2 as their square."""
    return log(large / small) / log(sizes[1] / sizes[0])


# A process is said to have taken at least what its parent had, so a small one starts it.
LAUNCHER = """
import os, sys, time
begun = time.perf_counter()
silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=silent)
_, status, used = os.wait4(pid, 0)
wall = time.perf_counter() - begun
print(os.waitstatus_to_exitcode(status), wall, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def run_command(
    argv: Sequence[str], env: Mapping[str, str], *, expect: int = 0, is_wall: bool = False
) -> Spent:
    """Runs a whole process; gives its processor time, or the time on the wall, and its memory."""
    launch = [sys.executable, "-S", "-c", LAUNCHER, *argv]
    done = subprocess.run(launch, env=env, capture_output=True, text=True, check=True)
    code, wall, used, kilobytes = map(float, done.stdout.split())
    if code != expect:
        sys.exit(f"{argv}: {code}: {done.stderr[-500:]}")
    return Spent(wall if is_wall else used, kilobytes / 1024)


@contextmanager
def service(source: str = SERVICE, *args: str) -> Iterator[int]:
    """A fast service in a process of its own; gives its port."""
    process = subprocess.Popen(
        [sys.executable, "-c", source, *args], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


def environment(folder: Path, port: int) -> dict[str, str]:
    """The variables of a command that keeps its state in a folder and asks a local service."""
    return {
        **os.environ,
        "SVC_API_KEY": "sk_test_sandbox",
        "SVC_BASE_URL": f"http://127.0.0.1:{port}",
        "SVC_STATE_DIR": str(folder / "state"),
        "SVC_CONFIG_DIR": str(folder / "config"),
        "PYTHONDONTWRITEBYTECODE": "",
    }
