"""An agent's program and `svc mcp`, which it has started: what only real processes show.

What the server says is in `cli/mcp/test_server.py`.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.listeners import Pay
from support.on_terminal import OpenTerminal
from support.running import Sandbox, Svc
from support.suite.patience import WAIT_SECONDS, until

REFUNDS = ("--allow", "refunds.create")


@pytest.fixture
def payment(pay: Pay, svc: Svc) -> str:
    pay()
    return str(svc.ok("payments", "list")["data"][0]["id"])


def refunds(svc: Svc) -> list[int]:
    return [refund["amount"] for refund in svc.ok("refunds", "list")["data"]]


async def test_a_client_over_stdio_calls_a_command(svc: Svc, sandbox: Sandbox) -> None:
    """Each call is a process of its own."""
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    started = StdioServerParameters(
        command=sys.executable, args=["-m", "svc", "mcp"], env=dict(os.environ)
    )
    async with Client(stdio_client(started)) as client:
        listed = await client.call_tool("orders_list", {})
    assert listed.structured_content == {"exit_code": 0, "output": svc.ok("orders", "list")}


def test_a_person_who_types_it_is_told_what_it_waits_for(
    open_terminal: OpenTerminal, svc: Svc, sandbox: Sandbox
) -> None:
    """Protocol is all that a program reads of it, and nothing that a person could."""
    with open_terminal("mcp", NO_COLOR="1") as terminal:
        terminal.read_until("help agents")
        terminal.press_ctrl_c()
        assert terminal.end() == 130
    assert "Waits for an agent's program" in terminal.seen


@pytest.mark.slow(seconds=5)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells the command's id")
@pytest.mark.parametrize(
    ("number", "code", "tool"),
    [(signal.SIGTERM, 143, "requests_resume"), (signal.SIGKILL, 7, "requests_list")],
)
def test_a_command_that_is_ended_while_it_sends_has_an_unknown_outcome(
    svc: Svc, sandbox: Sandbox, number: signal.Signals, code: int, tool: str
) -> None:
    """And one tool is next, which leads to the request."""
    slow = {"match": {"path": "/v1/orders", "method": "POST"}, "effect": {"delay_ms": 3000}}
    sandbox.control("POST", "/faults", {**slow, "times": 1, "phase": "after"})
    with spoken_to("--allow", "orders.create") as server:
        for line in (*HELLO, CREATE):
            say(server, line)
        until(lambda: svc.ok("orders", "list")["data"])
        [command] = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        os.kill(int(command), number)
        assert server.stdout is not None
        server.stdout.readline()  # of the greeting
        told = json.loads(server.stdout.readline())["result"]["structuredContent"]
    assert (told["exit_code"], told["error"]["outcome"]) == (code, "unknown")
    assert told["next"]["tool"] == tool
    [unresolved] = svc.ok("requests", "list", "--unresolved")
    if tool == "requests_resume":
        assert told["next"]["arguments"] == {"request_id": unresolved["id"]}


@contextmanager
def spoken_to(*argv: str) -> "Iterator[subprocess.Popen[str]]":
    process = subprocess.Popen(
        [sys.executable, "-m", "svc", "mcp", *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(timeout=WAIT_SECONDS)
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def say(process: "subprocess.Popen[str]", message: str) -> None:
    assert process.stdin is not None
    process.stdin.write(message + "\n")
    process.stdin.flush()


HELLO = (
    (
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
        '"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
    ),
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
)
CREATE = (
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"orders_create","arguments":'
    '{"amount":700,"currency":"EUR","country":"DE",'
    '"item":["name=Jacket,hs_code=6203.39,quantity=1,unit_amount=700"]}}}'
)


@pytest.mark.slow(seconds=5)
@pytest.mark.parametrize(
    ("can", "code"), [("{}", "confirmation_required"), ('{"elicitation":{}}', "not_confirmed")]
)
def test_a_client_that_answers_no_question_sends_nothing(
    svc: Svc, sandbox: Sandbox, payment: str, can: str, code: str
) -> None:
    """One that has not said that it can ask is not asked; an answer that is none is a no."""
    svc.ok("config", "set", "limits.refunds", "500 EUR/day")
    hello = HELLO[0].replace('"capabilities":{}', f'"capabilities":{can}')
    given = {"name": "refunds_create", "arguments": {"payment": payment, "amount": 700}}
    with spoken_to(*REFUNDS) as server:
        assert server.stdout is not None
        say(server, hello)
        server.stdout.readline()
        say(server, HELLO[1])
        say(
            server, json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": given})
        )
        said = json.loads(server.stdout.readline())
        if said.get("method") == "elicitation/create":
            assert code == "not_confirmed"
            garbage = {"jsonrpc": "2.0", "id": said["id"], "result": {"yes": True}}
            say(server, json.dumps(garbage))
            said = json.loads(server.stdout.readline())
        assert said["result"]["structuredContent"]["error"]["code"] == code
    assert refunds(svc) == []


@pytest.mark.slow(seconds=5)
@pytest.mark.parametrize("how", ["hangs_up", "sigterm", "sigkill"])
def test_a_request_that_was_begun_is_not_cut_off(svc: Svc, sandbox: Sandbox, how: str) -> None:
    """The journal has it, whatever becomes of the agent's program and of the server."""
    slow = {"match": {"path": "/v1/orders"}, "times": 1, "effect": {"delay_ms": 700}}
    sandbox.control("POST", "/faults", slow)
    with spoken_to("--allow", "orders.create") as server:
        for line in (*HELLO, CREATE):
            say(server, line)
        until(lambda: svc.ok("requests", "list"))
        if how == "hangs_up":
            assert server.stdin is not None
            server.stdin.close()
            assert server.wait(timeout=WAIT_SECONDS) == 0
        elif how == "sigterm":
            server.send_signal(signal.SIGTERM)
            assert server.wait(timeout=WAIT_SECONDS) == 128 + signal.SIGTERM
        else:
            server.kill()
        until(lambda: svc.ok("requests", "list")[0]["status"] == "done")
    assert len(svc.ok("orders", "list")["data"]) == 1
