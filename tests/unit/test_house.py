"""The folders read like a table of contents: what they may hold, and what a name may mean."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import pytest

import svc
from benchmarks.mutants import is_near
from svc.cli.framework.registry import COMMANDS
from svc.sandbox.store.sqlite import TABLES
from svc.state.schema import MIGRATIONS

HOUSE: Final = Path(svc.__file__).parent
MOST_ENTRIES: Final = 24
MOST_LINES: Final = 500
MOST_LINES_OF_A_FUNCTION: Final = 40
MOST_UNEXPLAINED: Final = 5
# These lists may only shrink: what is fine by now has to leave them.
TOO_LONG: Final[frozenset[str]] = frozenset()
TOO_FULL: Final = frozenset({"."})
LONG_FUNCTIONS: Final = frozenset({"render/output.py: __init__"})  # an argument an option
SAME_FIRST_WORD: Final[frozenset[str]] = frozenset()
TWO_MEANINGS: Final[frozenset[str]] = frozenset()
IN_TWO_ROOMS: Final[dict[str, set[str]]] = {}
NAMED_TABLE: Final = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE) (\w+)")
# A function is named by a verb: a participle does not say whether it asks, does or builds. Nouns
# that look like one stand first.
PARTICIPLE: Final = re.compile(
    r"_?(?!_|(?:embed|feed|keyring|need|proceed|seed|signing|succeed)(?:_|$))"
    r"(?:[a-z]{2,}(?:ed|ing)|built|broken|chosen|drawn|done|found|given|gone|heard|held|hidden|kept"
    r"|known|left|lost|made|meant|paid|said|seen|sent|shown|spoilt|taken|told|unknown|written)(?:_|$)"
)
NAMED_BY_PARTICIPLE: Final = {
    # Steps of a story, named by the state that they bring about.
    "sandbox/control/scenarios.py": set(
        "answered arrived cancelled decided declined disputed finished_refund held paid processing "
        "rejected sent".split()
    ),
    # Values that are computed when asked for; these may only become fewer.
    "batch/tally.py": {"known"},
    "cli/events/screen/lines.py": {"rejected", "waiting"},
    "cli/framework/session.py": {"expected"},
    "delivery/planner.py": {"_passed_at"},
    "listen/forward/dispatcher.py": {"pending"},
    "listen/inbox/commit.py": {"_waited"},
    "sandbox/store/jobs.py": {"done"},
    "sandbox/store/transaction.py": {"stored"},
}
UNNAMED_ACTOR: Final = re.compile(r"\b(?:nobody|whoever|somebody|nought)\b", re.IGNORECASE)
TYPE_NAME: Final = re.compile(r"[A-Z][a-z]\w*")


def _rooms() -> list[Path]:
    rooms = [HOUSE, *(one.parent for one in HOUSE.rglob("*/__init__.py"))]
    assert len(rooms) > 20
    return sorted(set(rooms))


def _modules() -> list[Path]:
    modules = sorted(HOUSE.rglob("*.py"))
    assert len(modules) > 200
    return modules


class Contents(NamedTuple):
    """What stands in a module: functions with their lines, types, and texts that name tables.

    `callables` are the functions and methods that are named from outside; a property is a value.
    """

    functions: list[tuple[str, int]]
    callables: set[str]
    types: list[str]
    aliases: list[str]
    tables: set[str]


@cache
def _contents() -> dict[Path, Contents]:
    """Every module, read once for all tests."""
    found = {}
    for path in _modules():
        text = path.read_text()
        module = ast.parse(text)
        statements = [*_statements(module)]
        callables = {*_methods_and_functions(module, statements)}
        tables = {*NAMED_TABLE.findall(text)}
        contents = found[path] = Contents([], callables, [], [*_aliases(module)], tables)
        contents.types.extend(contents.aliases)
        for node in statements:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    contents.functions.append((node.name, _lines(node)))
                case ast.ClassDef(name=name):
                    contents.types.append(name.strip("_"))
    return found


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All that stands in a block, at any depth: a tenth of what `ast.walk` goes through."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for statement in getattr(node, block, ()):
            yield statement
            yield from _statements(statement)


def _name(path: Path) -> str:
    return path.relative_to(HOUSE).as_posix()


def _entries(room: Path) -> set[str]:
    """What one reads in a listing; a package's own head is not an entry, nor a word of `svc`."""
    hidden = {"__pycache__", "__init__.py"}
    if room.name == "cli":
        hidden.update(word.replace("-", "_") for word in COMMANDS)
        hidden.update([f"{word}.py" for word in hidden])
    found = [one for one in room.iterdir() if one.name not in hidden]
    # A folder that was removed may be left with its bytecode.
    return {
        one.name for one in found if one.is_file() or {each.name for each in one.iterdir()} - hidden
    }


