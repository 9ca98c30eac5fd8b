"""Ends a command that failed or was stopped: prints the error or report, returns the exit code.

`cli.main` calls one function for each kind of end: an error, a bug, a signal, an OSError.
"""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from svc import __version__
from svc.errors import (
    ExitCode,
    Forbidden,
    LocalError,
    NotFound,
    SvcError,
    Unauthorized,
    UsageError,
    system_words,
)
from svc.paths import NoFolder
from svc.redaction import redact, redact_maybe
from svc.service.facts import DEMO_IDS, ID_PREFIXES
from svc.system.files import make_private, open_private

if TYPE_CHECKING:
    from svc.cli.framework.session import Session
    from svc.delivery.journal.entry import Intent
    from svc.keys.resolve import ResolvedKey
    from svc.system.signals import Stopped


_UNREADABLE: Final = (LookupError, TypeError, ValueError, AttributeError)
_NO_THREADS: Final = "can't start new thread"
_LIMIT: Final = "The system starts no more threads for this user."
_LESS: Final = "Use a smaller --concurrency, or raise the limit: ulimit -u"


def report_error(session: "Session", error: SvcError) -> int:
    """Completes an expected error, masks secrets, prints it on stderr; returns its exit code.

    It adds the source of a key that was not accepted, and for an id that was not found the other
    mode or the demo.
    """
    _name_key_source(session, error)
    _name_other_mode(session, error)
    _name_demo(session, error)
    error.message = redact(error.message)
    error.hint = redact_maybe(error.hint)
    # What the service sends may hold a key as well: it saw ours (promise R39).
    error.type, error.code = redact(error.type), redact_maybe(error.code)
    error.param, error.request_id = redact_maybe(error.param), redact_maybe(error.request_id)
    try:
        session.error_output().error(error)
    except OSError:  # no descriptor may be left for what makes an error readable
        with suppress(OSError, ValueError):  # or stderr is closed: the exit code still tells
            hint = f" {error.hint}" if error.hint else ""
            session.stderr.write_masked(f"Error: {error.message}{hint}\n")
    return error.exit_code


def report_bug(session: "Session", error: Exception) -> int:
    """Prints one line and the path of a redacted report (promise R79).

    If a library has a version that svc does not support, the line says that.
    """
    from svc.cli.framework.requirements import find_unmet

    outside = _from_outside(session, error)
    if outside is not None:
        return report_error(session, outside)
    intent = getattr(error, "sending", None)  # of a request that the bug came into
    wrong = find_unmet() if intent is None else None
    if wrong is not None:
        return report_error(session, wrong)
    import traceback

    text = redact("".join(traceback.format_exception(error)))
    where = _write_report(session, text)
    name = type(error.__cause__ or error).__name__
    bug = SvcError(
        f"svc has met a bug of its own: {name}.",
        code=name,
        hint=f"A report without secrets lies at {where}" if where else None,
    )
    bug.exit_code = ExitCode.BUG
    if intent is not None:
        _name_request(bug, intent)
    return report_error(session, bug)


def _from_outside(session: "Session", error: Exception) -> SvcError | None:
    """What is no bug but the system's limit, or an argument's bytes; None for anything else."""
    if _NO_THREADS in str(error):
        return LocalError(_LIMIT, hint=_LESS)
    if isinstance(error, UnicodeEncodeError):
        for number, word in enumerate(session.argv, 1):
            # Python marks bytes that are no UTF-8; as the name of a file they are taken.
            if not word.isascii() and word != word.encode("utf-8", "replace").decode():
                return UsageError(
                    f"Argument {number} is not UTF-8 text.",
                    code="argument_invalid",
                    hint="Write it in UTF-8",
                )
    other = session.sandbox_version not in (None, __version__)
    if other and isinstance(error, _UNREADABLE) and not hasattr(error, "sending"):
        from svc.client.sandbox import other_version

        return LocalError(
            "This release of svc does not understand the sandbox's answer.",
            code="sandbox_of_another_version",
            hint=other_version(str(session.sandbox_version)),
        )
    return None


def _name_key_source(session: "Session", error: SvcError) -> None:
    key = vars(session).get("key")  # resolved only where it was needed
    if key is not None and isinstance(error, Unauthorized | Forbidden):
        # Behind the message, for what is `Next:` is there to be typed.
        said = error.message if error.message.endswith((".", "!", "?")) else f"{error.message}."
        error.message = f"{said} The key {key.fingerprint} came from: {key.source}."
        error.message += _name_its_profile(session, key)


def _name_its_profile(session: "Session", key: "ResolvedKey") -> str:
    """Says of the key in SVC_API_KEY for which profile the same key is stored, where it is."""
    from svc.keys.resolve import VARIABLE

    if key.source != VARIABLE:
        return ""
    profile = session.settings.profile
    with suppress(LocalError):  # a damaged state database is no news here
        stored = session.key_facts.every()
        names = {fact.profile for fact in stored if fact.fingerprint == key.fingerprint}
        if names and profile not in names:
            return (
                f" It is the key of profile {min(names)}; {VARIABLE} is used for every "
                f"profile, {profile} too."
            )
        if any(fact.place == session.key_place() for fact in stored):
            return f" It is used in place of the key that is stored for profile {profile}."
    return ""


