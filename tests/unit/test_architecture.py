"""The architecture, the command tree and start-up, as tests."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from support.absence import importable
from svc import service
from svc.cli.framework.registry import COMMANDS, load, module_of
from svc.service.facts import NOUNS

ROOT = Path(__file__).parents[2]
HEAVY = ("rich", "httpx", "keyring", "starlette", "uvicorn", "jmespath", "click")
HEAVIER_STILL = (*HEAVY, "sqlite3", "asyncio", "email", "h11", "ssl", "tomllib", "tomlkit")
# A later Typer would load it with every command; it is not even here.
NOT_HERE = {"pydantic"}
TOP_LEVEL = {"pyproject.toml", "README.md", "src", "tests", "completions"}
# Where each library may be imported.
HOMES: Final = {
    "typer": {"svc.cli", "svc.start"},
    "rich": {"svc.render"},
    "keyring": {"svc.keys"},
    "starlette": {"svc.sandbox", "svc.listen"},
    "sqlite3": {"svc.state", "svc.sandbox"},
    "mcp": {"svc.cli"},
    "nats": {"svc.listen"},
    "httpx": {"svc.sandbox"},
}
# What tests import from behind a room's front. This may only shrink.
BEHIND: Final = {
    # The tree of all commands is made once for the tests of commands and of examples.
    "support/running.py": {"svc.cli.commands.tree"},
    # New databases are copies of one that the schema's own steps have made.
    "support/suite/schemas.py": {"svc.sandbox.store.sqlite"},
    # A program dies between two bytes that it sends.
    "support/kills/dying.py": {"svc.client.wire.connection"},
    # It refuses in the service's words what its server does not hand on.
    "process/sandbox/stub_sandbox.py": {"svc.sandbox.http.exchange"},
    # A world of which all is simulated: what stands in for a socket or a wait is put in its place.
    "simulation/listener_world.py": {
        "svc.listen.http.dial",
        "svc.listen.http.answers",
        "svc.listen.http.requests",
    },
    # Rules are taken out of the program, to see that they are missed.
    "simulation/listener_histories.py": {"svc.listen.inbox.ledger"},
    "simulation/test_listener.py": {
        "svc.listen.forward.health",
        "svc.listen.inbox.commit",
        "svc.listen.inbox.ledger",
        "svc.listen.inbox.runs",
    },
    # What is planned are rows as a file gives them.
    "unit/delivery/rows.py": {"svc.batch.rows"},
    # What is sent is compared as it goes over the wire.
    # A program in a string looks into the rooms that a field reaches by its one statement.
    "unit/service/test_recipes.py": {
        "svc.render.views.service",
        "svc.sandbox.parameters.bodies",
        "svc.sandbox.parameters.described",
        "svc.sandbox.parameters.problems",
        "svc.sandbox.parameters.tables",
        "svc.sandbox.resources.operation",
        "svc.sandbox.resources.orders",
        "svc.sandbox.resources.refunds",
        "svc.sandbox.store.documents",
        "svc.sandbox.store.transaction",
    },
    # The tables of both databases, and who names them.
    "unit/test_house.py": {"svc.sandbox.store.sqlite"},
}
# Rooms without a test of their own: the stories in `cli/` and `process/` hold what they do, and the
# screens in `unit/render/human` what is in a view.
TOLD_IN_STORIES: Final = {
    *(
        "cli/batch",
        "cli/events/audit",
        "cli/events/log",
        "cli/help",
        "cli/keys",
        "cli/mcp",
    ),
    "render/views",
}
IMPORT: Final = re.compile(
    r"^ *(?:import (?=svc)|from (?=svc[\w.]* import))([\w.]+)"
    r"(?: import (?:\(([^)]*)\)|([^(\n]*)))?",
    re.MULTILINE,
)
# Tests of a whole that name a part of it alone, to break it or to fill it.
ABOVE: Final = {"listen/test_waiting_its_time.py": "inbox"}


@pytest.mark.slow  # as the gate's linters do
def test_imports_obey_the_contracts() -> None:
    """Data flows one way; one library, one room; the sandbox shares nothing with the client."""
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert re.search(r"Contracts: [1-9]\d* kept, 0 broken", done.stdout), done.stdout


def test_each_library_is_forbidden_in_every_room_but_its_own() -> None:
    """A room that is not on a contract's list may import what it likes."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    forbidding = {
        each["forbidden_modules"][0]: set(each["source_modules"])
        for each in contracts["contracts"]
        if each["type"] == "forbidden" and not each["forbidden_modules"][0].startswith("svc")
    }
    tops = {f"svc.{path.stem}" for path in (ROOT / "src" / "svc").iterdir() if path.suffix != ".md"}
    rooms = {name for name in tops if "__" not in name}
    assert len(rooms) > 20
    assert {library: rooms - named for library, named in forbidding.items()} == HOMES


