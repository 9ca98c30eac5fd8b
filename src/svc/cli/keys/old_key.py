"""The key that `svc keys roll` replaces, and the evidence that the new key is of its account.

The evidence are ids of objects that the old key can read: `roll` finds the old key, lists an object
with it before the new key is given (or takes ids from the journal), and afterwards checks that the
new key can read the same object.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from svc import api_keys
from svc.api_keys import ApiKey
from svc.cli.framework.delivering import journal_of
from svc.cli.framework.key_check import try_key
from svc.cli.framework.session import Session
from svc.delivery.account import is_owner, list_witnesses
from svc.delivery.journal.stored import Scope
from svc.errors import AuthError, KeyStoreError, SvcError, Unauthorized
from svc.keys.facts import KeyFact
from svc.keys.places import SANDBOX_DATA, KeyPlace
from svc.keys.resolve import VARIABLE
from svc.service.facts import SANDBOX_KEYS


@dataclass(frozen=True, slots=True)
class OldKey:
    """The stored key that is to be replaced.

    Attributes:
        fact: what the state database knows of it; None for a sandbox's public key, or if lost.
        left_over: the new key of an earlier roll that was interrupted.
    """

    place: KeyPlace
    key: ApiKey
    fact: KeyFact | None
    left_over: str | None

    @property
    def fingerprint(self) -> str:
        """The fingerprint in the state database; the keyring may already hold the next key."""
        return self.key.fingerprint if self.fact is None else self.fact.fingerprint


def find(session: Session, place: KeyPlace) -> OldKey:
    """Reads the key of a place, and what an earlier roll may have left beside it.

    Raises:
        AuthError: no key is stored there.
        KeyStoreError: the keyring cannot be read, or has lost the key.
    """
    fact = session.key_facts.find(place)
    if session.settings.sandbox:
        known = _of_sandbox(session, place, fact)
        if known is not None:
            return OldKey(place, api_keys.parse(known, "The state database"), fact, None)
    store = session.key_store()
    stored = store.get(place.user, prefer=fact.backend if fact else None)
    if stored is None:
        raise _build_missing(session, place, fact)
    key = api_keys.parse(stored.secret, "The keyring")
    left_over = store.load_left_over(place.user)
    return OldKey(place, key, fact, left_over if left_over != key.secret else None)


def _of_sandbox(session: Session, place: KeyPlace, fact: KeyFact | None) -> str | None:
    if fact is not None:
        return session.key_facts.sandbox_key(place) if fact.backend == SANDBOX_DATA else None
    if session.env.get(VARIABLE):
        raise _build_only_in_variable(session)
    return SANDBOX_KEYS[f"secret_{place.mode}"]


def _build_missing(session: Session, place: KeyPlace, fact: KeyFact | None) -> AuthError:
    if session.env.get(VARIABLE):
        return _build_only_in_variable(session)
    what = f"No {place.mode} key of profile {place.profile} is stored for {place.origin}"
    if fact is not None:
        what = f"The {place.mode} key {fact.fingerprint} is no longer in the keyring"
    live = " --live" if place.mode == "live" else ""
    kind = AuthError if fact is None else KeyStoreError
    return kind(
        f"{what}.",
        code="api_key_missing",
        outcome="not_sent",
        hint=f"Roll it in the dashboard, then: svc keys add --profile {place.profile}{live}",
    )


def _build_only_in_variable(session: Session) -> AuthError:
    shown = api_keys.parse(api_keys.without_line_end(session.env[VARIABLE]), VARIABLE).fingerprint
    return AuthError(
        f"The key in use ({shown}) is in {VARIABLE}, where svc cannot change it.",
        code="key_in_environment",
        outcome="not_sent",
        hint=f"Roll it in the dashboard and set {VARIABLE} anew where it is kept",
    )


_TRIED: Final = 3


def observe(session: Session, old: OldKey) -> tuple[str, ...]:
    """Finds the id of an object that the new key must see: by the old key, or in the journal.

    Raises:
        SvcError: the service does not answer.
    """
    secret, place = old.key.secret, old.place
    try:
        listed = try_key(session, secret, place.mode)
    except Unauthorized:
        return tuple(_list_recorded(session, old))
    except SvcError as error:
        error.hint = "Nothing was changed; --no-check rolls without asking the service"
        raise
    if listed is not None:
        return (listed,)
    # A journal may tell of another account, or of a sandbox that has been reset since.
    seen = (each for each in _list_recorded(session, old) if _sees(session, secret, place, (each,)))
    return tuple(islice(seen, 1))


def is_same_account(
    session: Session, secret: str, place: KeyPlace, known: tuple[str, ...]
) -> bool | None:
    """Whether the new key sees the same objects as the old one; None if that is not known.

    Raises:
        AuthError: the new key is of another account.
    """
    verdict = _sees(session, secret, place, known)
    if verdict is not False:
        return verdict
    raise AuthError(
        f"Nothing was stored: the new key does not see {known[0]}, which is of the old "
        "key's account.",
        code="account_mismatch",
        outcome="not_sent",
        hint="Copy the new key from the same account; if it is, --no-check stores it",
    )


def check_still_works(session: Session, old: OldKey, new: ApiKey) -> bool | None:
    """Whether the old key still works; None if the service does not answer, or the key is gone."""
    if old.key.secret == new.secret:  # an earlier roll was cut off behind its last step
        return None
    try:
        try_key(session, old.key.secret, old.place.mode)
    except Unauthorized:
        return False
    except SvcError:
        return None
    return True


def _sees(session: Session, secret: str, place: KeyPlace, known: Iterable[str]) -> bool | None:
    with session.client(secret=secret, mode=place.mode, on_reply=lambda _: None) as client:
        return is_owner(client, known)


def _list_recorded(session: Session, old: OldKey) -> Iterator[str]:
    """Ids of what was last made here with the old key, or with the one before it."""
    if not session.paths.has_state:
        return
    before = old.fact.old_fingerprint if old.fact is not None else None
    scope = Scope(old.place.profile, old.place.mode, str(session.base_url))
    with journal_of(session) as journal:
        yield from islice(list_witnesses(journal, (old.fingerprint, before), scope), _TRIED)