def test_no_folder_is_too_long_to_read() -> None:
    full = {_name(room) for room in _rooms() if len(_entries(room)) > MOST_ENTRIES}
    assert full == TOO_FULL


def test_no_folder_of_tests_is_too_long_to_read() -> None:
    """But for those of data."""
    folders = {one.parent for one in Path(__file__).parents[1].rglob("*.py")}
    assert len(folders) > 60
    assert {one for one in folders if len(_entries(one)) > MOST_ENTRIES} == set()


def test_no_module_is_too_long_to_read() -> None:
    long = {_name(one) for one in _modules() if len(one.read_text().splitlines()) > MOST_LINES}
    assert long == TOO_LONG


def test_no_function_is_too_long_to_read() -> None:
    """With what it takes; what it promises, its docstring, is not read line by line."""
    long = {
        f"{_name(module)}: {name}"
        for module, contents in _contents().items()
        for name, lines in contents.functions
        if lines > MOST_LINES_OF_A_FUNCTION
    }
    assert long == LONG_FUNCTIONS


def _lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.body[0]
    told = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(function) else 0
    return (function.end_lineno or 0) - function.lineno + 1 - told


def test_siblings_with_a_common_first_word_are_a_folder() -> None:
    found = set()
    for room in _rooms():
        words = defaultdict(set)
        for entry in _entries(room):
            stem = entry.split(".")[0]
            words[stem.strip("_").split("_")[0]].add(stem)
        found |= {
            _name(room / stem) for stems in words.values() if len(stems) > 1 for stem in stems
        }
    assert found == SAME_FIRST_WORD


def test_a_name_of_a_type_means_one_thing() -> None:
    """A class, a type that is put together of others, or an option that has a name."""
    where = defaultdict(set)
    for module, contents in _contents().items():
        for name in contents.types:
            where[name].add(_name(module))
    assert len(where) > 600
    assert {name for name, places in where.items() if len(places) > 1} == TWO_MEANINGS, where


def test_what_the_tests_of_a_room_share_means_one_thing() -> None:
    """Of two helpers with one name, a test's head says only by its import which it has."""
    where = defaultdict(set)
    for module in Path(__file__).parent.glob("*/**/*.py"):
        room = module.relative_to(Path(__file__).parent).parts[0]
        if not module.name.startswith("test_"):
            for name in re.findall(r"^class _*(\w+)", module.read_text(), re.MULTILINE):
                where[room, name].add(module)
    assert len(where) > 20
    assert {name for name, places in where.items() if len(places) > 1} == set()


def test_a_name_of_a_class_means_one_thing_in_the_tests_too() -> None:
    """Next to the program's, and in what tests and benchmarks write as a program in a string."""
    tests = [*Path(__file__).parents[1].rglob("*.py")]
    where = defaultdict(list)
    for module in chain(_modules(), tests):
        for name in re.findall(r"^class _*(\w+)", module.read_text(), re.MULTILINE):
            where[name].append(module.name)
    for module, contents in _contents().items():
        for name in contents.aliases:
            where[name].append(module.name)
    assert len(tests) > 300
    assert len(where) > 700
    assert {name: places for name, places in where.items() if len(places) > 1} == {}


