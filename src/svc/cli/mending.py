"""An output for the commands that mend settings, which must work while those are wrong."""

from typing import TYPE_CHECKING

from svc.cli.session import Session
from svc.errors import LocalError, UsageError

if TYPE_CHECKING:
    from svc.render.output import Output


def mending_output(session: Session) -> "Output":
    """The output that the settings ask for, else what the command line and the streams say."""
    try:
        _ = session.format
    except (UsageError, LocalError):
        return session.error_output()
    return session.out
