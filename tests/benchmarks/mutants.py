"""How many small random changes of the program the tests notice: `mutants.py [--number 300]`.

Draws lines by a seed from all of the program, makes one change at each (a comparison turned, a number
off by one, a statement gone) in a copy of the tree, and runs the tests that reach it in whichever
process (`reached_lines.py`): first those of the folder of the same name, then others, the quickest of
each within a minute. What no test notices is printed as a diff: it wants an assertion, or cannot be
noticed by anybody.

Run by hand; 300 changes take about an hour on one core, and `--after 80` goes on in the same `--work`
where a run with the same seed was ended. Drawn, for there are some thousands of places: where each of
them is to be tried, mutmut and cosmic-ray are made for it.
"""

import argparse
import ast
import difflib
import json
import random
import re
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from shutil import copy
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))  # as a script

from benchmarks import reached_lines
from benchmarks.tree_copy import TreeCopy

SOURCE: Final = "src/svc"
# They read the program's text, and notice that it is another one.
READERS: Final = re.compile(r"test_(architecture|copied_facts|house|promises|recipes)\b")
# What one change may cost with the near tests, and again with the others; the quickest first.
TESTS_SECONDS: Final = 60.0
LIMIT_SECONDS: Final = 150.0
_QUICK_SECONDS: Final = 0.02
_ALONE_SECONDS: Final = 15.0  # longer ones mostly wait, several beside each other

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
        """What a type is called says nothing here either."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "cast":
            self.visit(node.args[1])
        elif name not in ("TypeVar", "ParamSpec"):
            self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """Nor do the words of a type, whose alias may have no annotation."""
        if ast.unparse(node.value) != "Literal":
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
    """Every change of one module; one in a hundred does not compile."""
    finder = Places(module, text)
    finder.visit(ast.parse(text))
    return finder.found


def applied(mutant: Mutant, text: str) -> str:
    data = text.encode()
    return (data[: mutant.start] + mutant.new.encode() + data[mutant.end :]).decode()


def compiles(text: str) -> bool:
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def is_near(test: str, module: str) -> bool:
    """Whether a test lies in the folder of the module's room, or of the command's word."""
    room, *rest = module.removesuffix(".py").split("/")
    if not rest:
        return re.match(r"tests/unit/\w+\.py", test) is not None
    word = f"tests/cli/{rest[0]}/" if room == "cli" else f"tests/unit/{room}/"
    return test.startswith((f"tests/unit/{room}/", word))


class MutantsCopy(TreeCopy):
    """A copy that also knows which tests reach the lines that are drawn."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._seconds: dict[str, float] = {}
        self._lines: dict[str, list[str]] = {}

    def prepare(self) -> None:
        """Copies the tree, unless it was copied by the run that is gone on with."""
        if not self.python.exists():
            super().prepare()

    def read(self, mutant: Mutant) -> str:
        return (self.folder / SOURCE / mutant.module).read_text(encoding="utf-8")

    def draw(self, found: Sequence[Mutant], number: int, seed: int) -> list[Mutant]:
        """One change at each of so many lines: what a line could become makes it no likelier."""
        chance = random.Random(seed)
        lines: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
        for mutant in found:
            lines[mutant.module, mutant.line].append(mutant)
        mixed = chance.sample([*lines.values()], len(lines))
        drawn = (chance.choice(one) for one in mixed)
        return [*islice((one for one in drawn if compiles(applied(one, self.read(one)))), number)]

    def find_places(self, modules: Sequence[str], line: int | None) -> list[Mutant]:
        source = self.folder / SOURCE
        every = sorted(path.relative_to(source).as_posix() for path in source.rglob("*.py"))
        texts = {one: (source / one).read_text(encoding="utf-8") for one in modules or every}
        found = [one for module, text in texts.items() for one in places(module, text)]
        return [one for one in found if line in (None, one.line)]

    def measure(self, drawn: Sequence[Mutant], name: str, asked: Sequence[str]) -> None:
        """Asks which tests reach what is drawn, once for each draw."""
        kept = self.folder / f"{name}.json"
        if not kept.exists():
            lines = {(one.module, line) for one in drawn for line in range(one.line, one.last + 1)}
            columns = [*{module for module, _ in lines}, *(f"{one}:{line}" for one, line in lines)]
            reached_lines.lay_out(self.folder, columns)
            (packages,) = self.folder.glob(".venv/lib/python*/site-packages")
            copy(reached_lines.__file__, packages)
            start = packages / "reached_lines.pth"
            start.write_text(f"import reached_lines; reached_lines.begin({str(self.folder)!r})\n")
            began = time.monotonic()
            try:
                code = self.pytest("-p", "reached_lines", *asked)
            finally:
                start.unlink()
            print(f"reach: pytest ended with {code}, {time.monotonic() - began:.0f} s", flush=True)
            if code not in (0, 1):
                raise SystemExit(f"see {self.folder}/last.txt")
            (self.folder / "reached.json").rename(kept)
        told = json.loads(kept.read_text(encoding="utf-8"))
        self._lines, self._seconds = told["lines"], told["seconds"]

    def _choose(self, mutant: Mutant) -> tuple[list[str], list[str]]:
        """The tests that reach a change, near ones and others, each the quickest within the time."""
        own = f"/test_{Path(mutant.module).stem}.py::"
        if mutant.at_import:
            # Whoever only looks at a table that is made there runs none of its lines.
            reached = {*self._lines.get(mutant.module, ())}
            every = self._seconds.items()
            reached |= {one for one, took in every if took <= _QUICK_SECONDS or own in one}
        else:
            spread = range(mutant.line, mutant.last + 1)
            at = (f"{mutant.module}:{line}" for line in spread)
            reached = {test for place in at for test in self._lines.get(place, ())}
        reached = {one for one in reached if not READERS.search(one)}
        near = {one for one in reached if is_near(one, mutant.module)}
        touching = {*self._lines.get(mutant.module, ())}
        far = reached - near
        return self._within_time(near, touching, own), self._within_time(far, touching, own)

    def _within_time(self, tests: set[str], touching: set[str], own: str) -> list[str]:
        found, left = [], TESTS_SECONDS
        # What a file of the module's name holds first: a table is touched by thousands.
        order = {it: (own not in it, it not in touching, self._seconds[it], it) for it in tests}
        for test in sorted(tests, key=order.__getitem__):
            left -= self._seconds[test] + 0.005
            if left < 0:
                break
            found.append(test)
        return found

    def ask(self, mutant: Mutant) -> str:
        """Makes a change and tells who notices it: "near" or "far", and which test."""
        file = self.folder / SOURCE / mutant.module
        text = file.read_text(encoding="utf-8")
        near, far = self._choose(mutant)
        for place, tests in (("near", near), ("far", far)):
            skipped: list[str] = []
            workers = ["-n3"] if sum(self._seconds[one] for one in tests) > _ALONE_SECONDS else []
            while tests:
                (self.folder / "asked.txt").write_text("\n".join(tests), encoding="utf-8")
                file.write_text(applied(mutant, text), encoding="utf-8")
                more = [*(f"--deselect={one}" for one in skipped), *workers]
                try:
                    code = self.pytest("-x", *more, "@asked.txt", seconds=LIMIT_SECONDS)
                finally:
                    file.write_text(text, encoding="utf-8")
                if code in (0, 5):
                    break
                failed = self._read_failed()
                # On a busy machine a test of processes may fail without a change, and many may take
                # too long.
                noticed = code > 0 and not failed
                if noticed or self.pytest(failed or "@asked.txt", seconds=LIMIT_SECONDS) == 0:
                    return f"{place:6} {failed or f'exit code {code}'}"
                if not failed:  # it takes too long without the change as well
                    break
                skipped.append(failed)
        return ""

    def _read_failed(self) -> str:
        told = (self.folder / "last.txt").read_text(encoding="utf-8", errors="replace")
        failed = re.findall(r"^(?:FAILED|ERROR) (tests/[^\s\[]+)", told, re.MULTILINE)
        return failed[0] if failed else ""


