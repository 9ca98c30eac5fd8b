"""`svc sandbox env`: the environment in which other programs, and svc itself, use the sandbox."""

import shlex
from typing import Annotated, Final

import typer

from svc.cli.app import verb
from svc.cli.sandbox_app import app
from svc.cli.sandbox_found import the_one
from svc.cli.sandbox_options import Port
from svc.cli.session import Session
from svc.errors import UsageError
from svc.spec import SANDBOX_KEYS

SHELLS: Final = {
    "sh": "export {name}={value}",
    "fish": "set -gx {name} {value}",
    "powershell": "$env:{name} = {value}",
}


@verb(app)
def env(
    ctx: typer.Context,
    port: Port = None,
    shell: Annotated[
        str, typer.Option(metavar="SHELL", help=f"One of {', '.join(SHELLS)}.")
    ] = "sh",
) -> None:
    """Print shell exports of its address and key. The key is a public constant.

    $ eval "$(svc sandbox env)"
    """
    session = Session.of(ctx)
    if shell not in SHELLS:
        raise UsageError(f"--shell is {shell!r}.", hint=f"Use one of: {', '.join(SHELLS)}")
    record = the_one(session.paths.sandbox_dir, port)
    values = {
        "SVC_BASE_URL": record.url,
        "SVC_API_KEY": SANDBOX_KEYS[f"secret_{session.settings.mode}"],
    }
    if record.certificate is not None:
        values["SVC_CA_BUNDLE"] = record.certificate
    # A pipe means a shell that evaluates this, not a program that reads JSON.
    if session.given.everywhere.output in ("json", "ndjson"):
        session.out.value(values)
        return
    for name, value in values.items():
        session.out.line(SHELLS[shell].format(name=name, value=_quoted(shell, value)))


def _quoted(shell: str, value: str) -> str:
    if shell == "powershell":
        return "'" + value.replace("'", "''") + "'"
    return shlex.quote(value)
