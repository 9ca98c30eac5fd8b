"""What `inbox` and `replay` share: whose deliveries, and finding one."""

from svc.cli.session import Session
from svc.errors import NotFound
from svc.journal import State
from svc.listen.inbox.history import InboxEntry, InboxHistory, InboxScope


def archive_of(session: Session, state: State) -> InboxHistory:
    """The inbox of this profile and mode, and of this origin if one is known."""
    settings = session.settings
    origin = settings.address.origin if settings.address is not None else None
    return InboxHistory(state, InboxScope(settings.profile, settings.mode, origin))


def entry_of(archive: InboxHistory, event_id: str) -> InboxEntry:
    """Gives one entry.

    Raises:
        NotFound: no listener of this profile and mode has received the event.
    """
    entry = archive.find(event_id)
    if entry is None:
        raise NotFound(
            f"The inbox holds no event {event_id}.",
            code="not_in_inbox",
            hint=f"The service may know it: svc events retrieve {event_id}",
        )
    return entry
