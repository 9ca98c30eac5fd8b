"""`svc mcp`: serves commands to an agent as tools of the Model Context Protocol, over stdio.

`tools` makes the tools from the tree of commands: those that read, and the operations that a person
has allowed. `server` answers the agent's client: it runs a tool's command in a process of its own
and gives back what that has printed, with its exit code. What moves money is confirmed by the
client's person first.
"""

from importlib.util import find_spec

from svc.cli.framework.app import make_app, verb
from svc.cli.framework.options import option
from svc.cli.framework.session import Session
from svc.errors import ConfigError, UsageError, build_wrong_choice
from svc.inputs import split_list

app = make_app()


@verb(app)
def mcp(
    session: Session,
    allow: list[str] | None = option(
        "OPERATION,...", "What an agent may do beside reading: refunds.create, repeatable."
    ),
) -> None:
    """Serve commands to an agent as tools, on stdin and stdout (Model Context Protocol).

    Without --allow the tools only read. Each moving of money is confirmed through the client, and
    has to have a limit: svc help limits. Live mode is served with --live only.

    $ svc mcp
    $ svc mcp --profile shop --allow refunds.create,orders.capture
    """
    if find_spec("mcp") is None:
        raise ConfigError(
            "The server for agents needs the SDK of its protocol: pip install 'svc-cli[mcp]'",
            code="mcp_extra_missing",
        )
    from svc.cli.commands.tree import tree
    from svc.cli.mcp import server, tools

    allowed = _read_allowed(session, allow or [])
    served = tools.serve(tree(), allowed)
    if session.streams.person_answers:
        session.out.note("Waits for an agent's program, which starts it by itself: svc help agents")
    session.prepare_long_run()
    server.run(served, session)


def _read_allowed(session: Session, given: list[str]) -> "tuple[str, ...]":
    """The operations that an agent may carry out, in the order given.

    Raises:
        UsageError: there is no such operation, or it moves money and has no limit.
    """
    from svc.cli.mcp.tools import OPERATIONS

    allowed = [name for each in given for name in split_list(each)]
    for name in allowed:
        if name not in OPERATIONS:
            raise build_wrong_choice("--allow", name, OPERATIONS)
    mode = "live" if session.given.everywhere.live else "test"
    for group in dict.fromkeys(OPERATIONS[name].limit for name in allowed):
        if group and not session.config.limits_for(session.settings.profile, mode, group):
            raise UsageError(
                f"An agent may move money within a limit only, and {group} have none.",
                param="--allow",
                hint=f"svc config set limits.{group} 'AMOUNT CURRENCY/day'",
            )
    return tuple(allowed)
