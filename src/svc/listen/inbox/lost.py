"""Explains that the file of an inbox is damaged, deleted or replaced, and saves its content.

`listener` calls `explain_loss` when the inbox fails while it runs (R67, R121).
"""

from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from svc.errors import LocalError
from svc.listen.inbox.interfaces import Inbox
from svc.state import LOST

_COPY_SECONDS: Final = 0.4  # of the second in which the listener ends


@runtime_checkable
class Copying(Protocol):
    """What an inbox offers if its file may be deleted while it is open."""

    def save_copy(self, seconds: float) -> str | None:
        """Saves what the open file holds beside its place; gives where, None if it cannot."""


def explain_loss(error: LocalError, inbox: Inbox, received: int) -> LocalError:
    """Returns the error that ends a listener; if the file was lost, it says where the events are.

    `received` counts the events of this run that were answered 200.
    """
    if error.code not in LOST:
        return error
    events = f"{received} event{'' if received == 1 else 's'} of this run"
    if "moved to" in error.message:
        where = f"{events} that were answered 200 are in that file, with those of earlier runs."
        return LocalError(f"{error.message} {where}", code=error.code, hint=error.hint)
    copy = inbox.save_copy(_COPY_SECONDS) if isinstance(inbox, Copying) else None
    what = error.message.replace("this command ran", "svc events listen ran")
    if copy is None:
        lost = f"{events} that were answered 200 were in it, and are kept nowhere else."
        return LocalError(f"{what} {lost}", code=error.code, hint=error.hint)
    place = copy.rpartition(".saved-")[0]
    before = f"mv '{place}' '{place}.before'; " if Path(place).exists() else ""
    return LocalError(
        f"{what} What it held, {events} included, was saved in {copy}.",
        code=error.code,
        hint=f"Before other svc commands run, put it back: {before}mv -n '{copy}' '{place}'",
    )
