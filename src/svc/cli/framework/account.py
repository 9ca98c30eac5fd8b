"""Whether API keys are of one account: the only place that judges it.

A key names no account, and the service has no call that does. What tells is the same key, a roll
that we have seen, or an object that was made with the first key: another account's key does not
see it. Where nothing tells, the answer is neither yes nor no.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Final

from svc.cli.framework.session import Session
from svc.client.client import Client
from svc.client.resources import find
from svc.delivery.journal.entry import NOBODY_ELSE, Account
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.stored import Scope
from svc.errors import Forbidden, NotFound, SvcError, UsageError

_SECONDS: Final = 10.0
_TRIED: Final = 3


def account_of(
    session: Session, client: Client, journal: Journal, strangers: Iterable[str]
) -> Account:
    """What is known of other keys, given as their `key_hint`s; asks the service for few objects.

    Raises:
        LocalError: the state database cannot be used.
    """
    strangers = frozenset(strangers) - {session.key.fingerprint}
    if not strangers:
        return NOBODY_ELSE
    same = _rolled(session)
    other: set[str] = set()
    for hint in strangers - same:
        verdict = _verdict(session, client, journal, hint)
        if verdict is not None:
            (same if verdict else other).add(hint)
    return Account(frozenset(same), frozenset(other))


def is_own(session: Session, client: Client, journal: Journal, hint: str) -> bool:
    """Whether a key is the one in use, or shown to be of its account; raises as `account_of`."""
    if hint == session.key.fingerprint:
        return True
    return hint in account_of(session, client, journal, (hint,)).same


def witnesses(journal: Journal, hints: Iterable[str | None], scope: Scope) -> Iterator[str]:
    """Ids of what was last made with keys, as far as such objects can be retrieved."""
    found = (made for hint in hints if hint for made in journal.made_with(hint, scope))
    for made in found:
        with suppress(UsageError):
            find.retrieve(made)
            yield made


def sees(client: Client, identifier: str, *, within: float | None = None) -> bool | None:
    """Whether a client's key sees an object; None where its permissions do not let it look.

    Raises:
        SvcError: the service cannot be asked.
    """
    try:
        reply = client.send(find.retrieve(identifier), within=within)
    except NotFound:
        return False
    except Forbidden:
        return None
    return bool(reply.data.get("id") == identifier)


def _rolled(session: Session) -> set[str]:
    """Fingerprints of keys that the one in use took the place of, or that took its place."""
    links = [
        {fact.fingerprint, fact.old_fingerprint}
        for fact in session.key_facts.every()
        if fact.old_fingerprint is not None
        and (fact.origin, fact.mode) == (session.base_url.origin, session.settings.mode)
    ]
    found: set[str] = {session.key.fingerprint}
    before = 0
    while len(found) != before:
        before = len(found)
        for link in links:
            if link & found:
                found |= {hint for hint in link if hint is not None}
    return found


def _verdict(session: Session, client: Client, journal: Journal, key_hint: str) -> bool | None:
    for made in islice(witnesses(journal, (key_hint,), session.scope()), _TRIED):
        try:
            verdict = sees(client, made, within=_SECONDS)
        except SvcError:
            return None
        if verdict is not None:
            return verdict
    return None
