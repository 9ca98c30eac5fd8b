"""A history: what a person does on a bad day, drawn from one seed, step by step.

Every step has a seed of its own, drawn at the start, so that steps can be left out of a history
that fails while the others stay what they were.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from simulation.judge import Judge, ViolationError
from simulation.machine import Process, StuckError
from simulation.network import FAULTS
from simulation.stage import Stage, staged
from simulation.wishes import KINDS, LIMITED, Wish, pool, single, table
from simulation.world import SimDisk, World, account_of
from support.suite.surroundings import memory
from svc.cli import batch, requests
from svc.cli.framework.session import Session

_HOUR: Final = 3600.0
_WAITS: Final = (1.0, 60.0, _HOUR, 6 * _HOUR, 23.5 * _HOUR, 25 * _HOUR)
_SHORT_WAITS: Final = (1.0, 60.0, 0.4 * _HOUR, 0.8 * _HOUR, _HOUR, 6 * _HOUR)  # around a limit's
_HAND: Final = 0.03  # what a person needs at least before the next command
_FINE: Final = 3 * _HOUR  # within which a key is young


def run_batch(session: Session, **given: Any) -> None:
    """Runs `svc batch` with some of its options given."""
    options = inspect.get_annotations(batch.batch)["options"]()
    vars(options).update(given)
    batch.batch(session, options)


class EndedHistory(NamedTuple):
    """How a history went; `broken` says which rule it broke."""

    seed: int
    steps: tuple[int, ...]
    broken: str | None
    trace: tuple[tuple[object, ...], ...]


class Shortening:
    """What plays histories, and shows one that fails in few steps."""

    def play(self, seed: int, *, only: Iterable[int] | None = None) -> EndedHistory:
        """Plays one history; `only` names the steps that are taken, all if not given."""
        raise NotImplementedError

    def shortest(self, ended: EndedHistory) -> EndedHistory:
        """Leaves steps out of a history that fails, as long as it still does."""
        at = 0
        while at < len(ended.steps):
            fewer = self.play(ended.seed, only=ended.steps[:at] + ended.steps[at + 1 :])
            if fewer.broken is not None:
                ended = fewer
            else:
                at += 1
        return ended


class Theatre(Shortening):
    """Plays histories, one after the other, in one folder in memory.

    With `limits`, by group, of days on which a machine may move so much within an hour.
    """

    def __init__(self, limits: Mapping[str, str] | None = None) -> None:
        self._limits = limits

    def __enter__(self) -> Self:
        self._folder = TemporaryDirectory(prefix="svc-simulation-", dir=memory())
        self._disk = SimDisk(Path(self._folder.name))
        self._staged = staged()
        self._stage: Stage = self._staged.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._staged.__exit__(kind, error, trace)
        self._disk.database.close()
        self._folder.cleanup()

    def play(self, seed: int, *, only: Iterable[int] | None = None) -> EndedHistory:
        """Plays one history; `only` names the steps that are taken, all if not given."""
        world = World(seed, self._stage, self._disk, self._limits)
        history = History(seed, world)
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
        return EndedHistory(seed, steps, broken, trace)


class History:
    """The person's side of one history."""

    def __init__(self, seed: int, world: World) -> None:
        self.world = world
        self.judge = Judge(world)
        random = Random(seed)
        self._seeds = [random.getrandbits(48) for _ in range(random.randint(3, 7))]
        self.length = len(self._seeds)
        self._pool = pool(random, LIMITED if world.limits else KINDS)
        self._files: dict[str, tuple[str, list[Wish]]] = {}
        self._hurt = random.choice((0.0, 0.1, 0.3))
        self._two_accounts = random.random() < 0.25
        self._profiles = random.choice((("default",), ("default", "shop"), ("here", "local")))
        self._waits = _SHORT_WAITS if world.limits else _WAITS
        if world.limits:  # else each profile has its own
            self._profiles = ("default",)
        self._count = self._labels = 0
        world.network.weather = tuple(random.sample(FAULTS, random.choice((1, 2, 4))))
        world.network.often = random.choice((0.1, 0.4, 0.8))
        world.max_time = random.choice((60.0, 5.0))
        self._random = random

    def play(self, steps: Iterable[int]) -> None:
        """Takes the steps, then makes everything good, and looks."""
        for step in steps:
            self._random = self.world.machine.random = Random(self._seeds[step])
            self._step()
            self.judge.look()
        self._epilogue()
        self.judge.look()
        self.judge.clean()

    def _step(self) -> None:
        chance = self._random.random()
        if chance < 0.34:
            self._run(self._single(), *[self._single() for _ in self.world.limits][:1])
        elif chance < 0.66:
            self._run(self._list())
        elif chance < 0.78:
            self._run(self._any(), self._any())
        elif chance < 0.90:
            self._resume()
        elif chance < 0.96:
            self._wait()
        else:
            self._roll()

    # --- commands ---

    def _any(self) -> "_Started":
        return self._single() if self._random.random() < 0.4 else self._list()

    def _single(self) -> "_Started":
        wish = self._random.choice(self._pool)
        words, command = single(wish, self._random, self.world.disk.lists)
        new = self._random.random() < 0.05

        def run(session: Session) -> None:
            session.given.write.new_request = new
            command(session)

        def means(process: Process) -> None:
            process.new_request = new
            self.judge.means_single(process, wish)

        words = f"{words}{' --new-request' * new}"
        return _Started(words, run, means, lambda process: self.judge.told_single(process, wish))

    def _list(self) -> "_Started":
        name = self._random.choice(("a", "a", "b", "c"))
        name, wishes = self._file(name)
        again, size = self._random.random() < 0.08, self._random.choice((1, 1, 3))
        self._labels += again
        label = f"l{self._labels}" if again else None
        path = self.world.disk.lists / name
        data = table(wishes, self._random, path.suffix[1:])

        def run(session: Session) -> None:
            path.write_bytes(data)
            operation = wishes[0].operation
            run_batch(
                session,
                operation=operation,
                file=str(path),
                concurrency=size,
                again=again,
                run=label,
                name=name,
            )

        def means(process: Process) -> None:
            self.judge.means_list(process, name, wishes, again=again)

        def told(process: Process) -> None:
            self.judge.told_list(process, wishes)

        rows = " ".join(f"{one.target}:{one.amount}" for one in wishes)
        words = f"batch {wishes[0].operation} {name} [{rows}] x{size}{f' --again --run {label}' * again}"
        results = path.with_name(f"{name}{f'.{label}' * again}.results.ndjson")
        return _Started(words, run, means, told, results)

    def _file(self, letter: str) -> tuple[str, list[Wish]]:
        """A list as it was, extended, begun as a copy or half of another one, or drawn anew."""
        random = self._random
        if letter in self._files:
            name, wishes = self._files[letter]
            if random.random() < 0.3:
                wishes = [*wishes, random.choice(self._pool)]
        elif self._files and random.random() < 0.6:
            wishes = random.choice(sorted(self._files.items()))[1][1]
            wishes = wishes[random.choice((0, 0, len(wishes) // 2)) :]
            name = f"{letter}.{random.choice(('csv', 'ndjson'))}"
        else:
            wishes = random.choices(self._pool, k=random.choice((1, 2, 3, 5)))
            name = f"{letter}.{random.choice(('csv', 'ndjson'))}"
        self._files[letter] = name, wishes
        return name, wishes

    def _resume(self) -> None:
        rows = [
            row for row in self.world.requests() if row["state"] in ("open", "unknown", "not_sent")
        ]
        if not rows:
            self._run(self._single())
            return
        row = self._random.choice(rows)
        self._run(self._resuming(row["id"]))

    def _resuming(self, identifier: str, *, yes: bool = False) -> "_Started":
        def run(session: Session) -> None:
            session.given.everywhere.profile = None
            session.given.everywhere.yes = yes
            requests.resume(session, identifier)

        return _Started(
            f"requests resume {identifier}{' --yes' * yes}",
            run,
            lambda process: self.judge.means_resume(process, identifier),
            lambda process: self.judge.told_single(process, None),
        )

    # --- running them ---

    def _run(self, *started: "_Started", account: str | None = None) -> list[Process]:
        random, machine = self._random, self.world.machine
        machine.wait(_HAND)
        ran: list[tuple[Process, _Started]] = []
        for one in started:
            self._count += 1
            owner = account or ("B" if self._two_accounts and random.random() < 0.4 else "A")
            process = Process(f"p{self._count}", owner)
            if account is None:
                self._hurts(process)
            profile = random.choice(self._profiles)
            key = self.world.keys[owner]
            after = random.choice((0.0, 0.0, 0.004, 0.05, 0.7)) if ran else 0.0
            work = self.world.work(process, profile, one.run, key=key, results=one.results)
            machine.start(process, self._begun(process, one, profile, work), after=after)
            ran.append((process, one))
        machine.run()
        for process, one in ran:
            said = process.err.getvalue().replace(str(self.world.disk.folder), "")
            machine.note(process.name, "exit", process.code, said[:400])
            one.told(process)
        return [process for process, _ in ran]

    def _begun(
        self, process: Process, one: "_Started", profile: str, work: Callable[[], int]
    ) -> Callable[[], int]:
        """What a person means is what is so when the command begins, not when it was planned."""

        def begin() -> int:
            words = f"svc {one.words} ({profile}, account {process.account})"
            self.world.machine.note(process.name, words)
            one.means(process)
            return work()

        return begin

    def _hurts(self, process: Process) -> None:
        random = self._random
        if random.random() < self._hurt:
            process.dies_at = random.randint(1, 45)
        elif random.random() < self._hurt / 2:
            process.stops_at = random.randint(1, 45)
        if random.random() < self._hurt / 3:
            process.disk_fails_at = random.randint(1, 10)
            process.disk_fails = random.choice((1, 1, 99))
        elif random.random() < self._hurt / 4:
            process.sync_fails_at = random.randint(1, 10)

    def _wait(self) -> None:
        machine, seconds = self.world.machine, self._random.choice(self._waits)
        machine.wait(seconds)
        if self._random.random() < 0.3:
            machine.offset = self._random.choice((0.0, -0.4, 30.0, -1200.0, 1200.0))
        machine.note("time passes", seconds, "clock beside by", machine.offset)

    def _roll(self) -> None:
        """The key of account A is rolled in the dashboard; the old one ends at once or later."""
        machine, service = self.world.machine, self.world.service
        old, new = (key for key, (account, _) in service.keys.items() if account == "A")
        if self.world.keys["A"] == new:
            return
        grace = self._random.choice((0.0, 60.0, 7 * 24 * _HOUR))
        service.keys[old] = ("A", machine.now + grace)
        self.world.keys["A"] = new
        machine.note("the key is rolled, the old one ends in", grace)

    # --- the end ---

    def _epilogue(self) -> None:
        """The network is well again: each unresolved request is resumed, to one definite end."""
        world = self.world
        self._random = world.machine.random = Random(0)
        world.machine.settle()
        world.network.quiet = True
        world.machine.note("all is well again")
        for row in world.requests():
            if row["state"] in ("open", "unknown"):
                self._resolved(row)

    def _resolved(self, row: dict[str, Any]) -> None:
        world, identifier = self.world, row["id"]
        owner = account_of(row["key_hint"])
        process = self._run(self._resuming(identifier), account=owner)[0]
        rolled = process.code == 2  # the key was, and nothing shows it: the person knows it
        if rolled:
            process = self._run(self._resuming(identifier, yes=True), account=owner)[0]
        # By a clock that was set back, an earlier request for the same seems to be a later one.
        came = row["first_sent_at"]
        earlier = takewhile(lambda one: one["id"] != identifier, world.requests())
        is_turned = any(one["first_sent_at"] > came + 1 for one in earlier)
        if is_turned and process.code == 6:
            return
        age = world.clock.now() - came
        young = 0 <= age < 23 * _HOUR
        known = world.service.by_key.get(row["idempotency_key"], [])
        refused = process.code in (3, 5) or (rolled and process.code == 7)
        if young and process.code != 0 and not refused:
            raise ViolationError(f"{identifier} cannot be resumed: {process.err.getvalue()}")
        if young and (process.code == 0) != bool(known):
            raise ViolationError(
                f"{identifier} was resumed with exit {process.code}, and made {known}"
            )
        if not young and process.code == 0 and age >= 0:
            raise ViolationError(f"{identifier} was sent again {age / _HOUR:.1f} hours later")


class _Started(NamedTuple):
    """A command that is about to run: in words, itself, what a person means by it, its judge."""

    words: str
    run: Callable[[Session], None]
    means: Callable[[Process], None]
    told: Callable[[Process], None]
    results: Path | None = None


def readable(ended: EndedHistory) -> str:
    """A history for people."""
    lines = [f"seed {ended.seed}, steps {list(ended.steps)}: {ended.broken or 'clean'}"]
    for at, who, *facts in ended.trace:
        lines.append(f"{at:>12} {who:<4} {' '.join(map(str, facts))}")
    return "\n".join(lines)