def test_every_room_has_its_layers() -> None:
    """Of a room with one module nothing is to be said."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layered = {room for each in contracts["contracts"] for room in each.get("containers", ())}
    source = ROOT / "src"
    rooms = {
        ".".join(head.parent.relative_to(source).parts)
        for head in source.rglob("__init__.py")
        if len({*head.parent.glob("*.py"), *head.parent.glob("*/__init__.py")}) > 2
    }
    assert len(rooms) > 20
    assert layered == rooms


# Words that are no module: their commands are made of `svc/service`.
DESCRIBED = {noun.word for noun in service.nouns() if noun.actions and noun.word != "events"}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_registered_command_has_its_module(name: str) -> None:
    """The registry finds modules by their words, which the import linter does not see."""
    command = load(name)
    assert command.name == name
    assert name in DESCRIBED or import_module(module_of(name)).app


def test_the_folder_is_the_help() -> None:
    """Every entry of `cli` is a word after `svc`, but for the entry and what the words share."""
    entries = {path.stem for path in (ROOT / "src/svc/cli").iterdir() if path.name[:2] != "__"}
    words = {name.replace("-", "_") for name in COMMANDS if name not in DESCRIBED}
    assert entries == words | {"main", "framework"}


def test_a_room_names_what_it_has() -> None:
    """The page at the head of a room is true: its modules and folders, and its neighbours', exist.

    That of `cli` is a walk through a command, and names functions as well: see below.
    """
    house = ROOT / "src/svc"
    named: dict[str, set[str]] = {}
    for room in (head.parent for head in house.rglob("*/__init__.py")):
        for word, module in named_at_the_head(room):
            inside = [one for one in (room, *room.parents) if one.is_relative_to(house.parent)]
            places = [(one / module).with_suffix(end) for one in inside for end in ("", ".py")]
            assert any(one.exists() for one in (*places, room / word)), word
            named.setdefault(str(room), set()).add(word)
    assert len(named) > 20
    assert sum(map(len, named.values())) > 130


def named_at_the_head(room: Path) -> list[tuple[str, str]]:
    """What the page at the head of a room names, and the path that this means."""
    ending = r"\.py" if room == ROOT / "src/svc/cli" else r"[/\w]"
    page = ast.get_docstring(ast.parse((room / "__init__.py").read_text())) or ""
    words = re.findall(rf"`([a-z_][\w/.]*{ending})`", page)
    return [(one, re.sub(r"^svc\.|\.[A-Z].*|\.py$|/$", "", one).replace(".", "/")) for one in words]


def test_tests_come_in_by_the_front() -> None:
    """A room's front is what its head names and what other rooms import of it.

    Of any room but its own a test imports only that, and of none a name that begins with an
    underscore. Its own is that of its folder below `unit/`; the words of `svc` are tested in `cli/`
    too. Benchmarks measure pieces.
    """
    modules, fronts = modules_of_svc(), fronts_of_rooms()
    assert 100 < sum(len(front) for front in fronts.values()) < len(modules) * 2 / 3
    behind, hidden, seen = defaultdict(set), set(), 0
    for path in sorted((ROOT / "tests").rglob("*.py")):
        where = path.relative_to(ROOT / "tests")
        folder, own = where.parts[0], where.parts[where.parts[0] == "unit"]
        for module, name in imports_of(path, modules):
            seen += 1
            if re.search(r"\b_(?!_)", f"{module}.{name}"):
                hidden.add((str(where), module, name))
            room = room_of(module)
            if room not in (None, own) and module not in fronts[room] and folder != "benchmarks":
                behind[str(where)].add(module)
    assert seen > 1000
    assert hidden == set()
    assert behind == BEHIND


def test_folders_of_tests_are_rooms_or_words() -> None:
    """Below `unit/` as in `src/svc`, at every level; below `cli/` as on a command line."""
    unit, house = ROOT / "tests/unit", ROOT / "src/svc"
    found = {one.parent.relative_to(unit) for one in unit.rglob("*.py")}
    rooms = {one.parent.relative_to(house) for one in house.rglob("__init__.py")}
    assert len(found) > 30
    assert found <= rooms
    seen = found.union(*(one.parents for one in found))
    assert {room.as_posix() for room in rooms - seen} == TOLD_IN_STORIES
    words = {one.parent.name for one in (ROOT / "tests/cli").glob("*/test_*.py")}
    assert len(words) > 5
    assert words <= {name.replace("-", "_") for name in COMMANDS}


def test_a_test_of_one_folder_lies_in_it() -> None:
    """Whoever changes `delivery/journal/sender_locks.py` looks for its tests in `unit/delivery/journal`."""
    unit, modules = ROOT / "tests/unit", modules_of_svc()
    above = {}
    for path in unit.glob("*/**/test_*.py"):
        room = ".".join(("svc", *path.parent.relative_to(unit).parts, ""))
        used = {f"{module}." for module, _ in imports_of(path, modules)}
        below = {one.removeprefix(room).partition(".")[0] for one in used if one.startswith(room)}
        lower = below.pop() if len(below) == 1 else ""
        if lower and (ROOT / "src" / room.replace(".", "/") / lower / "__init__.py").is_file():
            above[path.relative_to(unit).as_posix()] = lower
    assert above == ABOVE


def modules_of_svc() -> dict[str, Path]:
    """Each module, by its name."""
    source = ROOT / "src"
    names = {
        path: ".".join(path.relative_to(source).with_suffix("").parts)
        for path in source.rglob("*.py")
    }
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def imports_of(path: Path, modules: dict[str, Path]) -> Iterator[tuple[str, str]]:
    """The modules of svc that a file imports, and the names that it imports from them.

    Read by their form, which ruff keeps: to parse all files takes twenty times as long.
    """
    for module, many, one in IMPORT.findall(path.read_text()):
        if not many and not one:
            yield from [(module, "")] if module in modules else []
        elif module in modules:
            for name in re.findall(r"(\w+)(?: as \w+)?", re.sub(r"#.*", "", many or one)):
                whole = f"{module}.{name}"
                yield (whole, "") if whole in modules else (module, name)


def room_of(module: str) -> str | None:
    """The room, if that is a folder of svc."""
    _, _, inside = module.partition(".")
    room = inside.partition(".")[0]
    return room if room and (ROOT / "src/svc" / room).is_dir() else None


def fronts_of_rooms() -> dict[str | None, set[str]]:
    """The modules of each room that others may know; of `cli` each word is one."""
    modules = modules_of_svc()
    fronts: dict[str | None, set[str]] = defaultdict(set)
    for name, path in modules.items():
        for module, _ in imports_of(path, modules):
            if room_of(module) != room_of(name):
                fronts[room_of(module)].add(module)
    for room in {room_of(name) for name in modules} - {None}:
        named = [inside for _, inside in named_at_the_head(ROOT / "src/svc" / str(room))]
        fronts[room] |= {f"svc.{room}", *(f"svc.{room}.{one.replace('/', '.')}" for one in named)}
    fronts["cli"] |= {module_of(name) for name in COMMANDS}
    return fronts


def test_the_walk_through_a_command_is_true() -> None:
    """Each step names a file, and what it says of the file is in it."""
    room = ROOT / "src/svc/cli"
    steps = re.split(r"\n\d+\. ", (room / "__init__.py").read_text())[1:]
    assert len(steps) > 5
    for step in steps:
        files = re.findall(r"`([\w/]+\.py)`", step)
        text = "".join((room / name).read_text() for name in files)
        names = [word for word in re.findall(r"`(\w+)`", step) if files]
        assert not [name for name in names if not re.search(rf"\b{name}\b", text)], step


def loaded_by(*argv: str) -> set[str]:
    """Runs one command in a fresh interpreter and says which modules it has loaded."""
    code = (
        "import sys\nfrom svc.cli.main import main\n"
        f"code = main({list(argv)!r})\n"
        "print('@@', code, *sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    words = done.stderr.rsplit("@@", 1)[1].split()
    assert words[0] == "0", done.stderr
    assert "svc" in words, done.stderr
    return set(words[1:])


@pytest.mark.parametrize(
    "argv",
    [
        ["orders", "create", "--help"],
        *(
            pytest.param(argv, marks=pytest.mark.slow)
            for argv in (["--version"], ["--help"], ["orders", "--help"])
        ),
    ],
)
def test_help_loads_nothing_heavy(argv: list[str]) -> None:
    """Start-up is a feature: help and version need no library but Typer."""
    assert not loaded_by(*argv) & (importable(HEAVIER_STILL) | NOT_HERE)


@pytest.mark.parametrize(
    ("words", "noun"),
    [
        ("--help", set()),
        ("orders list --created-gte 7d --dry-run", {"orders"}),
        *(
            pytest.param(words, noun, marks=pytest.mark.slow)
            for words, noun in (
                ("requests --help", set[str]()),
                ("refunds create --help", {"refunds"}),
                ("payouts create -d amount:=1 --dry-run --help", {"payouts"}),
            )
        ),
        ("post /v1/refunds -d payment=pay_7cXd9eYf1gZh2iWj3kPq0aVb --dry-run", {"refunds"}),
    ],
)
def test_a_noun_is_described_only_where_it_is_used(
    words: str, noun: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R134: the description costs what is used of it."""
    monkeypatch.setenv("SVC_API_KEY", "sk_test_sandbox")
    monkeypatch.setenv("SVC_BASE_URL", "http://127.0.0.1:9")
    loaded = {name.removeprefix("svc.service.") for name in loaded_by(*words.split())}
    assert loaded & {f"{name}s" for name in NOUNS} == noun


