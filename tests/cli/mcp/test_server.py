"""An agent's program and the server of `svc mcp`, joined in memory; commands run in this process.

What only processes show, the SDK's transport and what ends them, is in `process/test_agents.py`.
"""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from cli.mcp.agents import Agent, call, reply
from support.listeners import Pay
from support.running import Sandbox, Svc, inside
from svc import __version__
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.errors import LocalError
from svc.system.signals import Stopped

if TYPE_CHECKING:
    from svc.cli.mcp.server import AgentServer

REFUNDS = ("--allow", "refunds.create")
# Before 2026-07-28 a server asks while it answers; since then its answer is the question.
ASKED_IN_RESULTS = "2026-07-28"
PROTOCOLS = ("legacy", ASKED_IN_RESULTS)

Serve = Callable[..., "AgentServer"]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox) -> Serve:
    """What `svc mcp` would serve with these options."""
    from svc.cli.mcp import server

    made: list[AgentServer] = []
    monkeypatch.setattr(
        server, "run", lambda tools, session: made.append(server.AgentServer(tools, session))
    )

    async def run(
        self: "AgentServer", argv: list[str], *, may_be_cut: bool
    ) -> server.CommandResult:
        ran = inside(*argv[argv.index(f"--{self._mode}") :])
        return server.CommandResult(ran.code, ran.out.encode(), ran.err.encode())

    def serve(*argv: str, runs: bool = False) -> "AgentServer":
        if not runs:
            monkeypatch.setattr(server.AgentServer, "_run_alone", run)
        begun = inside("mcp", *argv)
        assert begun.code == 0, begun.err
        return made[-1]

    return serve


@pytest.fixture
def payment(pay: Pay, svc: Svc) -> str:
    svc.ok("config", "set", "limits.refunds", "500 EUR/day")
    pay()
    return str(svc.ok("payments", "list")["data"][0]["id"])


def refunds(svc: Svc) -> list[int]:
    return [refund["amount"] for refund in svc.ok("refunds", "list")["data"]]


