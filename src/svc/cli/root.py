"""The root of the command tree: lists everything from data, imports only what runs."""

from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from svc import __version__
from svc.cli.app import format_parameters, help_of, new_app
from svc.cli.given import collecting, options_of
from svc.cli.registry import COMMANDS, SHORT_NAMES, load
from svc.errors import UsageError

# What people type who come from other tools, or who leave out the resource.
ELSEWHERE: Final = {
    "auth": "keys",
    "config list": "config get",
    "events trigger": "sandbox trigger",
    "inbox": "events inbox",
    "listen": "events listen",
    "login": "keys add",
    "logout": "keys remove",
    "logs": "sandbox requests",
    "open": "sandbox checkout",
    "pay": "sandbox pay",
    "profiles show": "profiles list",
    "replay": "events replay",
    "start": "sandbox start",
    "status": "whoami",
    "stop": "sandbox stop",
    "trigger": "sandbox trigger",
    "verify": "events verify",
}

# What is no command: how to do it all the same.
OTHERWISE: Final = {
    "version": "svc --version",
    "update": "Install it anew as you did: pipx, uv tool or pip, each from its newer source",
    "upgrade": "Install it anew as you did: pipx, uv tool or pip, each from its newer source",
}


class Root(TyperGroup):
    """Lists every command from the registry; imports only the one that runs."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.params.extend(options_of("everywhere"))
        self.commands.update(
            {name: TyperCommand(name=name, help=entry.summary) for name, entry in COMMANDS.items()}
        )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with collecting(ctx, ("everywhere",)):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        _send_elsewhere(args)
        asked = [SHORT_NAMES.get(args[0], args[0]), *args[1:]] if args else args
        name, command, rest = super().resolve_command(ctx, asked)
        if name in COMMANDS:
            command = self.commands[name] = load(name)
        return name, command, rest

    def get_help(self, ctx: Any) -> str:
        return help_of(self, ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, entry in COMMANDS.items():
            sections.setdefault(entry.section, []).append((name, entry.summary))
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)
        format_parameters(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  the base's signature
        with formatter.section("First steps"):
            formatter.write("  svc quickstart\n  svc sandbox start\n  svc orders create --help\n")


def _send_elsewhere(args: list[str]) -> None:
    """Raises UsageError on one or two words that mean a command of another name."""
    for words in (" ".join(args[:2]), args[0] if args else ""):
        if words in ELSEWHERE:
            there = ELSEWHERE[words]
            raise UsageError(
                f"No such command {words!r}. Did you mean 'svc {there}'?",
                hint=f"svc {there} --help shows what it takes",
            )
        if words in OTHERWISE:
            raise UsageError(f"No such command {words!r}.", hint=OTHERWISE[words])


app = new_app(cls=Root)


@app.callback(invoke_without_command=True)
def svc(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version."),
) -> None:
    """Operate a merchant's account on a cross-border order service."""
    if version:
        ctx.obj.streams.stdout.write(f"svc {__version__}\n")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        ctx.obj.streams.stdout.write(ctx.get_help() + "\n")
