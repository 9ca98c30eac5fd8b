"""Plays many histories: `PYTHONPATH=tests python -m simulation.money --seeds 0..1000000 --jobs 2`.

Ends with 1 where one has failed, and shows the first in few steps.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import islice

from simulation.history import Theatre, readable

_CHUNK = 200


def failing(seeds: range) -> list[int]:
    """Plays these; gives the seeds that fail."""
    with Theatre() as theatre:
        return [seed for seed in seeds if theatre.play(seed).broken is not None]


def failing_of_many(seeds: range, *, jobs: int, tell: bool = False) -> list[int]:
    """The same on several cores; `tell` says how far it is."""
    chunks = [seeds[at : at + _CHUNK] for at in range(0, len(seeds), _CHUNK)]
    begun, done, bad = time.monotonic(), 0, []
    for played, failed in _played(chunks, jobs):
        done += played
        bad += failed
        pace = done / (time.monotonic() - begun)
        if tell:
            told = f"{done} of {len(seeds)}, {pace:.0f} a second, failed: {len(bad)} {bad[-3:]}"
            print(told, flush=True)
    return sorted(bad)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", default="0..1000", help="A..B, without B")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    first, _, last = asked.seeds.partition("..")
    seeds = range(int(first), int(last or int(first) + 1))
    begun = time.monotonic()
    bad = failing_of_many(seeds, jobs=asked.jobs, tell=True)
    print(f"{len(seeds)} histories, {time.monotonic() - begun:.0f} s, failed: {bad}")
    if bad:
        with Theatre() as theatre:
            print(readable(theatre.shortest(theatre.play(min(bad)))))
    return 1 if bad else 0


def _played(chunks: list[range], jobs: int) -> Iterator[tuple[int, list[int]]]:
    if jobs == 1:
        for chunk in chunks:
            yield len(chunk), failing(chunk)
        return
    with ProcessPoolExecutor(jobs) as pool:
        left = iter(chunks)
        running = {pool.submit(failing, chunk): chunk for chunk in islice(left, jobs * 2)}
        while running:
            ended = next(as_completed(running))
            yield len(running.pop(ended)), ended.result()
            running.update((pool.submit(failing, chunk), chunk) for chunk in islice(left, 1))


if __name__ == "__main__":
    sys.exit(main())
