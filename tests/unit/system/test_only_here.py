"""Nothing outside the one room needs what only POSIX has."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import svc

ROOT = Path(svc.__file__).parent
HERE = ROOT / "system"
ONLY_POSIX = {
    *("crypt", "fcntl", "grp", "nis", "ossaudiodev", "posix", "pty", "pwd", "readline"),
    *("resource", "spwd", "syslog", "termios", "tty"),
}
NAMES = {
    *("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "add_signal_handler", "fchmod", "fchown", "fork"),
    *("getegid", "geteuid", "getgid", "getpgid", "getuid", "killpg", "posix_spawn", "setsid"),
    *("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SO_REUSEADDR"),
}
# Run on POSIX alone, as a program of its own: what ties another one to us.
PDEATHSIG = ROOT / "system" / "pdeathsig.py"


def sources(words: Iterable[str]) -> Iterator[tuple[Path, ast.Module]]:
    """The modules that have one of these words; without them a module need not be understood."""
    has_one = re.compile(rf"\b({'|'.join(sorted(words))})\b")
    found = [path for path in sorted(ROOT.rglob("*.py")) if path != PDEATHSIG]
    rooms = {path.relative_to(ROOT).parts[0] for path in found}
    assert {"cli", "client", "sandbox", "listen", "batch", "render", "keys", "system"} <= rooms
    assert PDEATHSIG.is_file()
    for path in found:
        text = path.read_text(encoding="utf-8")
        if has_one.search(text):
            yield path, ast.parse(text)


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The modules that are imported when this one is: not those inside functions and tries."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.lineno
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Try):
            yield from imported(node)


def test_import_of_one_is_seen() -> None:
    """At the top of a module, also below an `if`; where it is asked for at need it is no need."""
    tree = ast.parse(
        "import fcntl\nif True:\n    from pwd import getpwuid\ndef f():\n    import tty\n"
    )
    assert {name for name, _ in imported(tree)} == {"fcntl", "pwd"}
    assert len(ONLY_POSIX & sys.stdlib_module_names) > 9


def test_room_for_them_has_them() -> None:
    """What is looked for elsewhere is what this room is for."""
    used = {
        node.attr
        for path, tree in sources(NAMES)
        if HERE in path.parents
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
    }
    assert len(used & NAMES) > 4


def test_no_module_needs_one_of_posix_alone() -> None:
    """Windows has no such module: a program that imports it does not even start."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path, tree in sources(ONLY_POSIX)
        for name, line in imported(tree)
        if name.split(".")[0] in ONLY_POSIX
    ]
    assert wrong == []


def test_names_of_posix_alone_are_used_in_one_room() -> None:
    """What Windows lacks, or understands otherwise, is asked for in `system` only."""
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.attr}"
        for path, tree in sources(NAMES)
        if HERE not in path.parents
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in NAMES
    ]
    assert wrong == []
