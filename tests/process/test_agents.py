"""An agent's program and `svc mcp`, which it has started: the SDK's own client, the real server."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from support.listeners import Pay
from support.on_terminal import OpenTerminal
from support.running import Sandbox, Svc
from support.suite.patience import WAIT_SECONDS, until

if TYPE_CHECKING:  # of half a second, for every worker
    from mcp.client.client import Client

REFUNDS = ("--allow", "refunds.create")
# Before 2026-07-28 a server asks while it answers; since then its answer is the question.
PROTOCOLS = ("legacy", "2026-07-28")
Reply = Literal["accept", "decline", "cannot"]


class Agent:
    """A client whose person answers every question alike."""

    def __init__(self, reply: Reply = "accept", protocol: str = "auto") -> None:
        self._reply = reply
        self._protocol = protocol
        self.asked: list[str] = []

    def started(self, *argv: str) -> "AbstractAsyncContextManager[Client]":
        from mcp.client.client import Client
        from mcp.client.stdio import StdioServerParameters, stdio_client

        command = StdioServerParameters(
            command=sys.executable, args=["-m", "svc", "mcp", *argv], env=dict(os.environ)
        )
        answer = None if self._reply == "cannot" else self._answer
        return Client(stdio_client(command), mode=self._protocol, elicitation_callback=answer)

    async def _answer(self, context: Any, params: Any) -> Any:
        from mcp_types import ElicitResult

        self.asked.append(params.message)
        if self._reply == "decline":
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content={"confirm": True})


@pytest.fixture
def payment(pay: Pay, svc: Svc) -> str:
    pay()
    return str(svc.ok("payments", "list")["data"][0]["id"])


async def call(client: "Client", tool: str, **given: Any) -> Any:
    result = await client.call_tool(tool, given)
    assert result.is_error == (result.structured_content["exit_code"] != 0)
    return result.structured_content


def refunds(svc: Svc) -> list[int]:
    return [refund["amount"] for refund in svc.ok("refunds", "list")["data"]]


async def test_tools_are_the_commands_that_read(svc: Svc, sandbox: Sandbox, payment: str) -> None:
    """With the options and the help of the commands; errors have code and exit code."""
    async with Agent().started() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())
        assert {"orders_list", "refunds_retrieve", "timeline", "requests_show"} < set(tools)
        assert not [name for name in tools if name.endswith(("_create", "_cancel", "_resume"))]
        listing = tools["payments_list"].input_schema
        assert listing["properties"]["limit"]["type"] == "integer"
        found = await call(client, "payments_list", status="captured", query="data[].id")
        assert found == {"exit_code": 0, "output": [payment]}
        shown = await call(client, "payments_retrieve", payment_id=payment)
        assert shown["output"] == svc.ok("payments", "retrieve", payment)
        missing = await call(client, "get", target="ord_1")
        assert (missing["exit_code"], missing["error"]["code"]) == (5, "resource_missing")
        for tool, given, said in (
            ("refunds_create", {"payment": payment}, "There is no tool refunds_create here."),
            ("orders_list", {"size": 1}, "The tool orders_list has no argument size."),
            ("get", {"target": "/v1/orders", "param": ["status=@/etc/passwd"]}, "reads no file"),
            ("get", {"target": "@/etc/passwd"}, "reads no file"),
            ("orders_list", {"limit": {"a": 1}}, "--limit is a text or a number."),
            ("refunds_retrieve", {"refund_id": "rf_1", "wait": "yes"}, "--wait is true or false."),
        ):
            refused = await call(client, tool, **given)
            assert refused["exit_code"] == 2
            assert said in refused["error"]["message"]
        option = await call(client, "get", target="--help")  # it is a value, and no option
        assert option["exit_code"] == 2


@pytest.mark.slow(seconds=6)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.effect_of("mcp", "--allow")
async def test_each_moving_of_money_is_confirmed_by_the_clients_person(
    svc: Svc, sandbox: Sandbox, payment: str, protocol: str
) -> None:
    """Who says no, and a client that cannot ask, send nothing; a yes sends it once."""
    svc.ok("config", "set", "limits.refunds", "500 EUR/day")
    for reply in ("decline", "cannot"):
        agent = Agent(reply, protocol)
        async with agent.started(*REFUNDS) as client:
            sent = await refuse(client, payment)
            assert "othing was sent" in sent or "not supported" in sent, sent
    assert refunds(svc) == []
    agent = Agent("accept", protocol)
    async with agent.started(*REFUNDS) as client:
        done = await call(client, "refunds_create", payment=payment, amount=700)
        assert (done["exit_code"], done["output"]["amount"]) == (0, 700)
        [question] = agent.asked
        assert "svc refunds create, test mode, profile default" in question
        assert f'"body": {{"payment": "{payment}", "amount": 700}}' in question
        assert f"\nrefund payment {payment}, 7.00 EUR" in question
        rest = await call(client, "refunds_create", payment=payment)
        assert rest["output"]["amount"] == 15008
        assert "It has no amount: all that is left." in agent.asked[1]
        assert f"\nrefund payment {payment}, 150.08 EUR\n" in agent.asked[1], "what it will move"
        before = len(agent.asked)
        wrong = await call(client, "refunds_create", payment="ord_1")
        assert (wrong["exit_code"], len(agent.asked)) == (2, before), "refused before it is asked"
    assert sorted(refunds(svc)) == [700, 15008]


async def refuse(client: "Client", payment: str) -> str:
    from mcp.shared.exceptions import MCPError

    try:
        refused = await call(client, "refunds_create", payment=payment, amount=700)
    except MCPError as error:
        return str(error)
    assert refused["exit_code"] == 2
    return str(refused["error"]["message"])


@pytest.mark.slow(seconds=5)
async def test_a_yes_is_for_the_request_that_was_shown(
    svc: Svc, sandbox: Sandbox, payment: str
) -> None:
    """Given back with another amount, or a second time, it is asked anew."""
    from mcp_types import ElicitResult, InputRequiredResult

    svc.ok("config", "set", "limits.refunds", "500 EUR/day")
    async with Agent("accept", "2026-07-28").started(*REFUNDS) as client:
        yes = {"confirm": ElicitResult(action="accept", content={"confirm": True})}

        async def ask(amount: int, **more: Any) -> Any:
            given = {"payment": payment, "amount": amount}
            return await client.session.call_tool(
                "refunds_create", given, allow_input_required=True, **more
            )

        for stolen in (None, "", "guessed"):
            assert isinstance(
                await ask(100, input_responses=yes, request_state=stolen), InputRequiredResult
            )
        shown = await ask(100)
        said = {"input_responses": yes, "request_state": shown.request_state}
        assert isinstance(await ask(9900, **said), InputRequiredResult)
        assert isinstance(await ask(100, **said), InputRequiredResult), "it was used up"
        shown = await ask(100)
        said = {"input_responses": yes, "request_state": shown.request_state}
        assert (await ask(100, **said)).structured_content["exit_code"] == 0
        assert isinstance(await ask(100, **said), InputRequiredResult)
    assert refunds(svc) == [100]


@pytest.mark.slow(seconds=5)
async def test_the_question_shows_what_is_sent_whatever_the_agent_does(
    svc: Svc, sandbox: Sandbox, payment: str
) -> None:
    """Its query does not change what its person sees, and a text can be read, but not deceive."""
    svc.ok("config", "set", "limits.refunds", "500 EUR/day")
    agent = Agent()
    async with agent.started("--allow", "refunds.create, disputes.update") as client:
        forged = "{method: 'POST', url: 'x', body: {payment: 'pay_mine', amount: `1`}}"
        sent = await call(client, "refunds_create", payment=payment, amount=700, query=forged)
        assert sent["output"]["body"]["amount"] == 1, "what is printed is the agent's"
        assert f'"body": {{"payment": "{payment}", "amount": 700}}' in agent.asked[0]
        fault = {"match": {"path": "/v1/refunds"}, "times": 4, "effect": {"connection": "close"}}
        sandbox.control("POST", "/faults", {**fault, "phase": "after"})
        unknown = await call(client, "refunds_create", payment=payment, amount=800)
        following = unknown["next"]["arguments"]
        await call(client, "requests_resume", **following, query=forged)
        assert f'"body": {{"payment": "{payment}", "amount": 800}}' in agent.asked[-1]
        dispute = svc.ok("sandbox", "dispute", payment)["id"]
        await call(
            client,
            "disputes_update",
            dispute_id=dispute,
            tracking_number="Ä 王 & \u202e1",
            submit=True,
        )
        assert '["evidence[tracking_number]=Ä 王 & \\u{202e}1", "submit=true"]' in agent.asked[-1]
    assert sorted(refunds(svc)) == [700, 800]


@pytest.mark.slow(seconds=5)
async def test_a_capture_is_asked_with_its_amount_or_as_all_that_is_left(
    svc: Svc, sandbox: Sandbox, pay: Pay
) -> None:
    """Its body is a form: with an amount too it was said to have none."""
    svc.ok("config", "set", "limits.captures", "500 EUR/day")
    agent = Agent("decline")
    async with agent.started("--allow", "orders.capture") as client:
        order = pay()
        for given in ({"amount": "500"}, {}):
            await call(client, "orders_capture", order_id=order, **given)
    part, whole = agent.asked
    assert '"amount=500"' in part
    assert f"\ncapture order {order}, 5.00 EUR" in part
    assert "all that is left" not in part
    assert "It has no amount: all that is left." in whole


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
async def test_a_yes_is_for_the_profile_that_was_shown(
    svc: Svc, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, payment: str
) -> None:
    """Choosing another one meanwhile does not send it to another account, nor past its limits."""
    address = os.environ["SVC_BASE_URL"]
    monkeypatch.delenv("SVC_BASE_URL")
    for name, at in (("shop", address), ("other", "http://127.0.0.1:9")):
        svc.ok("profiles", "create", name, "--base-url", at)
    svc.ok("profiles", "use", "shop")
    svc.ok("config", "set", "profiles.shop.limits.refunds", "500 EUR/day")
    agent = Agent()
    async with agent.started(*REFUNDS) as client:
        svc.ok("profiles", "use", "other")
        done = await call(client, "refunds_create", payment=payment, amount=700)
        assert done["exit_code"] == 0, done
        assert f"profile shop, {address}" in agent.asked[0]


@pytest.mark.slow(seconds=3)
async def test_arguments_that_no_command_line_can_have_are_refused(
    svc: Svc, sandbox: Sandbox
) -> None:
    """With an exit code and an outcome, as every other error; @ in an expression is no file."""
    async with Agent().started() as client:
        for text in ("ord_\0", "ord_" + "a" * (3 << 20)):
            refused = await call(client, "orders_retrieve", order_id=text)
            assert (refused["exit_code"], refused["error"]["outcome"]) == (10, "not_sent")
        refused = await call(client, "orders_list", size=1)
        assert (refused["error"]["type"], refused["error"]["outcome"]) == (
            "usage_error",
            "not_sent",
        )
        itself = await call(client, "orders_list", query="@")
        assert itself["output"]["object"] == "list"


@pytest.mark.slow(seconds=5)
async def test_money_has_a_limit_and_an_agent_does_not_go_beyond(
    svc: Svc, sandbox: Sandbox, payment: str
) -> None:
    """Without one the server does not start; its hint can be typed with a sum."""
    refused = svc("mcp", *REFUNDS)
    assert refused.code == 2
    assert "svc config set limits.refunds 'AMOUNT CURRENCY/day'" in refused.error["message"]
    unknown = svc("mcp", "--allow", "refund.create")
    assert "Did you mean 'refunds.create'?" in unknown.error["message"]
    svc.ok("config", "set", "limits.refunds", "5 EUR/day")
    agent = Agent()
    async with agent.started(*REFUNDS) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert "over_limit" not in tools["refunds_create"].input_schema["properties"]
        refused = await call(client, "refunds_create", payment=payment, amount=501)
        assert refused["error"]["code"] == "limit_reached"
    assert refunds(svc) == []


@pytest.mark.slow(seconds=5)
async def test_after_an_unknown_outcome_one_tool_is_next(
    svc: Svc, sandbox: Sandbox, payment: str
) -> None:
    """It sends the same request with its own key, once more confirmed, and there is one refund."""
    svc.ok("config", "set", "limits.refunds", "500 EUR/day")
    fault = {
        "match": {"path": "/v1/refunds"},
        "times": 4,
        "phase": "after",
        "effect": {"connection": "close"},
    }
    sandbox.control("POST", "/faults", fault)
    agent = Agent()
    async with agent.started(*REFUNDS) as client:
        unknown = await call(client, "refunds_create", payment=payment, amount=700)
        assert unknown["exit_code"] == 7
        assert unknown["error"]["outcome"] == "unknown"
        again = await call(client, "refunds_create", payment=payment, amount=700)
        assert again["exit_code"] == 6, "the guard of the command holds for agents"
        following = unknown["next"]
        assert following["tool"] == "requests_resume"
        settled = await call(client, following["tool"], **following["arguments"])
        assert settled["exit_code"] == 0
        assert '"amount": 700' in agent.asked[-1]
    assert refunds(svc) == [700]


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


@pytest.mark.slow(seconds=5)
async def test_live_mode_is_served_with_live_alone(
    svc: Svc, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the environment says."""
    monkeypatch.setenv("SVC_MODE", "live")
    async with Agent().started() as client:
        assert (await call(client, "whoami"))["output"]["mode"] == "test"
    monkeypatch.setenv("SVC_API_KEY", "sk_live_sandbox")
    async with Agent().started("--live") as client:
        assert (await call(client, "whoami"))["output"]["mode"] == "live"


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
