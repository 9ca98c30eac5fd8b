"""The real program and a real sandbox, for tests to run and to look into."""

import importlib.util
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from support.forks.program import Begun, EndedRun, Forking
from support.suite.shapes import hold
from support.suite.surroundings import GIVEN
from svc.completion.tree import Tree
from svc.system.signals import STOPPING

SECONDS: Final = 60.0
# What needs a process: it runs until it is told to stop, starts others, or sends from many threads.
APART: Final = frozenset("listen start stop quickstart checkout replay completion".split())
_OPTION: Final = re.compile(r'"param": ?"(--[^"]+)"')
_BY_SIGNAL: Final = 128
NO_KEYRING: Final = "keyring.backends.fail.Keyring"


@dataclass(frozen=True)
class Result:
    """What one run of the real program left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The error envelope on stderr."""
        return json.loads(self.err.splitlines()[-1])["error"]


def run_to_end(command: Sequence[str | Path], **how: Any) -> "subprocess.CompletedProcess[str]":
    """Runs a program, and keeps what it says and how it ends."""
    return subprocess.run(command, capture_output=True, text=True, check=False, **how)


class Svc:
    """Runs the real program in the test's environment, forked from one that is loaded already.

    Where that cannot be (the environment changes how an interpreter starts, or a test wants the
    start itself), it is `python -m svc`.
    """

    def __init__(self, forking: Forking | None = None) -> None:
        self._forking = forking

    def __call__(self, *argv: str, stdin: str = "", env: dict[str, str] | None = None) -> Result:
        ended = self.bytes(*argv, stdin=stdin.encode(), env=env)
        out, err = (_text(each) for each in (ended.out, ended.err))
        assert "Traceback" not in err, err
        _hold_run(argv, out, err)
        return Result(ended.code, out, err)

    def bytes(self, *argv: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> EndedRun:
        """The same, as it was written."""
        whole = {**os.environ, **(env or {})}
        if self._forking is not None and self._forking.can_run(whole):
            return self._forking.run(argv, whole, stdin)
        done = subprocess.run(
            [sys.executable, "-m", "svc", *argv],
            input=stdin,
            env=whole,
            capture_output=True,
            check=False,
            timeout=SECONDS,
        )
        return EndedRun(done.returncode, done.stdout, done.stderr)

    def begin(self, *argv: str) -> "Begun | subprocess.Popen[str]":
        """Starts the program and leaves it running."""
        if self._forking is not None and self._forking.can_run(os.environ):
            return self._forking.begin(argv, os.environ)
        command = [sys.executable, "-m", "svc", *argv]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ok(self, *argv: str, stdin: str = "", env: dict[str, str] | None = None) -> Any:
        """Runs a command that must succeed and returns its JSON."""
        result = self(*argv, stdin=stdin, env=env)
        assert result.code == 0, result.err
        return result.json


class Inside(Svc):
    """Runs the program in the test's own process where nothing tells the difference.

    A fifth of the time of a fork: what most tests of a command are about is what it prints, its
    exit code and what it leaves, and no two of them run at once.
    """

    def __call__(self, *argv: str, stdin: str = "", env: dict[str, str] | None = None) -> Result:
        whole = {**os.environ, **(env or {})}
        if not can_be_inside(argv, whole):
            return super().__call__(*argv, stdin=stdin, env=env)
        result = inside(*argv, stdin=stdin.encode(), env=env)
        assert "Traceback" not in result.err, result.err
        _hold_run(argv, result.out, result.err)
        return result


def _hold_run(argv: Sequence[str], out: str, err: str) -> None:
    """Holds what every run is to keep to: known names, and an option that is one in an error."""
    hold(out)
    named = _OPTION.search(err)
    if named is not None and not any(word.startswith(named[1]) for word in argv):
        assert named[1] in _option_names(), err


@cache
def _option_names() -> frozenset[str]:
    tree = command_tree()
    every = (one for command in tree.root.walk() for one in tree.options_of(command))
    return frozenset(name for one in every for name in (*one.names, *one.negatives))


def can_be_inside(argv: Sequence[str], env: Mapping[str, str]) -> bool:
    """Whether a run asks for nothing that a process has once: its path, time zone and keyring."""
    return (
        APART.isdisjoint(argv)
        and env.get("TZ") == GIVEN["TZ"]
        and env.get("PYTHON_KEYRING_BACKEND") == NO_KEYRING
        and not any(name.startswith(("PYTHONPATH", "LC_", "XDG_")) for name in env)
    )


def inside(*argv: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Result:
    """Runs a command line in this process: for what needs no process of its own."""
    from svc.cli.commands import tree
    from svc.cli.framework import app
    from svc.cli.framework.session import Session
    from svc.cli.framework.streams import Streams
    from svc.cli.main import run

    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    out, err = io.BytesIO(), io.BytesIO()
    before = _of_the_process()
    with (
        patch.dict(os.environ, env or {}),
        patch.object(app, "load", _load_once),
        patch.object(tree, "load", _load_once),
        patch.multiple(sys, stdin=given, stdout=_written(out), stderr=_written(err)),
        Session(argv, os.environ, Streams.of_process()) as session,
    ):
        code = run(session)
        sys.stdout.flush()
        sys.stderr.flush()
    # A signal is to end the process: it keeps the handlers by which a second one would.
    assert code > _BY_SIGNAL or _of_the_process() == before, "the run has left something changed"
    return Result(int(code), _text(out.getvalue()), _text(err.getvalue()))


def _of_the_process() -> list[object]:
    """What a run may change while it lasts, and leaves as it was to whoever has called it."""
    handlers = [signal.getsignal(number) for number in STOPPING]
    return [*handlers, sys.excepthook, sys.unraisablehook, Path.cwd(), dict(os.environ)]


def _load_once(*words: str, asked: object = None) -> Any:
    """Makes a command with all its verbs, for all runs: an eighth of what a run costs."""
    del asked
    return _whole_command(*words)


@cache
def _whole_command(*words: str) -> Any:
    from svc.cli.framework.registry import load

    return load(*words)


@cache
def command_tree() -> Tree:
    """What `svc commands` tells, made once for whatever asks about it."""
    from svc.cli.commands.tree import tree

    return tree()


def _written(raw: io.BytesIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(raw, encoding="utf-8", write_through=True)


def _text(data: bytes) -> str:
    """As `subprocess` reads text: with one kind of line ends."""
    return data.decode().replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True)
class Sandbox:
    """A running sandbox with nothing in it."""

    url: str
    port: int

    def control(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        """Calls a control under `/_sandbox` without going through the program under test."""
        return api(self.port, method, f"/_sandbox{path}", body, key, **{"Svc-Sandbox": "1"})

    def posts(self) -> list[Any]:
        """Every POST of the API that it has seen."""
        seen = self.control("GET", "/requests")["data"]
        return [one for one in seen if one["method"] == "POST" and one["path"].startswith("/v1/")]


def ask(
    port: int,
    method: str,
    path: str,
    body: Any = None,
    key: str | None = "sk_test_sandbox",
    **headers: str,
) -> tuple[int, str]:
    """Asks a sandbox without the program under test; gives the status and the body."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    headers["Content-Type"] = "application/json"
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def api(
    port: int,
    method: str,
    path: str,
    body: Any = None,
    key: str | None = "sk_test_sandbox",
    **headers: str,
) -> Any:
    """Asks as `ask` does; gives what the JSON of the answer says."""
    return json.loads(ask(port, method, path, body, key, **headers)[1])


BUILD: Final = Path(__file__).parents[2] / ".build"


@cache
def build_script(name: str) -> Any:
    """A script that writes what the repository holds and the program does not run, as a module."""
    spec = importlib.util.spec_from_file_location(f"{name}_maker", BUILD / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
