"""The one question before what cannot be taken back (promises R19, R110)."""

from svc.cli.session import Session
from svc.errors import UsageError
from svc.redaction import redact
from svc.render.text import one_line
from svc.system.consoles import forget_what_was_typed

NOTHING_SENT = "Nothing was sent."


def will_ask(session: Session) -> bool:
    """Whether somebody is at a terminal who may be asked, and has not said yes already."""
    asked = session.given.everywhere
    return not asked.yes and not asked.no_input and session.streams.person_answers


def confirm(session: Session, *why: str, otherwise: str = NOTHING_SENT) -> None:
    """Goes on if `--yes` was given or a person at the terminal says yes.

    `why` has a line for each fact; `otherwise` says what is so when the answer is no.

    Raises:
        UsageError: the answer was another one, or nobody can be asked.
    """
    if session.given.everywhere.yes:
        return
    if not will_ask(session):
        raise UsageError(
            f"{'; '.join(fact.removesuffix('.') for fact in why)}. {otherwise}",
            code="confirmation_required",
            param="--yes",
            hint="Add --yes to go ahead",
        )
    if not _is_yes(session, why, otherwise):
        raise UsageError(f"Stopped: the answer was not yes. {otherwise}", code="not_confirmed")


def _is_yes(session: Session, why: tuple[str, ...], otherwise: str) -> bool:
    """Asks at the terminal, a line a fact; what comes from files cannot draw there (R61)."""
    streams = session.streams
    forget_what_was_typed(streams.stdin)
    streams.stderr.write("\n  ".join(one_line(redact(fact)) for fact in why))
    streams.stderr.write("\nGo ahead? [y/N] ")
    streams.stderr.flush()
    try:
        answer = streams.stdin.readline()
    except BaseException:
        streams.stderr.write(f"\n{otherwise}\n")
        raise
    return answer.strip().lower() in ("y", "yes")
