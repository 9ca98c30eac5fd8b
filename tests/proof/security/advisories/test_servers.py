"""What servers like ours got wrong; a test an advisory, against the sandbox and the listener."""

import importlib.metadata
import os
import re
import resource
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from support.listeners import Listen
from support.listening import status, talk
from support.running import Sandbox, Svc, run_to_end
from support.suite.patience import patient


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1/../_sandbox", "evil.example", "127.0.0.1@evil.example", ""],
)
def test_cve_2026_48710_a_bad_host_changes_no_path(sandbox: Sandbox, host: str) -> None:
    """Starlette built request.url from Host; here another Host is refused before any route."""
    request = f"GET /_sandbox/clock HTTP/1.1\r\nHost: {host}\r\nSvc-Sandbox: 1\r\n\r\n"
    assert status(talk(sandbox.port, request.encode())) in (400, 403, 421)


def test_cve_2024_47874_cve_2025_54121_a_form_of_parts_is_not_parsed(sandbox: Sandbox) -> None:
    """A part without an end filled starlette's memory; here multipart is refused at once (R59)."""
    part = b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n" + b"a" * 500_000
    head = (
        f"POST /v1/orders HTTP/1.1\r\nHost: 127.0.0.1:{sandbox.port}\r\n"
        "Authorization: Bearer sk_test_sandbox\r\nIdempotency-Key: one\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\n"
        f"Content-Length: {len(part)}\r\n\r\n"
    )
    begun = time.monotonic()
    assert 400 <= status(talk(sandbox.port, head.encode() + part)) < 500
    assert time.monotonic() - begun < patient(2)
    needed = importlib.metadata.requires("svc-cli") or []  # starlette parses parts only with it
    assert not [one for one in needed if one.startswith("python-multipart")]


def test_cve_2025_62727_many_ranges_cost_nothing(sandbox: Sandbox) -> None:
    """Starlette merged ranges in quadratic time; no file is served here, and none is read."""
    ranges = ",".join(f"{number}-{number}" for number in range(3000))
    request = (
        f"GET /_sandbox/health HTTP/1.1\r\nHost: 127.0.0.1:{sandbox.port}\r\nSvc-Sandbox: 1\r\n"
        f"Range: bytes={ranges}\r\n\r\n"
    )
    begun = time.monotonic()
    assert status(talk(sandbox.port, request.encode())) in (200, 400, 431)
    assert time.monotonic() - begun < patient(2)


SMUGGLED = "5\r\nhelloXX0\r\n\r\nGET /_sandbox/clock HTTP/1.1\r\nHost: x\r\n\r\n"


def test_cve_2025_43859_a_chunk_ends_as_it_must_at_the_sandbox(sandbox: Sandbox) -> None:
    """h11 took any two bytes for a chunk's end; what follows is no second request (R59)."""
    request = (
        f"POST /v1/orders HTTP/1.1\r\nHost: 127.0.0.1:{sandbox.port}\r\n"
        "Authorization: Bearer sk_test_sandbox\r\nContent-Type: application/json\r\n"
        f"Transfer-Encoding: chunked\r\n\r\n{SMUGGLED}"
    )
    answer = talk(sandbox.port, request.encode())
    assert status(answer) == 400
    assert answer.count(b"HTTP/1.1 ") == 1


def test_cve_2025_43859_a_chunk_ends_as_it_must_at_the_listener(
    sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """The same for webhooks, and both lengths at once are refused (R57, R59)."""
    with listen(tmp_path) as running:
        url = urlsplit(running.wait("ready")[0]["url"])
        port, path = url.port or 0, url.path
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nTransfer-Encoding: chunked\r\n"
        assert status(talk(port, f"{head}\r\n{SMUGGLED}".encode())) == 400
        both = f"{head}Content-Length: 5\r\n\r\n{SMUGGLED}"
        assert status(talk(port, both.encode())) == 400


@pytest.mark.parametrize(("package", "least"), [("starlette", (1, 0, 1)), ("h11", (0, 16, 0))])
def test_the_servers_parsers_are_mended_ones(package: str, least: tuple[int, ...]) -> None:
    """R59: what is installed, and what the project allows to be installed."""
    numbers = importlib.metadata.version(package).split(".")
    assert tuple(int(number) for number in [*numbers, "0"][:3]) >= least
    project = (Path(__file__).parents[4] / "pyproject.toml").read_text()
    asked = re.search(rf'"{package}>=([0-9.]+)', project)
    assert asked
    assert tuple(int(number) for number in [*asked[1].split("."), "0"][:3]) >= least


@pytest.mark.skipif(sys.platform == "win32", reason="there are no core files")
def test_a_crash_leaves_no_memory_on_disk(svc: Svc, sandbox: Sandbox) -> None:
    """R42: the limit of core files is 0 whatever the shell allows."""
    script = (
        "import os, resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)\n"
        "sys.argv = ['svc', 'orders', 'list']\n"
        "from svc.__main__ import main\n"
        "os._exit = lambda code: print(resource.getrlimit(resource.RLIMIT_CORE)[0], file=sys.stderr)\n"
        "main()\n"
    )
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    if hard != resource.RLIM_INFINITY:
        pytest.skip("this machine allows no core files at all")
    done = run_to_end([sys.executable, "-c", script], env=os.environ)
    assert done.stderr.splitlines()[-1] == "0", done.stderr


def test_no_library_logs_what_is_sent(svc: Svc, sandbox: Sandbox) -> None:
    """R41: even with every logger at its most talkative, no key is written anywhere."""
    script = (
        "import logging, sys\n"
        "logging.basicConfig(level=logging.DEBUG)\n"
        "sys.argv = ['svc', 'orders', 'list', '--verbose']\n"
        "from svc.__main__ import main\n"
        "main()\n"
    )
    done = run_to_end(
        [sys.executable, "-c", script],
        env={**os.environ, "SVC_API_KEY": "sk_test_canary7Qx2Lw9Zp4"},
    )
    assert done.returncode == 4  # the sandbox does not know it
    assert "canary7" not in done.stdout + done.stderr
