"""Backends of a shop that nobody would write in Python, through checkout, webhook, refund, dispute."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from support.running import Sandbox, Svc
from support.serving import QuietHandler, free_port, serving
from support.suite.patience import WAIT_SECONDS

BACKENDS = Path(__file__).with_name("backends")


def until(found: Callable[[], Any]) -> Any:
    """What is found, once it is there."""
    end = time.monotonic() + WAIT_SECONDS
    while True:
        result = found()
        if result:
            return result
        assert time.monotonic() < end
        time.sleep(0.05)


def register(svc: Svc, url: str) -> str:
    """Registers the shop's handler for what it handles; returns the signing secret."""
    types = "order.paid,payment.captured,refund.succeeded,dispute.opened"
    made = svc.ok("webhook-endpoints", "create", "--url", url, "--events", types)
    return str(made["secret"])


def environment(sandbox: Sandbox, **more: str) -> dict[str, str]:
    return {**os.environ, "SVC_BASE_URL": sandbox.url, "SVC_API_KEY": "sk_test_sandbox", **more}


@contextmanager
def node(sandbox: Sandbox, port: int, secret: str) -> Iterator[Callable[..., Any]]:
    """The backend in Node while it runs; gives what asks it."""
    env = environment(sandbox, SVC_WEBHOOK_SECRET=secret, PORT=str(port))

    def ask(path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(Request(f"http://127.0.0.1:{port}{path}", data), timeout=10) as answer:
                return json.load(answer)
        except URLError as error:
            if isinstance(error.reason, ConnectionRefusedError):
                return None  # it is only starting
            raise

    with subprocess.Popen(["node", str(BACKENDS / "shop.mjs")], env=env) as process:
        try:
            until(lambda: ask("/"))
            yield ask
        finally:
            process.kill()


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_a_backend_in_node(svc: Svc, sandbox: Sandbox) -> None:
    """It fulfils what was paid, pays a part back, and answers a dispute."""
    port = free_port()
    secret = register(svc, f"http://127.0.0.1:{port}/webhooks")
    with node(sandbox, port, secret) as ask:
        order = ask("/orders", {"amount": 12900, "cart": 1})["id"]
        assert ask("/orders", {"amount": 12900, "cart": 1})["id"] == order
        svc.ok("sandbox", "pay", order)
        until(lambda: order in ask("/")["fulfilled"] and order in ask("/")["payments"])
        refund = ask("/refunds", {"order": order, "amount": 4900})["id"]
        svc.ok("sandbox", "advance", "10d")
        until(lambda: ask("/")["refunded"] == [refund])
        dispute = svc.ok("sandbox", "dispute", ask("/")["payments"][order])["id"]
        until(lambda: ask("/")["disputed"] == [dispute])
    assert svc.ok("disputes", "retrieve", dispute)["status"] == "under_review"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs curl and openssl")
def test_a_backend_in_shell(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """The same with curl and openssl; what is not authentic is refused."""
    env = environment(sandbox)

    def run(*words: str, body: bytes = b"", signature: str = "") -> str:
        done = subprocess.run(
            ["sh", str(BACKENDS / "shop.sh"), *words],
            env={**env, "HTTP_SVC_SIGNATURE": signature},
            input=body,
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done
        return done.stdout.decode()

    class Cgi(QuietHandler):
        """A web server that has the script handle each delivery."""

        def post(self) -> None:
            signature = self.headers["Svc-Signature"]
            said = run("webhook", body=self.body(), signature=signature)
            self.answer(int(said.split()[1]))

    def handled() -> dict[str, str]:
        path = tmp_path / "done.txt"
        lines = path.read_text().splitlines() if path.exists() else []
        return {kind: identifier for _, kind, identifier in map(str.split, lines)}

    with serving(Cgi) as url:
        env["SVC_WEBHOOK_SECRET"] = register(svc, f"{url}/webhooks")
        order = json.loads(run("order", "1", "12900"))["id"]
        assert json.loads(run("order", "1", "12900"))["id"] == order
        svc.ok("sandbox", "pay", order)
        until(lambda: {"order.paid", "payment.captured"} <= set(handled()))
        assert handled()["order.paid"] == order
        payment = handled()["payment.captured"]
        refund = json.loads(run("refund", payment, "4900"))["id"]
        svc.ok("sandbox", "advance", "10d")
        until(lambda: handled().get("refund.succeeded") == refund)
        dispute = svc.ok("sandbox", "dispute", payment)["id"]
        until(lambda: handled().get("dispute.opened") == dispute)
    assert svc.ok("disputes", "retrieve", dispute)["status"] == "under_review"
    forged = run("webhook", body=b'{"type":"order.paid"}', signature="t=1,v1=00")
    assert forged.startswith("Status: 400")
