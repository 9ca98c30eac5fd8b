"""Secrets of listeners: rolled, given, and those of other endpoints in a diagnosis."""

import json
import sys
import time
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from support.listeners import Listen, Pay
from support.listening import SECRET, TargetServer, event
from support.running import Sandbox, Svc
from support.suite.patience import until
from svc.cli.events.endpoint import Endpoint
from svc.cli.events.link import SignatureWatch
from svc.listen.output_records import Rejected
from svc.signature import header_value
from unit.cli.events.screen.records import EVENT

TRIGGER = f"{sys.executable} -m svc sandbox trigger order.paid >&2"
LISTEN = ("events", "listen", "-o", "ndjson", "--until", "order.paid", "--exec", TRIGGER)


def deliver(url: str, body: bytes, secret: str) -> int:
    """Sends one delivery as somebody would who signs with this secret."""
    where = urlsplit(url)
    connection = HTTPConnection(where.hostname or "", where.port, timeout=60)
    try:
        header = header_value(body, [secret], int(time.time()))
        connection.request("POST", where.path, body, {"Svc-Signature": header})
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_rolled_secret_is_taken_into_use(
    sandbox: Sandbox, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """R48: a sandbox shows the new secret: the listener takes it, says so, and prints it."""
    old = svc("events", "listen", "--print-secret").out.strip()
    with listen(tmp_path) as running:
        [ready] = running.wait("ready")
        path = f"/webhook_endpoints/{ready['endpoint']}/roll_secret"
        new = sandbox.control("POST", path, {"expires_in": 0})["secret"]
        until(lambda: deliver(ready["url"], event(), new) == 200)
        assert deliver(ready["url"], event(2), old) == 200  # what was on its way
        assert svc("events", "listen", "--print-secret").out.strip() == new
    [said] = [one.read_text() for one in tmp_path.glob("listen-*.err")]
    assert f"The signing secret of {ready['endpoint']} was rolled." in said
    assert "have a new signing secret" in said
    assert new not in said
    with listen(tmp_path) as running:
        [again] = running.wait("ready")
        assert again["url"] == ready["url"]
        assert deliver(again["url"], event(3), new) == 200


def test_new_and_old_secret_keep_the_endpoints_own_address(
    sandbox: Sandbox, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """R48: `SVC_WEBHOOK_SECRET=NEW,OLD` goes on at the same path, and NEW is kept for later runs."""
    old = svc("events", "listen", "--print-secret").out.strip()
    [endpoint] = sandbox.control("GET", "/webhook_endpoints")["data"]
    path = f"/webhook_endpoints/{endpoint['id']}/roll_secret"
    new = sandbox.control("POST", path, {"expires_in": 0})["secret"]
    taken = svc(*LISTEN, "--timeout", "150", env={"SVC_WEBHOOK_SECRET": f"{new},{old}"})
    assert taken.code == 0, taken.err
    records = [json.loads(line) for line in taken.out.splitlines()]
    assert records[0]["url"] == endpoint["url"]
    assert [one for one in records if one["record"] == "rejected"] == []
    assert len(sandbox.control("GET", "/webhook_endpoints")["data"]) == 1
    assert svc("events", "listen", "--print-secret").out.strip() == new


def test_events_of_an_endpoint_of_ones_own_are_chosen_here(
    sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """It sends others too, which are answered 200, and neither shown nor forwarded.

    No endpoint is registered.
    """
    env = {"SVC_WEBHOOK_SECRET": SECRET, "SVC_API_KEY": ""}
    with TargetServer() as target:
        argv = ("--events", "refund.*", "--forward-to", str(target.port))
        with listen(tmp_path, *argv, env=env) as running:
            [ready] = running.wait("ready")
            for number, kind in enumerate(("order.paid", "refund.created", "order.paid"), 1):
                assert deliver(ready["url"], event(number, kind), SECRET) == 200
            assert deliver(ready["url"], event(4, "refund.failed"), SECRET) == 200
            running.wait("forward", 2)
            running.end()
    assert ready["endpoint"] is None
    assert sandbox.control("GET", "/webhook_endpoints")["data"] == []
    assert sorted(target.ids) == ["evt_2", "evt_4"]
    shown = {one["id"]: one["type"] for one in running.records if one["record"] == "event"}
    assert shown == {"evt_2": "refund.created", "evt_4": "refund.failed"}
    forwarded = [one["id"] for one in running.records if one["record"] == "forward"]
    assert sorted(forwarded) == ["evt_2", "evt_4"]
    assert running.records[-1]["forwarded"] == 2


def test_three_strange_signatures_in_a_row_say_how_to_go_on() -> None:
    """Where the service shows no secret: once, and not for one that anybody may have sent."""
    told: list[str] = []
    endpoint = Endpoint("we_1", "https://x.example/hook", ("whsec_a",), "")
    words = ("svc events listen", ("events", "listen"), told.append)
    watch = SignatureWatch(endpoint, *words)
    bad = Rejected(0.0, "signature_mismatch", "", 2)
    others = (replace(bad, cause="other_secret"), replace(bad, reason="late"))
    for record in (bad, bad, EVENT, bad, *others, bad):
        watch.hear(record)
    assert told == []
    for _ in range(3):
        watch.hear(replace(bad, cause="signature_mismatch"))
        [sentence] = told
    assert "that of we_1 was rolled" in sentence
    assert sentence.endswith(
        'SVC_WEBHOOK_SECRET=NEW,"$(svc events listen --print-secret)" svc events listen'
    )
    watch = SignatureWatch(replace(endpoint, id=None), *words)
    for _ in range(3):
        watch.hear(bad)
    assert "that of the endpoint was rolled" in told[1]
    assert told[1].endswith(" SVC_WEBHOOK_SECRET=NEW,OLD svc events listen")


def test_secret_of_another_listener_is_recognised(
    pay: Pay, svc: Svc, sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
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
