"""Finds libraries that are missing, too old or too new, once something has failed already.

`errors` and `start` call it, so that a bad installation is not reported as a bug of svc.
"""

import re
import sys
from collections.abc import Iterable
from importlib import metadata
from importlib.util import find_spec
from typing import Final

from svc.errors import LocalError

DISTRIBUTION: Final = "svc-cli"
_REQUIREMENT: Final = re.compile(r"([A-Za-z0-9._-]+)\s*([<>=!~].*)?$")
_ORDER: Final = {">=": lambda a, b: a >= b, "<": lambda a, b: a < b}


def find_unmet(distribution: str = DISTRIBUTION) -> LocalError | None:
    """An error that names each library that is missing, too old or too new, and how to get it.

    None where all is as the package declares it, or where nothing declares it.
    """
    try:
        declared = metadata.requires(distribution) or ()
    except metadata.PackageNotFoundError:
        return None
    wrong = list(_find_wrong(declared))
    if not wrong:
        return None
    found = "; ".join(f"{name} {installed or 'is missing'}" for name, _, installed in wrong)
    needed = " ".join(f"'{name}{limits}'" for name, limits, _ in wrong)
    return LocalError(
        f"svc cannot run with what is installed: {found}.",
        hint=f"pip install {needed}, into {sys.prefix}",
    )


def _find_wrong(declared: Iterable[str]) -> Iterable[tuple[str, str, str | None]]:
    for line in declared:
        match = _REQUIREMENT.match(line.partition(";")[0].strip())
        if match is None or "extra ==" in line:
            continue
        name, limits = match[1], match[2] or ""
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            # A program of one file has its libraries without what describes them.
            if find_spec(name.replace("-", "_").lower()) is None:
                yield name, limits, None
            continue
        if not _within(installed, limits):
            yield name, limits, installed


def _within(installed: str, limits: str) -> bool:
    """Whether a version keeps limits of the two kinds that svc declares, `>=` and `<`."""
    for limit in filter(None, limits.split(",")):
        sign = ">=" if limit.startswith(">=") else "<"
        if not _ORDER[sign](_numbers(installed), _numbers(limit.removeprefix(sign))):
            return False
    return True


def _numbers(version: str) -> list[int]:
    """The numbers of a release without zeros at its end: 1.0 is 1."""
    found = re.match(r"[0-9.]*", version)
    numbers = [int(part) for part in (found[0] if found else "").split(".") if part]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers
