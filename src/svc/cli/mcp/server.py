"""Answers an agent's client over stdio: runs the command of a tool, and tells how it ended.

`run` gets the tools of `tools.serve`. Each call is a process of svc of its own, so that limits, the
journal and the guards against a second payment hold for an agent as for everybody. A request that
was begun is never cut off, whatever becomes of the client.
"""

import asyncio
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

import anyio
import mcp_types as protocol
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types.version import is_version_at_least
from pydantic import ValidationError

from svc import __version__
from svc.cli.framework.prompts import describe_money, read_what_is_left
from svc.cli.framework.session import Session
from svc.cli.mcp.tools import QUERY, RESUME, AgentTool
from svc.client import find
from svc.client.call import Call
from svc.client.operations import action_of
from svc.errors import LocalError, OutcomeUnknown, SvcError, UsageError
from svc.render.errors import envelope
from svc.render.text import one_line
from svc.system import loops
from svc.system.processes import build_group_options, build_own_command
from svc.system.signals import STOPPING, Stopped

_INSTRUCTIONS: Final = (
    "Each tool is a command of svc, for a merchant's account on a cross-border order service. "
    "Amounts are in minor units: 12900 is 129.00 EUR. A result has exit_code, and output or error. "
    "Where the outcome is unknown, money may have moved: call nothing but the tool under next."
)
_PASSED_ON: Final = ("base_url", "api_version", "max_time", "proxy", "ca_bundle")
_COMMANDS_MAX: Final = 8  # at a time
_QUESTIONS_MAX: Final = 100  # without an answer
_OUTPUT_MAX: Final = 256 << 10  # bytes; more than an agent can read at once
_ASKED_IN_RESULTS: Final = "2026-07-28"  # the version from which a question is part of a result
_QUESTION: Final = "confirm"
_YES: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {_QUESTION: {"type": "boolean", "title": "Send it", "default": False}},
    "required": [_QUESTION],
}

_Answer = protocol.CallToolResult | protocol.InputRequiredResult
_Context = ServerRequestContext[Any, Any]


class CommandResult(NamedTuple):
    """What a command has printed, and its exit code."""

    exit_code: int
    output: bytes
    errors: bytes


def run(tools: Mapping[str, AgentTool], session: Session) -> None:
    """Serves the tools until the client closes stdin.

    Raises:
        Stopped: a signal came.
    """
    loop = asyncio.new_event_loop()
    signalled: asyncio.Future[int] = loop.create_future()

    def stop(number: int) -> None:
        if not signalled.done():
            signalled.set_result(number)

    with loops.catch_signals(loop, STOPPING, stop):
        serving = loop.create_task(AgentServer(tools, session).serve())
        both: set[asyncio.Future[Any]] = {serving, signalled}
        first = asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        loop.run_until_complete(first)
    if signalled.done():  # a thread still reads stdin, which nothing can end: the loop is left open
        raise Stopped(signalled.result())
    loop.close()
    serving.result()


