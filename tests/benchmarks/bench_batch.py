"""5,000 creates against a server that answers in 20 ms, 32 at once; whole processes in pairs.

    python tests/benchmarks/bench_batch.py [RUNS] [ROWS]

The floor is a client of raw sockets that keeps nothing. A peer is named by the environment:
AIOHTTP=/path/to/a/python that has aiohttp. What is missing is said. Nothing is installed.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.command import parser
from benchmarks.growth.measuring import SVC, environment, service

AT_ONCE = 32
SECONDS = 0.02
HEAD = (
    "amount,currency,shipping[country],shipping[postal_code],items[0][name],items[0][hs_code],"
    "items[0][quantity],items[0][unit_amount],metadata[ref]"
)
SERVER = f"""
import asyncio
MISSING = b'{{"error":{{"type":"not_found_error","code":"resource_missing","message":"No such order."}}}}'
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
            number, status = OrderService.made + 1, b"200 OK"
            if low.startswith(b"get "):
                name = head.split(b" ", 2)[1].rpartition(b"/ord_")[2]
                number = int(name) if name.isdigit() else 0
            else:
                OrderService.made = number
            body = b'{{"id":"ord_%024d","object":"order","status":"requires_payment",' % number
            body += b'"currency":"EUR","livemode":false}}'
            if not 0 < number <= OrderService.made:
                status, body = b"404 Not Found", MISSING
            reply = b"HTTP/1.1 " + status + b"\\r\\nContent-Type: application/json\\r\\n"
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


class Took(NamedTuple):
    """What one whole process took: seconds on the wall, of the processor, and megabytes."""

    wall: float
    processor: float
    megabytes: float


def timed(command: Sequence[str], env: dict[str, str], folder: Path) -> Took:
    """Runs one whole process; its memory counts from its own start."""
    with (folder / "told").open("w+") as told:
        started = time.perf_counter()
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=told)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        code = process.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        if code:
            sys.exit(f"{command[0]} ended with {code}: {told.read()[-500:]}")
    return Took(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def rows_file(folder: Path, rows: int) -> Path:
    """The list: as many orders, each a little different."""
    lines = (f"{12900 + n},EUR,DE,10115,Linen jacket,6203.39,1,12900,A-{n}" for n in range(rows))
    path = folder / "orders.csv"
    path.write_text("\n".join([HEAD, *lines]) + "\n")
    return path


def commands(port: int, path: Path, rows: int, run: int) -> dict[str, Sequence[str]]:
    """What is run over the list; each run has results of its own, so that it knows of no other."""
    figures = [str(port), str(rows), str(AT_ONCE)]
    results = str(path.with_name(f"results-{run}.ndjson"))
    options = ["--concurrency", str(AT_ONCE), "--results", results]
    found: dict[str, Sequence[str]] = {
        "svc": [SVC, "batch", "orders.create", str(path), *options],
        "raw": [sys.executable, "-c", RAW, *figures],
    }
    if os.environ.get("AIOHTTP"):
        found["aiohttp"] = [os.environ["AIOHTTP"], "-c", AIOHTTP, *figures]
    return found


def main() -> None:
    """Prints rates, and ours against each other one."""
    given = parser(__doc__)
    given.add_argument("runs", nargs="?", type=int, default=5)
    given.add_argument("rows", nargs="?", type=int, default=5000)
    asked = given.parse_args()
    runs, rows = asked.runs, asked.rows
    found: dict[str, list[Took]] = {}
    with service(SERVER) as port, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = rows_file(folder, rows)
        for run in range(runs):
            # A list that was run is skipped: each run is another machine's first.
            env = environment(folder, port) | {"SVC_STATE_DIR": str(folder / f"state-{run}")}
            for each, command in commands(port, path, rows, run).items():
                found.setdefault(each, []).append(timed(command, env, folder))
    print(f"{rows} creates, {AT_ONCE} at once, {SECONDS * 1000:.0f} ms each, journal on")
    if "aiohttp" not in found:
        print("AIOHTTP is not set: no ratio against it")
    for each, took in found.items():
        show(each, took, found["svc"], rows)


def show(name: str, took: Sequence[Took], ours: Sequence[Took], rows: int) -> None:
    """Prints one line: rates on the wall, and what a row takes of the processor.

    Beside other work the wall says little. What a row takes of the processor says how many a second
    one core can do: as long as that is more than the service answers, the rate is the service's.
    """
    wall = statistics.median(one.wall for one in took)
    processor = statistics.median(one.processor for one in took)
    most = max(one.megabytes for one in took)
    ratio = statistics.median(b.wall / a.wall for a, b in zip(ours, took, strict=True))
    against = "" if took is ours else f"   svc / {name} = {ratio:.2f}"
    each = f"{processor / rows * 1e6:5.0f} us of the processor a row, {most:3.0f} MB"
    print(f"  {name:8} {rows / wall:7.0f} /s, {each}{against}")
    served = AT_ONCE / SECONDS
    print(
        f"           one core does {rows / processor / served:.2f} of the {served:.0f} /s answered"
    )


if __name__ == "__main__":
    main()