async def test_tools_are_the_commands_that_read(svc: Svc, serve: Serve, payment: str) -> None:
    """With the options and the help of the commands; errors have code and exit code."""
    async with Agent().connect(serve().make_server()) as client:
        server = client.server_info
        assert server
        assert (server.name, server.version) == ("svc", __version__)
        assert "minor units" in (client.instructions or "")
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        hints = [tool.annotations for tool in tools.values()]
        assert all(it and it.read_only_hint and it.idempotent_hint for it in hints)
        assert not any(it.destructive_hint for it in hints if it)
        assert (tools["get"].description or "").startswith("Send any GET.")
        found = await call(client, "payments_list", status="captured", query="data[].id")
        assert found == {"exit_code": 0, "output": [payment]}
        shown = await call(client, "payments_retrieve", payment_id=payment)
        assert shown["output"] == svc.ok("payments", "retrieve", payment)
        missing = await call(client, "get", target="ord_1")
        assert (missing["exit_code"], missing["error"]["code"]) == (5, "resource_missing")
        itself = await call(client, "orders_list", query="@")
        assert itself["output"]["object"] == "list"
        option = await call(client, "get", target="--help")  # it is a value, and no option
        assert option["exit_code"] == 2


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("refunds_create", {"payment": "pay_1"}, "There is no tool refunds_create here."),
        ("orders_list", {"size": 1}, "The tool orders_list has no argument size."),
        ("get", {"target": "/v1/orders", "param": ["status=@/etc/passwd"]}, "reads no file"),
        ("get", {"target": "/v1/orders", "param": ["a=1,status=@/etc/passwd"]}, "reads no file"),
        ("get", {"target": "@/etc/passwd"}, "reads no file"),
        ("orders_list", {"limit": {"a": 1}}, "--limit is a text or a number."),
        ("orders_list", {"limit": True}, "--limit is a text or a number."),
        ("refunds_retrieve", {"refund_id": "rf_1", "wait": "yes"}, "--wait is true or false."),
    ],
)
async def test_what_no_tool_takes_is_refused(
    serve: Serve, tool: str, given: dict[str, Any], said: str
) -> None:
    """Nothing is run; the error has an exit code and an outcome, as every other."""
    async with Agent().connect(serve().make_server()) as client:
        refused = await call(client, tool, **given)
    assert (refused["exit_code"], refused["error"]["type"]) == (2, "usage_error")
    assert (refused["error"]["outcome"], "next" in refused) == ("not_sent", False)
    assert said in refused["error"]["message"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.effect_of("mcp", "--allow")
async def test_each_moving_of_money_is_confirmed_by_the_clients_person(
    svc: Svc, serve: Serve, payment: str, protocol: str
) -> None:
    """A yes sends it once, and what a command refuses is not asked about."""
    agent = Agent(reply(), protocol)
    async with agent.connect(serve(*REFUNDS).make_server()) as client:
        tool = next(it for it in (await client.list_tools()).tools if it.name == "refunds_create")
        assert tool.annotations
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (False, True)
        done = await call(client, "refunds_create", payment=payment, amount=700)
        assert (done["exit_code"], done["output"]["amount"]) == (0, 700)
        [question] = agent.asked
        url = os.environ["SVC_BASE_URL"]
        where, shown, money = question.splitlines()
        assert where == f"svc refunds create, test mode, profile default, {url}. Send it?"
        body = {"payment": payment, "amount": 700}
        assert json.loads(shown) == {"method": "POST", "url": f"{url}/v1/refunds", "body": body}
        assert money == f"refund payment {payment}, 7.00 EUR"
        rest = await call(client, "refunds_create", payment=payment)
        assert rest["output"]["amount"] == 15008
        assert agent.asked[1].splitlines()[2:] == [
            f"refund payment {payment}, 150.08 EUR",
            "It has no amount: all that is left.",
        ]
        wrong = await call(client, "refunds_create", payment="ord_1")
        assert (wrong["exit_code"], len(agent.asked)) == (2, 2), "refused before it is asked"
    assert sorted(refunds(svc)) == [700, 15008]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (None, "confirmation_required"),
        (("decline",), "not_confirmed"),
        (("cancel", {"confirm": True}), "not_confirmed"),
        (("accept", {"confirm": False}), "not_confirmed"),
        (("accept", {"confirm": "true"}), "not_confirmed"),
        (("accept", {}), "not_confirmed"),
    ],
)
async def test_whatever_is_no_yes_sends_nothing(
    svc: Svc, serve: Serve, payment: str, protocol: str, answer: Any, code: str
) -> None:
    """Nor does a client that cannot ask."""
    agent = Agent(answer and reply(*answer), protocol)
    async with agent.connect(serve(*REFUNDS).make_server()) as client:
        refused = await call(client, "refunds_create", payment=payment, amount=700)
    assert (refused["exit_code"], refused["error"]["code"]) == (2, code)
    assert refused["error"]["message"].endswith("Nothing was sent.")
    assert refunds(svc) == []


async def ask(client: Any, **more: Any) -> Any:
    """Calls for a refund; the answer is a question, or how it ended."""
    given = {"payment": more.pop("payment"), "amount": more.pop("amount", 100)}
    return await client.session.call_tool(
        "refunds_create", given, allow_input_required=True, **more
    )


async def test_a_yes_is_for_the_request_that_was_shown(
    svc: Svc, serve: Serve, payment: str
) -> None:
    """Given back with another amount, or a second time, it is asked anew."""
    from mcp_types import InputRequiredResult

    yes = {"confirm": reply()}
    agent = Agent(reply(), ASKED_IN_RESULTS)
    async with agent.connect(serve(*REFUNDS).make_server()) as client:
        for stolen in (None, "", "guessed"):
            said = {"input_responses": yes, "request_state": stolen}
            assert isinstance(await ask(client, payment=payment, **said), InputRequiredResult)
        for amounts in ((100, 9900, 100), (100, 100, 100)):
            shown = await ask(client, payment=payment)
            said = {"input_responses": yes, "request_state": shown.request_state}
            second, third = [
                await ask(client, payment=payment, amount=amount, **said) for amount in amounts[1:]
            ]
            assert isinstance(third, InputRequiredResult), "it was used up"
            assert isinstance(second, InputRequiredResult) == (amounts[1] == 9900)
    assert refunds(svc) == [100]


