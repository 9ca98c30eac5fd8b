"""A batch of so many rows: the dry run, the run against a fast service, and the same once more."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.growth.measuring import SVC, Spent, State, Work, environment, run_command, service

# What a row costs in Python at least: parsed, nested, encoded, digested, kept.
FLOOR = """
import csv, hashlib, json, sqlite3, sys
kept = sqlite3.connect("")
kept.execute("CREATE TABLE rows (digest TEXT, body BLOB)")
def rows():
    with open(sys.argv[1], newline="") as file:
        lines = csv.reader(file, strict=True)
        next(lines)
        for amount, currency, country, code, name, hs, quantity, unit, ref in lines:
            item = {"hs_code": hs, "name": name, "quantity": int(quantity), "unit_amount": int(unit)}
            body = json.dumps({"amount": int(amount), "currency": currency, "items": [item],
                "metadata": {"ref": ref}, "shipping": {"country": country, "postal_code": code}})
            yield hashlib.sha256(body.encode()).hexdigest(), body
kept.executemany("INSERT INTO rows VALUES (?, ?)", rows())
"""
# When all is done, besides: both records of each row are read, and the results are written anew.
FLOOR_OF_DONE = (
    FLOOR
    + """
journal = sqlite3.connect(f"file:{sys.argv[2]}?mode=ro", uri=True)
known = {row[0] for row in journal.execute("SELECT likeness, * FROM requests")}
with open(sys.argv[3]) as told, open(sys.argv[3] + ".new", "w") as new:
    for line in told:
        one = json.loads(line)
        assert one["likeness"] in known
        new.write(json.dumps(one) + "\\n")
"""
)
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

        def again() -> Spent:
            return run_command([*command, "--continue"], env)

        floor = [sys.executable, "-c", FLOOR, str(path)]
        kept = [str(folder / "state" / "state.db"), f"{path}.results.ndjson"]
        floor_of_done = [sys.executable, "-c", FLOOR_OF_DONE, str(path), *kept]
        yield [
            Work("floor: csv, json, a hash, sqlite", "", lambda: run_command(floor, env), 3),
            Work("batch --dry-run", "25 s for a million, 150 MB", check, 3),
            Work("batch", "rate within 10 % of 5,000 rows, 150 MB", run, 1),
            Work("floor: and both records", "", lambda: run_command(floor_of_done, env), 3),
            Work("batch, all done before", "30 s, 150 MB", again, 3),
        ]


STATES: dict[str, State] = {"batch": batch}
