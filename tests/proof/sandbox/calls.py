"""A sandbox in memory or by HTTP, and the calls that proofs make at it."""

import json
import os
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from support.launching import launch_options
from support.sandbox_calls import AsgiSandbox
from svc.clock import SystemClock
from svc.sandbox.process import launch

Doc = dict[str, Any]
JSON = (b"content-type", b"application/json")


KEYS = {"test": "sk_test_sandbox", "live": "sk_live_sandbox"}
SHOPPERS = {"test": "pk_test_sandbox", "live": "pk_live_sandbox"}


class Calls:
    """The calls of a test; how a request gets to the sandbox is for `send_raw` to say."""

    calls = 0

    def get(self, path: str, mode: str = "test") -> Doc:
        """The object or list at a path; it must be there."""
        status, shown = self.ask(path, mode)
        assert status == 200, (path, shown)
        return shown

    def ask(self, path: str, mode: str) -> tuple[int, Doc]:
        """A GET with the mode's secret key: the status and what was answered."""
        return self.send("GET", path, None, KEYS[mode])

    def post(self, path: str, body: Doc | None = None, mode: str = "test") -> tuple[int, Doc]:
        """A POST with the mode's secret key: the status and what was answered."""
        return self.send("POST", path, body or {}, KEYS[mode])

    def control(self, path: str, body: Doc | None = None, mode: str = "test") -> tuple[int, Doc]:
        """A control call."""
        return self.send("POST", f"/_sandbox{path}", {**(body or {}), "mode": mode}, "")

    def pay(self, body: Doc, mode: str = "test") -> tuple[int, Doc]:
        """An attempt at the checkout, with the mode's publishable key."""
        return self.send("POST", "/_sandbox/checkout/pay", body, SHOPPERS[mode])

    def look(self, path: str) -> Doc:
        """A control that only shows something."""
        status, shown = self.send("GET", f"/_sandbox{path}", None, "")
        assert status == 200, (path, shown)
        return shown

    def advance(self, **how: Any) -> Doc:
        status, shown = self.send("POST", "/_sandbox/clock/advance", how, "")
        assert status == 200, shown
        return shown

    def reset(self, seed: int, fixture: str | None = None) -> None:
        chosen = {"seed": seed} if fixture is None else {"seed": seed, "fixture": fixture}
        assert self.send("POST", "/_sandbox/reset", chosen, "")[0] == 200

    def send(self, method: str, path: str, body: Doc | None, key: str) -> tuple[int, Doc]:
        """One request; the answer's status and its body as JSON."""
        status, raw = self.send_raw(method, path, body, key)
        shown: Doc = json.loads(raw)
        return status, shown

    def send_raw(
        self, method: str, path: str, body: Doc | None, key: str, *more: tuple[bytes, bytes]
    ) -> tuple[int, bytes]:
        """One request, with further header lines; the answer's status and bytes."""
        raise NotImplementedError


class AsgiCalls(Calls):
    """A running sandbox; every call is a whole request through its ASGI interface."""

    def __init__(self, **options: Any) -> None:
        self._sandbox = AsgiSandbox(**options)
        self.close = self._sandbox.close

    def send_raw(
        self, method: str, path: str, body: Doc | None, key: str, *more: tuple[bytes, bytes]
    ) -> tuple[int, bytes]:
        """One request, with further header lines; the answer's status and bytes."""
        self.calls += 1
        headers = {name.decode(): text.decode() for name, text in more}
        answer = self._sandbox.call(
            method,
            path,
            key=key or None,
            headers={"svc-sandbox": "1", **headers},
            **({} if body is None else {"json": body}),
        )
        return answer.status, answer.body


class Socket(Calls):
    """A sandbox process, called over one kept-alive connection."""

    def __init__(self, folder: Path) -> None:
        self._options = launch_options(folder)
        self._record = launch.start(self._options, os.environ, SystemClock())
        self._connection = HTTPConnection("127.0.0.1", self._record.port, timeout=60)

    def close(self) -> None:
        self._connection.close()
        launch.stop(self._options.folder, self._record, SystemClock())

    def reset(self, seed: int, fixture: str | None = None) -> None:
        super().reset(seed, fixture)
        assert self.send("POST", "/_sandbox/clock", {"mode": "frozen"}, "")[0] == 200

    def send_raw(
        self, method: str, path: str, body: Doc | None, key: str, *more: tuple[bytes, bytes]
    ) -> tuple[int, bytes]:
        """One request, with further header lines; the answer's status and bytes."""
        self.calls += 1
        lines = {"Svc-Sandbox": "1", **{name.decode(): text.decode() for name, text in more}}
        if key:
            lines["Authorization"] = f"Bearer {key}"
        if body is not None:
            lines["Content-Type"] = "application/json"
        sent = None if body is None else json.dumps(body)
        self._connection.request(method, path, sent, lines)
        answer = self._connection.getresponse()
        return answer.status, answer.read()
