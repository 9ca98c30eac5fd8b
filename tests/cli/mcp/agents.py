"""An agent's program: the SDK's own client, whose person answers every question alike."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # of half a second, for every worker
    from mcp.client.client import Client
    from mcp_types import ElicitResult


class Agent:
    """A client whose person gives one reply to all questions; without one it cannot ask."""

    def __init__(self, reply: "ElicitResult | None" = None, protocol: str = "auto") -> None:
        self._reply = reply
        self._protocol = protocol
        self.asked: list[str] = []

    def connect(self, server: Any) -> "Client":
        """A client of a server, or of a transport to one; used in an `async with`."""
        from mcp.client.client import Client

        answer = None if self._reply is None else self._answer
        return Client(server, mode=self._protocol, elicitation_callback=answer)

    async def _answer(self, context: Any, params: Any) -> "ElicitResult":
        assert self._reply is not None
        self.asked.append(params.message)
        return self._reply


def reply(action: Any = "accept", content: Any = None) -> "ElicitResult":
    """What a person has answered; by default yes."""
    from mcp_types import ElicitResult

    yes = {"confirm": True} if action == "accept" and content is None else content
    return ElicitResult(action=action, content=yes)


async def call(client: "Client", tool: str, **given: Any) -> Any:
    """Calls a tool and returns what it tells, which says twice whether it went wrong."""
    result = await client.call_tool(tool, given)
    assert result.is_error == (result.structured_content["exit_code"] != 0)
    return result.structured_content