def diff(mutant: Mutant, text: str) -> Iterator[str]:
    after = applied(mutant, text).splitlines()
    name = f"{mutant.module}:{mutant.line}"
    yield from difflib.unified_diff(text.splitlines(), after, name, name, "", "", 1, "")


def run(bench: MutantsCopy, drawn: Sequence[Mutant], after: int) -> list[str]:
    """Makes each change in turn, and answers who noticed it; "" where nobody did."""
    fates = []
    for number, mutant in enumerate(drawn[after:], after + 1):
        began = time.monotonic()
        fates.append(bench.ask(mutant))
        took = f"{time.monotonic() - began:.0f} s"
        fate = fates[-1] or "SURVIVED"
        print(f"{number:4} {mutant.module}:{mutant.line}  {took}  {fate}", flush=True)
        if not fates[-1]:
            print("\n".join(diff(mutant, bench.read(mutant))), flush=True)
    return fates


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--after", type=int, default=0, help="leave out so many of those drawn")
    parser.add_argument("--module", action="append", help="only this; repeatable")
    parser.add_argument("--line", type=int, help="only changes of this line")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="the tests that may notice")
    parser.add_argument("--work", type=Path, help="folder of the copy; kept, with what it measured")
    parser.add_argument("--list", action="store_true", help="count the places and end")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # with the change taken back
    with tempfile.TemporaryDirectory(prefix="svc-mutants-") as temporary:
        bench = MutantsCopy((asked.work or Path(temporary)).absolute())
        bench.prepare()
        found = bench.find_places(asked.module or [], asked.line)
        if asked.list:
            print(len(found))
            return
        drawn = bench.draw(found, asked.number, asked.seed)
        bench.measure(drawn, f"reach-{asked.seed}-{len(drawn)}", asked.tests)
        fates = run(bench, drawn, asked.after)
    if not fates:
        raise SystemExit("nothing to change there")
    killed = sum(map(bool, fates))
    near = sum(fate.startswith("near") for fate in fates)
    print(
        f"{killed} of {len(fates)} noticed: {100 * killed / len(fates):.1f} % (seed {asked.seed}), "
        f"{100 * near / max(killed, 1):.1f} % of them by the folder of the same name"
    )


if __name__ == "__main__":
    main()
