"""Whether a new key is of the old one's account: it must see an object known from before."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from svc.cli.account import sees, witnesses
from svc.cli.journalled import journal_of
from svc.cli.key_check import ask, client_of
from svc.cli.keys_roll_old import OldKey
from svc.cli.session import Session
from svc.client.journal.entry import Scope
from svc.errors import AuthError, SvcError, Unauthorized
from svc.keys.kinds import ApiKey
from svc.keys.places import Place

_TRIED: Final = 3


@dataclass(frozen=True, slots=True)
class Before:
    """What was seen before the new key was known.

    Attributes:
        works: the service took the old key.
        known: ids of objects of the account, none where there is none.
    """

    works: bool
    known: tuple[str, ...]


def look(session: Session, old: OldKey) -> Before:
    """Asks with the old key what it sees; of one that is refused, the journal tells.

    Raises:
        SvcError: the service cannot be asked.
    """
    secret, place = old.key.secret, old.place
    try:
        listed = ask(session, secret, place.mode)
    except Unauthorized:
        return Before(works=False, known=tuple(_recorded(session, old)))
    except SvcError as error:
        error.hint = "Nothing was changed; --no-check rolls without asking the service"
        raise
    if listed is not None:
        return Before(works=True, known=(listed,))
    # A journal may tell of another account, or of a sandbox that has been reset since.
    seen = (each for each in _recorded(session, old) if _sees(session, secret, place, each))
    return Before(works=True, known=tuple(seen)[:1])


def is_same_account(session: Session, secret: str, place: Place, before: Before) -> bool | None:
    """Says whether the new key sees what was known; None where nothing tells.

    Raises:
        AuthError: it does not: it is of another account.
    """
    answers = [_sees(session, secret, place, each) for each in before.known]
    if True in answers:
        return True
    if not answers or None in answers:
        return None
    raise AuthError(
        f"Nothing was stored: the new key does not see {before.known[0]}, which is of the old "
        "key's account.",
        code="account_mismatch",
        outcome="not_sent",
        hint="Copy the new key from the same account; if it is, --no-check stores it",
    )


def still_works(session: Session, old: OldKey, new: ApiKey) -> bool | None:
    """Asks once more with the old key; None where nobody answers, or where it is gone already."""
    if old.key.secret == new.secret:  # an earlier roll was cut off behind its last step
        return None
    try:
        ask(session, old.key.secret, old.place.mode)
    except Unauthorized:
        return False
    except SvcError:
        return None
    return True


def _sees(session: Session, secret: str, place: Place, identifier: str) -> bool | None:
    with client_of(session, secret, place.mode) as client:
        return sees(client, identifier)


def _recorded(session: Session, old: OldKey) -> Iterator[str]:
    """Ids of what was last made here with the old key, or with the one before it."""
    if not session.paths.has_state:
        return
    before = old.fact.old_fingerprint if old.fact is not None else None
    scope = Scope(old.place.profile, old.place.mode, str(session.base_url))
    with journal_of(session) as journal:
        yield from islice(witnesses(journal, (old.fingerprint, before), scope), _TRIED)
