"""`svc events listen`, `inbox`, `replay` and `verify`, as processes against a real sandbox."""

import base64
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.listeners import Listen, Pay
from support.listening import NOW, OK, SECRET, Received, TargetServer, event, status_line, talk
from support.running import Result, Sandbox, Svc, inside
from support.serving import free_port
from support.suite.patience import patient, until
from svc.signature import header_value, verify


def test_endpoint_is_registered_once(
    pay: Pay, sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """A restart uses the same port, path, endpoint and secret; other events need another one."""
    seen = []
    for argv in ((), (), ("--events", "order.*")):
        with listen(tmp_path, *argv) as running:
            seen.append(running.wait("ready")[0])
            running.end()
    assert seen[0]["endpoint"] == seen[1]["endpoint"] != seen[2]["endpoint"]
    assert seen[0]["url"] == seen[1]["url"] != seen[2]["url"]
    assert seen[2]["events"] == ["order.paid", "order.cancelled"]
    listed = sandbox.control("GET", "/webhook_endpoints")["data"]
    assert {one["id"] for one in listed} == {seen[0]["endpoint"], seen[2]["endpoint"]}


def test_endpoint_of_a_seeded_sandbox_is_not_taken_for_the_one_before_its_reset(
    sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """A reset to a seed repeats the ids: the listener does not delete the endpoint it has made."""
    for _ in range(2):
        sandbox.control("POST", "/reset", {"seed": 7})
        with listen(tmp_path) as running:
            [ready] = running.wait("ready")
            listed = sandbox.control("GET", "/webhook_endpoints")["data"]
            assert [one["id"] for one in listed] == [ready["endpoint"]]


def test_listener_that_runs_goes_on_after_a_reset_of_the_sandbox(
    pay: Pay, sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """Its endpoint is registered again; events whose ids a seed repeats are no duplicates."""
    sandbox.control("POST", "/reset", {"seed": 7})
    with TargetServer() as target, listen(tmp_path, "--forward-to", str(target.port)) as running:
        pay()
        running.wait("forward", 2)
        sandbox.control("POST", "/reset", {})
        until(lambda: sandbox.control("GET", "/webhook_endpoints")["data"])
        pay()
        events = running.wait("event", 4)
        running.wait("forward", 4)
        assert running.end() == 130
    assert [one["duplicate"] for one in events] == [False] * 4
    assert {one["id"] for one in events[:2]} == {one["id"] for one in events[2:]}


def test_taken_port_means_another_endpoint(
    sandbox: Sandbox, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    with listen(tmp_path) as running:
        first = running.wait("ready")[0]
        running.end()
    port = int(first["url"].split(":")[2].split("/")[0])
    with socket.create_server(("127.0.0.1", port)), listen(tmp_path) as running:
        second = running.wait("ready")[0]
        assert second["url"] != first["url"]
        assert second["url"].endswith(first["url"].rpartition("/")[2])
    listed = sandbox.control("GET", "/webhook_endpoints")["data"]
    assert [one["id"] for one in listed] == [second["endpoint"]]
    assert svc("events", "sign", stdin="{}").code == 0  # one secret alone is known any more


def test_two_listeners_at_once_each_get_every_event(
    pay: Pay, tmp_path: Path, listen: Listen
) -> None:
    with listen(tmp_path) as one, listen(tmp_path) as two:
        assert one.wait("ready")[0]["url"] != two.wait("ready")[0]["url"]
        pay()
        for running in (one, two):
            assert [event["duplicate"] for event in running.wait("event", 2)] == [False, False]


def test_two_listeners_of_the_same_targets_say_so(
    sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """The second warns, which gives the target each event twice; one of other targets does not.

    Nor does the next one when the first has ended.
    """
    first, other = ("--forward-to", str(free_port())), ("--forward-to", str(free_port()))
    with listen(tmp_path, *first) as one:
        with listen(tmp_path, *other) as two, listen(tmp_path, *first) as three:
            told = ["forwards to the same targets" in each.errors for each in (one, two, three)]
        one.end()
    with listen(tmp_path, *first) as again:
        assert [*told, "the same targets" in again.errors] == [False, False, True, False]


def test_killed_listener_leaves_nothing_undone(pay: Pay, tmp_path: Path, listen: Listen) -> None:
    """R50: kill -9 with the target away; the same command forwards everything when it runs again."""
    with TargetServer() as target:
        port = target.port
    with listen(tmp_path, "--forward-to", str(port)) as running:
        pay()
        running.wait("event", 2)
        running.process.kill()
        running.process.wait()
    with TargetServer(port=port) as target, listen(tmp_path, "--forward-to", str(port)) as running:
        running.wait("forward", 2)
        assert len(set(target.ids)) == 2


def test_until_ends_with_zero(pay: Pay, tmp_path: Path, listen: Listen) -> None:
    with (
        TargetServer() as target,
        listen(
            tmp_path,
            *f"--forward-to {target.port} --until order.paid --timeout 30 --strict".split(),
        ) as running,
    ):
        pay()
        started = time.monotonic()
        assert running.process.wait() == 0
        assert time.monotonic() - started < patient(1)
        assert running.wait("summary")[0]["until_reached"] is True


@pytest.mark.effect_of("events listen", "--timeout", "--until")
def test_until_that_does_not_come_is_11(sandbox: Sandbox, svc: Svc) -> None:
    result = svc("events", "listen", "-o", "ndjson", "--until", "order.paid", "--timeout", "0.2")
    assert (result.code, result.error["code"]) == (11, "until_not_reached")


@pytest.mark.effect_of("events listen", "--strict")
def test_strict_fails_when_a_forward_failed(pay: Pay, tmp_path: Path, listen: Listen) -> None:
    with (
        TargetServer(lambda _: status_line(500)) as target,
        listen(tmp_path, "--forward-to", str(target.port), "--strict") as running,
    ):
        pay()
        running.wait("forward", 2)
        assert running.end(signal.SIGTERM) == 11


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_signals_end_it_at_once(
    number: int, code: int, sandbox: Sandbox, tmp_path: Path, listen: Listen
) -> None:
    """R78: a signal ends the listener within a second, with its own exit code."""
    with listen(tmp_path) as running:
        started = time.monotonic()
        assert running.end(number) == code
        assert time.monotonic() - started < patient(1)


def test_closed_stdout_ends_it(pay: Pay) -> None:
    """R77: when nobody reads any more the listener ends with 141 and no traceback."""
    process = subprocess.Popen(
        [sys.executable, "-m", "svc", "events", "listen", "-o", "ndjson"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["record"] == "ready"
    process.stdout.close()
    pay()
    assert process.wait() == 141
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()


@pytest.mark.effect_of("events listen", "--print-secret")
def test_print_secret_prints_only_that(
    sandbox: Sandbox, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """`--print-secret`: the secret that signs the listener's deliveries, also while it runs."""
    first = svc("events", "listen", "--print-secret").out
    with listen(tmp_path) as running:
        endpoint = running.wait("ready")[0]["endpoint"]
        assert svc("events", "listen", "--print-secret").out == first
    assert first.startswith("whsec_")
    assert first.count("\n") == 1
    assert [one["id"] for one in sandbox.control("GET", "/webhook_endpoints")["data"]] == [endpoint]


@pytest.mark.effect_of("events listen", "--public-url")
def test_public_url_is_registered_and_its_host_served(
    sandbox: Sandbox, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """`--public-url`: the tunnel's address is registered; its Host is let in, no other (R55).

    A listener without it is another one.
    """
    port = free_port()
    with listen(tmp_path, "--public-url", "https://tunnel.example", "--port", str(port)) as running:
        [ready] = running.wait("ready")
        path = ready["url"].removeprefix("https://tunnel.example")
        answers = [
            talk(
                port, f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n".encode()
            )
            for host in ("tunnel.example", "evil.example")
        ]
    # Nothing is signed: 400 is the answer to who was let in.
    assert [answer.split()[1] for answer in answers] == [b"400", b"421"]
    assert ready["url"].startswith("https://tunnel.example/hook/")
    [endpoint] = sandbox.control("GET", "/webhook_endpoints")["data"]
    assert endpoint["url"] == ready["url"]
    local = svc.ok("events", "listen", "--print-secret", "-o", "json")["endpoint"]
    assert local != endpoint["id"]


def test_sandbox_that_is_not_running_is_named(svc: Svc) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    env = {"SVC_BASE_URL": url, "SVC_API_KEY": "sk_test_sandbox", "SVC_MAX_TIME": "1"}
    result = svc("events", "listen", "-o", "ndjson", env=env)
    assert (result.code, url in result.err) == (8, True)


def human(svc: Svc, *argv: str, columns: int = 100) -> str:
    return svc("events", *argv, "-o", "human", "--utc", env={"COLUMNS": str(columns)}).out


@pytest.mark.parametrize("columns", [pytest.param(80, marks=pytest.mark.slow), 40])
def test_human_lines_keep_ids_and_amounts_whole(columns: int, pay: Pay, tmp_path: Path) -> None:
    """R63: at every width each id, amount and address stands whole on one line."""
    log = tmp_path / "out"
    with TargetServer() as target, log.open("wb") as out:
        line = f"events listen -o human --forward-to {target.port} --until order.paid"
        process = subprocess.Popen(
            [sys.executable, "-m", "svc", *line.split()],
            stdout=out,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "COLUMNS": str(columns)},
        )
        until(lambda: "--print-secret" in log.read_text())
        pay()
        assert process.wait() == 0
    text = log.read_text()
    assert "\x1b" not in text
    assert max(len(line) for line in text.splitlines()) <= columns
    for name in target.ids:
        assert name in text
    assert "157.08 EUR" in text
    assert "200 OK" in text
    assert f"http://localhost:{target.port}" in text
    assert text.startswith("Ready.")


@pytest.mark.effect_of("events inbox", "--since", "--type")
def test_inbox_shows_what_came_and_what_became_of_it(
    pay: Pay, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """`inbox`: newest first, with state and attempts; `show` has payload, headers and answers."""

    def reply(request: Any) -> bytes:
        return (
            OK
            if b'"order.paid"' in request.body
            else b"HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\noops"
        )

    with (
        TargetServer(reply) as target,
        listen(tmp_path, "--forward-to", str(target.port), "--retry", "off") as running,
    ):
        order = pay()
        running.wait("forward", 2)
        running.end()
    found = {one["type"]: one for one in svc.ok("events", "inbox")}
    assert {name: one["state"] for name, one in found.items()} == {
        "order.paid": "forwarded",
        "payment.captured": "failed",
    }
    assert found["payment.captured"]["status"] == 500
    assert [one["type"] for one in svc.ok("events", "inbox", "--failed")] == ["payment.captured"]
    assert [one["type"] for one in svc.ok("events", "inbox", "--type", "order.*")] == ["order.paid"]
    svc.ok("sandbox", "advance", "3d")  # the inbox is by this machine's clock
    assert len(svc.ok("events", "inbox", "--since", "1h")) == 2
    assert svc.ok("events", "inbox", "--live") == []
    shown = svc.ok("events", "inbox", "show", found["payment.captured"]["id"])
    assert shown["verified"] is True
    assert shown["payload"]["data"]["object"]["order"] == order
    assert base64.b64decode(shown["payload_base64"]) in [one.body for one in target.received]
    assert shown["headers"]["Svc-Event-Id"] == shown["id"]
    [forward] = shown["forwards"]
    assert (forward["status"], forward["reply"], forward["attempt"]) == (500, "oops", 1)
    assert found["payment.captured"]["id"] in human(svc, "inbox")
    assert "oops" in human(svc, "inbox", "show", shown["id"])


@pytest.fixture
def received(pay: Pay, tmp_path: Path, listen: Listen) -> Iterator[tuple[TargetServer, Received]]:
    """A target and the order.paid that it has refused; now it takes everything."""
    with TargetServer(lambda _: status_line(500)) as target:
        with listen(tmp_path, "--forward-to", str(target.port), "--retry", "off") as running:
            pay()
            running.wait("forward", 2)
            running.end()
        [paid] = [one for one in target.received if b'"order.paid"' in one.body]
        target.received.clear()
        yield target, paid


def test_replay_signs_anew(received: tuple[TargetServer, Received], svc: Svc) -> None:
    """`replay --times`: the same body as often as asked, each time with a fresh signature."""
    target, first = received
    target.reply = lambda _: OK
    secret = svc("events", "listen", "--print-secret").out.strip()
    time.sleep(max(0.0, 1.1 - time.time() % 1))
    sent = svc.ok("events", "replay", json.loads(first.body)["id"], "--times", "3")
    assert [one["status"] for one in sent] == [200, 200, 200]
    assert [one.body for one in target.received] == [first.body] * 3
    for again in target.received:
        [header] = again.header("svc-signature")
        assert header != first.header("svc-signature")[0]
        verify(again.body, [header], [secret], int(time.time()))
    failed = svc.ok("events", "inbox", "--failed")
    assert [one["type"] for one in failed] == ["payment.captured"]


@pytest.mark.effect_of("events replay", "--original-signature")
def test_replay_keeps_the_original_signature(
    received: tuple[TargetServer, Received], svc: Svc
) -> None:
    """`replay --original-signature --forward-to`: everything as it was, to another address."""
    target, first = received
    target.reply = lambda _: OK
    name = json.loads(first.body)["id"]
    where = f"{target.port}/elsewhere"
    result = svc("events", "replay", name, "--original-signature", "--forward-to", where)
    assert result.code == 0
    [again] = target.received
    assert again.header("svc-signature") == first.header("svc-signature")
    assert again.head.startswith(b"POST /elsewhere ")


def test_a_replay_that_reaches_nobody_ends_with_itself(
    received: tuple[TargetServer, Received], svc: Svc
) -> None:
    """The events have not failed for good: the same command sends them, and to the same place."""
    name = json.loads(received[1].body)["id"]
    line = f"events replay {name} --forward-to 1 -o human"
    said = svc(*line.split())
    assert said.code == 11
    assert f"Send them again later: svc {line}\n" in said.out


@pytest.mark.parametrize("line", ["replay evt_1", "listen", "audit", "examine --forward-to 1"])
def test_what_may_run_long_runs_with_the_garbage_collector(line: str, tmp_path: Path) -> None:
    """Each connection refers to itself: a replay of 100,000 events would keep all of them."""
    folders = {f"SVC_{name}_DIR": str(tmp_path / name) for name in ("STATE", "CONFIG")}
    before = gc.get_threshold()
    gc.disable()
    try:
        inside("events", *line.split(), "--base-url", "http://127.0.0.1:9", env=folders)
        assert gc.isenabled()
    finally:
        gc.enable()
        gc.set_threshold(*before)


def test_listener_has_the_collector_leave_alone_what_is_on_its_way(tmp_path: Path) -> None:
    """It looked at all of that every 700 objects, which was a fifteenth of an event's time.

    The file that said that an earlier one was ready is gone, before anybody is asked.
    """
    folders = {f"SVC_{name}_DIR": str(tmp_path / name) for name in ("STATE", "CONFIG")}
    before = gc.get_threshold()
    ready = tmp_path / "ready"
    ready.touch()
    argv = ("--forward-to", "1", "--base-url", "http://127.0.0.1:9", "--ready-file", str(ready))
    try:
        inside("events", "listen", *argv, env=folders)
        assert gc.get_threshold()[0] > 512 * 20
        assert not ready.exists()
    finally:
        gc.set_threshold(*before)


def check(*argv: str, body: bytes, env: dict[str, str] | None = None) -> Result:
    secret = {"SVC_WEBHOOK_SECRET": SECRET} if env is None else env
    now = () if "--now" in argv else ("--now", str(NOW))
    return inside("events", "verify", *now, *argv, stdin=body, env=secret)


@pytest.mark.effect_of("events verify", "--header", "--now", "--payload", "--secret-stdin")
def test_verify_says_yes(tmp_path: Path) -> None:
    """`verify`: exit 0 for an authentic delivery, from a file or standard input, either spelling."""
    body = event()
    header = header_value(body, [SECRET], NOW - 12)
    assert check("--header", header, body=body).json == {
        "object": "verification",
        "verified": True,
        "signed_at": "2023-11-14T22:13:08Z",
        "age_seconds": 12,
        "secret": 1,
        "id": "evt_1",
        "type": "order.paid",
        "livemode": False,
    }
    latest = header_value(body, [SECRET], 253402300499)  # the last that has a date
    ahead = check("--header", latest, "--now", "253402300498", "-o", "human", body=body)
    assert ahead.out.endswith("signed 9999-12-31T23:54:59Z (1 s ahead).\n")
    now = check("--header", latest, "--now", "253402300499", "-o", "human", body=body)
    assert now.out.endswith(" (0 s ago).\n")
    payload = tmp_path / "body.json"
    payload.write_bytes(body)
    named = f"svc-signature: {header}"
    result = check(
        "--header", named, "--payload", str(payload), "--secret-stdin", body=SECRET.encode(), env={}
    )
    assert result.code == 0
    words = check("--header", header, "-o", "human", body=body).out
    assert words == "Verified: authentic and unaltered, signed 2023-11-14T22:13:08Z (12 s ago).\n"
    assert check("--header", header, "--now", "2023-11-14T22:13:20Z", body=body).code == 0


def test_verify_tells_an_event_of_the_other_mode() -> None:
    """R60: authentic, but not of the mode in use: exit 0, and it is said."""
    body = event(livemode=True)
    result = check("--header", header_value(body, [SECRET], NOW), body=body)
    assert (result.code, result.json["livemode"], result.json["type"]) == (0, True, "order.paid")
    assert "event of live mode; this is test mode" in result.err


def test_verify_knows_the_listeners_secret(
    pay: Pay, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """A delivery of one's own listener is checked with its endpoint's secret, nothing to set."""
    with listen(tmp_path) as running:
        pay()
        events = running.wait("event", 2)
        running.end()
    lost = svc("events", "replay", events[0]["id"])
    assert (lost.code, lost.error["param"]) == (2, "--forward-to")
    assert "was not forwarded anywhere" in lost.error["message"]
    shown = svc.ok("events", "inbox", "show", events[0]["id"])
    body = base64.b64decode(shown["payload_base64"])
    header = ("--header", shown["headers"]["Svc-Signature"])
    result = svc("events", "verify", *header, stdin=body.decode())
    assert (result.code, result.json["verified"]) == (0, True)


@pytest.mark.effect_of("events inbox", "--max")
def test_a_script_reads_one_event_without_a_note(
    pay: Pay, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """`inbox --max 1 -o id` prints an id and nothing else; `--limit` means the same."""
    with listen(tmp_path) as running:
        pay()
        running.wait("event", 2)
    ones = [svc("events", "inbox", option, "1", "-o", "id") for option in ("--max", "--limit")]
    assert [(one.out.count("evt_"), one.err) for one in ones] == [(1, ""), (1, "")]
    assert "--max shows more" in svc("events", "inbox", "--max", "1", "-o", "human").err


def test_the_inbox_says_why_an_event_has_not_arrived(
    pay: Pay, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """`inbox show`: which target it waits for, what was the matter, how often it was tried."""
    port = free_port()
    with listen(tmp_path, "--forward-to", str(port)) as running:
        pay()
        event_id = running.wait("event", 2)[0]["id"]
        until(lambda: svc.ok("events", "inbox", "show", event_id)["targets"][0]["error"])
    [target] = svc.ok("events", "inbox", "show", event_id)["targets"]
    assert target["url"] == f"http://localhost:{port}"
    assert (target["state"], target["error"]) == ("pending", "connection refused")
    assert "connection refused" in svc("events", "inbox", "show", event_id, "-o", "human").out
