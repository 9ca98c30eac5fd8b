"""Workers as forks of the process that deals the tests to them.

What all of them need is loaded once: pytest, the program, the files of tests, the tests in their
order, and the server that forks the program. A worker that is started, as one is in place of a worker
that has died, loads and collects all of it again, which takes seven seconds of a processor.
"""

import atexit
import gc
import logging
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest
from _pytest.pathlib import import_path
from _pytest.runner import runtestprotocol
from execnet import gateway_io
from execnet.gateway_base import Popen2IO, get_execmodel

from support.forks.program import Forking
from support.forks.sandbox import as_after_exec

_start: Final = gateway_io.create_io
_collected: Final[list[pytest.Session]] = []  # of the process of which this one is a fork


class WorkerFork(Popen2IO):
    """What execnet has of a worker: its pipes, how it ends, and how to kill it."""

    def __init__(self, shared: Forking) -> None:
        reading, saying = os.pipe()
        hearing, writing = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _become_worker((hearing, saying, 2), shared)
        os.close(hearing)
        os.close(saying)
        pipes = os.fdopen(writing, "wb"), os.fdopen(reading, "rb")
        super().__init__(*pipes, get_execmodel("main_thread_only"))

    def wait(self) -> int | None:
        with suppress(ChildProcessError):  # it was waited for before
            return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return None

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)


class ResultsAlone:
    """Has a worker say of a test that passes that it did, in place of four things more.

    When it begins, and that what it needs was made and tidied up, nobody is shown: to send it takes
    as long as most tests.
    """

    @staticmethod
    def is_for(config: pytest.Config) -> bool:
        """Whether this is a worker, and nobody asked how long each part of a test takes."""
        timed = config.getoption("durations", None), config.getoption("xmlpath", None)
        return hasattr(config, "workerinput") and timed == (None, None)

    @pytest.hookimpl
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def fork_workers(config: pytest.Config, count: int) -> None:
    """Loads all that they share, and has execnet use forks where it would start workers."""
    if sys.platform != "linux":
        return  # a fork of an interpreter with other systems' libraries may not go on
    shared = Forking()
    shared.load()
    config.add_cleanup(shared.end)
    gc.disable()  # nothing of what is loaded is garbage
    _import_tests(config)
    _collect(config)
    with suppress(ImportError):  # another Hypothesis: each worker reads our modules for constants
        from hypothesis.internal.conjecture.providers import _get_local_constants

        _get_local_constants()
    gc.freeze()
    gc.enable()
    shared.wait_until_loaded()
    Forking.shared = shared
    forks = [WorkerFork(shared) for _ in range(count)]

    def create_io(spec: Any, execmodel: Any) -> Any:
        if not forks or not spec.popen:
            return _start(spec, execmodel)
        return forks.pop()

    gateway_io.create_io = create_io


def take_collected(session: pytest.Session) -> bool:
    """Has the session of a worker run what was collected before it was forked, if anything was.

    What was collected stays below the session that collected it, which becomes the worker's: the two
    share what they know.

    Raises:
        pytest.Session.Interrupted: in the process that forked the workers, where something could not
            be collected.
    """
    if session.testsfailed:
        raise session.Interrupted(f"{session.testsfailed} errors during collection")
    if not _collected or _collected[0] is session:
        return False
    before, config = _collected[0], session.config
    session.items, session.testscollected = before.items, len(before.items)
    session._fixturemanager = before._fixturemanager
    session._fixturemanager.config = config
    # A worker has loaded conftest.py anew: an item calls the hooks of what its own session registered.
    files = config.pluginmanager._dirpath2confmods
    own = {it.__file__: it for its in files.values() for it in its}
    for folder, its in before.config.pluginmanager._dirpath2confmods.items():
        files[folder] = [own.get(it.__file__, it) for it in its]
    before.__dict__ = session.__dict__
    for node in {node for item in session.items for node in item.iter_parents()} | {before}:
        node.config = config
    config.hook.pytest_collection_finish(session=session)
    return True


def _collect(config: pytest.Config) -> None:
    """Collects the tests for all workers."""
    session = config.pluginmanager.getplugin("session")
    session.perform_collect()
    if not session.testsfailed:
        _collected.append(session)


def _import_tests(config: pytest.Config) -> None:
    """Imports files of tests as their collection would, which then finds them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for path in sorted(_files(config)):
            try:
                import_path(
                    path,
                    mode="importlib",
                    root=config.rootpath,
                    consider_namespace_packages=config.getini("consider_namespace_packages"),
                )
            except Exception:  # noqa: BLE001  their collection says what is wrong
                _forget(str(path))


def _forget(path: str) -> None:
    """Has a file that could not be imported be imported again, and not be found half done."""
    loaded = [(name, getattr(module, "__file__", None)) for name, module in sys.modules.items()]
    for name, file in loaded:
        if file == path:
            del sys.modules[name]


def _files(config: pytest.Config) -> Iterator[Path]:
    for named in config.args:
        path = config.invocation_params.dir / named.partition("::")[0]
        yield from path.rglob("test_*.py") if path.is_dir() else [path]


def _become_worker(streams: tuple[int, int, int], shared: Forking) -> NoReturn:
    """Goes on as an interpreter that execnet has started."""
    code = 1
    try:
        as_after_exec(streams, kept=shared.fileno())
        atexit._clear()
        logging.getLogger().handlers.clear()
        exec(eval(sys.stdin.readline()), {})
        code = 0
    except BaseException:  # noqa: BLE001  as the interpreter would have it
        sys.excepthook(*sys.exc_info())
    finally:
        atexit._run_exitfuncs()
        os._exit(code)
