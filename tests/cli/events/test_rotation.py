"""Secrets of listeners: rolled in the dashboard, and those of other endpoints in a diagnosis."""

import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from support.listeners import Listen, Pay
from support.listening import event
from support.running import Sandbox, Svc
from svc.signature import header_value

TRIGGER = f"{sys.executable} -m svc sandbox trigger order.paid >&2"
LISTEN = ("events", "listen", "-o", "ndjson", "--until", "order.paid", "--exec", TRIGGER)


def deliver(url: str, body: bytes, secret: str) -> int:
    """Sends one delivery as somebody would who signs with this secret."""
    where = urlsplit(url)
    connection = HTTPConnection(where.hostname or "", where.port, timeout=10)
    try:
        header = header_value(body, [secret], int(time.time()))
        connection.request("POST", where.path, body, {"Svc-Signature": header})
        return connection.getresponse().status
    finally:
        connection.close()


def test_rolled_secret_is_given_beside_the_old_one(
    sandbox: Sandbox, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """R48: after a roll in the dashboard both secrets are given, and the endpoint stays the same."""
    old = svc("events", "listen", "--print-secret").out.strip()
    [endpoint] = sandbox.control("GET", "/webhook_endpoints")["data"]
    rolled = sandbox.control(
        "POST", f"/webhook_endpoints/{endpoint['id']}/roll_secret", {"expires_in": 0}
    )
    with listen(tmp_path) as without:
        svc.ok("sandbox", "trigger", "order.paid")
        reasons = {rejected["reason"] for rejected in without.wait("rejected")}
        without.end()
    assert reasons == {"signature_mismatch"}
    both = {"SVC_WEBHOOK_SECRET": f"{rolled['secret']},{old}"}
    there = ("--public-url", endpoint["url"], "--port", str(urlsplit(endpoint["url"]).port))
    taken = svc(*LISTEN, *there, "--timeout", "20", env=both)
    assert taken.code == 0, taken.err
    assert len(sandbox.control("GET", "/webhook_endpoints")["data"]) == 1


def test_secret_of_another_listener_is_recognised(
    pay: Pay, svc: Svc, sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """A delivery for one endpoint that arrives at another: the record says whose secret it was."""
    other = svc("events", "listen", "--events", "payout.*", "--print-secret").out.strip()
    with listen(tmp_path) as running:
        [ready] = running.wait("ready")
        assert deliver(ready["url"], event(), other) == 400
        [rejected] = running.wait("rejected")
    assert (rejected["reason"], rejected["cause"]) == ("signature_mismatch", "other_secret")
    ids = {one["id"] for one in sandbox.control("GET", "/webhook_endpoints")["data"]}
    [theirs] = ids - {ready["endpoint"]}
    assert theirs in rejected["message"]
    assert other not in rejected["message"]
