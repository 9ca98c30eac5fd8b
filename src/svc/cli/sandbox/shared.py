"""Options that several verbs of `svc sandbox` take."""

from typing import Annotated, Final

from svc.cli.framework.options import flag, option
from svc.cli.framework.session import Session
from svc.errors import UsageError

Port = Annotated[
    int | None, option("PORT", "The port of the one that is meant, where several are running.")
]
Seed = Annotated[
    int | None, option("N", "Equal seeds and calls give equal ids.", min=0, max=2**63 - 1)
]
Fixture = Annotated[str | None, option("NAME", "demo fills it with one of everything.")]
Limit = Annotated[int | None, option("1..100", "How many objects a page has.", show_default="25")]
Follow = Annotated[bool, flag("--follow", "Go on with what comes, until Ctrl-C.")]

FOLLOW_SECONDS: Final = 0.5  # between looks


def refuse_whole(session: Session) -> None:
    """Refuses with --follow what needs a whole result; in a pipe each one is a line of NDJSON.

    Raises:
        UsageError: another format was asked for, or a query.
    """
    wanted = session.settings.output
    if wanted not in (None, "human", "ndjson"):
        raise UsageError(
            f"--follow cannot print {wanted}.", param="--output", hint="Use -o human or -o ndjson"
        )
    if session.given.everywhere.query or session.given.everywhere.fields:
        raise UsageError(
            "--follow prints what comes; --query and --fields need a whole result.",
            hint="Pipe -o ndjson into jq",
        )
