"""`orders list --all -o ndjson` over 10,000 objects; whole processes in pairs.

    python tests/benchmarks/bench_pages.py [RUNS] [OBJECTS] [MORE OBJECTS]

With a second number it tells how time and memory grow. The floor is a client of raw sockets that copies pages without reading them. A peer is named by the
environment: AWS=/path/to/aws, which lists as many functions, which have as many fields as orders. What is
missing is said. Nothing is installed.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.command import parser
from benchmarks.growth.measuring import SVC, service
from support.servers.pages import order

PAGE = 100
SERVER = """
import asyncio, json, sys
pages = {key.encode(): page.encode() for key, page in json.load(open(sys.argv[1])).items()}
class PageService(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.data = transport, b""
    def data_received(self, data):
        self.data += data
        while True:
            asked, mark, rest = self.data.partition(b"\\r\\n\\r\\n")
            if not mark:
                return
            self.data = rest
            at = max(asked.find(b"_after=") + 7, asked.find(b"Marker=") + 7)
            key = asked[at:at + 28] if at > 6 else b""
            page = pages[(b"aws:" if b"/functions" in asked else b"svc:") + key]
            reply = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: "
            self.transport.write(reply + b"%d\\r\\n\\r\\n" % len(page) + page)
async def main():
    server = await asyncio.get_running_loop().create_server(PageService, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""
RAW = """
import socket, sys
port, sock, after = int(sys.argv[1]), None, b""
sock = socket.create_connection(("127.0.0.1", port))
while True:
    sock.sendall(b"GET /v1/orders?limit=100" + after + b" HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
    data = b""
    while b"\\r\\n\\r\\n" not in data:
        data += sock.recv(65536)
    head, _, body = data.partition(b"\\r\\n\\r\\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\\r\\n", 1)[0])
    parts, got = [body], len(body)
    while got < length:
        parts.append(sock.recv(262144))
        got += len(parts[-1])
    page = b"".join(parts)
    entries = page[page.index(b"[") + 1 : page.rindex(b"]")].split(b'},{"id":')
    sys.stdout.buffer.write(b'}\\n{"id":'.join(entries) + b"\\n")
    if page.endswith(b"false}"):
        break
    after = b"&starting_after=" + entries[-1].split(b'"')[1]
"""


def pages(count: int) -> dict[str, str]:
    """Every answer of the service, and of the peer's, by what it is asked for."""
    found: dict[str, str] = {}
    for start in range(0, count, PAGE):
        numbers = range(start, min(start + PAGE, count))
        cursor = "" if start == 0 else order(start - 1)["id"]
        last = numbers[-1] + 1 >= count
        entries = ",".join(json.dumps(order(n), separators=(",", ":")) for n in numbers)
        more = "false" if last else "true"
        found[f"svc:{cursor}"] = f'{{"object":"list","data":[{entries}],"has_more":{more}}}'
        functions = [function(n) for n in numbers]
        marker = {} if last else {"NextMarker": order(numbers[-1])["id"]}
        found[f"aws:{cursor}"] = json.dumps({"Functions": functions, **marker})
    return found


def function(number: int) -> dict[str, object]:
    """A Lambda function with as many fields, as deep and as long as an order."""
    return {
        "FunctionName": f"ord_{number:024d}",
        "FunctionArn": f"arn:aws:lambda:eu-west-1:123456789012:function:ord_{number:024d}",
        "Runtime": "python3.11",
        "Role": "arn:aws:iam::123456789012:role/orders",
        "Handler": "orders.handler",
        "CodeSize": 12900 + number,
        "Description": f"Linen jacket {number}",
        "Timeout": 3,
        "MemorySize": 128,
        "LastModified": "2026-10-01T09:00:00.000+0000",
        "CodeSha256": "4Hd1rbB5eXmtwjS4DBFEXnPxmYWNiBWxkZIYE2jY6tM=",
        "Version": "$LATEST",
        "VpcConfig": {"SubnetIds": ["subnet-1", "subnet-2"], "VpcId": "vpc-1"},
        "DeadLetterConfig": {"TargetArn": "arn:aws:sqs:eu-west-1:123456789012:orders"},
        "Environment": {"Variables": {"REF": f"A-{number}", "CURRENCY": "EUR", "COUNTRY": "DE"}},
        "TracingConfig": {"Mode": "PassThrough"},
        "RevisionId": "0f6b1a4c-8f4e-4f0d-9c0a-4e2f1e0c8a11",
        "Layers": [{"Arn": "arn:aws:lambda:eu-west-1:123456789012:layer:x:1", "CodeSize": 169}],
        "PackageType": "Zip",
        "Architectures": ["x86_64"],
        "EphemeralStorage": {"Size": 512},
        "LoggingConfig": {"LogFormat": "Text", "LogGroup": "/aws/lambda/orders"},
    }


@contextmanager
def server(count: int) -> Iterator[int]:
    """The service, in a process of its own."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        # Not here: a process is said to have taken at least what its parent had.
        subprocess.run([sys.executable, __file__, "--pages", file.name, str(count)], check=True)
        with service(SERVER, file.name) as port:
            yield port


class Timed(NamedTuple):
    """One whole process: milliseconds, and the most memory that it took, in MB."""

    milliseconds: float
    megabytes: float


def timed(command: Sequence[str], env: dict[str, str], check: str, count: int) -> Timed:
    """Runs a process, whose output must hold all objects."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(command, env=env, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = (time.perf_counter() - started) * 1000
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        found = sum(line.count(check.encode()) for line in out)
        err.seek(0)
        said = err.read().decode()[-500:]
    if process.returncode or found < count:
        sys.exit(f"{command[0]}: {process.returncode}, {found} objects: {said}")
    return Timed(elapsed, usage.ru_maxrss / 1024)


def commands(port: int) -> dict[str, tuple[Sequence[str], str]]:
    """What is run, and what stands in its output once an object."""
    found: dict[str, tuple[Sequence[str], str]] = {
        "svc": ([SVC, "orders", "list", "--all", "-o", "ndjson"], '"ord_'),
        "raw": ([sys.executable, "-c", RAW, str(port)], '"ord_'),
    }
    aws = os.environ.get("AWS")
    if aws:
        url = f"http://127.0.0.1:{port}"
        argv = [aws, "lambda", "list-functions", "--endpoint-url", url, "--output", "json"]
        found["aws"] = (argv, '"FunctionName"')
    return found


def measured(count: int, runs: int) -> float:
    """Prints medians of so many objects, ours against each other one; gives ours."""
    with server(count) as port:
        env = {
            **os.environ,
            "SVC_API_KEY": "sk_test_sandbox",
            "SVC_BASE_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
            "AWS_DEFAULT_REGION": "eu-west-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        times: dict[str, list[Timed]] = {name: [] for name in commands(port)}
        for run in range(runs + 1):
            for name, (command, check) in commands(port).items():
                found = timed(command, env, check, count)
                if run:  # the first is the warm-up
                    times[name].append(found)
    print(f"{count} objects")
    ours = [one.milliseconds for one in times["svc"]]
    for name, each in times.items():
        spent = [one.milliseconds for one in each]
        ratio = statistics.median(a / b for a, b in zip(ours, spent, strict=True))
        against = "" if name == "svc" else f"   svc / {name} = {ratio:.2f}"
        most = max(one.megabytes for one in each)
        print(f"  {name:6} {statistics.median(spent):7.0f} ms  {most:4.0f} MB{against}")
    return statistics.median(ours)


def main() -> None:
    """Measures each number of objects, and what more of them cost."""
    if sys.argv[1:2] == ["--pages"]:
        Path(sys.argv[2]).write_text(json.dumps(pages(int(sys.argv[3]))))
        return
    command = parser(__doc__)
    command.add_argument("runs", nargs="?", type=int, default=7)
    command.add_argument("objects", nargs="*", type=int, default=[10_000])
    asked = command.parse_args()
    runs, counts = asked.runs, asked.objects
    if not os.environ.get("AWS"):
        print("AWS is not set: no ratio against it")
    ours = [measured(count, runs) for count in counts]
    for count, spent in zip(counts[1:], ours[1:], strict=True):
        print(f"{count / counts[0]:g} x the objects take {spent / ours[0]:.1f} x the time")


if __name__ == "__main__":
    main()
