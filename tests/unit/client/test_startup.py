"""What the client loads."""

import subprocess
import sys

from support.absence import importable

HEAVY = (
    "httpx asyncio ssl email urllib.request urllib.parse http.client sqlite3 rich certifi zlib "
    "random uuid hashlib decimal threading encodings.idna stringprep base64 logging h11 "
    "ipaddress dataclasses"
).split()


def loaded(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_sending_over_http_loads_nothing_heavy() -> None:
    """Performance: a retrieve from a sandbox pays for no library that it does not use."""
    base = loaded("import json, socket")
    ours = loaded(
        "import svc.client.client, svc.client.operations, svc.client.wire.sockets\n"
        "from svc.client.client import Client\n"
        "from svc.errors import SvcError\n"
        "from svc.base_url import BaseUrl\n"
        "try:\n"
        "    Client(BaseUrl.parse('http://127.0.0.1:1'), 'sk_test_x', mode='test',\n"
        "           deadline_seconds=0.1).send(svc.client.operations.retrieval('order', 'ord_1'))\n"
        "except SvcError: pass\n"
    )
    assert "svc.client.wire.sockets" in ours
    assert not (ours - base) & importable(HEAVY)
    assert not ours & importable(["svc.client.pages"])


def test_building_a_request_loads_no_socket() -> None:
    """`--dry-run` and `--curl` need no network code."""
    ours = loaded("import svc.client.request, svc.client.operations")
    assert "svc.client.request" in ours
    assert not ours & importable(["socket", "h11", "ssl", "svc.client.wire"])
