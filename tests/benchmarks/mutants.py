"""How many small random changes of the program the tests notice: `mutants.py [--number 300]`.

Draws changes by a seed from the modules of `HEART` (a comparison turned, a number off by one, a
statement gone), makes each in a copy of the tree, and runs the tests that reach its line. What no
test notices is printed as a diff: it wants an assertion, or cannot be noticed by anybody.

Run by hand; 300 changes take about an hour on one core, and `--after 80` goes on where a run with the
same seed was ended. Drawn, for there are some thousands of places: where each of them is to be tried,
mutmut and cosmic-ray are made for it.
"""

import argparse
import ast
import difflib
import json
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))  # as a script, and as a plugin of pytest

from benchmarks.tree_copy import ROOT, TreeCopy

SOURCE: Final = "src/svc"
# Each module of the heart and the tests that are asked about it: globs below tests/, the near first.
CLIENT: Final = ("unit/client/**/test_*.py",)
JOURNAL: Final = ("unit/client/**/test_*.py", "cli/requests/test_*.py")
BATCH: Final = ("unit/batch/test_*.py", "cli/batch/test_command.py")
LISTEN: Final = ("unit/listen/test_*.py", "unit/listen/[firv]*/test_[!b]*.py")
SANDBOX: Final = (
    "unit/sandbox/api/test_*.py",
    "unit/sandbox/test_*.py",
    "unit/sandbox/[csw]*/test_[!bp]*.py",
    "unit/sandbox/[fhj]*/test_*.py",
    "unit/sandbox/parameters/test_*.py",
    "unit/sandbox/resources/test_*.py",
)
DELIVERY: Final = ("unit/delivery/test_*.py", "proof/delivery/test_*.py", *BATCH)
HEART: Final[dict[str, tuple[str, ...]]] = {
    "signature.py": (
        "unit/test_signature.py",
        "unit/listen/verify/test_vectors.py",
        "unit/listen/test_*.py",
    ),
    "money.py": ("unit/test_money.py", "unit/render/**/test_*.py"),
    "client/retry.py": CLIENT,
    "client/reply.py": CLIENT,
    "client/contradiction.py": CLIENT,
    "client/refusal.py": CLIENT,
    "delivery/journal/entry.py": JOURNAL,
    "delivery/journal/stored.py": JOURNAL,
    "delivery/journal/journal.py": JOURNAL,
    "delivery/journal/sender_locks.py": JOURNAL,
    "keys/store.py": ("unit/keys/**/test_*.py", "cli/keys/test_*.py"),
    "keys/resolve.py": ("unit/keys/**/test_*.py", "cli/keys/test_*.py"),
    "batch/run.py": BATCH,
    "delivery/journal/batches.py": BATCH,
    "delivery/policy.py": DELIVERY,
    "delivery/evidence.py": DELIVERY,
    "delivery/plan.py": DELIVERY,
    "delivery/planner.py": DELIVERY,
    "delivery/likeness.py": DELIVERY,
    "delivery/rows.py": BATCH,
    "listen/inbox/inbound.py": LISTEN,
    "listen/inbox/commit.py": LISTEN,
    "listen/inbox/sqlite.py": LISTEN,
    "listen/forward/dispatcher.py": LISTEN,
    "listen/forward/pump.py": LISTEN,
    "listen/ingest.py": LISTEN,
    "listen/forward/pending_acks.py": LISTEN,
    "listen/inbox/ledger.py": LISTEN,
    "listen/inbox/runs.py": LISTEN,
    "sandbox/api/idempotency.py": SANDBOX,
    "sandbox/resources/refunds.py": SANDBOX,
    "sandbox/resources/payments.py": SANDBOX,
    "sandbox/webhooks/attempts.py": SANDBOX,
}
# What one change may cost: the tests that reach it, the nearest and quickest first.
TESTS_SECONDS: Final = 60.0
LIMIT_SECONDS: Final = 150.0
_QUICK_SECONDS: Final = 0.02

SWAPS: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
}
WORD: Final = re.compile(r"[A-Za-z0-9_.*/-]+")  # codes and names; not texts for people, not SQL


@dataclass(frozen=True)
class Mutant:
    """One change: in `module`, `line` on, the text from `start` to `end` becomes `new`.

    `at_import`: outside of every function, so that it runs once, in whichever test comes first.
    """

    module: str
    line: int
    last: int
    start: int
    end: int
    new: str
    at_import: bool


