"""Errors have owners: what wraps a callback, and that none goes without."""

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import svc
from svc.listen.owners import BUGS_MAX, BugCounter, own, own_task

HOUSE: Final = Path(svc.__file__).parent
# The place of the callback among the arguments.
GIVEN: Final = {
    "call_soon": 0,
    "call_soon_threadsafe": 0,
    "call_later": 1,
    "call_at": 1,
    "add_done_callback": 0,
    "add_reader": 1,
    "add_writer": 1,
    "create_task": 0,
    "ensure_future": 0,
}
OWNERS: Final = {"own", "own_task"}
QUIET: Final = {"LocalError", "SvcError", "Exception", "BaseException"}
# A future that is waited for in the next line: what it raises is raised there.
AWAITED: Final = {
    "listen/listener.py: ensure_future(self._stop.wait())",
    "listen/forward/replay.py: create_task(work())",
    "listen/log/client.py: create_task(call)",
    # The same, and where nobody waits any more its callback takes the error.
    "listen/log/client.py: create_task(client.flush(timeout=_LATE_PONG_SECONDS))",
    # These raise nothing.
    "listen/log/connection.py: add_done_callback(lambda _: ended.set())",
    "listen/log/connection.py: call_soon_threadsafe(self._loop.stop)",
    "listen/log/source.py: create_task(one)",  # its end is the source's, which ends the listener
}
# Nothing is lost by these, which end something.
PASSED_OVER: Final = {
    "listen/forward/dispatcher.py: except LocalError",  # the writer tells what it could not read
    "listen/forward/pump.py: except LocalError",  # the same, and it looks again
    "listen/inbox/sqlite.py: suppress(LocalError)",  # the log is copied by the next command
    "cli/events/endpoint.py: except SvcError",  # they say False, which is what is asked
    "listen/inspector/app.py: except LocalError",  # the same, and the address is printed
    "cli/events/inbox.py: suppress(SvcError)",  # times are shown as this machine's clock has them
    "cli/events/run.py: except LocalError",  # the port is taken, and another one is, with a note
    "listen/log/client.py: suppress(Exception)",  # of what is let go; no answer is what is asked
    "listen/log/connection.py: suppress(Exception)",  # of what is let go
    "listen/log/connection.py: suppress(SvcError)",  # a server that is away has no version
    "listen/log/group.py: except SvcError",  # no answer: the log gives the event again by itself
    "listen/log/group.py: suppress(SvcError)",  # the same
    "listen/log/log_cursor.py: except SvcError",  # a report for an admin, who sees the one before
    "listen/log/log_cursor.py: suppress(SvcError)",  # the same, the last one
    "listen/log/status.py: except SvcError",  # a right that a user need not have: told as unknown
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for folder in (HOUSE / "listen", HOUSE / "cli" / "events"):
        for path in sorted(folder.rglob("*.py")):
            yield path.relative_to(HOUSE).as_posix(), ast.parse(path.read_text())


def is_owned(node: ast.expr) -> bool:
    """A call of `own`, or a name that was bound to one."""
    if isinstance(node, ast.Attribute) and node.attr == "discard":
        return True  # of a set: it raises nothing
    if isinstance(node, ast.Name):
        return node.id == "watch"
    return isinstance(node, ast.Call) and ast.unparse(node.func) in OWNERS


def test_every_callback_of_the_loop_has_an_owner() -> None:
    """R121: none that is given to the loop could raise into it."""
    found, bare = 0, set()
    for name, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                place = GIVEN.get(node.func.attr)
                if place is None or len(node.args) <= place:
                    continue
                found += 1
                if not is_owned(node.args[place]):
                    bare.add(f"{name}: {node.func.attr}({ast.unparse(node.args[place])})")
    assert found > 10
    assert bare - AWAITED == set()


def handlers(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Gives what catches errors of ours or all, and whether it makes something of the error."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            caught = {one.id for one in ast.walk(node.type) if isinstance(one, ast.Name)} & QUIET
            inner = [each for line in node.body for each in ast.walk(line)]
            used = any(isinstance(each, ast.Name) and each.id == node.name for each in inner)
            raised = any(isinstance(each, ast.Raise) for each in inner)
            for one in caught:
                yield f"except {one}", used or raised
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "suppress":
            for argument in node.args:
                if ast.unparse(argument) in QUIET:
                    yield f"suppress({ast.unparse(argument)})", False


def test_no_error_is_passed_over_in_silence() -> None:
    """R121: whatever catches a LocalError, or all errors, hands it on, tells it or raises."""
    found = [(name, what, tells) for name, tree in modules() for what, tells in handlers(tree)]
    assert sum(tells for *_, tells in found) > 10
    silent = {f"{name}: {what}" for name, what, tells in found if not tells}
    assert silent - PASSED_OVER == set()


async def test_what_a_callback_raises_is_reported_and_ends_its_own_alone() -> None:
    """R121: the loop goes on, whatever is called next."""
    reported: list[BaseException] = []
    ended: list[str] = []

    def bad() -> None:
        raise KeyError("x")

    async def worse() -> None:
        raise ValueError

    loop = asyncio.get_running_loop()

    def handle(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        reported.append(context["exception"])

    loop.set_exception_handler(handle)
    loop.call_soon(own(bad, lambda: ended.append("callback")))
    loop.call_soon(own(lambda: ended.append("next")))
    await loop.create_task(own_task(worse, lambda: ended.append("task")))
    assert [type(one) for one in reported] == [KeyError, ValueError]
    assert ended == ["callback", "next", "task"]


def test_a_hundred_bugs_of_a_kind_in_a_minute_are_too_many() -> None:
    """R121: another kind, and those of an hour ago, are counted apart."""
    bugs = BugCounter()
    for second in range(90):
        assert bugs.count(KeyError(), second / 2) < BUGS_MAX
    assert bugs.count(ValueError(), 45.0) < BUGS_MAX
    assert bugs.count(KeyError(), 3600.0) == 1
    counts = [bugs.count(KeyError(), 3600.0 + number / 2) for number in range(1, 100)]
    assert [count >= BUGS_MAX for count in counts] == [False] * 98 + [True]