def _name_other_mode(session: "Session", error: SvcError) -> None:
    """Says of an id that was seen in the other mode that it is invisible in this one."""
    if not isinstance(error, NotFound):
        return
    from svc.cli.framework.recent import find_in_other_mode

    identifier = find_in_other_mode(session)
    if identifier is not None:
        test = session.settings.mode == "live"
        way = "leave out --live" if test else "add --live"
        error.hint = f"{identifier} is an object of {'test' if test else 'live'} mode: {way}"


def _name_demo(session: "Session", error: SvcError) -> None:
    """Says of an id of the examples where it is: in the demo, which this sandbox does not hold."""
    if not isinstance(error, NotFound) or error.code != "resource_missing":
        return
    from svc.cli.framework.control import is_sandbox

    command = " ".join(session.argv)
    ids = (prefix + name for prefix, names in DEMO_IDS.items() for name in names)
    found = next((each for each in ids if each in command), None)
    with suppress(SvcError):  # no key, which a sandbox's controls do without
        told = found is not None and (error.hint or "").startswith(f"{found} is ")  # another kind
        if found is not None and not told and is_sandbox(session):
            load = session.command("sandbox reset --fixture demo")
            error.hint = f"{found} is in the demo, which replaces all that is there: {load}"


def _name_request(bug: SvcError, intent: "Intent") -> None:
    """Says that a request may have been carried out all the same (promise R10)."""
    from svc.delivery.journal.refusals import resume_command

    bug.outcome, bug.request = "unknown", intent.id
    bug.idempotency_key = intent.stored.idempotency_key
    bug.message = f"{bug.message} POST {intent.stored.path} may have been carried out."
    bug.hint = "; ".join(filter(None, (resume_command(intent), bug.hint)))


def _write_report(session: "Session", text: str) -> str | None:
    try:
        folder = session.paths.state_dir / "reports"
        make_private(folder)
        return _write_new(folder, f"report-{int(session.clock.now())}", text.encode("utf-8"))
    except (OSError, NoFolder):
        return None


def _write_new(folder: Path, name: str, data: bytes) -> str:
    """Writes a file of its own: a second report of one second must not replace the first."""
    number, path = 1, folder / f"{name}.txt"
    while True:
        with suppress(FileExistsError):
            with os.fdopen(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
                file.write(data)
            return str(path)
        number += 1
        path = folder / f"{name}-{number}.txt"


def report_stopped(session: "Session", stopped: "Stopped") -> int:
    """Prints the request that is unresolved, or the finished work, or one word (R78)."""
    error = _build_interrupted(session, stopped)
    if error is not None:
        session.leave_line()
        report_error(session, error)
    elif not stopped.told:
        tell_stopped(session)
    return stopped.exit_code


def report_cut_off(session: "Session", stopped: "Stopped") -> None:
    """Prints the known outcome when a command is ended that did not notice its signal."""
    error = _build_interrupted(session, stopped)
    if error is None:
        error = _stopped(
            "Stopped at once: svc was held up.", hint="See what was sent: svc requests list"
        )
        error.exit_code = ExitCode(stopped.exit_code)
    report_error(session, error)


def tell_stopped(session: "Session") -> None:
    """Leaves the line in which the Ctrl-C stands and says one word, to a person who watches."""
    session.leave_line()
    out = session.error_output()
    if out.format == "human" and session.streams.person_watches:
        out.note("Stopped.")


def report_end_of_output(session: "Session", error: OSError) -> int:
    """Reports an OSError that no command has translated; returns the exit code.

    It is a closed pipe (silent if nothing was done), a file that cannot be used, or a result that
    could not be written after the work was done (R77).
    """
    code = ExitCode.BROKEN_PIPE if isinstance(error, BrokenPipeError) else ExitCode.LOCAL
    if session.done is None and code == ExitCode.BROKEN_PIPE:
        return code  # the reader has closed the pipe, and nothing was changed
    why = system_words(error)
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


def _build_interrupted(session: "Session", stopped: "Stopped") -> SvcError | None:
    """What is known of the request that a signal came upon; None where there was none."""
    intent, ended = stopped.sending, stopped.ended
    if intent is not None:
        from svc.delivery.journal.refusals import resume_command

        request = f"POST {intent.stored.path}"
        error = _stopped(
            f"Stopped while {request} was being sent; it may have been carried out."
            if stopped.unsent is None
            else f"Stopped before {request} was sent again; it may have been carried out before.",
            outcome="unknown",
            request=intent.id,
            idempotency_key=intent.stored.idempotency_key,
            hint=resume_command(intent),
        )
    elif ended is not None:  # what it ended with is told all the same
        error = _stopped(
            f"Stopped. {ended.message}",
            outcome=ended.outcome,
            request=ended.request,
            request_id=ended.request_id,
            idempotency_key=ended.idempotency_key,
            hint=ended.hint,
        )
    elif stopped.unsent is not None:
        error = _stopped(f"Stopped before POST {stopped.unsent} was sent.", outcome="not_sent")
    elif session.done is not None:
        what = f"Stopped after {session.done} was done."
        error = _stopped(what, outcome="done", hint=_look(session, session.done))
    else:
        return None
    error.exit_code = ExitCode(stopped.exit_code)
    return error


_stopped: Final = partial(SvcError, code="stopped", type="interrupted")


def _look(session: "Session", identifier: str) -> str | None:
    """The command that shows an object; an endpoint cannot be retrieved (spec: Endpoints)."""
    if identifier.startswith(ID_PREFIXES["webhook_endpoint"]):
        return None
    return session.command(f"get {identifier}")
