"""One history's world: a machine with its disk, the network, the service, and two accounts' keys."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, Final

import svc.cli.main as cli
from simulation.machine import Machine, Process, WallClock
from simulation.network import Network
from simulation.service import Effect, Identity, Service, identity
from simulation.stage import Stage, real_connection, use
from svc.base_url import BaseUrl
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.config.model import Config, Profile
from svc.state import Database

# The account that each key is of, and the last four by which the journal knows it.
KEYS: Final = {
    "sk_test_4Qm8vT2xR6nW0pLs9cYeA001": "A",
    "sk_test_7Hk3dF5jB1gZ6qUo4iXtA002": "A",
    "sk_test_9Lr2sV8wC4mN6yEa1bKpB001": "B",
}
_ADDRESSES: Final = {
    "default": "https://api.example.com",
    "shop": "https://api.example.com",
    "here": "http://127.0.0.1:4242",
    "local": "http://localhost:4242",
}
EMPTY: Final = "state.db"  # on the disk, as what is in it stands in memory
_ALWAYS: Final = float("inf")
# What the judge and the person look at.
_COLUMNS: Final = (
    "id",
    "state",
    "idempotency_key",
    "key_hint",
    "path",
    "body",
    "encoding",
    "object_id",
    "error_code",
    "batch_id",
    "sendings",
    "first_sent_at",
)
_REQUESTS: Final = f"SELECT {', '.join(_COLUMNS)} FROM requests ORDER BY seq"


class SimDisk:
    """A folder and a state database in memory, which every history of a process begins anew."""

    def __init__(self, folder: Path, number: str = "") -> None:
        self.folder = folder
        self.state = folder / f"state{number}"
        self.lists = folder / f"lists{number}"
        self.lists.mkdir()
        # Looked at by name and inode.
        Database.open(self.state / EMPTY, clock=WallClock(Machine(0))).close()
        self.database = real_connection(self.state)
        with closing(sqlite3.connect(self.state / EMPTY)) as made:
            made.execute("PRAGMA journal_mode = DELETE")
            made.backup(self.database)
        rows = self.database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        self._tables = [row[0] for row in rows]

    def fresh(self) -> None:
        """Empties the folders and the database."""
        for folder in (self.state, self.lists):
            for entry in os.scandir(folder):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                elif entry.name != EMPTY:
                    os.unlink(entry.path)  # noqa: PTH108  for each history, and half as long
        for table in self._tables:
            self.database.execute(f"DELETE FROM {table}")


class World:
    """Everything that a history happens in.

    Attributes:
        journal: a connection of the judge's own to the state database.
        order: the key that the person has in use, by account.
        limits: what the configuration limits, by group.
    """

    def __init__(
        self, seed: int, stage: Stage, disk: SimDisk, limits: Mapping[str, str] | None = None
    ) -> None:
        disk.fresh()
        self.disk = disk
        self.machine = Machine(seed)
        self.service = Service({key: (account, _ALWAYS) for key, account in KEYS.items()})
        self.network = Network(self.machine, self.service)
        self.clock = WallClock(self.machine)
        self.journal = disk.database
        self.keys = {account: key for key, account in reversed(KEYS.items())}
        self.max_time = 60.0
        self.limits = limits or {}
        self.service.tells_money = bool(limits)
        self._stage = stage
        self._read: tuple[int, list[dict[str, Any]]] = (-1, [])
        use(stage, self.machine, self.network)

    def close(self) -> None:
        """Unwinds what was killed, once nobody looks at the files any more."""
        self.machine.bury()

    def work(
        self,
        process: Process,
        profile: str,
        command: Callable[[Session], None],
        *,
        key: str,
        results: Path | None,
        disk: SimDisk | None = None,
    ) -> Callable[[], int]:
        """One command line as what a process does; gives its exit code."""
        folder = self.disk.folder
        env: Mapping[str, str] = {
            "SVC_API_KEY": key,
            "SVC_STATE_DIR": str((disk or self.disk).state),
            "SVC_CONFIG_DIR": str(folder / "config"),
            "SVC_CACHE_DIR": str(folder / "cache"),
            "NO_COLOR": "1",
        }

        def work() -> int:
            streams = Streams(TextIOWrapper(BytesIO()), process.out, process.err)
            session = Session([process.name], env, streams, self.clock)
            vars(session)["config"] = _config(folder, self.max_time)._replace(limits=self.limits)
            session.given.everywhere.profile = profile
            self._stage.commands[process.name] = command
            code = int(cli.run(session))
            if results is not None and results.exists():
                process.results = results.read_text()
            return code

        return work

    def requests(self) -> list[dict[str, Any]]:
        """The journal as it is on the disk; read anew once somebody may have written to it."""
        writes = self._stage.writes
        if self._read[0] != writes:
            rows = self.journal.execute(_REQUESTS)
            self._read = writes, [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
        return self._read[1]

    def effects(self, account: str, what: Identity) -> list[Effect]:
        """What the service has carried out of one request of an account."""
        return [one for one in self.service.effects if one.account == account and one.what == what]


def account_of(key_fingerprint: str) -> str:
    """The account of a key, by its last four."""
    return key_fingerprint[-4]


def said_by(row: Mapping[str, Any]) -> Identity:
    """What a row of the journal says."""
    kind = "form" if row["encoding"] == "form" else "json"
    return identity(row["path"], row["body"], kind)


_CONFIGS: "dict[tuple[Path, float], Config]" = {}


def _config(folder: Path, max_time: float) -> Config:
    if (folder, max_time) not in _CONFIGS:
        profiles = {name: Profile(name, BaseUrl.parse(url)) for name, url in _ADDRESSES.items()}
        _CONFIGS[folder, max_time] = Config(
            folder / "config" / "config.toml", profiles=profiles, max_time=max_time, cache=False
        )
    return _CONFIGS[folder, max_time]
