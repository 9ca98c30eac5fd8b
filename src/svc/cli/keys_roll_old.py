"""The key that is to be rolled: where it is kept, and whether an earlier roll was cut off."""

from dataclasses import dataclass

from svc.cli.session import Session
from svc.errors import AuthError, KeyStoreError
from svc.keys import kinds
from svc.keys.facts import KeyFact
from svc.keys.kinds import ApiKey
from svc.keys.names import SANDBOX_DATA
from svc.keys.places import Place
from svc.keys.resolve import VARIABLE
from svc.spec import SANDBOX_KEYS


@dataclass(frozen=True, slots=True)
class OldKey:
    """The key in its place.

    Attributes:
        fact: what is known of it; None of a sandbox's constant, or where the notes were lost.
        left_over: the new key of an earlier roll that did not come to its end.
    """

    place: Place
    key: ApiKey
    fact: KeyFact | None
    left_over: str | None

    @property
    def fingerprint(self) -> str:
        """That of the key that the notes tell of: the keyring may be one step ahead of them."""
        return self.key.fingerprint if self.fact is None else self.fact.fingerprint

    @property
    def was_noted(self) -> bool:
        """Says whether keyring and notes agree."""
        return self.fingerprint == self.key.fingerprint


def find(session: Session, place: Place) -> OldKey:
    """Reads the key of a place, and what an earlier roll may have left beside it.

    Raises:
        AuthError: no key is stored there.
        KeyStoreError: the keyring cannot be asked, or has lost it.
    """
    fact = session.key_facts.find(place)
    if session.settings.sandbox:
        known = _of_sandbox(session, place, fact)
        if known is not None:
            return OldKey(place, kinds.parse(known, "The state database"), fact, None)
    store = session.key_store()
    stored = store.get(place.user, prefer=fact.backend if fact else None)
    if stored is None:
        raise _missing(session, place, fact)
    key = kinds.parse(stored.secret, "The keyring")
    left_over = store.left_over(place.user)
    return OldKey(place, key, fact, left_over if left_over != key.secret else None)


def _of_sandbox(session: Session, place: Place, fact: KeyFact | None) -> str | None:
    if fact is not None:
        return session.key_facts.sandbox_key(place) if fact.backend == SANDBOX_DATA else None
    if session.env.get(VARIABLE):
        raise _only_in_variable(session)
    return SANDBOX_KEYS[f"secret_{place.mode}"]


def _missing(session: Session, place: Place, fact: KeyFact | None) -> AuthError:
    if session.env.get(VARIABLE):
        return _only_in_variable(session)
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


def _only_in_variable(session: Session) -> AuthError:
    shown = kinds.parse(kinds.without_line_end(session.env[VARIABLE]), VARIABLE).fingerprint
    return AuthError(
        f"The key in use ({shown}) is in {VARIABLE}, where svc cannot change it.",
        code="key_in_environment",
        outcome="not_sent",
        hint=f"Roll it in the dashboard and set {VARIABLE} anew where it is kept",
    )
