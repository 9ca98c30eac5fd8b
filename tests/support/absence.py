"""For tests that something is not there: first it is proved that there is something to look at.

A name that has changed, or a folder that is empty, would otherwise pass for ever.
"""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path


def importable(names: Iterable[str]) -> set[str]:
    """Gives the names back; each is a module that could be loaded."""
    wanted = set(names)
    assert wanted
    missing = sorted(name for name in wanted if find_spec(name) is None)
    assert missing == [], f"no such module any more: {missing}"
    return wanted


def files_in(folder: Path, pattern: str = "*") -> list[Path]:
    """All files below a folder; there is at least one."""
    found = [path for path in folder.rglob(pattern) if path.is_file()]
    assert found, f"no {pattern} in {folder}"
    return found


def holding(folder: Path, secret: bytes) -> list[Path]:
    """The files below a folder, which is not empty, that hold some bytes."""
    return [path for path in files_in(folder) if secret in path.read_bytes()]