class AgentServer:
    """Lists the tools and calls them for one client."""

    def __init__(self, tools: Mapping[str, AgentTool], session: Session) -> None:
        self._tools = tools
        given = session.given.everywhere
        self._mode = "live" if given.live else "test"
        self._base_url = str(session.base_url)
        self._where = f"{self._mode} mode, profile {session.settings.profile}, {session.base_url}"
        self._own, self._env = build_own_command("svc", session.env)
        # The profile by name: one that is chosen meanwhile is not what a question has shown.
        account = [f"--{self._mode}", f"--profile={session.settings.profile}"]
        typed = ((name, getattr(given, name)) for name in _PASSED_ON)
        more = [f"--{name.replace('_', '-')}={it}" for name, it in typed if it is not None]
        self._passed_on = [*account, "-o", "json", "--no-input", *more]
        self._asked: dict[str, list[str]] = {}  # command lines by the token of their question
        self._places = asyncio.Semaphore(_COMMANDS_MAX)

    async def serve(self) -> None:
        """Answers until the client is gone."""
        server = self.make_server()
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    def make_server(self) -> "Server[Any]":
        """Makes what speaks the protocol, over whatever transport."""
        return Server(
            "svc",
            version=__version__,
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def _list(
        self, _context: _Context, _params: protocol.PaginatedRequestParams | None
    ) -> protocol.ListToolsResult:
        return protocol.ListToolsResult(tools=[_describe(tool) for tool in self._tools.values()])

    async def _call(self, context: _Context, params: protocol.CallToolRequestParams) -> _Answer:
        given = params.arguments or {}
        try:
            tool = self._tools.get(params.name)
            if tool is None:
                raise UsageError(f"There is no tool {params.name} here.", param="name")
            words = tool.build_command_line(given)
            if not tool.moves_money(given):
                return self._tell(await self._run(words, may_be_cut=tool.reads))
            return await self._confirm(context, params, tool, words)
        except SvcError as error:
            told = {"exit_code": int(error.exit_code), **json.loads(envelope(error))}
            if error.outcome == "unknown":  # of a request whose id is not known here
                told["next"] = {"tool": "requests_list", "arguments": {"unresolved": True}}
            return _result(told, is_error=True)

    async def _confirm(
        self,
        context: _Context,
        params: protocol.CallToolRequestParams,
        tool: AgentTool,
        words: list[str],
    ) -> _Answer:
        """Runs what moves money after the client's person has said yes to just this."""
        if is_version_at_least(context.protocol_version, _ASKED_IN_RESULTS):
            token = params.request_state or ""
            if self._asked.pop(token, None) == words:
                reply = (params.input_responses or {}).get(_QUESTION)
                return await self._run_if_accepted(reply, words)
            question = await self._build_question(context, params, tool)
            if isinstance(question, protocol.CallToolResult):
                return question
            while len(self._asked) >= _QUESTIONS_MAX:
                del self._asked[next(iter(self._asked))]
            token = secrets.token_urlsafe()
            self._asked[token] = words
            asked = protocol.ElicitRequest(params=question)
            return protocol.InputRequiredResult(
                input_requests={_QUESTION: asked}, request_state=token
            )
        question = await self._build_question(context, params, tool)
        if isinstance(question, protocol.CallToolResult):
            return question
        try:
            reply = await context.session.elicit_form(
                question.message, question.requested_schema, context.request_id
            )
        except MCPError as error:
            raise _cannot_ask(f" ({error})") from error
        except ValidationError:
            reply = None  # an answer that is none
        return await self._run_if_accepted(reply, words)

    async def _build_question(
        self, context: _Context, params: protocol.CallToolRequestParams, tool: AgentTool
    ) -> protocol.ElicitRequestFormParams | protocol.CallToolResult:
        """Shows the request as it would be sent; where the command refuses it, what it says.

        Without the agent's query, which could make it look like another request.
        """
        can = context.session.client_capabilities
        if can is None or can.elicitation is None:
            raise _cannot_ask()
        given = params.arguments or {}
        words = tool.build_command_line({name: given[name] for name in given if name != QUERY})
        if tool.action is None:  # a recorded request, to be sent again
            shown = await self._run(["requests", "show", *words[2:]], may_be_cut=True)
        else:
            shown = await self._run(
                [*tool.words, "--dry-run", *words[len(tool.words) :]], may_be_cut=True
            )
        found = _read(shown.output)
        if shown.exit_code or not isinstance(found, dict):
            return self._tell(shown)
        body = found.get("body") or {}
        if isinstance(body, str):  # a form, with % signs
            pairs = parse_qsl(body, keep_blank_values=True)
            body = dict(pairs)
            found["body"] = [f"{name}={value}" for name, value in pairs]
        request = {name: found[name] for name in ("method", "url", "path", "body") if name in found}
        readable = one_line(json.dumps(request, ensure_ascii=False))
        lines = [f"svc {' '.join(tool.words)}, {self._where}. Send it?", readable]
        if tool.action:
            path = str(found.get("url")).removeprefix(self._base_url)
            lines.append(await self._describe_money(find.post(path, body)))
        if tool.action and tool.action.whole and "amount" not in body:
            lines.append("It has no amount: all that is left.")
        return protocol.ElicitRequestFormParams(
            message="\n".join(lines), requested_schema=dict(_YES)
        )

    async def _describe_money(self, call: Call) -> str:
        """Describes what a request moves, with its currency, as a question at a terminal does."""
        reading = find.money_of(call)
        shown = reading and await self._run(["get", reading.path], may_be_cut=True)
        left = read_what_is_left(_read(shown.output)) if shown and not shown.exit_code else {}
        return one_line(describe_money(call, action_of(call), left))

    async def _run_if_accepted(self, reply: Any, words: list[str]) -> protocol.CallToolResult:
        content = getattr(reply, "content", None) or {}
        if getattr(reply, "action", None) != "accept" or content.get(_QUESTION) is not True:
            raise UsageError(
                "The person has not confirmed it. Nothing was sent.", code="not_confirmed"
            )
        return self._tell(await self._run(words, "--yes"))

    async def _run(
        self, words: Sequence[str], *more: str, may_be_cut: bool = False
    ) -> CommandResult:
        """Runs a command; one that may change something runs to its end without the client too."""
        argv = [*self._own, *self._passed_on, *more, *words]
        async with self._places:
            return await self._run_alone(argv, may_be_cut=may_be_cut)

    async def _run_alone(self, argv: Sequence[str], *, may_be_cut: bool) -> CommandResult:
        with anyio.CancelScope(shield=not may_be_cut):
            try:
                child = await asyncio.create_subprocess_exec(
                    *argv,
                    env=self._env,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.PIPE,
                    **build_group_options(),
                )
            except (OSError, ValueError) as error:  # arguments too long, or with a NUL
                raise LocalError(
                    f"The command could not be run: {error}. Nothing was sent.", outcome="not_sent"
                ) from error
            try:
                output, errors = await child.communicate()
            finally:
                if child.returncode is None:
                    child.kill()
        code = child.returncode or 0
        if code < 0:  # it could say nothing
            how = f"The command was ended by signal {-code}"
            if may_be_cut:
                raise LocalError(f"{how}. Nothing was sent.", outcome="not_sent")
            raise OutcomeUnknown(f"{how}. What it sent may have been done.", outcome="unknown")
        return CommandResult(code, output, errors)

    def _tell(self, ended: CommandResult) -> protocol.CallToolResult:
        """The result of a tool: exit code, output or error, and the only tool to call next."""
        told: dict[str, Any] = {"exit_code": ended.exit_code}
        if ended.output and len(ended.output) <= _OUTPUT_MAX:
            told["output"] = _read(ended.output)
        elif ended.output:
            told["too_long"] = (
                f"The output has {len(ended.output):,} bytes. Ask for a part of it with query."
            )
        notes = []
        for line in ended.errors.decode("utf-8", "replace").splitlines():
            said = _read(line.encode())
            if isinstance(said, dict) and isinstance(said.get("error"), dict):
                told["error"] = said["error"]
            else:
                notes.append(line)
        if notes:
            told["notes"] = notes
        error = told.get("error", {})
        resume = RESUME.replace(" ", "_")
        if error.get("outcome") == "unknown" and error["request"] and resume in self._tools:
            told["next"] = {"tool": resume, "arguments": {"request_id": error["request"]}}
        return _result(told, is_error=ended.exit_code != 0)


def _describe(tool: AgentTool) -> protocol.Tool:
    return protocol.Tool(
        name=tool.name,
        description=tool.help,
        input_schema=tool.schema(),
        annotations=protocol.ToolAnnotations(
            read_only_hint=tool.reads, destructive_hint=not tool.reads, idempotent_hint=tool.reads
        ),
    )


def _cannot_ask(why: str = "") -> UsageError:
    return UsageError(
        f"The client cannot ask its person{why}. Nothing was sent.", code="confirmation_required"
    )


def _result(told: dict[str, Any], *, is_error: bool) -> protocol.CallToolResult:
    text = json.dumps(told, ensure_ascii=False)
    return protocol.CallToolResult(
        content=[protocol.TextContent(type="text", text=text)],
        structured_content=told,
        is_error=is_error,
    )


def _read(text: bytes) -> Any:
    """JSON as a value, other text as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text.decode("utf-8", "replace")
