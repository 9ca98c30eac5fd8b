"""`tests/PROMISES.md` and what src and tests refer to: every reference leads to something here."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from benchmarks.breaks import FOR, choose_tests, read_page
from svc.sandbox.fidelity import ROWS

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
TESTS = ROOT / "tests"
PAGE = TESTS / "PROMISES.md"
LAST = 134

HEAD = re.compile(r"^- \*\*R(\d+)\*\* (.+)$")
TEST = re.compile(r"^  - `([^`]+)`$")
NAME = re.compile(r"^(?:async )?def (test_\w+)\(", re.MULTILINE)
# One number, or a range of them: R12, R33-R38, R2 to R4.
NUMBER = re.compile(r"\bR(\d{1,3})(?:(?:-| to )R(\d{1,3}))?\b")
ASSUMPTION = re.compile(r"\(?\bassumptions: ([^()`\n;]+)[)\n;]")
# How papers were referred to that the repository does not hold. What is meant is said in words, or
# by a subject of `svc help assumptions`.
PAPERS = re.compile(
    r"""
    \b[Cc]ontract\ (?:[A-L](?:\.?\d+)?|\d\.\d)\b         # a section of what was assumed
    | \b[Cc]li(?:\.md)?,?(?:\ section)?\ \d\b            # a section about the commands
    | \b(?:cli|contract|promises|performance|peers|style)\.md\b
    | \b(?:[Ii]nterface|[Cc]ontract|[Ss]pec)\ section\ \d
    | (?:[\"(,;]\ ?|\#\ )[Rr]ows?\ \d+(?:\ (?:to|and)\ \d+)?[.:,;)]   # a row of a table of faults
    | [( ][A-L]\.\d{1,2}(?=[\s.,:;)])                       # the same, without its name
    | \b[Ff]ault(?:\ rows)?\ \d+
    | \bpeers\ \d | \bgaps?\ \d+\ of\b | [(]issue\ \#?\d
    | (?:[\"(,]\ ?|\#\ |performance\ )[LP]\d{1,2}\b      # a figure, a fact that was measured
    """,
    re.VERBOSE,
)
# Each of them has one of these: the rest of a text need not be searched.
CANDIDATE = re.compile(r"^.*(?:\d|\.md|ontract ).*\n", re.MULTILINE)
# Each the way it stood once; in two halves, so that this file is free of them.


@cache
def texts() -> dict[str, str]:
    """Every Python file of the program and of the tests, by its path."""
    files = [*(ROOT / "src").rglob("*.py"), *TESTS.rglob("*.py")]
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}


@cache
def page() -> dict[int, tuple[str, tuple[str, ...]]]:
    """Each promise's sentence and tests; every line that begins as an entry has to be one."""
    promises: dict[int, tuple[str, tuple[str, ...]]] = {}
    number = 0
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("- "):
            head = HEAD.match(line)
            assert head is not None, line
            number = int(head[1])
            assert number not in promises, line
            promises[number] = (head[2], ())
        elif line.startswith("  "):
            test = TEST.match(line)
            assert test is not None, line
            promises[number] = (promises[number][0], (*promises[number][1], test[1]))
    return promises


def numbers(text: str) -> Iterator[int]:
    for first, last in NUMBER.findall(text):
        yield from range(int(first), int(last or first) + 1)


@cache
def names_in(path: str) -> frozenset[str]:
    """The names of a file's tests; none of ours are in classes."""
    return frozenset(NAME.findall((TESTS / path).read_text(encoding="utf-8")))


def test_page_has_every_promise_in_order() -> None:
    """Each number once, each with one sentence."""
    found = list(page())
    assert found == list(range(1, LAST + 1))
    assert all(sentence.endswith(".") and len(sentence) < 200 for sentence, _ in page().values())


def test_every_promise_has_a_test() -> None:
    """There is none that is only said."""
    assert [number for number, (_, tests) in page().items() if not tests] == []


def test_every_test_of_the_page_is_there() -> None:
    """A file that moved or a test that was renamed is noticed."""
    named = {test for _, tests in page().values() for test in tests}
    assert len(named) > LAST
    for test in named:
        path, _, name = test.partition("::")
        assert (TESTS / path).is_file(), test
        assert name in names_in(path) if name else names_in(path), test


def test_every_file_of_the_page_names_its_promise() -> None:
    """So that who changes a test sees which promise it holds."""
    for number, (_, tests) in page().items():
        for test in tests:
            path = test.partition("::")[0]
            assert number in numbers((TESTS / path).read_text(encoding="utf-8")), (number, test)


def test_no_promise_is_listed_twice_with_one_test() -> None:
    for number, (_, tests) in page().items():
        assert [test for test, times in Counter(tests).items() if times > 1] == [], number


def test_no_unknown_promise_is_referred_to() -> None:
    """Docstrings and comments name promises by number; the page says what each is."""
    found = {number for text in texts().values() for number in numbers(text)}
    assert len(found) > LAST - 1
    assert found <= set(page())


def test_assumptions_that_are_referred_to_exist() -> None:
    """`assumptions: Lists` names a subject of `svc help assumptions`."""
    cited = {
        name.strip()
        for text in texts().values()
        for names in ASSUMPTION.findall(text)
        for name in names.split(",")
    }
    assert len(cited) > 10
    assert cited <= {row.subject for row in ROWS}


def test_nothing_refers_to_papers_that_are_not_here() -> None:
    """What a reader cannot look up says nothing; the reason is given in words."""
    assert len(texts()) > 700
    assert {Path(path).parts[0] for path in texts()} == {"src", "tests"}
    found = [
        f"{path}: {reference[0].strip()}"
        for path, text in texts().items()
        for reference in PAPERS.finditer("".join(CANDIDATE.findall(text)))
    ]
    assert found == []


def read_hunks(text: str) -> Iterator[tuple[str, str, str]]:
    """Yields the file of each hunk of a patch, the lines that it expects and those that it leaves."""
    path = ""
    for part in re.split(r"^(?=--- a/|@@ )", text, flags=re.MULTILINE)[1:]:
        first, *lines = part.splitlines()
        if first.startswith("--- "):
            path = first.removeprefix("--- a/")
        else:
            sides = ([line[1:] for line in lines if line[:1] in (" ", side, "")] for side in "-+")
            before, after = ("\n".join(side).rstrip("\n") for side in sides)
            yield path, before, after


def test_every_break_of_a_promise_can_still_be_made() -> None:
    """A patch goes stale when a line beside its change is written anew: then write it anew too."""
    patches = sorted((TESTS / "benchmarks/breaks").glob("*.patch"))
    stale, hunks = [], 0
    for patch in patches:
        for path, before, _ in read_hunks(patch.read_text()):
            hunks += 1
            if not (ROOT / path).is_file() or before not in (ROOT / path).read_text():
                stale.append(patch.name)
    assert stale == []
    assert len(patches) <= hunks
    numbers = {int(re.split(r"\D", patch.name[1:])[0]) for patch in patches}
    assert len(numbers) >= LAST - 1  # R59 is held by the versions of libraries


def test_no_break_of_a_promise_breaks_the_program_itself(tmp_path: Path) -> None:
    """One that uses a name that is gone makes every test fail, and shows nothing of the promise."""
    for patch in (TESTS / "benchmarks/breaks").glob("*.patch"):
        for path, before, after in read_hunks(patch.read_text()):
            file = tmp_path / patch.stem / path
            file.parent.mkdir(parents=True, exist_ok=True)
            text = (file if file.exists() else ROOT / path).read_text()
            file.write_text(text.replace(before, after, 1))
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select=F821,E9"]
    checked = subprocess.run([*ruff, tmp_path], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_breaks_name_tests_of_their_promise() -> None:
    """A test that is renamed would be asked by no break, and be said to notice none."""
    for promise in read_page(PAGE.read_text(encoding="utf-8")):
        for patch in promise.patches:
            assert choose_tests(promise, patch), patch.name
            named = FOR.search(patch.read_text())
            assert named is None or len(choose_tests(promise, patch)) == len(named[1].split(", "))
