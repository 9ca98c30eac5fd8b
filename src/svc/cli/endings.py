"""What is said when a command ends before its time: signals, and output that nobody takes."""

from typing import TYPE_CHECKING

from svc.cli.reporting import report_error
from svc.errors import ExitCode, LocalError, SvcError
from svc.spec import ID_PREFIXES

if TYPE_CHECKING:
    from svc.cli.session import Session
    from svc.cli.signals import Stopped


def report_stopped(session: "Session", stopped: "Stopped") -> int:
    """Names the request that a signal left unresolved, or what was done before (promise R78)."""
    error = (
        _stopped_sending(stopped)
        or _stopped_at_end(stopped)
        or _stopped_before(stopped)
        or _stopped_after(session, stopped)
    )
    if error is not None:
        report_error(session, error)
    return stopped.exit_code


def report_end_of_output(session: "Session", error: OSError) -> int:
    """Says what was done when the result could not be written (promise R77)."""
    code = ExitCode.BROKEN_PIPE if isinstance(error, BrokenPipeError) else ExitCode.LOCAL
    if session.done is None and code == ExitCode.BROKEN_PIPE:
        return code  # whoever read us has had enough, and nothing was changed
    why = (error.strerror or str(error)).lower()
    if session.done is None:
        what = f"{error.filename} cannot be used" if error.filename else "Reading or writing failed"
        return report_error(session, LocalError(f"{what}: {why}."))
    lost = LocalError(
        f"Done: {session.done}, but the result could not be written: {why}.",
        code="result_not_written",
        outcome="done",
        hint=_look(session, session.done),
    )
    lost.exit_code = code
    return report_error(session, lost)


def _stopped_sending(stopped: "Stopped") -> SvcError | None:
    intent = stopped.sending
    if intent is None:
        return None
    from svc.client.journal.refusals import resume_command

    return _interrupted(
        stopped,
        f"Stopped while POST {intent.stored.path} was being sent; it may have been carried out.",
        outcome="unknown",
        request=intent.id,
        idempotency_key=intent.stored.idempotency_key,
        hint=resume_command(intent),
    )


def _stopped_at_end(stopped: "Stopped") -> SvcError | None:
    """The request had ended, and what it ended with is told all the same."""
    ended = stopped.ended
    if ended is None:
        return None
    return _interrupted(
        stopped,
        f"Stopped. {ended.message}",
        outcome=ended.outcome,
        request=ended.request,
        request_id=ended.request_id,
        idempotency_key=ended.idempotency_key,
        hint=ended.hint,
    )


def _stopped_before(stopped: "Stopped") -> SvcError | None:
    if stopped.unsent is None:
        return None
    return _interrupted(
        stopped, f"Stopped before POST {stopped.unsent} was sent.", outcome="not_sent"
    )


def _stopped_after(session: "Session", stopped: "Stopped") -> SvcError | None:
    if session.done is None:
        return None
    return _interrupted(
        stopped,
        f"Stopped, but {session.done} was done before.",
        outcome="done",
        hint=_look(session, session.done),
    )


def _look(session: "Session", identifier: str) -> str | None:
    """The command that shows an object; an endpoint cannot be retrieved (spec: Endpoints)."""
    if identifier.startswith(ID_PREFIXES["webhook_endpoint"]):
        return None
    return session.command(f"get {identifier}")


def _interrupted(stopped: "Stopped", message: str, **fields: object) -> SvcError:
    error = SvcError(message, code="stopped", type="interrupted", **fields)  # type: ignore[arg-type]
    error.exit_code = ExitCode(stopped.exit_code)
    return error
