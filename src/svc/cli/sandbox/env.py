"""`svc sandbox env`: prints shell exports that point programs, and svc itself, at the sandbox.

It finds the running sandbox by its record; `eval "$(svc sandbox env)"` uses the lines in a shell.
"""

import shlex
from typing import Any, Final, Literal

import typer

from svc.cli.framework.app import InvalidConfigVerb, make_app, verb
from svc.cli.framework.local_sandbox import find_running_sandbox
from svc.cli.framework.options import option
from svc.cli.framework.session import Session
from svc.cli.sandbox.shared import PORT
from svc.errors import CheckFailed, SvcError
from svc.paths import NoFolder
from svc.sandbox.options import LOOPBACK
from svc.sandbox.process.records import RunRecord, health
from svc.service.facts import SANDBOX_KEYS

app = make_app()

EnvShell = Literal["sh", "fish", "powershell"]
SHELLS: Final[dict[EnvShell, str]] = {
    "sh": "export {name}={value}",
    "fish": "set -gx {name} {value}",
    "powershell": "$env:{name} = {value}",
}

_THROW: Final = "throw 'svc sandbox env failed'"
_DATA: Final = ("json", "ndjson")


class _Env(InvalidConfigVerb):
    """The verb, which fails in the shell that evaluates it also where its words are wrong."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException:
            _fail(ctx.obj)
            raise


@verb(app, cls=_Env)
def env(
    session: Session,
    port: int | None = PORT,
    shell: EnvShell = option("SHELL", f"One of {', '.join(SHELLS)}.", default="sh"),
) -> None:
    """Print shell exports of a sandbox's address and key. The key is a public constant.

    Where no sandbox runs, or several and none is named by --port, it prints a command that fails.

    $ eval "$(svc sandbox env)"
    """
    data = session.given.everywhere.output in _DATA
    try:
        _print(session, shell, _find_meant(session, port), data=data)
    except SvcError:
        _fail(session)
        raise


def _fail(session: Session) -> None:
    """Prints what fails: an eval of nothing would go on, with whatever is configured."""
    words = session.argv
    if any(word.endswith(_DATA) for word in words):
        return
    powershell = any(word.endswith("powershell") for word in words)
    session.stdout.write((_THROW if powershell else "false") + "\n")


def _print(session: Session, shell: EnvShell, record: RunRecord, *, data: bool) -> None:
    values = {
        "SVC_BASE_URL": record.url,
        "SVC_API_KEY": SANDBOX_KEYS[f"secret_{session.settings.mode}"],
    }
    if record.certificate is not None:
        values["SVC_CA_BUNDLE"] = record.certificate
    # A pipe means a shell that evaluates this, not a program that reads JSON.
    if data:
        session.out.value(values)
        return
    for name, value in values.items():
        session.out.line(SHELLS[shell].format(name=name, value=_quote(shell, value)))


def _find_meant(session: Session, port: int | None) -> RunRecord:
    """The sandbox on a port also where no record tells of it, as on a read-only disk.

    Raises:
        CheckFailed: when none runs (there).
        UsageError: when several run and no port was given.
        LocalError: there is no folder that would tell of one, and no port was given.
    """
    try:
        return find_running_sandbox(session.paths.sandbox_dir, port)
    except (CheckFailed, NoFolder):
        if port is None:
            raise
        url = f"http://{LOOPBACK}:{port}"
        unrecorded = RunRecord(pid=0, port=port, url=url, db="", started="", log="")
        if health(unrecorded) is None:
            raise
        return unrecorded


def _quote(shell: str, value: str) -> str:
    if shell == "powershell":
        return "'" + value.replace("'", "''") + "'"
    return shlex.quote(value)
