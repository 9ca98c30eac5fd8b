"""Plays many histories of listeners: `python listener.py --seeds 0..200000 --jobs 2`."""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from simulation.listener_histories import play
from simulation.listener_verdicts import problems
from simulation.listener_world import in_memory
from svc.state import Database

_AT_ONCE: Final = 500


def judged(
    first: int,
    last: int,
    play: Callable[[int, Database], Any] = play,
    problems: Callable[[Any], Iterable[str]] = problems,
) -> list[tuple[int, list[str]]]:
    """Plays the histories of some seeds; gives those that broke a rule."""
    found = []
    state = in_memory()
    for seed in range(first, last):
        try:
            played = play(seed, state)
            wrong = list(problems(played))
            played.world.loop.trouble.clear()
            played.world.close()
        except Exception as error:  # noqa: BLE001  it is told with its seed
            wrong = [f"{type(error).__name__}: {error}"]
        if wrong:
            found.append((seed, wrong))
    state.close()
    return found


def _seeds(text: str) -> tuple[int, int]:
    first, _, last = text.partition("..")
    return int(first), int(last or int(first) + 1)


def _results(first: int, last: int, jobs: int) -> Iterator[list[tuple[int, list[str]]]]:
    starts = range(first, last, _AT_ONCE)
    ends = [min(start + _AT_ONCE, last) for start in starts]
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(judged, starts, ends)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=_seeds, default=(0, 200_000), metavar="A[..B]")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    first, last = given.seeds
    started, done, bad = time.monotonic(), 0, []
    for wrong in _results(first, last, given.jobs):
        done = min(done + _AT_ONCE, last - first)
        bad += [seed for seed, _ in wrong]
        for seed, texts in wrong:
            print(f"seed {seed}: {'; '.join(texts)[:600]}", flush=True)
        each = (time.monotonic() - started) / done * 1000
        print(f"{done} of {last - first}, {len(bad)} bad, {each:.2f} ms each", flush=True)
    print(f"{done} histories, {len(bad)} broke a rule{': ' if bad else ''}{bad[:50] or ''}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
