"""5,000 creates against a server that answers in 20 ms, 32 at once; whole processes in pairs.

    python tests/benchmarks/bench_batch.py [RUNS] [ROWS]

The floor is a client of raw sockets that keeps nothing. A peer is named by the environment:
AIOHTTP=/path/to/a/python that has aiohttp. What is missing is said. Nothing is installed.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.command import parser

AT_ONCE = 32
SECONDS = 0.02
HEAD = (
    "amount,currency,shipping[country],shipping[postal_code],items[0][name],items[0][hs_code],"
    "items[0][quantity],items[0][unit_amount],metadata[ref]"
)
SERVER = f"""
import asyncio
class OrderService(asyncio.Protocol):
    made = 0
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
            OrderService.made += 1
            body = b'{{"id":"ord_%024d","object":"order","status":"requires_payment",' % OrderService.made
            body += b'"currency":"EUR","livemode":false}}'
            reply = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\n"
            reply += b"Content-Length: %d\\r\\nRequest-Id: req_1\\r\\n\\r\\n" % len(body)
            loop = asyncio.get_running_loop()
            loop.call_later({SECONDS}, self.transport.write, reply + body)
async def main():
    server = await asyncio.get_running_loop().create_server(OrderService, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""
RAW = """
import asyncio, sys
port, rows, at_once = map(int, sys.argv[1:4])
body = b'{"amount":12900,"currency":"EUR","metadata":{"ref":"A-1"},"pad":"' + b"x" * 150 + b'"}'
request = b"POST /v1/orders HTTP/1.1\\r\\nHost: x\\r\\nContent-Type: application/json\\r\\n"
request += b"Authorization: Bearer sk_test_sandbox\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
class RawConnection(asyncio.Protocol):
    left, got = rows, 0
    def connection_made(self, transport):
        self.transport = transport
        self.send()
    def send(self):
        if RawConnection.left:
            RawConnection.left -= 1
            self.transport.write(request + body)
    def data_received(self, data):
        RawConnection.got += 1
        if RawConnection.got == rows:
            done.set_result(None)
        self.send()
async def main():
    global done
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    for _ in range(at_once):
        await loop.create_connection(RawConnection, "127.0.0.1", port)
    await done
asyncio.run(main())
"""
AIOHTTP = """
import asyncio, sys, aiohttp
port, rows, at_once = map(int, sys.argv[1:4])
order = {"amount": 12900, "currency": "EUR", "metadata": {"ref": "A-1"}, "pad": "x" * 150}
async def work(session, jobs):
    for _ in jobs:
        async with session.post(f"http://127.0.0.1:{port}/v1/orders", json=order) as reply:
            await reply.json()
async def main():
    jobs = iter(range(rows))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=at_once)) as session:
        await asyncio.gather(*(work(session, jobs) for _ in range(at_once)))
asyncio.run(main())
"""


@contextmanager
def server() -> Iterator[int]:
    """The service, in a process of its own."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


def timed(command: Sequence[str], env: dict[str, str]) -> float:
    """Seconds of one whole process."""
    started = time.perf_counter()
    done = subprocess.run(command, env=env, capture_output=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    return seconds


def rows_file(folder: Path, rows: int) -> Path:
    """The list: as many orders, each a little different."""
    lines = (f"{12900 + n},EUR,DE,10115,Linen jacket,6203.39,1,12900,A-{n}" for n in range(rows))
    path = folder / "orders.csv"
    path.write_text("\n".join([HEAD, *lines]) + "\n")
    return path


def commands(port: int, path: Path, rows: int) -> dict[str, Sequence[str]]:
    """What is run over the list."""
    svc = str(Path(sys.executable).parent / "svc")
    figures = [str(port), str(rows), str(AT_ONCE)]
    found: dict[str, Sequence[str]] = {
        "svc": [svc, "batch", "orders.create", str(path), "--concurrency", str(AT_ONCE)],
        "raw": [sys.executable, "-c", RAW, *figures],
    }
    if os.environ.get("AIOHTTP"):
        found["aiohttp"] = [os.environ["AIOHTTP"], "-c", AIOHTTP, *figures]
    else:
        print("AIOHTTP is not set: no ratio against it")
    return found


def main() -> None:
    """Prints rates, and ours against each other one."""
    given = parser(__doc__)
    given.add_argument("runs", nargs="?", type=int, default=5)
    given.add_argument("rows", nargs="?", type=int, default=5000)
    asked = given.parse_args()
    runs, rows = asked.runs, asked.rows
    peak = 0.0
    with server() as port, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        to_run = commands(port, rows_file(folder, rows), rows)
        found: dict[str, list[float]] = {each: [] for each in to_run}
        for run in range(runs):
            # A list that was run is skipped: each run is another machine's first.
            env = {
                **os.environ,
                "SVC_API_KEY": "sk_test_sandbox",
                "SVC_BASE_URL": f"http://127.0.0.1:{port}",
                "SVC_STATE_DIR": str(folder / f"state-{run}"),
                "SVC_CONFIG_DIR": str(folder / "config"),
                "PYTHONDONTWRITEBYTECODE": "",  # the first run compiles, as an installation has done
            }
            for each, command in to_run.items():
                found[each].append(timed(command, env))
                if not peak:  # of our own first run
                    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{rows} creates, {AT_ONCE} at once, {SECONDS * 1000:.0f} ms each, journal on")
    for each, seconds in found.items():
        ratio = statistics.median(b / a for a, b in zip(found["svc"], seconds, strict=True))
        against = "" if each == "svc" else f"   svc / {each} = {ratio:.2f}"
        print(f"  {each:8} {rows / statistics.median(seconds):7.0f} /s{against}")
    print(f"  svc's largest memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
