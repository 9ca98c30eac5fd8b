"""Histories of months: two machines, lost and old journals, results files that move, edited rows.

Each row of a file is wanted once for each occasion, whatever is corrected in it and wherever it is
run. Three figures: too many, silently too few, and stops without need, which are counted by reason.
"""

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, Self

from simulation.history import EndedHistory, Shortening, run_batch
from simulation.judge import ViolationError
from simulation.machine import Process, StuckError
from simulation.service import identity
from simulation.stage import Stage, staged
from simulation.wishes import parsed
from simulation.world import _ADDRESSES, SimDisk, World
from support.suite.surroundings import memory
from svc.base_url import BaseUrl
from svc.cli import requests
from svc.cli.framework.session import Session
from svc.delivery.evidence import DONE_BY_HAND
from svc.delivery.journal.batches import BatchName
from svc.delivery.journal.entry import Scope

_HOUR: Final = 3600.0
_WAITS: Final = (60.0, _HOUR, 6 * _HOUR, 13 * _HOUR, 25 * _HOUR, 30 * 24 * _HOUR)
_YOUNG: Final = 22 * _HOUR  # within which the service knows every key
_WEATHER: Final = (
    "refused", "lost", "silence", "dropped", "late", "delayed", "doubled", "limited", "failing",
    "busy", "problem", "routeless", "gateway", "unreadable",
)  # fmt: skip


@dataclass(slots=True)
class SimRow:
    """A row as a person means it; `said` are all bodies that it has had.

    Attributes:
        wanted: the occasions for which it is to be done, once for each.
        by_hand: whether a single command has done it, for one of them.
    """

    name: str
    body: dict[str, Any]
    wanted: set[str] = field(default_factory=set)
    by_hand: bool = False
    said: list[bytes] = field(default_factory=list)


@dataclass(slots=True)
class SimBatch:
    """A file of rows that both machines run under one name.

    Attributes:
        first: when it was sent first (true time), by label.
        knows: which machines know all that was sent, by journal or results file.
        is_apart: whether only a machine that knows the batch can run it: a row without an id of
            its own was corrected, or one was done by hand.
        is_cut: whether the results file lacks something that the journal tells: the last run was
            killed, or a single command came after it.
    """

    name: str
    named: bool
    rows: list[SimRow]
    label: str = ""
    first: dict[str, float] = field(default_factory=dict)
    knows: set[int] = field(default_factory=set)
    is_apart: bool = False
    is_cut: bool = False


class Occasions(Shortening):
    """Plays histories of months, one after the other, in one folder in memory."""

    def __enter__(self) -> Self:
        self._folder = TemporaryDirectory(prefix="svc-occasions-", dir=memory())
        self._disks = tuple(SimDisk(Path(self._folder.name), number) for number in ("", "2"))
        self._staged = staged()
        self._stage: Stage = self._staged.__enter__()
        self.stops: Counter[tuple[str, bool]] = Counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._staged.__exit__(kind, error, trace)
        for disk in self._disks:
            disk.database.close()
        self._folder.cleanup()

    def play(self, seed: int, *, only: Iterable[int] | None = None) -> EndedHistory:
        """Plays one history; `only` names the steps that are taken, all if not given."""
        self._disks[1].fresh()
        world = World(seed, self._stage, self._disks[0])
        history = Months(seed, world, self._disks)
        steps = tuple(range(history.length) if only is None else only)
        broken = None
        try:
            history.play(steps)
        except ViolationError as found:
            broken = str(found)
        except StuckError:
            broken = "nobody can go on"
        finally:
            trace = tuple(world.machine.trace)
            world.close()
            history.close()
        self.stops += history.stops
        return EndedHistory(seed, steps, broken, trace)


