"""A batch of so many rows: the dry run, the run against a fast service, and the same once more."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.growth.measuring import SVC, Spent, State, Work, environment, run_command, service

HEAD = (
    "amount,currency,shipping[country],shipping[postal_code],items[0][name],items[0][hs_code],"
    "items[0][quantity],items[0][unit_amount],metadata[ref]"
)


def write_rows(path: Path, size: int) -> None:
    """Writes orders, each a little different, as they go."""
    with path.open("w") as file:
        file.write(f"{HEAD}\n")
        for n in range(size):
            file.write(f"{12900 + n},EUR,DE,10115,Linen jacket,6203.39,1,12900,A-{n}\n")


@contextmanager
def batch(folder: Path, size: int) -> Iterator[Sequence[Work]]:
    """What P13 asks for; a run is of the wall's time, since a service answers meanwhile."""
    path = folder / "orders.csv"
    write_rows(path, size)
    with service() as port:
        env = environment(folder, port)
        command = [SVC, "batch", "orders.create", str(path)]

        def check() -> Spent:
            fresh = {**env, "SVC_STATE_DIR": str(folder / "no state")}
            return run_command([*command, "--dry-run"], fresh)

        def run() -> Spent:
            return run_command([*command, "--concurrency", "32"], env, is_wall=True)

        yield [
            Work("batch --dry-run", "25 s for a million, 150 MB", check, 1),
            Work("batch", "rate within 10 % of 5,000 rows, 150 MB", run, 1),
            Work("batch, all done before", "30 s, 150 MB", run, 1),
        ]


STATES: dict[str, State] = {"batch": batch}
