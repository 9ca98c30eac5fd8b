"""Each fault rule that the help shows, run as it stands there, and what it does to a caller."""

import json
import shlex
import socket
import time
from dataclasses import dataclass
from http.client import HTTPConnection, IncompleteRead, RemoteDisconnected
from typing import Any

import pytest
from typer.main import get_command

from support.orders import ORDER
from support.running import Sandbox, Svc
from svc.cli.help.page import page_of, read_shell_lines
from svc.cli.main import main
from svc.cli.sandbox.faults import app

# As `svc help faults` shows them, first those before the change.
SHOWN = [lines for part in page_of("faults").parts if (lines := read_shell_lines(part))]
DELAY = 0.3  # seconds, in place of the example's
REFUSED = (429, 500, 502, 503)


def commands(part: list[str]) -> list[str]:
    return [line for line in part if not line.startswith("#")]


def run(line: str, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a line of the help, with a shorter delay."""
    shorter = line.replace("--delay-ms 5000", f"--delay-ms {round(DELAY * 1000)}")
    assert main(shlex.split(shorter)[1:]) == 0, line
    return json.loads(capsys.readouterr().out)


@dataclass
class Caller:
    """A client of the sandbox with nothing clever about it."""

    port: int

    def ask(self, method: str, path: str, body: Any = None, key: str = "order-1") -> Any:
        """One request; the answer's status and body, or what is left of them."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Authorization": "Bearer sk_test_sandbox", "Content-Type": "application/json"}
        sent = json.dumps(body) if body else None
        try:
            connection.request(method, path, sent, {**headers, "Idempotency-Key": key})
            answer = connection.getresponse()
            return answer.status, answer.getheader("Retry-After"), answer.read()
        finally:
            connection.close()

    def orders(self) -> int:
        """How many orders there are; only what is read here is not spoilt."""
        return len(json.loads(self.ask("GET", "/v1/orders?limit=100")[2])["data"])

    def dripped(self) -> bytes:
        """What has come of an answer after the head and a little more."""
        body = json.dumps(ORDER).encode()
        head = (
            "POST /v1/orders HTTP/1.1\r\nHost: 127.0.0.1\r\nIdempotency-Key: order-1\r\n"
            "Authorization: Bearer sk_test_sandbox\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as line:
            line.sendall(head.encode() + body)
            received = b""
            while received.partition(b"\r\n\r\n")[2][1:] == b"":
                received += line.recv(65536)
        return received.partition(b"\r\n\r\n")[2]


@pytest.fixture
def caller(sandbox: Sandbox) -> Caller:
    return Caller(sandbox.port)


def seen(caller: Caller, rule: Any) -> str:
    """What a caller sees who creates an order under a rule, in one word."""
    effect = rule["effect"]
    begun = time.monotonic()
    if effect.get("connection") == "drip":
        return "drip" if len(caller.dripped()) < len("{'id'") else "whole"
    try:
        status, retry_after, body = caller.ask("POST", "/v1/orders", ORDER)
    except RemoteDisconnected:
        return "close"
    except ConnectionResetError:
        return "reset"
    except IncompleteRead:
        return "truncate"
    if time.monotonic() - begun >= DELAY:
        return "late" if status == 200 else "?"
    if status in REFUSED:
        assert retry_after == (str(effect["retry_after"]) if "retry_after" in effect else None)
        assert body.decode() == effect["body"] if "body" in effect else json.loads(body)["code"]
        return str(status)
    with pytest.raises(ValueError, match=r"Expecting|decode"):
        json.loads(body)
    return "garbage"


def expected(rule: Any) -> str:
    effect = rule["effect"]
    return str(effect.get("status") or effect.get("connection") or "late")


@pytest.mark.parametrize("line", commands(SHOWN[0]))
def test_before_means_that_nothing_happened(
    caller: Caller, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The caller sees what the help says, and a retry makes the one order (R90)."""
    rule = run(line, capsys)
    assert rule["phase"] == "before"
    late = expected(rule) == "late"
    assert seen(caller, rule) == expected(rule)
    for _ in range(1, rule["times"]):
        assert seen(caller, rule) == expected(rule)
    assert caller.orders() == (1 if late else 0)
    assert caller.ask("POST", "/v1/orders", ORDER)[0] == 200
    assert caller.orders() == 1


def test_each_other_rule_that_is_shown_is_taken(
    sandbox: Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    """After the change, of some requests, of deliveries; what they do is held by `faults` itself."""
    after, chosen, webhooks = ([run(line, capsys) for line in commands(p)] for p in SHOWN[1:4])
    assert {rule["phase"] for rule in after} == {"after"}
    of_two = {"method": "POST", "path": "/v1/refunds*"}, {"idempotency_key": "order-1"}
    assert [rule["match"] for rule in chosen] == [*of_two, {}]
    assert (chosen[2]["skip"], chosen[2]["times"]) == (2, 5)
    assert {rule["object"] for rule in webhooks} == {"webhook_fault"}


# --- the pages --------------------------------------------------------------------------------


def test_help_of_the_command_shows_the_same_examples() -> None:
    """`svc help faults` explains each line of `svc sandbox fault add --help`."""
    explained = [line for part in SHOWN for line in part if "fault add" in line]
    examples = get_command(app).commands["add"].examples  # type: ignore[attr-defined]
    assert examples
    assert set(examples) <= set(explained)


def test_a_wrong_value_names_no_option_that_there_is_not(svc: Svc, sandbox: Sandbox) -> None:
    """The sandbox's word is enough: the field has another name than the option."""
    assert sandbox.port
    refused = svc("sandbox", "fault", "add", "--status", "700", "-o", "human")
    assert "--status is '700'. Use one of: 429, 500, 502, 503, 504." in refused.err
    assert "-d" not in refused.err
