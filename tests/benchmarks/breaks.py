"""Whether the tests that `tests/PROMISES.md` names fail when a promise is broken: `breaks.py [R2 ...]`.

Each file `breaks/R2.patch` (`R2.b.patch` where one break is not enough) breaks one promise; its first
line says how. Each is made in a copy of the tree, and the tests that the page names for the promise
run there, or those alone that a line `For: test_x, test_y` of the patch names. Told are the tests that no break of their promise makes fail, and patches that do not apply
any more. The exit code is 1 where there is one of either, or a promise without a patch.

Run by hand: all of it takes about an hour on one core.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

sys.path.insert(0, str(Path(__file__).parent.parent))  # as a script

from benchmarks.tree_copy import ROOT, TreeCopy

PAGE: Final = ROOT / "tests/PROMISES.md"
PATCHES: Final = Path(__file__).parent / "breaks"
# What one break may cost, and each test of it: some wait for what never comes once it is broken.
LIMIT_SECONDS: Final = 900.0
TEST_SECONDS: Final = 60.0
# What no change of the tree breaks, and why.
UNBREAKABLE: Final = {59: "it is held by which versions of libraries are installed"}
HEAD: Final = re.compile(r"^- \*\*R(\d+)\*\* ")
TEST: Final = re.compile(r"^  - `([^`]+)`$")
FOR: Final = re.compile(r"^For: (.+)$", re.MULTILINE)


@dataclass
class Promise:
    """A promise of the page, with the tests that it names and those that a break made fail."""

    number: int
    tests: list[str] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)

    @property
    def patches(self) -> list[Path]:
        return sorted(PATCHES.glob(f"R{self.number}.*patch"))

    @property
    def unnoticed(self) -> list[str]:
        return [test for test in self.tests if test not in self.failed]


def read_page(text: str) -> list[Promise]:
    """The promises of the page in order."""
    found: list[Promise] = []
    for line in text.splitlines():
        if head := HEAD.match(line):
            found.append(Promise(int(head[1])))
        elif test := TEST.match(line):
            found[-1].tests.append(test[1])
    return found


def read_failures(report: Path) -> Iterator[str]:
    """The node ids, without parameters, of a report's tests that failed.

    Not of those that were not begun, for a fixture that times out on a busy machine says nothing;
    a test that timed out itself is told, since only a person can say which of the two it was.
    """
    for case in ET.parse(report).iter("testcase"):
        problems = [one for one in case if one.tag in ("failure", "error")]
        words = " ".join(one.get("message", "") for one in problems)
        if not problems or words.startswith("failed on setup"):
            continue
        file = case.get("classname", "").replace(".", "/").removeprefix("tests/")
        name = f"{file}.py::{case.get('name', '').partition('[')[0]}"
        if "Timeout (>" in words:
            print(f"   timed out: {name}", flush=True)
        yield name


def apply_patch(copy: TreeCopy, patch: Path, *, undo: bool = False) -> bool:
    """Applies a patch to the copy, or takes it back; False where it does not fit any more."""
    command = ["git", "apply", *(["--reverse"] if undo else []), str(patch)]
    return subprocess.run(command, cwd=copy.folder, check=False).returncode == 0


def choose_tests(promise: Promise, patch: Path) -> list[str]:
    """The tests for a break: those of its promise that no earlier one made fail."""
    line = FOR.search(patch.read_text(encoding="utf-8").partition("\n--- a/")[0])
    wanted = tuple(line[1].split(", ")) if line else ()
    return [one for one in promise.unnoticed if not line or one.endswith(wanted)]


def run_break(copy: TreeCopy, promise: Promise, patch: Path, tests: Sequence[str]) -> None:
    """Runs tests, and notes those that fail."""
    report = copy.folder / "report.xml"
    report.unlink(missing_ok=True)
    asked = [f"tests/{test}" for test in tests]
    limit = LIMIT_SECONDS + TEST_SECONDS * len(asked)
    # With an empty `-m` slow ones run too.
    code = copy.pytest("-m", "", "-n", "0", f"--junitxml={report}", *asked, seconds=limit)
    if not report.exists():  # it hangs, or the program cannot be imported: that is noticed by all
        print(f"   {patch.name}: no report (exit code {code})", flush=True)
        return
    failures = set(read_failures(report))
    for test in tests:
        path, _, name = test.partition("::")
        if any(one == test or (not name and one.startswith(f"{path}::")) for one in failures):
            promise.failed.add(test)


def check(copy: TreeCopy, promise: Promise) -> bool:
    """Tries each break of a promise and prints what it left unnoticed; True where that is nothing."""
    if promise.number in UNBREAKABLE:
        print(f"R{promise.number}: no patch, for {UNBREAKABLE[promise.number]}", flush=True)
        return True
    fits, began = True, time.monotonic()
    for patch in promise.patches:
        tests = choose_tests(promise, patch)
        if not tests:
            print(f"   {patch.name}: not needed, its tests failed before it", flush=True)
            continue
        if apply_patch(copy, patch):
            before, at = len(promise.failed), time.monotonic()
            try:
                run_break(copy, promise, patch, tests)
            finally:
                assert apply_patch(copy, patch, undo=True)
            noticed = f"{len(promise.failed) - before} of {len(tests)} fail"
            print(f"   {patch.name}: {noticed}, {time.monotonic() - at:.0f} s", flush=True)
        else:
            fits = False
            print(f"   {patch.name}: does not apply any more", flush=True)
    state = (
        "no patch" if not promise.patches else f"{len(promise.failed)} of {len(promise.tests)} fail"
    )
    print(f"R{promise.number}: {state}, {time.monotonic() - began:.0f} s in all", flush=True)
    for test in promise.unnoticed if promise.patches else ():
        print(f"   still passes: {test}", flush=True)
    return fits and bool(promise.patches) and not promise.unnoticed


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("promises", nargs="*", metavar="R2", help="only these")
    asked = parser.parse_args()
    promises = read_page(PAGE.read_text(encoding="utf-8"))
    wanted = {int(name.removeprefix("R")) for name in asked.promises}
    with tempfile.TemporaryDirectory(prefix="svc-breaks-") as temporary:
        copy = TreeCopy(Path(temporary))
        copy.prepare()
        kept = [check(copy, one) for one in promises if not wanted or one.number in wanted]
    print(f"{sum(kept)} of {len(kept)} promises are held by every test that is named for them")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
