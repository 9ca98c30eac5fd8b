"""Whether API keys belong to one account: the only place that judges it (promise R118).

A key names no account, and the service has no call that does. Proof is the same key, a roll that
this machine has seen, or an object that was made with the first key: the other account's key gets
`resource_missing` for it. Without proof the answer is neither yes nor no.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple

from svc.client import find
from svc.client.client import Client
from svc.delivery.journal.entry import NO_OTHER_KEYS, KeyEquivalence
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.stored import Scope
from svc.errors import Forbidden, NotFound, SvcError, UsageError

_SECONDS: Final = 10.0
_TRIED: Final = 3
_MISSING: Final = "resource_missing"


class KeyMatcher(NamedTuple):
    """Compares other keys with the one in use.

    Attributes:
        scope: with the fingerprint of the key in use.
        rolls: pairs of fingerprints of which one key took the place of the other.
    """

    journal: Journal
    client: Client
    scope: Scope
    rolls: Callable[[], Iterable[set[str]]]

    def compare(self, fingerprints: Iterable[str]) -> KeyEquivalence:
        """Says of keys whether they are of the account in use; asks the service for few objects.

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
        """Whether a key is the one in use, or shown to be of its account; raises as `compare`."""
        return (
            fingerprint == self.scope.key_fingerprint
            or fingerprint in self.compare((fingerprint,)).same
        )

    def _find_rolled(self) -> set[str]:
        """Fingerprints of keys that the one in use took the place of, or that took its place."""
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
        for made in islice(witnesses(self.journal, (fingerprint,), self.scope), _TRIED):
            try:
                verdict = can_see(self.client, made, within=_SECONDS)
            except SvcError:
                return None
            if verdict is not None:
                return verdict
        return None


def witnesses(journal: Journal, fingerprints: Iterable[str | None], scope: Scope) -> Iterator[str]:
    """Yields ids of what was last made with keys, as far as such objects can be retrieved."""
    found = (made for one in fingerprints if one for made in journal.list_made_with(one, scope))
    for made in found:
        with suppress(UsageError):
            find.retrieve(made)
            yield made


def can_see(client: Client, identifier: str, *, within: float | None = None) -> bool | None:
    """Says whether a client's key sees an object; None where that is not known.

    Only the service's own `resource_missing` on a documented read proves that it does not: any
    other 404 may come from a gateway, or from a service that lacks the call (promise R118).

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
