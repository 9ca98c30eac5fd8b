"""The entry of the command line, and the one place where errors become exit codes.

`svc.start` calls `main` with the words that were typed. It makes the `Session`, runs the Typer
tree, has `framework.errors` report what was raised, keeps the shown ids for completion, and returns
the exit code.
"""

import os
import sys
from collections.abc import Sequence

import typer

from svc.cli.framework.errors import (
    report_bug,
    report_cut_off,
    report_end_of_output,
    report_error,
    report_stopped,
)
from svc.cli.framework.invocation import usage_error_of
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.errors import ExitCode, SvcError
from svc.system import signals
from svc.system.signals import Stopped


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    # Not closed: closing the state database would move its log into it, which waits for the disk
    # twice more on every POST. What was committed is safe in the log (promise R68), and the system
    # closes what a process leaves open.
    session = Session(arguments, os.environ, Streams.of_process())
    session.typed_name = sys.argv[0]
    return run(session)


def run(session: Session) -> int:
    """Runs a session's command line; every error ends here (promise R79)."""
    try:
        with signals.watch(lambda number: report_cut_off(session, Stopped(number))):
            code = _invoke(session)
            session.stdout.flush()
            _keep_recent(session)
            if session.streams.person_reads and session.streams.person_answers:
                from svc.cli.framework.daily import remind_daily

                remind_daily(session)
            return code
    except SvcError as error:
        return _report(session, error)
    except typer.TyperException as error:
        return report_error(session, usage_error_of(error, session.argv))
    except Stopped as stopped:
        return report_stopped(session, stopped)
    except (KeyboardInterrupt, typer.Abort):  # the console of Windows tells a question so
        return ExitCode.INTERRUPTED
    except OSError as error:
        return report_end_of_output(session, error)
    except Exception as error:  # noqa: BLE001  the boundary: no traceback reaches a user
        return report_bug(session, error)


def _report(session: Session, error: SvcError) -> int:
    """Prints an error; a request without a known outcome is one that completion offers next."""
    code = report_error(session, error)
    if error.outcome == "unknown" and error.request is not None:
        session.shown.append({"id": error.request, "status": error.outcome})
        _keep_recent(session)
    return code


def _keep_recent(session: Session) -> None:
    """Keeps the ids that were shown, for completion: last, when the output has been written."""
    if session.shown:
        from svc.cli.framework.recent import remember

        remember(session)


def _invoke(session: Session) -> int:
    from svc.cli.framework.app import app

    command = typer.main.get_command(app)
    try:
        with command.make_context(
            "svc", list(session.argv), obj=session, terminal_width=session.help_width()
        ) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return ExitCode.OK
