"""The commands of a team: a real server from the template, and svc as each of its users."""

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from support.forks.program import Forking
from support.running import Result, Svc
from support.serving import free_ports
from support.suite.patience import until
from support.team.log import KEY
from support.team.servers import LogNode, Servers

ROLES = {"admin": "admin", "receiver": "receiver", "anna": "laptop", "ben": "laptop", "ci": "job"}

_made: Final[list[tuple[str, str, dict[str, str]]]] = []


@dataclass
class TeamCommands:
    """The servers, and the program as each of the users."""

    running: Servers
    svc: Svc
    folder: Path
    users: dict[str, str]

    @property
    def url(self) -> str:
        return self.running.url()

    def env(self, user: str) -> dict[str, str]:
        return {"SVC_LOG_CREDENTIALS": f"{self.users[user]}\n{KEY}"}

    def run(self, user: str, *argv: str, code: int = 0) -> Result:
        done = self.svc(*argv, env=self.env(user))
        assert done.code == code, (argv, done.out, done.err)
        return done


def users_file(svc: Svc, path: Path, mode: str = "test") -> dict[str, str]:
    """Writes a users' file with one user of each role; gives what each stores."""
    path.parent.mkdir(parents=True, exist_ok=True)
    more = ("--live",) if mode == "live" else ()
    argv = ("events", "log", "user", "add", *more)
    return {
        name: svc(*argv, name, "--role", role, "--log", "shop", "--users", str(path)).out.strip()
        for name, role in ROLES.items()
    }


def server_of(
    svc: Svc, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Servers, dict[str, str]]:
    """One server of the trial template, at ports that are free, and its users."""
    path = folder / "users.conf"
    if not _made:  # once in each process: it is eight runs of the program
        template = svc("events", "log", "template", "--name", "shop", "--trial", "--single").out
        users = users_file(svc, path)
        _made.append((template, path.read_text(), users))
    alone, text, users = _made[0]
    folder.mkdir(exist_ok=True)
    path.write_text(text)
    port, monitor = free_ports(2)
    alone = alone.replace('"127.0.0.1:4222"', f'"127.0.0.1:{port}"')
    alone = alone.replace('"127.0.0.1:8222"', f'"127.0.0.1:{monitor}"')
    alone = alone.replace('"./shop-1"', f'"{folder}/data"')
    alone = alone.replace("max_file_store: 12GB", "max_file_store: 400GB")
    monkeypatch.setenv("LOG_KEY", "akeyofnoimportance")
    return Servers([LogNode(folder, "shop-1", port, monitor, alone)]), dict(users)


class RunningCommand:
    """A command that runs until the block ends."""

    def __init__(self, forking: Forking, team: TeamCommands, user: str, *argv: str) -> None:
        self.out = team.folder / f"{user}-{time.monotonic_ns()}.ndjson"
        self._err = self.out.with_suffix(".err")
        env = {**os.environ, **team.env(user)}
        with self.out.open("wb") as out, self._err.open("wb") as err:
            line = ("events", *argv, "-o", "ndjson")
            self.process = forking.start(line, env, out.fileno(), err.fileno())

    def wait(self, kind: str, count: int = 1) -> list[dict[str, object]]:
        found: list[dict[str, object]] = []

        def enough() -> bool:
            whole = self.out.read_text().rpartition("\n")[0]  # the last line may be half
            found[:] = [one for one in map(json.loads, whole.splitlines()) if one["record"] == kind]
            return len(found) >= count

        until(enough, self._err.read_text)
        return found

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
