"""Runs the program against the ledger and looks at everything that it left behind."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from proof.faults.ledger import CLIENT_SECRET, SIGNING_SECRET, Ledger
from support.forks.program import Begun, Forking
from support.running import Result, can_be_inside, inside
from svc.clock import SystemClock
from svc.system import signals

CANARY = "canary7Qx2Lw9Zp4"
KEY = f"sk_test_{CANARY}"
HURRY = 50
TESTS, ENTRY = Path(__file__).parents[2], "proof.faults.driver"
EXITS = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 129, 130, 141, 143}


def hurried(clock: SystemClock, seconds: float) -> None:
    """Waits as a run of the driver does."""
    del clock
    signals.sleep(seconds / HURRY)


@dataclass
class UserMachine:
    """One user's home and the service that this user calls."""

    home: Path
    ledger: Ledger
    forking: Forking

    @property
    def state(self) -> Path:
        return self.home / "state"

    @property
    def env(self) -> dict[str, str]:
        folders = {
            f"SVC_{name.upper()}_DIR": str(self.home / name)
            for name in ("config", "state", "cache")
        }
        own = {"SVC_API_KEY": KEY, "SVC_BASE_URL": self.ledger.url, "HOME": str(self.home)}
        return {**os.environ, **folders, **own}

    def start(
        self, *argv: str, env: dict[str, str] | None = None, wrap: Sequence[str] = (), **how: Any
    ) -> "Process":
        """Starts the program; `how` goes to the driver, as `kill="after_bytes"`.

        `wrap` is a command that runs the rest of its command line.
        """
        orders = json.dumps({"hurry": HURRY, **how})
        whole = {**self.env, **(env or {})}
        if not wrap and self.forking.can_run(whole):
            return self.forking.begin((orders, *argv), whole, entry=ENTRY)
        return subprocess.Popen(
            [*wrap, sys.executable, "-m", ENTRY, orders, *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**whole, "PYTHONPATH": str(TESTS)},
        )

    def run(
        self,
        *argv: str,
        env: dict[str, str] | None = None,
        wrap: Sequence[str] | None = None,
        **how: Any,
    ) -> Result:
        """Runs the program to its end; whatever happens to it, the invariants hold.

        Where nothing is to happen to its process, it runs in the test's own.
        """
        whole = {**self.env, **(env or {})}
        alone = threading.current_thread() is threading.main_thread()
        if alone and not wrap and not how and can_be_inside(argv, whole):
            with patch.object(SystemClock, "sleep", hurried):
                done = inside(*argv, env=whole)
            return self._checked(done.code, done.out, done.err, may_be_killed=False)
        if wrap or not self.forking.can_run(whole):
            with self.start(*argv, env=env, wrap=wrap or (), **how) as process:
                return self.ended(process)
        orders = json.dumps({"hurry": HURRY, **how})
        ended = self.forking.run((orders, *argv), whole, entry=ENTRY)
        return self._checked(ended.code, ended.out.decode(), ended.err.decode(), "kill" in orders)

    def ended(self, process: "Process") -> Result:
        """Waits for the end of a program and checks what must be so at every end."""
        out, err = process.communicate()
        return self._checked(process.returncode, out, err, "kill" in str(process.args))

    def _checked(self, code: int, out: str, err: str, may_be_killed: bool) -> Result:
        killed = code == -signal.SIGKILL and may_be_killed
        assert killed or code in EXITS, (code, err)
        assert "Traceback" not in err + out
        self.assert_no_secret(out + err)
        assert max(self.ledger.effects.values(), default=0) <= 1
        return Result(code, out, err)

    def assert_no_secret(self, shown: str) -> None:
        """No key on any stream or in any file; no other secret in a file (R39, R45)."""
        assert CANARY not in shown
        for path in self.home.rglob("*"):
            # What other processes of this user take away meanwhile holds nothing any more.
            with suppress(FileNotFoundError, IsADirectoryError):
                kept = path.read_bytes()
                for secret in (CANARY, CLIENT_SECRET, SIGNING_SECRET):
                    assert secret.encode() not in kept, (path, secret)

    def rows(self) -> list[dict[str, Any]]:
        """The requests of the journal, oldest first."""
        path = self.state / "state.db"
        if not path.exists():
            return []
        with closing(sqlite3.connect(path)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute("SELECT * FROM requests ORDER BY seq")]

    def unresolved(self) -> list[str]:
        """What `svc requests list --unresolved` says."""
        listed = self.run("requests", "list", "--unresolved", "-o", "json")
        assert listed.code == 0, listed.err
        return [row["id"] for row in listed.json]


Process = Begun | subprocess.Popen[str]