class Months:
    """The person's side of one history, and its judge."""

    def __init__(self, seed: int, world: World, disks: tuple[SimDisk, ...]) -> None:
        self.world = world
        self.stops: Counter[tuple[str, bool]] = Counter()
        random = Random(seed)
        self._disks = disks
        self._seeds = [random.getrandbits(48) for _ in range(random.randint(4, 10))]
        self.length = len(self._seeds)
        self._hurt = random.choice((0.0, 0.0, 0.2))
        self._count = self._made = self._labels = 0
        self._by_hand_for = ""
        self._labels_of: dict[str, str] = {}
        self._old: dict[int, tuple[sqlite3.Connection, frozenset[str]]] = {}
        world.network.weather = tuple(random.sample(_WEATHER, random.choice((1, 2, 4))))
        world.network.often = random.choice((0.1, 0.3, 0.6))
        world.max_time = random.choice((60.0, 5.0))
        self._random = random
        self._batches = [self._new_batch(f"b{number}") for number in range(random.choice((1, 2)))]

    def play(self, steps: Iterable[int]) -> None:
        """Takes the steps, then makes all well, runs each batch as its hints say, and looks."""
        for step in steps:
            self._random = self.world.machine.random = Random(self._seeds[step])
            self._step()
            self._look()
        self._random = self.world.machine.random = Random(0)
        self.world.machine.settle()
        self.world.network.quiet = True
        self._hurt = 0.0
        for number in sorted({number for one in self._batches for number in one.knows}):
            self._resume_all(number)
        for one in self._batches:
            if one.knows:
                self._run_to_the_end(one)
        self._look()

    def _step(self) -> None:
        one, chance = self._random.choice(self._batches), self._random.random()
        if chance < 0.45:
            self._run(one, self._random.choice((0, 0, 1)))
        elif chance < 0.57:
            self._wait()
        else:
            self._random.choice(
                (
                    self._edit,
                    self._edit,
                    self._spell,
                    self._append,
                    self._by_hand,
                    self._begin_occasion,
                    self._lose_journal,
                    self._go_back,
                    self._keep_old,
                    self._move_results,
                )
            )(one)

    # --- what a person does ---

    def _new_row(self) -> SimRow:
        self._made += 1
        target = self._random.choice(("pay_X1", "pay_X2"))
        body = {"payment": target, "amount": 1000 + self._made, "metadata": {"name": "Ana"}}
        return SimRow(f"inv-{self._made}", body)

    def _new_batch(self, name: str) -> SimBatch:
        rows = [self._new_row() for _ in range(self._random.choice((1, 2, 3)))]
        return SimBatch(name, self._random.random() < 0.5, rows)

    def _edit(self, one: SimBatch) -> None:
        """A row is corrected: its amount, or a column is added."""
        row = self._random.choice(one.rows)
        if row.by_hand:
            return
        one.is_apart |= not one.named
        if self._random.random() < 0.7:
            self._made += 1
            row.body = {**row.body, "amount": 1000 + self._made}
        else:
            row.body = {**row.body, "metadata": {**row.body["metadata"], "by": f"{self._made}"}}
        self.world.machine.note("edited", one.name, row.name, row.body)

    def _spell(self, one: SimBatch) -> None:
        """The same in other letters."""
        row = self._random.choice(one.rows)
        name = self._random.choice(("Ana", "ANA", " ana"))
        row.body = {**row.body, "metadata": {**row.body["metadata"], "name": name}}
        self.world.machine.note("spelled", one.name, row.name, name)

    def _append(self, one: SimBatch) -> None:
        one.rows.append(self._new_row())
        self.world.machine.note("appended", one.name, one.rows[-1].name)

    def _begin_occasion(self, one: SimBatch) -> None:
        """It is next month: all of it is wanted once more."""
        self._labels += 1
        self.world.machine.wait(31 * 24 * _HOUR)
        one.label = f"l{self._labels}"
        self.world.machine.note("next occasion", one.name, one.label)
        if self._random.random() < 0.3:
            self._by_hand(one)

    def _by_hand(self, one: SimBatch) -> None:
        """A row that is told as not done is done by a single command, and stays in the file.

        Or one is, just before the first run of an occasion, which nothing may kill then.
        """
        is_first = one.label not in one.first and self._hurt == 0.0
        if not is_first and (0 not in one.knows or one.label not in one.first or one.is_cut):
            return
        row = self._random.choice(one.rows)

        def command(session: Session) -> None:
            session.given.write.data = [f"{k}:={json.dumps(v)}" for k, v in row.body.items()]
            parsed("refunds.create")(session)

        if self._effects(row, one.label) == 0 and not self._is_open(one, row):
            self._say(row, one.label)
            self._by_hand_for = one.label
            row.by_hand = one.is_apart = True
            one.knows, one.is_cut = {0}, True  # until the next run writes it into its results file
            process = self._command(f"refunds create {row.body}", 0, command)
            if is_first and process.code in (0, 7):
                self._run(one, 0)

    def _lose_journal(self, one: SimBatch) -> None:
        """Of one machine; what its results files tell is left."""
        number = self._random.choice((0, 1))
        disk = self._disks[number]
        if any(row["batch_id"] is None for row in self._requests(number)):
            return  # a single command that is lost is lost: nothing was promised of it
        for table in disk._tables:
            disk.database.execute(f"DELETE FROM {table}")
        self.world._stage.writes += 1
        self.world.machine.note("journal lost", number)
        self._forget(number)

    def close(self) -> None:
        """Lets go of the copies that were put aside."""
        for copy, _ in self._old.values():
            copy.close()

    def _keep_old(self, one: SimBatch) -> None:
        """A copy of the state database is put aside."""
        number = self._random.choice((0, 1))
        copy = _memory()
        self._disks[number].database.backup(copy)
        knew = frozenset(each.name for each in self._batches if number in each.knows)
        if number in self._old:
            self._old[number][0].close()
        self._old[number] = copy, knew
        self.world.machine.note("journal copied", number)

    def _go_back(self, one: SimBatch) -> None:
        """The copy is put back."""
        number = self._random.choice((0, 1))
        if number not in self._old or any(
            row["batch_id"] is None for row in self._requests(number)
        ):
            return
        copy, _ = self._old[number]
        copy.backup(self._disks[number].database)
        self.world._stage.writes += 1
        self.world.machine.note("old journal", number)
        self._forget(number)

    def _forget(self, number: int) -> None:
        for each in self._batches:
            is_told = self._results(each, number).exists() and not each.is_cut
            if each.label in each.first and not is_told:
                each.knows.discard(number)

    def _move_results(self, one: SimBatch) -> None:
        """The results file is copied to the other machine, or thrown away."""
        number = self._random.choice((0, 1))
        here, there = self._results(one, number), self._results(one, 1 - number)
        if here.exists() and number in one.knows and self._random.random() < 0.8:
            shutil.copy(here, there)
            if not one.is_cut:
                one.knows.add(1 - number)
            self.world.machine.note("results copied", one.name, "to", 1 - number)
        elif here.exists() and len(one.knows) > 1:
            self._drop(one, number)

    def _drop(self, one: SimBatch, number: int) -> None:
        """A results file is lost where the journal tells the same."""
        known = {row["idempotency_key"] for row in self._requests(number)}
        lines = map(json.loads, self._results(one, number).read_text().splitlines())
        told = (line for line in lines if line["outcome"] != "not_sent" or _is_by_hand(line))
        if all(line["idempotency_key"] in known for line in told):
            self._results(one, number).unlink()
            self.world.machine.note("results lost", one.name, number)

    def _wait(self) -> None:
        seconds = self._random.choice(_WAITS)
        self.world.machine.wait(seconds)
        self.world.machine.note("time passes", seconds)

    # --- running ---

    def _run(self, one: SimBatch, number: int, *more: str) -> Process | None:
        """Runs a batch on a machine that knows it, or within the service's 24 hours."""
        now, first = self.world.machine.now, one.first.get(one.label)
        is_stranger = first is not None and number not in one.knows
        if is_stranger and (one.is_apart or now - (first or 0.0) >= _YOUNG):
            return None
        path = self._path(one, number)
        for row in one.rows:
            self._say(row, one.label)
        path.write_text("".join(json.dumps(self._written(one, row)) + "\n" for row in one.rows))
        if number not in one.knows and first is None:
            one.knows.add(number)
        one.first.setdefault(one.label, now)

        def command(session: Session) -> None:
            run_batch(
                session,
                operation="refunds.create",
                file=str(path),
                concurrency=self._random.choice((1, 3)),
                name=one.name,
                run=one.label or None,
                row_id="invoice" if one.named else None,
                ignore_column=["invoice"],
                **dict.fromkeys(more, True),
            )

        rows = " ".join(f"{row.body['payment']}:{row.body['amount']}" for row in one.rows)
        words = f"batch {one.name} [{rows}] {one.label} {' '.join(more)}"
        process = self._command(words, number, command)
        # What this one has sent, no other machine knows; what others have, it learns by replays.
        one.knows &= {number}
        one.is_cut = process.code is None or (one.is_cut and process.code not in (0, 9))
        if process.code == 0:
            one.knows.add(number)
        if process.code is None or process.code > 11:
            return process  # killed or stopped: what is known is in the journal
        self._told(one, number, process)
        return process

    def _command(self, words: str, number: int, command: Callable[[Session], None]) -> Process:
        machine, random = self.world.machine, self._random
        machine.wait(1.0)
        self._count += 1
        process = Process(f"p{self._count}", "A")
        if random.random() < self._hurt:
            process.dies_at = random.randint(1, 45)
        disk = self._disks[number]
        key = self.world.keys["A"]
        work = self.world.work(process, "default", command, key=key, results=None, disk=disk)
        machine.note(process.name, f"svc {words} (machine {number})")
        machine.start(process, work)
        machine.run()
        said = process.err.getvalue().replace(str(disk.folder), "")
        machine.note(process.name, "exit", process.code, said[:500])
        for one in self._batches:
            ids = {self._id_of(one, label): label for label in one.first}
            for row in self._requests(number):
                label = ids.get(row["batch_id"], None if row["batch_id"] else self._by_hand_for)
                if label is not None:
                    self._labels_of.setdefault(row["idempotency_key"], label)
        if process.bug is not None:
            raise process.bug
        if process.code == 1 and '"bug"' in said:
            reports = sorted((disk.state / "reports").iterdir())
            raise ViolationError(f"a bug: {reports[-1].read_text()}")
        return process

    def _resume_all(self, number: int) -> None:
        """Resumes what is open of the batches that a machine knows, and of single commands."""
        ids = {self._id_of(one, label) for one in self._batches if number in one.knows
               for label in one.first}  # fmt: skip
        for row in self._requests(number):
            if row["state"] in ("open", "unknown") and row["batch_id"] in (None, *ids):

                def command(session: Session, identifier: str = row["id"]) -> None:
                    requests.resume(session, identifier)

                self._command(f"requests resume {row['id']}", number, command)

    def _run_to_the_end(self, one: SimBatch) -> None:
        """A person does what the hints of the batch say, and puts an edited row back."""
        number = min(one.knows)
        process = self._run(one, number, "goes_on", "skip_done")
        if process is not None and process.code != 0:
            self._count_stop(one, process)

    # --- judging ---

    def _told(self, one: SimBatch, number: int, process: Process) -> None:
        """Exit 0 means that every row is done as it stands."""
        if process.code != 0:
            self._count_stop(one, process)
            return
        for row in one.rows:
            done = self._effects(row, one.label)
            if not done:
                raise ViolationError(f"exit 0, and {row.name} of {one.name} is not done")
            if row.said[-1] not in self._done_bodies(row):
                raise ViolationError(f"exit 0, and {row.name} is not done as it stands now")

    def _count_stop(self, one: SimBatch, process: Process) -> None:
        """A stop was needed where a row that it kept back had been done, or may still be."""
        text = process.err.getvalue().strip().rpartition("\n")[2]
        error = json.loads(text)["error"] if text.startswith("{") else {}
        code = str(error.get("code"))
        needless = all(not self._effects(row, one.label) for row in one.rows)
        self.stops[code, needless and not self.world.machine._due] += 1

    def _look(self) -> None:
        """No row was done more often than it is wanted."""
        for one in self._batches:
            for row in one.rows:
                done = sum(self._counts(row).values())
                if done > len(row.wanted):
                    raise ViolationError(
                        f"{row.name} of {one.name} was done {done} times for {len(row.wanted)}"
                    )

    def _say(self, row: SimRow, label: str) -> None:
        row.wanted.add(label)
        said = json.dumps(row.body).encode()
        if said in row.said:
            row.said.remove(said)
        row.said.append(said)

    def _id_of(self, one: SimBatch, label: str) -> str:
        scope = Scope("default", "test", str(BaseUrl.parse(_ADDRESSES["default"])))
        return BatchName(one.name, "refunds.create", scope, label).id

    def _counts(self, row: SimRow) -> Counter[Any]:
        meant = {identity("/v1/refunds", said, "json") for said in row.said}
        return Counter(one.what for one in self.world.service.effects if one.what in meant)

    def _effects(self, row: SimRow, label: str) -> int:
        """How often it was done for an occasion."""
        meant = {identity("/v1/refunds", said, "json") for said in row.said}
        keys = [one.key for one in self.world.service.effects if one.what in meant]
        return sum(self._labels_of.get(key) == label for key in keys)

    def _done_bodies(self, row: SimRow) -> list[bytes]:
        counts = self._counts(row)
        folded = {
            _fold(said) for said in row.said if identity("/v1/refunds", said, "json") in counts
        }
        return [said for said in row.said if _fold(said) in folded]

    def _is_open(self, one: SimBatch, row: SimRow) -> bool:
        """Whether a journal or a results file tells that it may have been done."""
        number = one.rows.index(row) + 1
        for path in (self._results(one, machine) for machine in (0, 1)):
            lines = map(json.loads, path.read_text().splitlines() if path.exists() else ())
            if any(line["row"] == number and line["outcome"] == "unknown" for line in lines):
                return True
        meant = {identity("/v1/refunds", said, "json") for said in row.said}
        rows = [one for number in (0, 1) for one in self._requests(number)]
        return any(
            one["state"] in ("open", "unknown")
            and identity("/v1/refunds", one["body"], "json") in meant
            for one in rows
        )

    def _requests(self, number: int) -> list[dict[str, Any]]:
        names = ("id", "state", "idempotency_key", "batch_id", "body")
        rows = self._disks[number].database.execute(f"SELECT {', '.join(names)} FROM requests")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _written(self, one: SimBatch, row: SimRow) -> dict[str, Any]:
        return {**row.body, "invoice": row.name}

    def _path(self, one: SimBatch, number: int) -> Path:
        return self._disks[number].lists / f"{one.name}.ndjson"

    def _results(self, one: SimBatch, number: int) -> Path:
        label = f".{one.label}" if one.label else ""
        return self._disks[number].lists / f"{one.name}.ndjson{label}.results.ndjson"


def _fold(said: bytes) -> str:
    """A row however it is spelled: names are compared without case and blanks around them."""
    body = json.loads(said)
    metadata = {**body["metadata"], "name": body["metadata"]["name"].strip().casefold()}
    return json.dumps({**body, "metadata": metadata}, sort_keys=True)


def _is_by_hand(line: dict[str, Any]) -> bool:
    return (line["error"] or {}).get("code") == DONE_BY_HAND


def _memory() -> sqlite3.Connection:
    from simulation.stage import _real_connect

    return _real_connect(":memory:")
