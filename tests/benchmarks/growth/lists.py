"""A service that has so many objects: what `list --all` takes, as NDJSON and as CSV."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.growth.measuring import SVC, State, Work, environment, run_command, service

# Makes each page when it is asked for, so that it holds none of them.
PAGES = """
import asyncio, sys
count = int(sys.argv[1])
ORDER = (
    '{"id":"ord_%024d","object":"order","amount":%d,"amount_total":%d,"currency":"EUR",'
    '"status":"paid","created":"2026-10-01T09:00:00Z","livemode":false,'
    '"shipping":{"country":"DE","postal_code":"10115"},"items":[{"name":"Linen jacket",'
    '"hs_code":"6203.39","quantity":1,"unit_amount":12900}],"metadata":{"ref":"A-%d"}}'
)
class ListService(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.data = transport, b""
    def data_received(self, data):
        self.data += data
        while True:
            asked, mark, rest = self.data.partition(b"\\r\\n\\r\\n")
            if not mark:
                return
            self.data = rest
            at = asked.find(b"starting_after=ord_") + 19
            begin = int(asked[at:at + 24]) + 1 if at > 18 else 0
            end = min(begin + 100, count)
            entries = ",".join(ORDER % (n, n, n, n) for n in range(begin, end))
            more = "true" if end < count else "false"
            body = '{"object":"list","data":[%s],"has_more":%s}' % (entries, more)
            reply = "HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: "
            self.transport.write(f"{reply}{len(body)}\\r\\n\\r\\n{body}".encode())
async def main():
    server = await asyncio.get_running_loop().create_server(ListService, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@contextmanager
def lists(folder: Path, size: int) -> Iterator[Sequence[Work]]:
    """What P17 asks for."""
    with service(PAGES, str(size)) as port:
        env = environment(folder, port)
        command = [SVC, "orders", "list", "--all", "-o"]
        yield [
            Work(
                f"list --all -o {form}",
                "linear, 30 MB",
                partial(run_command, [*command, form], env),
                1,
            )
            for form in ("ndjson", "csv")
        ]


STATES: dict[str, State] = {"lists": lists}
