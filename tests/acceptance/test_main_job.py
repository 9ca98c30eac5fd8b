"""The main job as a user does it: an order is paid, and its webhook arrives verified."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.listening import TargetServer
from support.orders import CREATE_ORDER
from support.running import Sandbox, Svc, run_to_end
from support.suite.patience import WAIT_SECONDS
from svc.signature import verify

pytestmark = pytest.mark.smoke


@pytest.fixture
def target() -> Iterator[TargetServer]:
    """The user's own web server."""
    with TargetServer() as running:
        yield running


@contextmanager
def listening(folder: Path, *argv: str) -> Iterator["subprocess.Popen[str]"]:
    """Keeps a listener running; its records are its lines on stdout."""
    ready = folder / "ready"
    process = subprocess.Popen(
        [sys.executable, "-m", "svc", "events", "listen", "--ready-file", str(ready), *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + WAIT_SECONDS
    try:
        while not ready.exists():
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.02)  # another process: no clock of ours moves it
        yield process
    finally:
        process.terminate()
        process.communicate()


def records(process: "subprocess.Popen[str]") -> list[dict[str, Any]]:
    """What a listener that ends by itself has said."""
    out, err = process.communicate()
    assert "Traceback" not in err, err
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.effect_of("events listen", "--forward-to")
def test_order_is_paid_and_its_webhook_arrives_verified(
    svc: Svc, sandbox: Sandbox, target: TargetServer, tmp_path: Path
) -> None:
    """Create, pay, receive order.paid verified and forwarded as it was sent, refund a part."""
    argv = (
        "--forward-to",
        f"http://127.0.0.1:{target.port}/webhooks",
        "--until",
        "order.paid",
        "--timeout",
        "150",
        "-o",
        "ndjson",
    )
    with listening(tmp_path, *argv) as process:
        order = svc.ok(*CREATE_ORDER)
        paid = svc.ok("sandbox", "pay", order["id"])
        said = records(process)
        assert process.returncode == 0

    kinds = [record["record"] for record in said]
    assert (kinds[0], kinds[-1]) == ("ready", "summary")
    event = next(r for r in said if r["record"] == "event" and r["type"] == "order.paid")
    assert event["verified"] is True
    assert event["duplicate"] is False
    forwards = [r for r in said if r["record"] == "forward" and r["id"] == event["id"]]
    assert [forward["status"] for forward in forwards] == [200]

    secret = svc("events", "listen", "--print-secret").out.strip()
    arrived = next(one for one in target.received if json.loads(one.body)["type"] == "order.paid")
    verify(
        arrived.body,
        [line.decode() for line in arrived.header("Svc-Signature")],
        [secret],
        int(time.time()),
    )
    assert json.loads(arrived.body)["data"]["object"]["id"] == order["id"]

    refund = svc.ok("refunds", "create", "--payment", paid["payment"]["id"], "--amount", "4999")
    assert refund["amount"] == 4999


def test_unverified_delivery_is_refused_and_never_forwarded(
    svc: Svc, sandbox: Sandbox, target: TargetServer, tmp_path: Path
) -> None:
    """R49: a forged delivery gets 400; the listener says why and forwards nothing."""
    argv = (
        "--forward-to",
        f"http://127.0.0.1:{target.port}/webhooks",
        "--timeout",
        "8",
        "-o",
        "ndjson",
    )
    with listening(tmp_path, *argv) as process:
        url = sandbox.control("GET", "/webhook_endpoints")["data"][0]["url"]
        forged = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", "{}", url]
        answer = subprocess.run(
            [*forged, "-H", "Svc-Signature: t=1,v1=" + "0" * 64],
            capture_output=True,
            text=True,
            check=True,
        )
        said = records(process)
    assert answer.stdout == "400"
    rejected = next(record for record in said if record["record"] == "rejected")
    assert rejected["reason"] == "signature_mismatch"
    assert not target.received


@pytest.mark.slow(seconds=3)
def test_quickstart_tells_its_steps_beside_a_result_for_programs(tmp_path: Path) -> None:
    """In a pipe the story is on stderr, and what it suggests can be typed as it stands."""
    program = tmp_path / "bin" / "svc"
    program.parent.mkdir()
    program.symlink_to(Path(sys.executable).parent / "svc")
    done = run_to_end([program, "quickstart"], env={**os.environ, "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["verified"], told["forwarded"]) == (True, True)
    assert told["seconds"] == round(told["seconds"], 1)
    prefixes = {"order": "ord_", "payment": "pay_", "event": "evt_", "refund": "rf_"}
    assert all(told[name].startswith(prefix) for name, prefix in prefixes.items())
    steps = [line[0] for line in done.stderr.splitlines() if line[1:3] == "  " and line[0] != " "]
    assert steps == ["1", "2", "3", "4", "5", "6"]
    assert f"   $ {program} sandbox start --detach\n" in done.stderr
    assert done.stderr.endswith(
        f"Next: {program} sandbox start --detach\nThen: {program} orders create --help\n"
    )
