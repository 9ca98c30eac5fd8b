"""Which keys the one in use took the place of: those are of the same account."""

from svc.cli.session import Session


def former_hints(session: Session) -> frozenset[str]:
    """The fingerprints of keys that were rolled into the one in use, as the key facts have it.

    Raises:
        LocalError: the state database cannot be used.
    """
    now = session.key.fingerprint
    return frozenset(
        fact.old_fingerprint
        for fact in session.key_facts.every(profile=session.settings.profile)
        if fact.fingerprint == now and fact.old_fingerprint is not None
    )