async def test_a_hundred_questions_wait_for_an_answer(
    serve: Serve, payment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more the oldest are forgotten, and asked anew."""
    from mcp_types import InputRequiredResult

    agent = serve(*REFUNDS)
    url = f"{os.environ['SVC_BASE_URL']}/v1/refunds"
    answers(monkeypatch, agent, 0, json.dumps({"method": "POST", "url": url, "body": {}}))
    async with Agent(reply(), ASKED_IN_RESULTS).connect(agent.make_server()) as client:
        asked = [await ask(client, payment=payment) for _ in range(101)]
        for one in (asked[1], asked[0]):
            said = {"input_responses": {"confirm": reply()}, "request_state": one.request_state}
            ended = await ask(client, payment=payment, **said)
            assert isinstance(ended, InputRequiredResult) == (one is asked[0])


def answers(
    monkeypatch: pytest.MonkeyPatch, agent: "AgentServer", code: int, out: str, err: str = ""
) -> list[list[str]]:
    """Has every command end so; gives the command lines."""
    from svc.cli.mcp.server import CommandResult

    ran: list[list[str]] = []

    async def run(argv: list[str], *, may_be_cut: bool) -> CommandResult:
        ran.append(argv)
        return CommandResult(code, out.encode(), err.encode())

    monkeypatch.setattr(agent, "_run_alone", run)
    return ran


LOST = '{"error": {"outcome": "unknown", "request": "rq_1"}}'
TOO_LONG = "The output has 262,145 bytes. Ask for a part of it with query."


@pytest.mark.parametrize(
    ("code", "out", "err", "told"),
    [
        (0, "", "", {}),
        (0, '{"a": 1}', "", {"output": {"a": 1}}),
        (0, "no JSON", "one\n{}\n", {"output": "no JSON", "notes": ["one", "{}"]}),
        (5, "", '{"error": {"code": "x"}}', {"error": {"code": "x"}}),
        (5, "", '{"error": "x"}', {"notes": ['{"error": "x"}']}),
        (0, "a" * 262_144, "", {"output": "a" * 262_144}),
        (0, "a" * 262_145, "", {"too_long": TOO_LONG}),
        (7, "", LOST, {**json.loads(LOST), "next": ("requests_resume", {"request_id": "rq_1"})}),
        (7, "", LOST.replace('"rq_1"', "null"), json.loads(LOST.replace('"rq_1"', "null"))),
        (6, "", LOST.replace("unknown", "done"), json.loads(LOST.replace("unknown", "done"))),
    ],
)
async def test_what_a_command_has_printed_is_told(
    serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    out: str,
    err: str,
    told: dict[str, Any],
) -> None:
    """Its output, its error, its notes, and the one tool that is next."""
    agent = serve("--allow", "orders.create")
    answers(monkeypatch, agent, code, out, err)
    if following := told.get("next"):
        told = {**told, "next": dict(zip(("tool", "arguments"), following, strict=True))}
    async with Agent().connect(agent.make_server()) as client:
        assert await call(client, "orders_list") == {"exit_code": code, **told}


async def test_where_nothing_can_be_resumed_no_tool_is_next(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that only reads has sent nothing itself."""
    agent = serve()
    ran = answers(monkeypatch, agent, 7, "", LOST)
    async with Agent().connect(agent.make_server()) as client:
        assert "next" not in await call(client, "orders_list")
    [argv] = ran
    own = ["--test", "--profile=default", "-o", "json", "--no-input"]
    assert argv[-len(own) - 3 :] == [*own, "orders", "list", "--"]


async def test_options_before_it_hold_for_every_command(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they were typed; a command gets no other."""
    url = os.environ["SVC_BASE_URL"]
    given = {"--api-version": "2026-10-01", "--max-time": "7", "--base-url": url}
    given |= {"--proxy": "http://127.0.0.1:9", "--ca-bundle": __file__}
    agent = serve(*(word for pair in given.items() for word in pair), "--quiet")
    ran = answers(monkeypatch, agent, 0, "")
    async with Agent().connect(agent.make_server()) as client:
        await call(client, "orders_list")
    [argv] = ran
    named = {word.partition("=")[0] for word in argv if word.startswith("--") and "=" in word}
    assert named == {"--profile", *given}
    assert {f"--base-url={url}", "--api-version=2026-10-01", "--max-time=7.0"} < set(argv)


def test_what_ends_the_server_is_told(monkeypatch: pytest.MonkeyPatch, isolated: Path) -> None:
    """An error of its own, or a signal; the end of the client is none."""
    from svc.cli.mcp import server

    monkeypatch.setenv("SVC_BASE_URL", "http://127.0.0.1:9")
    ends: list[Exception | None] = [None, LocalError("No more.")]

    async def end(_: object) -> None:
        if error := ends.pop(0):
            raise error

    monkeypatch.setattr(server.AgentServer, "serve", end)
    with Session(["mcp"], os.environ, Streams.of_process()) as session:
        server.run({}, session)
        with pytest.raises(LocalError, match="No more"):
            server.run({}, session)

        async def wait(_: object) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            await anyio.sleep(60)

        loop = asyncio.new_event_loop()
        monkeypatch.setattr(asyncio, "new_event_loop", lambda: loop)
        monkeypatch.setattr(server.AgentServer, "serve", wait)
        with pytest.raises(Stopped) as stopped:
            server.run({}, session)
    (left,) = asyncio.all_tasks(loop)
    left.cancel()
    loop.run_until_complete(asyncio.wait([left]))
    loop.close()
    assert stopped.value.exit_code == 128 + signal.SIGTERM


async def test_eight_commands_run_at_a_time(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many an agent calls at once."""
    from svc.cli.mcp.server import CommandResult

    agent, running, most = serve(), 0, 0

    async def run(argv: list[str], *, may_be_cut: bool) -> CommandResult:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        running -= 1
        return CommandResult(0, b"", b"")

    monkeypatch.setattr(agent, "_run_alone", run)
    async with anyio.create_task_group() as group:
        for _ in range(30):
            group.start_soon(agent._run, ["orders", "list"])
    assert most == 8


async def test_the_question_shows_what_is_sent_whatever_the_agent_does(
    svc: Svc, sandbox: Sandbox, serve: Serve, payment: str
) -> None:
    """Its query does not change what its person sees.

    After an unknown outcome one tool is next, which sends the same request with its own key, once
    more confirmed; there is one refund.
    """
    agent = Agent(reply())
    made = serve(*REFUNDS).make_server()
    async with agent.connect(made) as client:
        forged = "{method: 'POST', url: 'x', body: {payment: 'pay_mine', amount: `1`}}"
        sent = await call(client, "refunds_create", payment=payment, amount=700, query=forged)
        assert sent["output"]["body"]["amount"] == 1, "what is printed is the agent's"
        assert f'"body": {{"payment": "{payment}", "amount": 700}}' in agent.asked[0]
        fault = {"match": {"path": "/v1/refunds"}, "times": 4, "effect": {"connection": "close"}}
        sandbox.control("POST", "/faults", {**fault, "phase": "after"})
        unknown = await call(client, "refunds_create", payment=payment, amount=800)
        assert (unknown["exit_code"], unknown["error"]["outcome"]) == (7, "unknown")
        again = await call(client, "refunds_create", payment=payment, amount=800)
        assert again["exit_code"] == 6, "the guard of the command holds for agents"
        following = unknown["next"]
        assert following["tool"] == "requests_resume"
        settled = await call(client, "requests_resume", **following["arguments"], query=forged)
        assert settled["exit_code"] == 0
        request = following["arguments"]["request_id"]
        assert agent.asked[-1].splitlines()[0].startswith("svc requests resume, test mode")
        assert '"path": "/v1/refunds"' in agent.asked[-1]
        assert f'"body": {{"payment": "{payment}", "amount": 800}}' in agent.asked[-1], request
    assert sorted(refunds(svc)) == [700, 800]


async def test_a_text_can_be_read_but_not_deceive(svc: Svc, serve: Serve, payment: str) -> None:
    """Where it is in a form as well."""
    agent = Agent(reply("decline"))
    async with agent.connect(serve("--allow", "disputes.update").make_server()) as client:
        dispute = svc.ok("sandbox", "dispute", payment)["id"]
        await call(
            client,
            "disputes_update",
            dispute_id=dispute,
            tracking_number="Ä 王 & \u202e1",
            submit=True,
        )
        assert '["evidence[tracking_number]=Ä 王 & \\u{202e}1", "submit=true"]' in agent.asked[0]


async def test_a_capture_is_asked_with_its_amount_or_as_all_that_is_left(
    svc: Svc, serve: Serve, pay: Pay
) -> None:
    """Its body is a form: with an amount too it was said to have none."""
    svc.ok("config", "set", "limits.captures", "500 EUR/day")
    agent, order = Agent(reply("decline")), pay()
    async with agent.connect(serve("--allow", "orders.capture").make_server()) as client:
        for given in ({"amount": "500"}, {}):
            await call(client, "orders_capture", order_id=order, **given)
    part, whole = (asked.splitlines() for asked in agent.asked)
    assert '"amount=500"' in part[1]
    assert part[2:] == [f"capture order {order}, 5.00 EUR"]
    assert whole[-1] == "It has no amount: all that is left."


async def test_a_yes_is_for_the_profile_that_was_shown(
    svc: Svc, serve: Serve, monkeypatch: pytest.MonkeyPatch, pay: Pay
) -> None:
    """Choosing another one meanwhile does not send it to another account, nor past its limits."""
    pay()
    payment = str(svc.ok("payments", "list")["data"][0]["id"])
    address = os.environ["SVC_BASE_URL"]
    monkeypatch.delenv("SVC_BASE_URL")
    for name, at in (("shop", address), ("other", "http://127.0.0.1:9")):
        svc.ok("profiles", "create", name, "--base-url", at)
    svc.ok("profiles", "use", "shop")
    svc.ok("config", "set", "profiles.shop.limits.refunds", "5 EUR/day")
    agent = Agent(reply())
    async with agent.connect(serve(*REFUNDS).make_server()) as client:
        svc.ok("profiles", "use", "other")
        done = await call(client, "refunds_create", payment=payment, amount=400)
        assert done["exit_code"] == 0, done
        assert f"profile shop, {address}" in agent.asked[0]
        refused = await call(client, "refunds_create", payment=payment, amount=101)
        assert refused["error"]["code"] == "limit_reached"
    assert svc.ok("refunds", "list", "--profile", "shop", "--query", "data[].amount") == [400]


def test_money_has_a_limit_and_an_agent_does_not_go_beyond(svc: Svc, serve: Serve) -> None:
    """Without one the server does not start."""
    for mode in ("--test", "--live"):
        assert svc("mcp", *REFUNDS, mode).code == 2
    svc.ok("config", "set", "limits.refunds", "5 EUR/day")
    tools = serve(*REFUNDS)._tools
    assert "over_limit" not in tools["refunds_create"].schema()["properties"]


async def test_live_mode_is_served_with_live_alone(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the environment says."""
    monkeypatch.setenv("SVC_MODE", "live")
    async with Agent().connect(serve().make_server()) as client:
        assert (await call(client, "whoami"))["output"]["mode"] == "test"
    monkeypatch.setenv("SVC_API_KEY", "sk_live_sandbox")
    async with Agent().connect(serve("--live").make_server()) as client:
        assert (await call(client, "whoami"))["output"]["mode"] == "live"


@pytest.mark.parametrize("text", ["ord_\0", "ord_" + "a" * (3 << 20)])
async def test_a_command_that_cannot_be_started_has_sent_nothing(serve: Serve, text: str) -> None:
    """No command line can have such an argument."""
    async with Agent().connect(serve(runs=True).make_server()) as client:
        refused = await call(client, "orders_retrieve", order_id=text)
    assert (refused["exit_code"], refused["error"]["outcome"]) == (10, "not_sent")
    assert refused["error"]["message"].endswith("Nothing was sent.")


@pytest.mark.parametrize(
    ("reads", "outcome", "code"), [(True, "not_sent", 10), (False, "unknown", 7)]
)
async def test_a_command_that_was_killed_could_say_nothing(
    serve: Serve, reads: bool, outcome: str, code: int
) -> None:
    """What had begun to send may have sent it; one tool leads to the request."""
    agent = serve("--allow", "orders.create", runs=True)
    agent._own = ["sh", "-c", "kill -9 $$"]
    async with Agent().connect(agent.make_server()) as client:
        ended = await call(client, "orders_list" if reads else "orders_create")
    assert (ended["exit_code"], ended["error"]["outcome"]) == (code, outcome)
    assert "was ended by signal 9. " in ended["error"]["message"]
    following = {"tool": "requests_list", "arguments": {"unresolved": True}}
    assert ended.get("next") == (None if reads else following)


@pytest.mark.parametrize("may_be_cut", [True, False])
async def test_what_may_change_something_runs_to_its_end_without_the_client(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, may_be_cut: bool
) -> None:
    """And what only reads is ended with it."""
    agent, start, children = serve(runs=True), asyncio.create_subprocess_exec, []

    async def started(*argv: str, **more: Any) -> asyncio.subprocess.Process:
        children.append(await start(*argv, **more))
        return children[0]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", started)
    began, go = tmp_path / "began", tmp_path / "go"
    script = 'touch "$0"; while [ ! -e "$1" ]; do sleep 0.01; done'
    agent._own, agent._passed_on = ["sh", "-c", script, str(began), str(go)], []
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: agent._run([], may_be_cut=may_be_cut))
        while not (children and began.exists()):  # noqa: ASYNC110  in another process
            await anyio.sleep(0.005)
        group.cancel_scope.cancel()
        if not may_be_cut:
            go.touch()
    (child,) = children
    assert await child.wait() == (-signal.SIGKILL if may_be_cut else 0)
    vars(child)["_transport"].close()
    await anyio.sleep(0.01)
