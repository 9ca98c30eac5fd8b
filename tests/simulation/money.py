"""Plays many histories: `PYTHONPATH=tests python -m simulation.money --seeds 0..1000000 --jobs 2`.

With `--months` those of two machines, lost journals and edited files, see `occasions`. Ends with 1
where one has failed, and shows the first in few steps.
"""

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from itertools import islice
from typing import NamedTuple

from simulation.history import Theatre, readable
from simulation.occasions import Occasions

_CHUNK = 200


class PlayedSeeds(NamedTuple):
    """How many histories went.

    Attributes:
        failed: the seeds of those that broke a rule.
        digest: of all that happened in them; the same wherever they take the same steps.
    """

    first: int
    histories: int
    failed: list[int]
    digest: bytes


def played(seeds: range, *, months: bool = False) -> PlayedSeeds:
    """Plays these; `months` are histories of another kind."""
    digest, failed = hashlib.sha256(), []
    with Occasions() if months else Theatre() as theatre:
        for seed in seeds:
            ended = theatre.play(seed)
            digest.update(repr(ended).encode())
            if ended.broken is not None:
                failed.append(seed)
    return PlayedSeeds(seeds[0], len(seeds), failed, digest.digest())


def played_by_many(
    seeds: range, *, jobs: int, tell: bool = False, months: bool = False
) -> PlayedSeeds:
    """The same on several cores; `tell` says how far it is."""
    chunks = [seeds[at : at + _CHUNK] for at in range(0, len(seeds), _CHUNK)]
    begun, parts = time.monotonic(), []
    count, bad = 0, []
    for part in _parts(chunks, jobs, months=months):
        parts.append(part)
        count += part.histories
        bad += part.failed
        pace = count / (time.monotonic() - begun)
        if tell:
            told = f"{count} of {len(seeds)}, {pace:.0f} a second, failed: {len(bad)} {bad[-3:]}"
            print(told, flush=True)
    digests = b"".join(part.digest for part in sorted(parts))
    return PlayedSeeds(seeds[0], count, sorted(bad), hashlib.sha256(digests).digest())


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", default="0..1000", help="A..B, without B")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--months", action="store_true", help="those of two machines and months")
    parser.add_argument("--quiet", action="store_true", help="say nothing before the end")
    asked = parser.parse_args()
    first, _, last = asked.seeds.partition("..")
    seeds = range(int(first), int(last or int(first) + 1))
    begun = time.monotonic()
    went = played_by_many(seeds, jobs=asked.jobs, tell=not asked.quiet, months=asked.months)
    seconds = time.monotonic() - begun
    print(
        f"{asked.seeds}: {went.histories} histories, {seconds:.0f} s, digest {went.digest.hex()[:16]}, "
        f"failed: {went.failed}",
        flush=True,
    )
    if went.failed:
        with Occasions() if asked.months else Theatre() as theatre:
            print(readable(theatre.shortest(theatre.play(went.failed[0]))))
    return 1 if went.failed else 0


def _parts(chunks: list[range], jobs: int, *, months: bool) -> Iterator[PlayedSeeds]:
    play = partial(played, months=months)
    if jobs == 1:
        yield from map(play, chunks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        left = iter(chunks)
        running = {pool.submit(play, chunk) for chunk in islice(left, jobs * 2)}
        while running:
            ended = next(as_completed(running))
            running.remove(ended)
            yield ended.result()
            running.update(pool.submit(play, chunk) for chunk in islice(left, 1))


if __name__ == "__main__":
    sys.exit(main())