class Places(ast.NodeVisitor):
    """Finds every place of a module that can be changed, and what it can become."""

    def __init__(self, module: str, text: str) -> None:
        self.module = module
        self.found: list[Mutant] = []
        self._functions = 0
        self._text = text.encode()
        self._starts = [0]
        for line in self._text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def _offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def add(self, node: ast.expr | ast.stmt, new: str) -> None:
        last = node.end_lineno or node.lineno
        start = self._offset(node.lineno, node.col_offset)
        end = self._offset(last, node.end_col_offset or 0)
        at_import = self._functions == 0
        self.found.append(Mutant(self.module, node.lineno, last, start, end, new, at_import))

    def changed(self, node: Any, **fields: Any) -> None:
        """Adds `node` with other values in some of its fields."""
        old = {name: getattr(node, name) for name in fields}
        for name, value in fields.items():
            setattr(node, name, value)
        self.add(
            node, f"({ast.unparse(node)})" if isinstance(node, ast.expr) else ast.unparse(node)
        )
        for name, value in old.items():
            setattr(node, name, value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Decorators and annotations stay; a docstring is no statement to leave out."""
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self._functions += 1
        for statement in node.body[ast.get_docstring(node, clean=False) is not None :]:
            self.visit(statement)
        self._functions -= 1

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815  the visitor's name

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body[ast.get_docstring(node, clean=False) is not None :]:
            self.visit(statement)

    def visit_Module(self, node: ast.Module) -> None:
        for statement in node.body[ast.get_docstring(node, clean=False) is not None :]:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """The name of a type is an annotation like any other: it says nothing at run time."""
        if node.value is not None and ast.unparse(node.annotation) != "TypeAlias":
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if not any(isinstance(it, ast.Name) and it.id.startswith("__") for it in node.targets):
            self.visit(node.value)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        if not (isinstance(node.func, ast.Name) and node.func.id == "TypeVar"):
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for index, operator in enumerate(node.ops):
            if other := SWAPS.get(type(operator)):
                ops: list[Any] = list(node.ops)
                ops[index] = other()
                self.changed(node, ops=ops)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.changed(node, op=SWAPS[type(node.op)]())
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if other := SWAPS.get(type(node.op)):
            self.changed(node, op=other())
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if other := SWAPS.get(type(node.op)):
            self.changed(node, op=other())
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.add(node, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> None:
        self.add(node.test, f"(not ({ast.unparse(node.test)}))")
        self.generic_visit(node)

    visit_IfExp = visit_If  # noqa: N815
    visit_While = visit_If  # noqa: N815

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.add(node, repr(not value))
        elif isinstance(value, int):
            self.add(node, repr(value + 1))
        elif isinstance(value, str) and WORD.fullmatch(value):
            self.add(node, repr(value + "x"))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Parts of a formatted text have no place of their own in 3.11."""

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not isinstance(node.value, ast.Constant):
            self.add(node, "return None")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant | ast.Yield | ast.YieldFrom):
            self.add(node, "pass")
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.add(node, "pass")
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self.add(node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self.add(node, "break")


def places(module: str, text: str) -> list[Mutant]:
    """Every change of one module that still compiles."""
    finder = Places(module, text)
    finder.visit(ast.parse(text))
    return [mutant for mutant in finder.found if compiles(applied(mutant, text))]


def applied(mutant: Mutant, text: str) -> str:
    data = text.encode()
    return (data[: mutant.start] + mutant.new.encode() + data[mutant.end :]).decode()


def compiles(text: str) -> bool:
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True


# --- as a plugin of pytest (-p mutants): which test reaches which line -------------------------


def pytest_runtest_protocol(item: Any, nextitem: Any) -> None:
    """Everything that is traced from here on belongs to this test."""
    del nextitem
    REACH.test = item.nodeid


def pytest_runtest_logreport(report: Any) -> None:
    REACH.seconds[report.nodeid] += report.duration
    if report.failed:
        REACH.failed.add(report.nodeid)


def pytest_sessionstart() -> None:
    if REACH_FILE:
        threading.settrace(REACH.trace)
        sys.settrace(REACH.trace)


def pytest_sessionfinish() -> None:
    if not REACH_FILE:
        return
    sys.settrace(None)
    lines = {
        f"{name}:{line}": sorted(tests - REACH.failed)
        for (name, line), tests in REACH.lines.items()
    }
    told = {"lines": lines, "seconds": REACH.seconds}
    Path(REACH_FILE).write_text(json.dumps(told), encoding="utf-8")


class Reach:
    """Which tests have run which lines of the program, and how long each took."""

    def __init__(self) -> None:
        self.test = ""
        self.lines: dict[tuple[str, int], set[str]] = defaultdict(set)
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()  # without any change, so they say nothing of one

    def trace(self, frame: FrameType, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if f"/{SOURCE}/" not in name:
            return None
        if event in ("line", "call"):
            module = name.rpartition(f"/{SOURCE}/")[2]
            if module in HEART:
                self.lines[module, frame.f_lineno].add(self.test)
        return self.trace


REACH: Final = Reach()
REACH_FILE: Final = os.environ.get("MUTANTS_REACH")  # the suite takes such variables away


# --- as a program -------------------------------------------------------------------------------


class MutantsCopy(TreeCopy):
    """A copy that also knows which tests reach which lines."""

    def prepare(self) -> None:
        """Copies the tree, and makes the folder of what is measured."""
        super().prepare()
        self._home.mkdir(exist_ok=True)

    @property
    def _home(self) -> Path:
        return self.folder / ".reach"

    def tests_of(self, module: str) -> list[str]:
        files = (str(it.relative_to(self.folder)) for g in HEART[module] for it in self._glob(g))
        return list(dict.fromkeys(files))

    def _glob(self, pattern: str) -> list[Path]:
        found = sorted((self.folder / "tests").glob(pattern))
        if not found:
            raise SystemExit(f"no tests match {pattern}: mend HEART")
        return found

    def reach(self, modules: list[str]) -> tuple[dict[str, list[str]], dict[str, float]]:
        """Which tests reach each line, and how long each takes; measured once for each group."""
        lines: dict[str, list[str]] = {}
        seconds: dict[str, float] = {}
        for patterns in dict.fromkeys(HEART[module] for module in modules):
            name = re.sub(r"\W+", "-", "_".join(patterns)) + ".json"
            kept = self._home / name
            module = next(it for it in modules if HEART[it] == patterns)
            if not kept.exists():
                code = self.pytest("-p", "mutants", *self.tests_of(module), MUTANTS_REACH=str(kept))
                print(f"reach of {patterns}: pytest ended with {code}", flush=True)
            told = json.loads(kept.read_text(encoding="utf-8"))
            wanted = {it for it in modules if HEART[it] == patterns}
            lines |= {k: v for k, v in told["lines"].items() if k.split(":")[0] in wanted}
            seconds |= told["seconds"]
        return lines, seconds


def chosen(
    mutant: Mutant, lines: dict[str, list[str]], seconds: dict[str, float], near: list[str]
) -> list[str]:
    """The tests that reach a change, those of the nearest files first, within the time for it."""
    if mutant.at_import:
        touched = [
            it for at, its in lines.items() if at.startswith(f"{mutant.module}:") for it in its
        ]
        # Whoever only looks at a table that is made there runs none of its lines.
        touched += [it for it, took in seconds.items() if took <= _QUICK_SECONDS]
    else:
        spread = range(mutant.line, mutant.last + 1)
        touched = [it for line in spread for it in lines.get(f"{mutant.module}:{line}", ())]
    reached = {it for it in touched if it and it.split("::")[0] in near}
    place = {name: index for index, name in enumerate(near)}
    ordered = sorted(
        reached, key=lambda it: (seconds[it] > 1, place[it.split("::")[0]], seconds[it])
    )
    found, left = [], TESTS_SECONDS
    for test in ordered:
        left -= seconds[test] + 0.005
        if left < 0:
            break
        found.append(test)
    return found


def diff(mutant: Mutant, text: str) -> Iterator[str]:
    after = applied(mutant, text).splitlines()
    name = f"{mutant.module}:{mutant.line}"
    yield from difflib.unified_diff(text.splitlines(), after, name, name, "", "", 1, "")


def run(bench: MutantsCopy, drawn: list[Mutant]) -> list[Mutant]:
    """Makes each change in turn, and answers those that nothing has noticed."""
    lines, seconds = bench.reach(sorted({mutant.module for mutant in drawn}))
    alive = []
    for number, mutant in enumerate(drawn, 1):
        file = bench.folder / SOURCE / mutant.module
        text = file.read_text(encoding="utf-8")
        tests = chosen(mutant, lines, seconds, bench.tests_of(mutant.module))
        began = time.monotonic()
        if tests:
            (bench.folder / "asked.txt").write_text("\n".join(tests), encoding="utf-8")
            file.write_text(applied(mutant, text), encoding="utf-8")
            try:
                code = bench.pytest("-x", "@asked.txt", seconds=LIMIT_SECONDS)
            finally:
                file.write_text(text, encoding="utf-8")
        else:
            code = 0
        fate = {0: "SURVIVED", 1: "killed", -1: "killed by time"}.get(code, f"killed ({code})")
        took = f"{len(tests)} tests, {time.monotonic() - began:.0f} s"
        print(f"{number:4} {fate:15} {mutant.module}:{mutant.line}  {took}", flush=True)
        if code == 0:
            alive.append(mutant)
            print("\n".join(diff(mutant, text)), flush=True)
    return alive


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--after", type=int, default=0, help="leave out so many of those drawn")
    parser.add_argument("--module", action="append", choices=HEART, help="only this; repeatable")
    parser.add_argument("--line", type=int, help="only changes of this line")
    parser.add_argument("--work", type=Path, help="folder of the copy; kept, with what it measured")
    parser.add_argument("--list", action="store_true", help="count the places and end")
    asked = parser.parse_args()
    found = []
    for module in asked.module or HEART:
        text = (ROOT / SOURCE / module).read_text(encoding="utf-8")
        found += [it for it in places(module, text) if asked.line in (None, it.line)]
    if asked.list:
        print(len(found))
        return
    drawn = random.Random(asked.seed).sample(found, min(asked.number, len(found)))[asked.after :]
    if not drawn:
        raise SystemExit("nothing to change there")
    with tempfile.TemporaryDirectory(prefix="svc-mutants-") as temporary:
        bench = MutantsCopy((asked.work or Path(temporary)).absolute())
        bench.prepare()
        alive = run(bench, drawn)
    killed = len(drawn) - len(alive)
    print(
        f"{killed} of {len(drawn)} noticed: {100 * killed / len(drawn):.1f} % (seed {asked.seed})"
    )


if __name__ == "__main__":
    main()
