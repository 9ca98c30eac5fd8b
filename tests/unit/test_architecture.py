"""The architecture, the command tree and start-up, as tests."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from support.absence import importable
from svc.cli.framework.registry import COMMANDS, load, module_of

ROOT = Path(__file__).parents[2]
HEAVY = ("rich", "httpx", "keyring", "starlette", "uvicorn", "jmespath", "click")
HEAVIER_STILL = (*HEAVY, "sqlite3", "asyncio", "email", "h11", "ssl", "tomllib", "tomlkit")
# A later Typer would load it with every command; it is not even here.
NOT_HERE = {"pydantic"}
TOP_LEVEL = {"pyproject.toml", "README.md", "src", "tests", "completions"}


def test_imports_obey_the_contracts() -> None:
    """Data flows one way; one library, one room; the sandbox shares nothing with the client."""
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert re.search(r"Contracts: [1-9]\d* kept, 0 broken", done.stdout), done.stdout


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_registered_command_has_its_module(name: str) -> None:
    """The registry finds modules by their words, which the import linter does not see."""
    command = load(name)
    assert command.name == name
    assert import_module(module_of(name)).app


def test_the_folder_is_the_help() -> None:
    """Every entry of `cli` is a word after `svc`, but for the entry and what the words share."""
    entries = {path.stem for path in (ROOT / "src/svc/cli").iterdir() if path.name[:2] != "__"}
    assert entries == {name.replace("-", "_") for name in COMMANDS} | {"main", "framework"}


def test_a_room_names_what_it_has() -> None:
    """The page at the head of a room is true: its modules and folders, and its neighbours', exist.

    That of `cli` is a walk through a command, and names functions as well: see below.
    """
    house = ROOT / "src/svc"
    named: dict[str, set[str]] = {}
    for head in house.rglob("*/__init__.py"):
        room = head.parent
        ending = r"\.py" if room == house / "cli" else r"[/\w]"
        page = ast.get_docstring(ast.parse(head.read_text())) or ""
        words = re.findall(rf"`([a-z_][\w/.]*{ending})`", page)
        for word in words:
            module = re.sub(r"^svc\.|\.[A-Z].*|\.py$|/$", "", word).replace(".", "/")
            inside = [one for one in (room, *room.parents) if one.is_relative_to(house.parent)]
            places = [(one / module).with_suffix(end) for one in inside for end in ("", ".py")]
            assert any(one.exists() for one in (*places, room / word)), word
            named.setdefault(str(room), set()).add(word)
    assert len(named) > 20
    assert sum(map(len, named.values())) > 130


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
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    words = done.stderr.rsplit("@@", 1)[1].split()
    assert words[0] == "0", done.stderr
    assert "svc" in words, done.stderr
    return set(words[1:])


@pytest.mark.parametrize(
    "argv", [["--version"], ["--help"], ["orders", "--help"], ["orders", "create", "--help"]]
)
def test_help_loads_nothing_heavy(argv: list[str]) -> None:
    """Start-up is a feature: help and version need no library but Typer."""
    assert not loaded_by(*argv) & (importable(HEAVIER_STILL) | NOT_HERE)


def test_library_that_is_loaded_is_seen() -> None:
    """The guard would notice: what a command needs is in the list that it looks at."""
    code = "import svc.state.database, sys; print('sqlite3' in sys.modules, 'rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True False\n"
    assert "svc.cli.orders" in loaded_by("orders", "--help")


def test_root_help_loads_no_command_module() -> None:
    """The registry is data; a command's module is loaded only when the command is named."""
    modules = {name for name in loaded_by("--help") if name.startswith("svc.cli.")}
    assert "svc.cli.framework.registry" in modules
    assert not modules & importable(module_of(name) for name in COMMANDS)


def test_source_keeps_to_the_top_level_agreed() -> None:
    """Nothing but the package, its tests and its completions lies at the top."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    top = {line.split("/")[0] for line in listed.splitlines()}
    assert {name for name in top if not name.startswith(".")} == TOP_LEVEL
