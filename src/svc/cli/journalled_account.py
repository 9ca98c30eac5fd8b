"""Whether two API keys are of one account: then the service knows what the first one has sent.

A request that is sent again under another account's key is carried out a second time. The service
has no call that names a key's account. What tells is a roll that we have seen, or an object that
was made with the first key: another account's key does not see it.
"""

from typing import Final

from svc.cli.key_past import former_hints
from svc.cli.session import Session
from svc.client import raw
from svc.client.client import Client
from svc.client.journal.entry import Scope
from svc.client.journal.journal import Journal
from svc.errors import SvcError, UsageError

_SECONDS: Final = 10.0


def is_same_account(session: Session, client: Client, intents: Journal, key_hint: str) -> bool:
    """Whether the key in use is known to be of the account of another one.

    Asks the service for at most one object; false where nothing proves it.

    Raises:
        LocalError: the state database cannot be used.
    """
    if key_hint == session.key.fingerprint or key_hint in former_hints(session):
        return True
    settings = session.settings
    scope = Scope(settings.profile, settings.mode, str(settings.base_url))
    for object_id in intents.made_with(key_hint, scope):
        try:
            call = raw.retrieve(object_id)
        except UsageError:
            continue  # of a kind that cannot be retrieved
        try:
            return bool(client.send(call, within=_SECONDS).data.get("id") == object_id)
        except SvcError:
            return False
    return False


def hints_of_account(
    session: Session, client: Client, intents: Journal, others: frozenset[str]
) -> frozenset[str]:
    """The fingerprints of keys of the same account: those known to be, and those of `others`."""
    own = frozenset(hint for hint in others if is_same_account(session, client, intents, hint))
    return own | former_hints(session)
