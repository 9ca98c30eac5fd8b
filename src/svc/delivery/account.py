"""Decides whether two API keys belong to one account; no other module does (promise R118).

A key does not name its account, and the service has no call for it. Three things prove the answer:
the keys are equal, this machine has rolled one to the other, or the second key reads an object that
was created with the first one: a key of another account gets `resource_missing`. Without proof the
answer is neither yes nor no.

A `Sender` has a `KeyMatcher` for single commands, `cli.batch.facts` asks one for all rows: an
unresolved request is sent again only if its key is known to be of the same account, a duplicate
counts unless its key is known to be of another. `svc keys roll` asks by `is_owner` whether the new
key sees what the old one created.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple

from svc.client import find
from svc.client.client import Client
from svc.delivery.journal.entry import NO_OTHER_KEYS, KeyEquivalence, Scope
from svc.delivery.journal.journal import Journal
from svc.errors import Forbidden, NotFound, SvcError, UsageError

_SECONDS: Final = 10.0
_TRIED: Final = 3
_MISSING: Final = "resource_missing"


class KeyMatcher(NamedTuple):
    """Compares other API keys with the key in use.

    Attributes:
        scope: has the fingerprint of the key in use.
        rolls: returns pairs of fingerprints: an old key and the new key that replaced it.
    """

    journal: Journal
    client: Client
    scope: Scope
    rolls: Callable[[], Iterable[set[str]]]

    def compare(self, fingerprints: Iterable[str]) -> KeyEquivalence:
        """Decides which keys are of the account in use; reads a few objects of the service.

        Raises:
            LocalError: the state database cannot be used.
        """
        other_keys = frozenset(fingerprints) - {self.scope.key_fingerprint}
        if not other_keys:
            return NO_OTHER_KEYS
        same = self._find_rolled()
        other: set[str] = set()
        for fingerprint in other_keys - same:
            verdict = self._verdict(fingerprint)
            if verdict is not None:
                (same if verdict else other).add(fingerprint)
        return KeyEquivalence(frozenset(same), frozenset(other))

    def is_own(self, fingerprint: str) -> bool:
        """Whether a key is known to be of the account in use; raises as `compare`."""
        return (
            fingerprint == self.scope.key_fingerprint
            or fingerprint in self.compare((fingerprint,)).same
        )

    def _find_rolled(self) -> set[str]:
        """The fingerprints of all keys that rolls link to the key in use, in both directions."""
        links = list(self.rolls())
        found: set[str] = {self.scope.key_fingerprint}
        before = 0
        while len(found) != before:
            before = len(found)
            for link in links:
                if link & found:
                    found |= link
        return found

    def _verdict(self, fingerprint: str) -> bool | None:
        for made in islice(list_witnesses(self.journal, (fingerprint,), self.scope), _TRIED):
            try:
                verdict = _can_read(self.client, made, within=_SECONDS)
            except SvcError:
                return None
            if verdict is not None:
                return verdict
        return None


def list_witnesses(
    journal: Journal, fingerprints: Iterable[str | None], scope: Scope
) -> Iterator[str]:
    """Yields the ids of the newest objects created with some keys, if they can be retrieved."""
    found = (made for one in fingerprints if one for made in journal.list_made_with(one, scope))
    for made in found:
        with suppress(UsageError):
            find.retrieve(made)
            yield made


def is_owner(client: Client, identifiers: Iterable[str]) -> bool | None:
    """Whether objects are of the account of a client's key; None if that is not known.

    Reads at most three of them. The account is the same if an object is readable and none is
    missing, and another one if all are missing; anything else proves nothing.

    Raises:
        SvcError: the service cannot be asked.
    """
    verdicts = {_can_read(client, one) for one in islice(identifiers, _TRIED)}
    if verdicts == {False}:
        return False
    return True if True in verdicts and False not in verdicts else None


def _can_read(client: Client, identifier: str, *, within: float | None = None) -> bool | None:
    """Whether the key of a client can read an object; None if that is not known.

    Only `resource_missing` for a documented GET proves that it cannot: any other 404 may come from
    a gateway, or from a service without that call (promise R118).

    Raises:
        SvcError: the service cannot be asked.
    """
    call = find.retrieve(identifier)
    try:
        reply = client.send(call, within=within)
    except NotFound as error:
        return False if error.code == _MISSING and not call.assumed else None
    except Forbidden:
        return None
    return True if reply.data.get("id") == identifier else None
