"""What is compiled once for all: the program, as its installation does it, and the tests.

A process that is started would compile the program each time; the tests are compiled on all cores.
"""

import compileall
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from _pytest.assertion import rewrite

import svc

TESTS: Final = Path(__file__).parents[2]
FEW: Final = 20  # are compiled by whoever wants them


def compile_program() -> None:
    """Compiles what has changed of the program."""
    compileall.compile_dir(Path(svc.__file__).parent, quiet=2)


def compile_tests(config: pytest.Config) -> None:
    """Compiles tests that never were, a part on each core, before workers are started."""
    with suppress(AttributeError):  # a later pytest may call its own parts otherwise
        new = [path for path in sorted(TESTS.rglob("test_*.py")) if not _kept(path).exists()]
        cores = len(os.sched_getaffinity(0)) if len(new) >= FEW else 0
        for child in [_in_a_child(config, new[core::cores]) for core in range(cores)]:
            os.waitpid(child, 0)


def _in_a_child(config: pytest.Config, paths: Sequence[Path]) -> int:
    child = os.fork()
    if child == 0:
        try:
            for path in paths:
                _compile(config, path)
        finally:
            os._exit(0)  # what it could not do is done, or complained about, by the workers
    return child


def _kept(path: Path) -> Path:
    return rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"


def _compile(config: pytest.Config, path: Path) -> None:
    """Does what pytest does where it loads a file of tests for the first time."""
    kept = _kept(path)
    if rewrite.try_makedirs(kept.parent):
        status, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, status, kept)
