"""What every test gets: surroundings, a limit and a home of its own, `svc` and `sandbox`."""

import asyncio
import gc
import inspect
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path

import pytest

from support.forks.program import Forking
from support.forks.sandbox import forked_by
from support.keyrings import gnome_keyring, session_bus
from support.kills.killing import kill_sandboxes
from support.launching import launch_options
from support.listeners import listen
from support.on_terminal import at_terminal, on_terminal, open_terminal
from support.paying import pay
from support.running import Sandbox, Svc
from support.servers.misbehaving import ScriptedServer
from support.suite.compiling import compile_program, compile_tests
from support.suite.dealing import dealt, is_quick, is_rare, is_timed, seconds_of, workers_of
from support.suite.drawing import choose_examples
from support.suite.limits import Limits, end_all
from support.suite.patience import is_at_rest, leaves_to_rest
from support.suite.schemas import copy_schemas
from support.suite.shapes import watch_errors
from support.suite.surroundings import take_over, work_in_memory
from support.suite.workers import ResultsAlone, fork_workers, take_collected
from svc.clock import SystemClock
from svc.errors import SvcError
from svc.sandbox.process.launch import start, stop

__all__ = [  # fixtures
    "at_terminal",
    "gnome_keyring",
    "listen",
    "on_terminal",
    "open_terminal",
    "pay",
    "session_bus",
]

FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Before anything is collected or started; once in each worker."""
    work_in_memory(os.environ)
    home = tempfile.mkdtemp(prefix="svc-tests-")
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    take_over(os.environ, home)
    watch_errors(SvcError)
    limits = Limits()
    limits.watch_processes()
    config.pluginmanager.register(limits)
    choose_examples(config.getoption("markexpr"))
    copy_schemas()
    if ResultsAlone.is_for(config):
        config.pluginmanager.register(ResultsAlone())
    if not hasattr(config, "workerinput"):  # once, before the workers start
        compile_program()
        if config.getoption("numprocesses", None):
            compile_tests(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: list[object]) -> None:
    """Workers are forks of this process: each began with four seconds of loading the same."""
    fork_workers(config, len(specs))


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> bool | None:
    """Nothing of what is collected is garbage: looking for it takes a third of the time."""
    gc.disable()
    return take_collected(session) or None


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """From here on there is garbage, but not among the tests."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """What `-n auto` means: three workers for each core, for tests of processes mostly wait.

    With two a core the cores were busy for two thirds of the time: 247 s against 181 s.
    """
    return len(os.sched_getaffinity(0)) * 3


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begins with what takes longest, so that no core waits for it at the end.

    What is rare is left to runs that ask for it, by its name or for all; at rest, all that holds no
    promise in seconds is left out, and in a run that leaves it to that, all that does.
    """
    rare = set() if os.environ.get("SVC_TEST_LONG") == "1" else {*filter(is_rare, items)}
    left_out = {item for item in rare if item.nodeid.partition("[")[0] not in config.args}
    if is_at_rest() or leaves_to_rest():
        left_out |= {item for item in items if is_timed(item) is not is_at_rest()}
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]
    items[:] = dealt(items, workers_of(config), seconds_of, is_quick)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Notes what fails: what it has started is ended."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_to_serializable(report: pytest.CollectReport | pytest.TestReport) -> None:
    """Workers send three reports of each test: without a list of words that nobody reads there."""
    if isinstance(report, pytest.TestReport) and report.passed:
        report.keywords = {}


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that is a coroutine runs on an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.function):
        return None
    wanted = inspect.signature(pyfuncitem.function).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names of homes. `tmp_path` looks at all folders that there are before it makes another."""
    folder = tmp_path_factory.mktemp("homes", numbered=False)
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def isolated(
    homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Path]:
    """Points every folder at a temporary one; no process outlives a test that fails."""
    home = next(homes).with_suffix(f".{request.function.__name__[:30]}")
    home.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SVC_CONFIG_DIR", str(home / "config"))
    monkeypatch.setenv("SVC_STATE_DIR", str(home / "state"))
    monkeypatch.setenv("SVC_CACHE_DIR", str(home / "cache"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    yield home
    if request.node.stash.get(FAILED, False):
        end_all(str(home))
        kill_sandboxes(home / "state" / "sandbox")  # a fork has its parent's environment
    elif request.config.getini("tmp_path_retention_policy") == "failed":
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def forking() -> Iterator[Forking]:
    """The program, loaded once, for all workers."""
    if Forking.shared is not None:
        yield Forking.shared
        return
    with Forking() as loaded:
        yield loaded


@pytest.fixture
def svc(forking: Forking) -> Svc:
    """The program."""
    return Svc(forking)


@pytest.fixture
def quick_sandboxes(forking: Forking) -> Iterator[None]:
    """Sandboxes that the test itself starts are forks of the loaded program, and end with it."""
    with forked_by(forking) as started:
        yield
    for each in started:
        each.kill()
        each.wait()


@pytest.fixture(scope="session")
def sandbox_process(
    forking: Forking, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    """One sandbox process for all tests; `sandbox` empties it for each."""
    folder = tmp_path_factory.mktemp("sandbox")
    options = launch_options(folder)
    with forked_by(forking) as started:
        record = start(options, os.environ, SystemClock())
    yield Sandbox(record.url, record.port)
    stop(folder, record, SystemClock())
    started[0].wait()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that answers, or misbehaves, as the test says."""
    made = ScriptedServer()
    yield made
    made.stop()


@pytest.fixture
def service(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """Such a server as the service that the program uses, with a key."""
    monkeypatch.setenv("SVC_BASE_URL", server.url)
    monkeypatch.setenv("SVC_API_KEY", "sk_test_4eC39HqLyjWDarjtT1zdp7dc")
    return server


@pytest.fixture(scope="session")
def seeds() -> Iterator[int]:
    """A seed for each reset: without one, a sandbox makes the last test's keys and ids again."""
    return count(1_000_000)


@pytest.fixture
def sandbox(
    sandbox_process: Sandbox, seeds: Iterator[int], monkeypatch: pytest.MonkeyPatch
) -> Sandbox:
    """An empty sandbox, and an environment in which the program uses it."""
    sandbox_process.control("POST", "/reset", {"seed": next(seeds)})
    monkeypatch.setenv("SVC_BASE_URL", sandbox_process.url)
    monkeypatch.setenv("SVC_API_KEY", "sk_test_sandbox")
    return sandbox_process
