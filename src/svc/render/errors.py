"""Formats an error as text for people or as JSON for programs (promise R73).

`output.Output.error` calls `lines` or `envelope` when a command ends with an SvcError.
"""

from typing import TYPE_CHECKING, Final

from svc.errors import ExitCode, SvcError
from svc.render.style import paint
from svc.render.text import escape, wrap_message

if TYPE_CHECKING:
    from svc.render.program_name import ProgramName

_COMMAND: Final = "svc "
_LONGEST: Final = 600  # a server's error text may be a whole web page
_LABELS: Final = {ExitCode.UNKNOWN: "Outcome unknown:", ExitCode.PARTIAL: "Partly done:"}
# Words of ours, although the service has answered.
_OWN: Final = (ExitCode.BUG, ExitCode.UNKNOWN, ExitCode.PARTIAL)
_MAYBE: Final = "may have been carried out"
_WHAT: Final = {
    ExitCode.REFUSED: "the service refused the request",
    ExitCode.AUTH: "the service does not accept the key for this",
    ExitCode.NOT_FOUND: "not found",
    ExitCode.CONFLICT: "this contradicts an earlier request",
    ExitCode.UNKNOWN: f"the request {_MAYBE}",
    ExitCode.UNAVAILABLE: "the service is not available, nothing was done",
    ExitCode.BUG: "the answer contradicts the request",
}


def envelope(error: SvcError) -> str:
    """Formats the error as one line of JSON, always with all keys and in this order."""
    from svc.render.dump import dump

    return dump(
        {
            "error": {
                "type": error.type,
                "code": error.code,
                "message": _message(error),
                "param": error.param,
                "status": error.status,
                "request_id": error.request_id,
                "retryable": error.retryable,
                "retry_after": error.retry_after,
                "outcome": error.outcome,
                "request": error.request,
                "idempotency_key": error.idempotency_key,
                "exit_code": int(error.exit_code),
            }
        }
    )


def _message(error: SvcError) -> str:
    """The message; for an error of svc with its hint, for which the JSON has no field."""
    own = error.status is None or error.exit_code in _OWN
    if not error.hint or not own:
        return error.message
    # A full stop behind a command, or behind an option, would be copied with it.
    is_typed = error.hint.startswith((_COMMAND, "-"))
    hint = f"Next: {error.hint}" if is_typed else error.hint
    if not is_typed and _COMMAND not in hint:
        hint = _end_sentence(hint)
    return f"{_end_sentence(error.message)} {hint}"


def _end_sentence(text: str) -> str:
    """Ends a sentence, so that the next one does not run into it."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def lines(
    error: SvcError, *, color: bool, width: int | None, program_name: "ProgramName | None" = None
) -> list[str]:
    """Formats the error in at most four lines: message, reason, next step, ids.

    A line wider than `width` columns is wrapped with an indent of 4; None is no limit. Commands
    begin with `program_name`.
    """
    label = _LABELS.get(error.exit_code, "Error:")
    if error.outcome in ("refused", "not_sent"):
        label = "Error:"  # whatever the exit code: nothing was done, and that is known
    first, *others = [
        part for line in _lines(error, label) for part in wrap_message(line, width, program_name)
    ]
    if color:
        first = first.replace(label, paint(label, "bad"), 1)
    return [first, *others]


def _lines(error: SvcError, label: str) -> list[str]:
    answered = error.status is not None or error.exit_code == ExitCode.UNKNOWN
    what = _WHAT.get(error.exit_code, "") if answered else ""
    if error.exit_code == ExitCode.UNKNOWN and _MAYBE in error.message:
        what = ""  # the message says it, and of which request
    first = [f"{label} {what}{_facts(error)}", f"  {_shorten(error.message)}"]
    if not what:
        first = [f"{label} {_shorten(error.message)}{_facts(error)}"]
    kept = error.outcome != "refused" and error.idempotency_key
    named = (
        ("request id: ", error.request_id),
        ("journal: ", error.request),
        ("idempotency key: ", error.idempotency_key if kept else None),
    )
    ids = ", ".join(f"{name}{value}" for name, value in named if value)
    after = (("Next: ", error.hint), ("", ids[:1].upper() + ids[1:]))
    return first + [f"  {name}{_shorten(text)}" for name, text in after if text]


def _facts(error: SvcError) -> str:
    """Formats the status, code, parameter and wait of the answer in brackets; may be empty."""
    if error.status is None:
        return ""
    words = [" ".join(filter(None, [str(error.status), error.code]))]
    if error.param:
        words.append(error.param)
    if error.retry_after is not None:
        words.append(f"try again in {error.retry_after:g} s")
    return _shorten(f" ({', '.join(words)})")


def _shorten(text: str) -> str:
    """Makes text safe for the terminal, on one line of limited length (promise R61)."""
    start = " " if text.startswith(" ") else ""
    line = start + " ".join(text[: _LONGEST * 4].split())
    return escape(line if len(line) <= _LONGEST else f"{line[:_LONGEST]}...")
