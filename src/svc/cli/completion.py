"""`svc completion`: print or install what makes a shell complete the words of `svc`."""

from typing import Annotated

import typer

from svc.cli.app import new_app, verb
from svc.cli.session import Session
from svc.completion.packaged import SHELLS, packaged
from svc.errors import UsageError

app = new_app()


@verb(app)
def completion(
    ctx: typer.Context,
    shell: Annotated[
        str,
        typer.Argument(metavar="SHELL", help=f"One of {', '.join(SHELLS)}", show_default=False),
    ],
    install: Annotated[
        bool, typer.Option("--install", help="Put it where the shell finds it, and say where.")
    ] = False,
    uninstall: Annotated[
        bool, typer.Option("--uninstall", help="Take away what --install has put there.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With --install: replace a file that is not ours.")
    ] = False,
) -> None:
    """Print the completion script of a shell, or install it.

    Commands, options and values complete without starting svc; ids come from what was seen lately.

    $ svc completion bash --install
    $ svc completion fish > ~/.config/fish/completions/svc.fish
    """
    session = Session.of(ctx)
    if shell not in SHELLS:
        raise UsageError(
            f"There is no script for {shell!r}.", hint=f"Use one of: {', '.join(SHELLS)}"
        )
    if install and uninstall:
        raise UsageError("--install and --uninstall exclude each other.", param="--uninstall")
    if uninstall:
        from svc.cli.completion_install import uninstall as take_away

        take_away(session, shell)
        return
    text = packaged(shell)
    if not install:
        session.streams.stdout.write(text)
        return
    from svc.cli.completion_install import install as put

    put(session, shell, text, force=force)
