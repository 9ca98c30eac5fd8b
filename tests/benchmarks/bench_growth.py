"""What a million of everything costs: the same work over small and large states, in one run.

    python tests/benchmarks/bench_growth.py [--sizes 1000,10000] [--only journal,batch] [--folder DIR]

Each state is made straight in its store by the store's own code. Work over all sizes goes in turns.
It prints the median of each size, the ratio of the largest to the smallest, and the exponent of
growth between the two: 0 does not grow, 1 grows as the state does. Times are of the processor,
where the work is one command; so a machine that does other things changes them little.
A million takes minutes and gigabytes: `--sizes 1000,1000000 --folder DIR`.
"""

import sys
import tempfile
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.command import parser
from benchmarks.growth.measuring import Spent, State, Work, exponent

# Each is a module of the folder `growth` with a dict STATES, by name.
PARTS = ("batch", "inbox", "journal", "lists", "sandbox")


def states() -> dict[str, State]:
    """Every state that is known, by its name."""
    found: dict[str, State] = {}
    for part in PARTS:
        found |= import_module(f"benchmarks.growth.{part}").STATES
    return found


def measure(name: str, state: State, sizes: list[int], folder: Path) -> None:
    """Makes a state of every size, and prints what work over each takes."""
    print(f"\n{name}")
    with ExitStack() as stack:
        made: dict[int, list[Work]] = {}
        for size in sizes:
            place = folder / f"{name}-{size}"
            place.mkdir()
            made[size] = list(stack.enter_context(state(place, size)))
        for works in zip(*made.values(), strict=True):
            found: dict[int, list[Spent]] = {size: [] for size in sizes}
            for _ in range(works[0].rounds):
                for size, work in zip(sizes, works, strict=True):
                    found[size].append(work.go())
            show(works[0], found)


def show(work: Work, found: dict[int, list[Spent]]) -> None:
    """Prints one line for each size, and how the work grows."""
    print(f"  {work.name} (target: {work.target})")
    middle = {size: median(one.seconds for one in spent) for size, spent in found.items()}
    for size, spent in found.items():
        most = max(one.megabytes for one in spent)
        print(f"    {size:>9,}  {middle[size] * 1000:>10,.1f} ms  {most:>6,.1f} MB")
    small, large = min(found), max(found)
    if small != large:
        ratio = middle[large] / middle[small]
        grows = exponent(middle[small], middle[large], (small, large))
        print(f"    {ratio:.2f} x, exponent {grows:.2f}", flush=True)


def main() -> None:
    """Measures the states that are asked for."""
    command = parser(__doc__)
    command.add_argument("--sizes", default="1000,10000", help="as 1000,1000000")
    command.add_argument("--only", help=f"some of {','.join(states())}")
    command.add_argument("--folder", help="where states are made; default: a temporary folder")
    asked = command.parse_args()
    sizes = [int(one) for one in asked.sizes.split(",")]
    known = states()
    for name in asked.only.split(",") if asked.only else known:
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            measure(name, known[name], sizes, Path(folder))


if __name__ == "__main__":
    main()
