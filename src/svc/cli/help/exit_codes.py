"""`svc help exit-codes`."""

from typing import Final

from svc.cli.help.page import Page, Rows, Shown
from svc.errors import ExitCode

MEANINGS: Final = {
    ExitCode.OK: "Done.",
    ExitCode.BUG: "A bug in svc, or a reply that contradicts the request.",
    ExitCode.USAGE: "Usage or configuration. Nothing was sent.",
    ExitCode.REFUSED: "The service refused the request.",
    ExitCode.AUTH: "Authentication, permission, mode, or key storage.",
    ExitCode.NOT_FOUND: "Not found.",
    ExitCode.CONFLICT: "Conflict: an idempotency key reused, an unresolved identical request.",
    ExitCode.UNKNOWN: "OUTCOME UNKNOWN: the request may have been carried out.",
    ExitCode.UNAVAILABLE: "Service or network unavailable. The request was not carried out.",
    ExitCode.PARTIAL: "Partly done: a batch or an export ended early.",
    ExitCode.LOCAL: "A local file or state problem.",
    ExitCode.CHECK: "A check did not pass: signature, --until, --wait, --strict.",
    ExitCode.HANGUP: "Ended by SIGHUP.",
    ExitCode.INTERRUPTED: "Ended by Ctrl-C.",
    ExitCode.BROKEN_PIPE: "Whoever read the output has gone.",
    ExitCode.TERMINATED: "Ended by SIGTERM.",
}

PAGE: Final = Page(
    "Exit codes",
    (
        "Every command ends with one of these. They are fixed: scripts may depend on them.",
        Rows(tuple((str(int(code)), meaning) for code, meaning in MEANINGS.items())),
        f"""
        The one to handle is {int(ExitCode.UNKNOWN)}. Bytes were sent and no definite answer
        came, so a payment may have happened. Do not start again from the beginning: settle the
        request under its own idempotency key, which can be repeated without doing it twice.
        """,
        Shown(("svc requests list --unresolved", "svc requests resume ID")),
        f"After {int(ExitCode.UNAVAILABLE)} the same command can simply be run again.",
    ),
)
