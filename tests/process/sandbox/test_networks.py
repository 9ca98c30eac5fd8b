"""A sandbox that other containers reach, in network namespaces, as `svc help ci` shows it."""

import json
import os
import shlex
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import pytest
import yaml  # type: ignore[import-untyped]  # it brings no types

from support.team.log import wait_for
from svc.cli.help.page import page_of

HANDLER: Final = Path(__file__).parents[2] / "acceptance/integration/examples/handler.py"
HOSTS: Final = "127.0.0.1 localhost\n10.77.0.1 svc\n10.77.0.2 shop\n"
PUBLIC: Final = {"SVC_BASE_URL": "http://svc:4242", "SVC_API_KEY": "sk_test_sandbox"}
# None of them may be asked: no request goes through a proxy by plain HTTP.
PROXIES: Final = dict.fromkeys(
    ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"), "http://10.77.0.9:1"
)
# It notes each connection, and answers with a redirect to the sandbox.
WITNESS: Final = """
import socket
with socket.create_server(("10.77.0.1", 80)) as server:
    print("ready", flush=True)
    while True:
        line, _ = server.accept()
        print(line.recv(65536).partition(b"\\r\\n")[0].decode(), flush=True)
        line.sendall(
            b"HTTP/1.1 307 Elsewhere\\r\\nLocation: http://svc:4242/v1/orders\\r\\n"
            b"Content-Length: 0\\r\\n\\r\\n"
        )
        line.close()
"""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Containers:
    """Two network namespaces with a cable between them; each has a home and knows the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._spaces = {name: f"svc-{os.getpid()}-{name}" for name in ("svc", "shop")}
        self._stack = ExitStack()
        self._begun: list[subprocess.Popen[str]] = []
        (folder / "hosts").write_text(HOSTS)
        (folder / "signing").mkdir()
        programs = {
            "svc": f'exec {sys.executable} -m svc "$@"',
            "pip": f'echo "$@" >>{folder}/pip.txt',  # there is no registry here
            "python3": f'exec {sys.executable} "$@"',
        }
        (folder / "bin").mkdir()
        for name, line in programs.items():
            (folder / "bin" / name).write_text(f"#!/bin/sh\n{line}\n")
            (folder / "bin" / name).chmod(0o755)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for space in self._spaces.values():
                ip("netns", "add", space)
                stack.callback(ip, "netns", "del", space)
            here, there = self._spaces.values()
            peer = ("type", "veth", "peer", "name", "cable", "netns", there)
            ip("link", "add", "name", "cable", "netns", here, *peer)
            for number, space in enumerate(self._spaces.values(), 1):
                ip("-n", space, "addr", "add", f"10.77.0.{number}/24", "dev", "cable")
                for device in ("lo", "cable"):
                    ip("-n", space, "link", "set", device, "up")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with self._stack:
            for process in self._begun:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                for pipe in (process.stdout, process.stderr):
                    if pipe is not None:  # not read to its end: what was started there may have it
                        pipe.close()

    def _inside(self, name: str, argv: tuple[str, ...], env: dict[str, str]) -> dict[str, Any]:
        own_hosts = ("unshare", "--mount", "sh", "-euc", 'mount --bind "$0" /etc/hosts; exec "$@"')
        home = self.folder / name
        home.mkdir(exist_ok=True)
        return {
            "args": [
                *("ip", "netns", "exec", self._spaces[name], *own_hosts),
                *(str(self.folder / "hosts"), *argv),
            ],
            "env": {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "HOME": str(home), **env},
            "cwd": home,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
        }

    def run(self, name: str, *argv: str, **env: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(**self._inside(name, argv, env), check=False)

    def begin(self, name: str, *argv: str, **env: str) -> "subprocess.Popen[str]":
        inside = self._inside(name, argv, env)
        self._begun.append(subprocess.Popen(**inside, start_new_session=True))
        return self._begun[-1]

    def svc(self, name: str, *argv: str, code: int = 0, **env: str) -> Any:
        """What a command prints, or its error."""
        done = self.run(name, "svc", *argv, **env)
        assert done.returncode == code, (argv, done.stdout, done.stderr)
        return json.loads(done.stdout) if not code else json.loads(done.stderr)["error"]


def can_wire() -> bool:
    space = f"svc-{os.getpid()}-try"
    try:
        ip("netns", "add", space)
        ip("netns", "del", space)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


@pytest.fixture
def containers(tmp_path: Path) -> Iterator[Containers]:
    if not can_wire():
        pytest.skip("this machine lets nobody make namespaces")
    with Containers(tmp_path) as both:
        yield both


def shown_files() -> list[Any]:
    """The blocks of the page below "In containers", as their tools read them."""
    text = page_of("ci").text(200).partition("\nIn containers\n")[2]
    blocks = [text.partition("\n  x-svc")[2], text.partition("\n  name: shop")[2]]
    heads = ("x-svc", "name: shop")
    found = []
    for head, block in zip(heads, blocks, strict=True):
        lines = f"  {head}{block}".splitlines()
        end = next(n for n, line in enumerate(lines) if line and not line.startswith("  "))
        found.append(yaml.safe_load(textwrap.dedent("\n".join(lines[:end]))))
    return found


class Composed:
    """One service of the Compose file, with what Compose puts in the place of variables."""

    def __init__(self, containers: Containers, file: Any, name: str) -> None:
        self._containers, self._service = containers, file["services"][name]
        mode = self._service.get("network_mode", f"service:{name}")
        self.space = mode.removeprefix("service:")

    def _words(self, words: list[str]) -> list[str]:
        folder = str(self._containers.folder / "signing")
        return [word.replace("$$", "$").replace("/signing", folder) for word in words]

    @property
    def env(self) -> dict[str, str]:
        given = self._service["environment"].items()
        return {name: text.replace("${SVC_SOURCE}", "svc-cli") for name, text in given}

    def begin(self) -> None:
        argv = self._words(self._service["command"])
        self._containers.begin(self.space, *argv, **self.env)

    def is_healthy(self) -> bool:
        kind, *argv = self._words(self._service["healthcheck"]["test"])
        assert kind == "CMD"
        return self._containers.run(self.space, *argv, **self.env).returncode == 0


@pytest.mark.slow(seconds=5)
@pytest.mark.limit(120)
def test_the_compose_file_brings_an_event_from_one_container_to_another(
    containers: Containers,
) -> None:
    """Sandbox, listener and shop as `svc help ci` has them; a test pays an order beside them."""
    file, _ = shown_files()
    assert file["volumes"] == {"signing": None}
    services = {name: Composed(containers, file, name) for name in file["services"]}
    assert [each.space for each in services.values()] == ["svc", "svc", "shop"]
    (containers.folder / "shop").mkdir()
    (containers.folder / "shop" / "handler.py").write_text(HANDLER.read_text())
    for name in ("svc", "webhooks"):
        services[name].begin()
        wait_for(services[name].is_healthy, 30)
    services["shop"].begin()
    assert services["shop"].env.items() >= PUBLIC.items()
    wait_for(lambda: containers.run("svc", "python3", "-c", REACHED).returncode == 0)
    event = containers.run("shop", "svc", "sandbox", "trigger", "order.paid", "-o", "id", **PUBLIC)
    assert event.stdout.startswith("evt_"), event.stderr
    wait_for((containers.folder / "shop" / "paid.txt").exists)
    assert (containers.folder / "pip.txt").read_text() == "install -q svc-cli\n" * 2


REACHED: Final = "import socket; socket.create_connection(('shop', 3000)).close()"


@pytest.mark.slow(seconds=4, rare=True)
@pytest.mark.limit(120)
def test_the_service_container_of_github_is_paid_an_order(containers: Containers) -> None:
    """Its command is parted as the runner's, quotation marks alone; the steps run in its job."""
    _, file = shown_files()
    job = file["jobs"]["shop"]
    service = job["services"]["svc"]
    env = {"SVC_SOURCE": "svc-cli"}
    containers.begin("svc", service["entrypoint"], *shlex.split(service["command"]), **env)
    health = shlex.split(service["options"])
    check = health[health.index("--health-cmd") + 1]
    wait_for(lambda: containers.run("svc", "sh", "-c", check).returncode == 0, 30)
    assert job["env"].items() >= PUBLIC.items()
    for step in job["steps"][1:]:
        command = ("bash", "-e", "-o", "pipefail", "-c", step["run"])
        done = containers.run("shop", *command, **PUBLIC, **env)
        assert done.returncode == 0, (step, done.stderr)
    assert (containers.folder / "pip.txt").read_text().splitlines() == [
        "install -q svc-cli",
        "install svc-cli",
    ]


