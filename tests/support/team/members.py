"""Members of a team as processes of their own, that may be killed, and a sender that comes again."""

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.forks.program import Forked, Forking
from support.listening import SECRET, event
from support.team.log import KEY
from svc.signature import header_value

SOUND = "from svc.__main__ import main\nmain()"


@dataclass
class Member:
    """A command that is started again whenever it was killed: a fork of the program where it may be."""

    folder: Path
    argv: tuple[str, ...]
    code: str = SOUND
    process: "subprocess.Popen[bytes] | Forked | None" = None
    starts: int = 0
    credentials: str = ""
    key: str = KEY
    secret: str = SECRET

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.starts += 1
        env = {
            **os.environ,
            "SVC_STATE_DIR": str(self.folder / "state"),
            "SVC_CONFIG_DIR": str(self.folder / "config"),
            "SVC_BASE_URL": "https://api.example.com",
            **({"SVC_WEBHOOK_SECRET": self.secret} if self.secret else {}),
            "SVC_LOG_CREDENTIALS": f"{self.credentials}\n{self.key}",
        }
        argv, program = (*self.argv, "-o", "ndjson"), Forking.shared
        with (self.folder / "out").open("ab") as out, (self.folder / "err").open("ab") as err:
            if program is not None and self.code == SOUND and program.can_run(env):
                self.process = program.start(argv, env, out.fileno(), err.fileno())
                return
            self.process = subprocess.Popen(
                [sys.executable, "-c", self.code, *argv],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=env,
            )

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def end(self, number: int = signal.SIGTERM) -> int:
        """Has it end, and gives its exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait()

    def told(self, kind: str) -> list[dict[str, Any]]:
        """The whole lines of a kind of record that it has printed, in all its runs."""
        lines = (self.folder / "out").read_text().splitlines(keepends=True)
        start = f'{{"record":"{kind}"'
        return [json.loads(one) for one in lines if one.startswith(start) and one.endswith("\n")]

    @property
    def ready(self) -> list[dict[str, Any]]:
        return self.told("ready")

    @property
    def errors(self) -> str:
        return (self.folder / "err").read_text()

    @property
    def door(self) -> tuple[int, str]:
        """The port and the path at which the newest run of a receiver takes deliveries."""
        url = str(self.ready[-1]["url"])
        port, _, path = url.removeprefix("http://127.0.0.1:").partition("/")
        return int(port), f"/{path}"


@dataclass
class EventSender:
    """Sends each event until it is answered 200, as the service does."""

    url: Callable[[], tuple[int, str]]
    secret: str = SECRET
    _attempts: Counter[int] = field(default_factory=Counter)

    def deliver(self, number: int) -> None:
        """Sends one event until it is taken."""
        while self.try_once(number) != 200:
            time.sleep(0.1)

    def try_once(self, number: int) -> int | None:
        """Sends one event; gives the answer's status, None where there was none."""
        body = event(number)
        self._attempts[number] += 1
        with suppress(OSError, http.client.HTTPException, ValueError, IndexError):
            port, path = self.url()
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
                signed = {
                    "Svc-Signature": header_value(body, [self.secret], int(time.time())),
                    "Svc-Delivery-Attempt": str(self._attempts[number]),
                }
                connection.request("POST", path, body, signed)
                return connection.getresponse().status
        return None


def act_as(
    urls: Sequence[str], credentials: str, act: Callable[[Any], Awaitable[None]], **more: Any
) -> list[str]:
    """Has somebody's own program use a member's password; gives what the servers say to it."""
    import nats

    user, _, password = credentials.partition("\n")[0].partition(":")
    said: list[str] = []

    async def heard(error: Exception) -> None:
        said.append(str(error))

    async def main() -> None:
        client = await nats.connect(
            list(urls),
            user=user,
            password=password,
            error_cb=heard,
            inbox_prefix=f"_INBOX_{user}",
            **more,
        )
        await act(client)
        await client.flush()
        await asyncio.sleep(0.1)
        await client.close()

    asyncio.run(main())
    return said
