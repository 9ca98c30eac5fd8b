"""The real program and a real sandbox, for tests to run and to look into."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any


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


class Svc:
    """Runs the real program as a process of its own, in the test's environment."""

    def __call__(self, *argv: str, stdin: str = "", env: dict[str, str] | None = None) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "svc", *argv],
            input=stdin,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    def ok(self, *argv: str, stdin: str = "", env: dict[str, str] | None = None) -> Any:
        """Runs a command that must succeed and returns its JSON."""
        result = self(*argv, stdin=stdin, env=env)
        assert result.code == 0, result.err
        return result.json


@dataclass(frozen=True)
class Sandbox:
    """A running sandbox with nothing in it."""

    url: str
    port: int

    def control(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        """Calls a control under `/_sandbox` without going through the program under test."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Svc-Sandbox": "1", "Content-Type": "application/json"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        try:
            payload = None if body is None else json.dumps(body)
            connection.request(method, f"/_sandbox{path}", payload, headers)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()
