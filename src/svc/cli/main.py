"""The entry of the program and its one error boundary."""

import os
import sys
from collections.abc import Sequence

import typer

from svc.cli.reporting import report_bug, report_error, usage_error_of
from svc.cli.session import Session
from svc.cli.signals import Stopped, stopping
from svc.cli.streams import Streams
from svc.errors import ExitCode, LocalError, SvcError


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code (cli section 3)."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    session = Session(arguments, os.environ, Streams.of_process())
    with session:
        return run(session)


def run(session: Session) -> int:
    """Runs a session's command line; every error ends here (promise R79)."""
    try:
        with stopping():
            code = _invoke(session)
            session.streams.stdout.flush()
            return code
    except SvcError as error:
        return report_error(session, error)
    except typer.TyperException as error:
        return report_error(session, usage_error_of(error))
    except Stopped as stopped:
        return stopped.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except OSError as error:
        return _end_of_output(session, error)
    except Exception as error:  # noqa: BLE001  the boundary: no traceback reaches a user
        return report_bug(session, error)


def _invoke(session: Session) -> int:
    from svc.cli.root import app

    command = typer.main.get_command(app)
    try:
        with command.make_context(
            "svc", list(session.argv), obj=session, terminal_width=session.help_width()
        ) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return ExitCode.OK


def _end_of_output(session: Session, error: OSError) -> int:
    """Says what was done when the result could not be written (promise R77)."""
    if session.done is not None:
        session.streams.stderr.write(f"Done: {session.done}, but the result was not written.\n")
    if isinstance(error, BrokenPipeError):
        return ExitCode.BROKEN_PIPE
    return report_error(
        session, LocalError(f"Reading or writing failed: {error.strerror or error}.")
    )