def _aliases(module: ast.Module) -> Iterator[str]:
    for one in module.body:
        match one:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _makes_type(name, value):
                yield name


def _makes_type(name: str, value: ast.expr) -> bool:
    """Whether what is given a name written as a type's is one, such as `Literal["a", "b"]`."""
    if not TYPE_NAME.fullmatch(name):
        return False
    match value:
        case ast.Call(func=ast.Name(id=made)):
            return made == "NewType"
    return isinstance(value, ast.Subscript | ast.BinOp | ast.Attribute)


def test_statements_of_a_table_stand_in_the_room_that_owns_it() -> None:
    """Who else wants something of it asks that room, in words; the schema makes them all."""
    made = "\n".join((*chain(*MIGRATIONS), *TABLES))
    tables = set(re.findall(r"CREATE TABLE (\w+)", made))
    assert len(tables) > 15
    where = defaultdict(set)
    for module, contents in _contents().items():
        for table in tables & contents.tables:
            where[table].add(_name(module.parent))
    rooms = {table: rooms - {"state"} for table, rooms in where.items()}
    assert rooms.keys() == tables
    assert {table: rooms for table, rooms in rooms.items() if len(rooms) > 1} == IN_TWO_ROOMS


def test_no_statement_numbers_its_parameters() -> None:
    """SQLite calls `?1` a name: Python 3.12 warns of a sequence for it, and 3.14 refuses it."""
    numbered = [_name(one) for one in _modules() if re.search(r"\?\d", one.read_text())]
    assert numbered == []


def test_errors_of_the_system_are_worded_in_one_place() -> None:
    """An `OSError` may have no text of its own: `system_words` knows what to say then."""
    named = {_name(one) for one in _modules() if ".strerror" in one.read_text()}
    assert named == {
        "errors.py",
        "cli/framework/streams.py",  # makes such an error
        "system/pdeathsig.py",  # a script that imports nothing of svc
    }


@pytest.mark.parametrize("room", _rooms(), ids=_name)
def test_a_room_says_what_it_is(room: Path) -> None:
    """In a sentence; one with many modules also says with which of them a reader begins."""
    head = ast.get_docstring(ast.parse((room / "__init__.py").read_text()))
    assert head
    assert head[0].isupper() or head.startswith("`")
    if room.parent == HOUSE or len(_own_modules(room)) > MOST_UNEXPLAINED:
        assert _beginnings(head) & _own_modules(room)


@pytest.mark.parametrize("room", _rooms(), ids=_name)
def test_no_room_binds_a_name_that_a_module_of_its_own_has(room: Path) -> None:
    """The module takes the name when it is loaded: what looks it up later finds another thing.

    Python 3.14 looks annotations up when they are asked for, which was behind that.
    """
    room_name = ".".join(("svc", *room.relative_to(HOUSE).parts))
    bound = {
        each.asname or each.name
        for node in ast.parse((room / "__init__.py").read_text()).body
        if isinstance(node, ast.ImportFrom) and node.module != room_name
        for each in node.names
    }
    assert bound.isdisjoint(_own_modules(room))


def _own_modules(room: Path) -> set[str]:
    return {one.stem for one in room.glob("*.py")} - {"__init__"} | {
        one.parent.name for one in room.glob("*/__init__.py")
    }


def _beginnings(head: str) -> set[str]:
    """What the sentences that speak of a beginning name: `run`, `main.py`, `server.Receiver`."""
    sentences = re.split(r"[;:.]\s", " ".join(head.split()))
    named = [re.findall(r"`([^`]+)`", one) for one in sentences if re.search(r"\b[Bb]egin\b", one)]
    return {re.split(r"[./]", name)[0] for names in named for name in names}


