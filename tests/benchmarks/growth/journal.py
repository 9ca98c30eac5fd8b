"""A journal of so many requests: single commands and rows of batches, done, refused, one open."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from benchmarks.growth.measuring import SVC, Spent, State, Work, environment, run_command, service
from svc.base_url import BaseUrl
from svc.client.request import uuid_of
from svc.clock import SystemClock
from svc.delivery.journal.batches import BatchName, BatchTable
from svc.delivery.journal.entry import NewIntent, Scope, Settled, Stored
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.sender_locks import SenderLocks
from svc.state import Database

GROUP = 5_000
BATCHES = 10
DAY = 24 * 3600
FINGERPRINT = "sk_test_…dbox"
CREATE = "orders create --currency EUR --country DE --amount 500".split()
ITEM = ["--item", "name=Jacket,hs_code=6203.39,quantity=1,unit_amount=500"]
LIST = ("requests", "list")
OPERATION = ("--operation", "orders.create")
# What this command says once more, of a process that died.
UNRESOLVED = Stored(
    "/v1/orders",
    "json",
    b'{"amount":500,"currency":"EUR","items":[{"hs_code":"6203.39","name":"Jacket","quantity":1,'
    b'"unit_amount":500}],"metadata":{"n":"lost"},"shipping":{"country":"DE"}}',
    uuid_of(bytes(16), 4),
    None,
)


def fill(folder: Path, size: int, url: str) -> None:
    """Records and settles requests by the journal's own code; three of four are rows of batches."""
    scope = Scope("default", "test", url, FINGERPRINT)
    clock = SystemClock()
    names = [
        BatchName(f"/data/orders-{number}.csv", "orders.create", scope) for number in range(BATCHES)
    ]
    with (
        Database.open(folder / "state" / "state.db", clock=clock) as state,
        closing(SenderLocks(folder / "state" / "senders")) as sender_locks,
    ):
        journal, table = (
            Journal(lambda: state, sender_locks, clock),
            BatchTable(state, sender_locks, clock),
        )
        for name in names:
            table.begin(name)
        base = BaseUrl.parse(url)
        for begin in range(0, size, GROUP):
            numbers = range(begin, min(begin + GROUP, size))
            intents = journal.record_many([intent(n, scope, names, base) for n in numbers])
            journal.settle_many(
                (one, Settled("done", 200, f"ord_{n:024d}", f"req_{n}", proved=True))
                for n, one in zip(numbers, intents, strict=True)
            )
        for name in names:
            table.end(name, whole=True)
        journal.record(NewIntent(UNRESOLVED, scope))


def intent(number: int, scope: Scope, names: Sequence[BatchName], base: BaseUrl) -> NewIntent:
    """An order like no other one."""
    body = (
        b'{"amount":%d,"currency":"EUR","items":[{"hs_code":"6203.39","name":"Jacket","quantity":1,'
        b'"unit_amount":%d}],"metadata":{"ref":"A-%d"},"shipping":{"country":"DE"}}'
    ) % (number + 1, number + 1, number)
    key = uuid_of(os.urandom(16), 4 if number % 4 == 0 else 8)
    batch = None if number % 4 == 0 else names[number % BATCHES].id
    kept = Stored("/v1/orders", "json", body, key, None)
    return NewIntent(kept, scope, batch, number if batch else None)


@contextmanager
def requests(folder: Path, size: int) -> Iterator[Sequence[Work]]:
    """What P15 asks for: a create, the list, the refusal of a duplicate."""
    with service() as port:
        fill(folder, size, f"http://127.0.0.1:{port}")
        env = environment(folder, port)
        made = iter(range(10**9))

        def run_svc(*words: str, expect: int = 0) -> Callable[[], Spent]:
            return lambda: run_command([SVC, *words], env, expect=expect)

        def create() -> Spent:
            return run_svc(*CREATE, *ITEM, "-d", f"metadata[n]={next(made)}")()

        duplicate = run_svc(*CREATE, *ITEM, "-d", "metadata[n]=lost", expect=6)
        yield [
            Work("orders create", "1.1 x that of an empty journal", create, 21),
            Work("requests list", "1.1 x", run_svc("requests", "list"), 21),
            Work("a duplicate's refusal", "1.1 x", duplicate, 21),
            Work("requests list --unresolved", "1.1 x", run_svc(*LIST, "--unresolved"), 7),
            Work("requests list --operation", "1.1 x", run_svc(*LIST, *OPERATION), 7),
            Work("requests list --since", "1.1 x", run_svc(*LIST, "--since", "1s"), 7),
            Work("state", "told", run_svc("state"), 3),
        ]


STATES: dict[str, State] = {"journal": requests}