def test_library_that_is_loaded_is_seen() -> None:
    """The guard would notice: what a command needs is in the list that it looks at."""
    code = "import svc.state.database, sys; print('sqlite3' in sys.modules, 'rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True False\n"
    assert "svc.service.orders" in loaded_by("orders", "--help")


def test_root_help_loads_no_command_module() -> None:
    """The registry is data; a command's module is loaded only when the command is named."""
    modules = {name for name in loaded_by("--help") if name.startswith("svc.cli.")}
    assert "svc.cli.framework.registry" in modules
    assert not modules & importable(module_of(name) for name in COMMANDS if name not in DESCRIBED)


@pytest.mark.parametrize("more", [[], pytest.param(["--inspect", "0"], marks=pytest.mark.slow)])
def test_a_listener_loads_the_inspectors_server_only_with_it(
    more: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Starlette and uvicorn, 60 ms of a start, are there for the page."""
    monkeypatch.setenv("SVC_WEBHOOK_SECRET", "whsec_test_4fQzN7cPq2LrTxVb9KdYhWm3")
    asked = ("events", "listen", "--base-url", "http://127.0.0.1:1", "--timeout", "0.1", *more)
    assert bool(loaded_by(*asked) & {"starlette", "uvicorn"}) == bool(more)


def test_source_keeps_to_the_top_level_agreed() -> None:
    """Nothing but the package, its tests and its completions lies at the top."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    top = {line.split("/")[0] for line in listed.splitlines()}
    assert {name for name in top if not name.startswith(".")} == TOP_LEVEL