def test_the_map_has_each_room() -> None:
    """Each room is a row of it, and no row is of a room that is gone."""
    rooms = (HOUSE / "README.md").read_text().partition("## Recipes")[0]
    rows = re.findall(r"^\| (`.*?) \|", rooms, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == {room.name for room in _rooms() if room.parent == HOUSE}


def test_each_room_says_which_tests_to_run() -> None:
    """The table of the tests' README has each folder of the program, and paths that are there."""
    tests = Path(__file__).parents[1]
    rows = re.findall(
        r"^\| `(\w+)` \| `(tests/.*)\|$", (tests / "README.md").read_text(), re.MULTILINE
    )
    rooms = {room.name for room in _rooms() if room.parent == HOUSE}
    assert {room for room, _ in rows} == rooms
    named = {path for _, paths in rows for path in re.findall(r"tests/[\w/.]+", paths)}
    assert {path for path in named if not (tests.parent / path).exists()} == set()


def test_few_ask_which_system_runs() -> None:
    """What systems do differently stands in `system`, whose head says who asks besides."""
    asking = {
        _name(one)
        for one in _modules()
        if re.search(r"\bsys\.platform\b|\bos\.name\b", one.read_text())
        if one.relative_to(HOUSE).parts[0] != "system"
    }
    assert asking == {
        "cli/doctor/checks.py",
        "cli/framework/session.py",
        "listen/inbox/sqlite.py",
        "listen/tunnels/program.py",
        "paths.py",
    }


def test_no_message_offers_another_state_folder() -> None:
    """It knows no request that is unresolved in this one, and svc would send that a second time."""
    naming = {_name(one) for one in _modules() if "SVC_STATE_DIR" in one.read_text()}
    assert naming == {"paths.py", "cli/quickstart.py"}


def _methods_and_functions(module: ast.Module, statements: list[ast.AST]) -> Iterator[str]:
    classes = [node for node in statements if isinstance(node, ast.ClassDef)]
    for body in [module.body, *(each.body for each in classes)]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not any(
                "property" in ast.unparse(decorator) for decorator in node.decorator_list
            ):
                yield node.name


def test_a_function_is_named_by_a_verb() -> None:
    """`check_key`, not `checked_key`; what has a reason not to be stands in the list."""
    found = {
        _name(path): names
        for path, contents in _contents().items()
        if (names := set(filter(PARTICIPLE.match, contents.callables)))
    }
    assert found == NAMED_BY_PARTICIPLE


def test_a_sentence_names_who_acts() -> None:
    """A caller, a process, a person: "nobody" and "whoever" leave open which is meant."""
    texts = [path for path in HOUSE.rglob("*") if path.suffix in {".py", ".txt", ".js", ".md"}]
    assert len(texts) > len(_modules())
    found = {
        f"{_name(path)}: {line.strip()}"
        for path in texts
        for line in path.read_text(encoding="utf-8").splitlines()
        if UNNAMED_ACTOR.search(line)
    }
    assert found == set()


@pytest.mark.parametrize(
    ("test", "module", "near"),
    [
        ("tests/unit/listen/forward/test_pump.py::test_x", "listen/ingest.py", True),
        ("tests/unit/client/test_retry.py::test_x", "listen/ingest.py", False),
        ("tests/cli/keys/test_roll.py::test_x", "cli/keys/roll.py", True),
        ("tests/unit/cli/framework/test_app.py::test_x", "cli/keys/roll.py", True),
        ("tests/cli/keys/test_roll.py::test_x", "keys/store.py", False),
        ("tests/cli/requests/test_list.py::test_x", "cli/requests.py", True),
        ("tests/unit/test_money.py::test_x", "money.py", True),
        ("tests/unit/render/test_cells.py::test_x", "money.py", False),
    ],
)
def test_near_is_what_has_the_name_of_the_room(test: str, module: str, near: bool) -> None:
    """By which the mutator chooses whom it asks first about a change."""
    assert is_near(test, module) is near
