"""`svc keys add`, `list` and `remove`: stores API keys in the OS keyring.

There is one secret key for each origin, profile and mode; `framework.key_check` asks the service
about a key before it is stored.
"""

from collections.abc import Sequence
from typing import Final

from svc import api_keys
from svc.api_keys import ApiKey
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.key_check import check_new_key, key_shown, place_shown, warn_of_variable
from svc.cli.framework.options import flag
from svc.cli.framework.prompts import read_secret
from svc.cli.framework.session import Session
from svc.errors import AuthError, KeyStoreError, UsageError
from svc.keys.facts import KeyFact
from svc.keys.places import OURS, SANDBOX_DATA, KeyPlace, Slot, title

app = make_app()

PUBLISHABLE: Final = flag("--publishable", "It is a pk_ key, for the sandbox's checkout.")


@verb(app)
def add(
    session: Session,
    stdin: bool = flag("--stdin", "Read the key from a pipe."),
    publishable: bool = PUBLISHABLE,
    no_check: bool = flag("--no-check", "Do not ask the service about the key."),
) -> None:
    """Store an API key in the OS keyring.

    It is stored for the profile and origin in use and goes nowhere else; its prefix says mode and
    kind. Without --stdin it is asked for, and not shown while it is typed.

    $ svc keys add
    $ svc keys add --profile shop --stdin < key.txt
    """
    api_keys.refuse_plain_http(session.base_url)
    store = session.key_store()
    # A keyring that is not there is told before anybody types a key or the service is called.
    slot: Slot = "publishable" if publishable else "secret"
    store.get(session.key_place(slot=slot).user)
    key = _read_new_key(session, stdin=stdin, publishable=publishable)
    check = not (no_check or publishable)
    if check:
        check_new_key(session, key.secret, key.mode, key.fingerprint)
    place = session.key_place(key.mode, slot)
    backend = store.put(place.user, key.secret)
    fact = session.key_facts.remember(place, key, backend, checked=check)
    session.out.value(key_shown(fact), name="profile")
    warn_of_variable(session)


@verb(app, "list")
def list_(session: Session) -> None:
    """List the stored keys by their last four characters.

    $ svc keys list
    $ svc keys list --profile shop
    """
    found = session.key_facts.every(profile=session.given.everywhere.profile)
    session.out.value([key_shown(fact) for fact in found], name="profile", kind="key")
    warn_of_variable(session)
    if not found:
        session.out.hint("Add one: svc keys add")


@verb(app)
def remove(session: Session, publishable: bool = PUBLISHABLE) -> None:
    """Remove a stored key from every keyring.

    It is the key of the profile, origin and mode in use.

    $ svc keys remove
    $ svc keys remove --profile shop --live
    """
    place = session.key_place(slot="publishable" if publishable else "secret")
    fact = session.key_facts.find(place)
    if fact is not None:
        if fact.backend != SANDBOX_DATA:
            _remove(session, place, fact)
    elif not session.key_store().remove(place.user):
        raise AuthError(
            f"No {place.mode} key of profile {place.profile} is stored for {place.origin}.",
            code="api_key_missing",
            hint="svc keys list shows what is stored",
        )
    session.key_facts.forget(place)
    session.out.value({"object": "key", **place_shown(place), "removed": True}, name="profile")


def _remove(session: Session, place: KeyPlace, fact: KeyFact) -> None:
    """Removes the key; refused where the keyring that holds it may not be asked (R37)."""
    store = session.key_store()
    there = store.is_there(fact.backend)
    if there is None:
        raise KeyStoreError(
            f"The key {fact.fingerprint} is in the keyring {title(fact.backend)}, which svc may "
            "not use now; nothing was removed.",
            code="keyring_refused",
            outcome="not_sent",
            hint=_way_to_use(fact.backend, session.config.keyring_backends),
        )
    store.remove(place.user)
    if not there:
        session.out.warn(
            f"The keyring {title(fact.backend)} is not there; what it holds was not removed."
        )


def _way_to_use(keyring: str, allowed: Sequence[str]) -> str:
    if keyring in OURS:
        return "Leave the choice of keyring to svc: unset PYTHON_KEYRING_BACKEND, and run it again"
    names = ",".join((*allowed, keyring))
    return f"Allow it, and run the command again: svc config set keyring_backends {names}"


def _read_new_key(session: Session, *, stdin: bool, publishable: bool) -> ApiKey:
    origin, profile = session.base_url.origin, session.settings.profile
    text = read_secret(
        session, f"API key for {origin} (profile {profile}): ", stdin=stdin, command="svc keys add"
    )
    key = api_keys.parse(text, "The input")
    if (key.kind == "publishable") != publishable:
        raise _build_wrong_kind(key)
    settings = session.settings
    if settings.mode_given and settings.mode != key.mode:
        raise AuthError(
            f"This is a {key.mode} key ({key.fingerprint}), but --{settings.mode} asks for a "
            f"{settings.mode} key.",
            code="mode_mismatch",
            outcome="not_sent",
            hint="Leave the mode out: the key's prefix says it",
        )
    api_keys.refuse_live_key_here(key, "This", session.base_url)
    return key


def _build_wrong_kind(key: ApiKey) -> UsageError | AuthError:
    if key.kind != "publishable":
        return UsageError(
            f"This is not a publishable key ({key.fingerprint}).",
            param="--publishable",
            hint="Leave --publishable out",
        )
    return AuthError(
        f"This is a publishable key ({key.fingerprint}): it cannot read or change data.",
        code="secret_key_required",
        outcome="not_sent",
        hint="Add a secret (sk_) or a restricted key (rk_); for the sandbox's checkout, "
        "add --publishable",
    )