@dataclass
class OtherContainer:
    """The other container, which uses a sandbox that is bound to all addresses of its own."""

    containers: Containers

    def svc(self, *argv: str, code: int = 0, **env: str) -> Any:
        return self.containers.svc("shop", *argv, code=code, **{**PUBLIC, **PROXIES, **env})


@pytest.fixture
def shop(containers: Containers) -> OtherContainer:
    start = ("sandbox", "start", "--db", ":memory:", "-o", "ndjson")
    wide = containers.begin("svc", "svc", *start, "--bind", "0.0.0.0", "--allow-host", "svc")
    ready = json.loads(first_line(wide))
    assert (ready["url"], ready["bind"]) == ("http://127.0.0.1:4242", "0.0.0.0")
    return OtherContainer(containers)


@pytest.mark.slow(seconds=3)
@pytest.mark.limit(120)
def test_no_key_but_the_public_ones_leaves_by_plain_http(shop: OtherContainer) -> None:
    """R21, R24: no byte of a request with another key; a redirect is not followed."""
    witness = shop.containers.begin("svc", "python3", "-c", WITNESS)
    assert first_line(witness) == "ready\n"
    real = {"SVC_BASE_URL": "http://svc"}
    for mode, key in (("--live", "sk_live_4eC39Hq"), ("--test", "sk_test_4eC39Hq")):
        for line in (
            "orders list",
            "keys roll",
            "sandbox requests",
            "orders list --created-gte 2d",
            "sandbox trigger order.paid",
        ):
            refused = shop.svc(*line.split(), mode, code=2, SVC_API_KEY=key, **real)
            assert refused["code"] == "https_required", line
    assert shop.svc("orders", "list", code=8, **real)["status"] == 307
    os.killpg(witness.pid, signal.SIGKILL)
    assert witness.communicate()[0].splitlines() == ["GET /v1/orders HTTP/1.1"]
    assert shop.svc("sandbox", "requests")["data"] == []


def first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    return line
