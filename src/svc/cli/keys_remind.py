"""`svc keys remind`: which keys and signing secrets are due to be replaced."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from svc.cli.app import verb
from svc.cli.duration import seconds_of
from svc.cli.key_app import app
from svc.cli.naming import show_named
from svc.cli.session import Format, Session
from svc.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from svc.keys.due import Judged

_FORMATS: Final = ("text", "json", "github", "ics")
# Which of the global formats the rest of the program, its errors above all, speaks.
_OUTPUTS: Final[dict[str | None, Format]] = {"json": "json"}


@verb(app)
def remind(
    ctx: typer.Context,
    max_age: Annotated[
        str, typer.Option("--max-age", metavar="DURATION", help="When a key is to be replaced.")
    ] = "90d",
    warn: Annotated[
        str, typer.Option("--warn", metavar="DURATION", help="How long before to say so.")
    ] = "14d",
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help=f"One of {', '.join(_FORMATS)}."),
    ] = None,
    created: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="How old the key in SVC_API_KEY is, as 2025-10-01."),
    ] = None,
) -> None:
    """Say which API keys and signing secrets are due to be replaced.

    Ends with 11 if one is overdue. No secret is read or shown.

    $ svc keys remind
    $ svc keys remind --max-age 60d --format ics > keys.ics
    $ svc keys remind --created 2025-10-01 --format github
    """
    from svc.cli.reminder_found import found

    session = Session.of(ctx)
    if format_ is not None:
        _check(format_)
        session.given.everywhere.output = _OUTPUTS.get(format_, "human")
    limits = seconds_of(max_age, "--max-age"), seconds_of(warn, "--warn")
    _ = session.out  # made first: a wrong --query is told before anything else
    judged = found(session, created, max_age=limits[0], warn=limits[1])
    _print(session, judged, format_, limits[1])
    _tell(session, judged)


def _check(name: str) -> None:
    if name not in _FORMATS:
        raise UsageError(
            f"--format is {name!r}.", param="--format", hint=f"Use one of: {', '.join(_FORMATS)}"
        )


def _print(session: Session, judged: "list[Judged]", name: str | None, warn: int) -> None:
    from svc.cli import reminder_calendar, reminder_text

    if name == "ics":
        text = reminder_calendar.calendar(judged, session.clock.now(), warn)
        _write_bytes(session, text.encode())
    elif name == "github":
        for line in reminder_text.annotations(judged):
            session.out.annotation(line)
    elif session.out.format == "human" and session.given.everywhere.query is None:
        if judged:
            session.out.checkup([reminder_text.finding(each) for each in judged])
    else:
        show_named(session, session.out, [reminder_text.shown(each) for each in judged], "name")


def _write_bytes(session: Session, data: bytes) -> None:
    """Writes past the text stream, which would change line ends and characters."""
    stdout = session.streams.stdout
    stdout.flush()
    raw = getattr(stdout, "buffer", None)
    if raw is None:
        stdout.write(data.decode())
    else:
        raw.write(data)
        raw.flush()


def _tell(session: Session, judged: "list[Judged]") -> None:
    """Says what is missing, and ends with 11 where something is overdue."""
    if not judged:
        session.out.note("No key and no signing secret is held here.")
    if any(each.status == "unknown" for each in judged):
        session.out.note("How old the key in SVC_API_KEY is, nobody has said: --created DATE")
    overdue = [each.held.name for each in judged if each.status == "overdue"]
    if overdue:
        many = f"{len(overdue)} secrets are" if len(overdue) > 1 else "1 secret is"
        raise CheckFailed(
            f"{many} overdue: {', '.join(overdue)}.",
            code="key_overdue",
            hint=_remedy(judged),
        )


def _remedy(judged: "list[Judged]") -> str:
    from svc.cli.reminder_text import remedy

    return next(remedy(each.held) for each in judged if each.status == "overdue")
