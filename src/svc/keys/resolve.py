"""Finds the API key of a command, and refuses a wrong one before a request is sent.

`cli.framework.session` calls `resolve_key` when a command first needs its key: settings and
environment in, the key with its source out. `svc sandbox pay` and `checkout` get their key by
`publishable_key`, through the session.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from svc import api_keys
from svc.api_keys import ApiKey
from svc.config import Settings
from svc.config.model import DEFAULT_PROFILE
from svc.errors import AuthError, KeyStoreError
from svc.keys.places import SANDBOX_DATA, KeyPlace, title
from svc.service.facts import SANDBOX_KEYS, KeyKind, Mode

if TYPE_CHECKING:  # made only where the environment holds no key
    from svc.keys.facts import KeyFacts
    from svc.keys.store import KeyStore

VARIABLE: Final = api_keys.KEY_VARIABLE
PUBLISHABLE_VARIABLE: Final = "SVC_PUBLISHABLE_KEY"
SANDBOX_SOURCE: Final = "sandbox constant"
ROLLED_SOURCE: Final = "state database (rolled sandbox key)"


class ResolvedKey(NamedTuple):
    """A key that may be sent to the settings' address, and its source; hides the secret (R39)."""

    secret: str
    kind: KeyKind
    mode: Mode
    fingerprint: str
    source: str

    def __repr__(self) -> str:
        return f"ResolvedKey({self.fingerprint} from {self.source})"


def resolve_key(
    settings: Settings,
    env: Mapping[str, str],
    *,
    store: "Callable[[], KeyStore]",
    facts: "Callable[[], KeyFacts]",
    tell: "Callable[[str], object]" = lambda _: None,
) -> ResolvedKey:
    """Finds the key: SVC_API_KEY, the profile's command, a sandbox's own key, or the keyring.

    A sandbox's own key is its constant, or the rolled key in the state database.
    `store` and `facts` are called only if they are needed; one item of the keyring is read (R38).
    `tell` gets a sentence where a person waits for the profile's command.

    Raises:
        ConfigError: no address is configured.
        UsageError: the key would be sent without encryption (promise R21), or SVC_API_KEY is
            malformed.
        AuthError: there is no key, or it is of the wrong kind or mode, or a live key for a
            sandbox on this machine (promises R21, R30), or the profile's key command fails.
        KeyStoreError: the keyring cannot be read.
    """
    address = settings.base_url
    if not env.get(VARIABLE):  # no other source has a key for it, and none is asked
        api_keys.refuse_plain_http(address)
    key, source = _find_key(settings, env, store, facts, tell)
    api_keys.refuse_plain_http(address, key)
    api_keys.refuse_out_of_place(key, source, settings.mode, address)
    return ResolvedKey(key.secret, key.kind, key.mode, key.fingerprint, source)


def publishable_key(
    settings: Settings,
    env: Mapping[str, str],
    *,
    store: "Callable[[], KeyStore]",
    facts: "Callable[[], KeyFacts]",
) -> str:
    """Finds the key of a sandbox's checkout: the stored one, else the variable, else the constant.

    Raises:
        UsageError: the text of the variable is no key.
        AuthError: the key is no publishable key of the mode.
        KeyStoreError: a key is stored, and the keyring cannot be read.
    """
    place = KeyPlace(settings.base_url.origin, settings.profile, settings.mode, "publishable")
    if facts().find(place) is not None:
        source = f"The publishable key of profile {place.profile}"
        key = api_keys.parse(_load_stored(place, store(), facts), source)
    elif env.get(PUBLISHABLE_VARIABLE):
        source = PUBLISHABLE_VARIABLE
        key = api_keys.parse(api_keys.without_line_end(env[PUBLISHABLE_VARIABLE]), source)
    else:
        return SANDBOX_KEYS[f"publishable_{settings.mode}"]
    api_keys.refuse_other_kinds(key, source, settings.mode)
    api_keys.refuse_other_mode(key, source, settings.mode)
    return key.secret


def _find_key(
    settings: Settings,
    env: Mapping[str, str],
    store: "Callable[[], KeyStore]",
    facts: "Callable[[], KeyFacts]",
    tell: "Callable[[str], object]",
) -> tuple[ApiKey, str]:
    if env.get(VARIABLE):
        return api_keys.parse(api_keys.without_line_end(env[VARIABLE]), VARIABLE), VARIABLE
    place = KeyPlace(settings.base_url.origin, settings.profile, settings.mode)
    if settings.key_command is not None:
        from svc.keys.command import read_key_from

        source = f"key command (profile {settings.profile})"
        key = read_key_from(settings.key_command, api_keys.without_secrets(env), tell)
        return api_keys.parse(key, f"The {source}"), source
    if settings.sandbox:
        found = _of_sandbox(place, facts())
        if found is not None:
            return found
    source = f"keyring (profile {settings.profile})"
    return api_keys.parse(_load_stored(place, store(), facts), f"The {source}"), source


def _of_sandbox(place: KeyPlace, facts: "KeyFacts") -> tuple[ApiKey, str] | None:
    """The sandbox's constant or the key that replaced it; None if a keyring holds the key."""
    fact = facts.find(place)
    if fact is None:
        return api_keys.parse(SANDBOX_KEYS[f"secret_{place.mode}"], SANDBOX_SOURCE), SANDBOX_SOURCE
    if fact.backend != SANDBOX_DATA:
        return None
    return api_keys.parse(facts.sandbox_key(place) or "", SANDBOX_DATA), ROLLED_SOURCE


def _load_stored(place: KeyPlace, store: "KeyStore", facts: "Callable[[], KeyFacts]") -> str:
    found = store.get(place.user)
    if found is not None:
        return found.secret
    known = facts()
    fact = known.find(place)
    if fact is None:
        raise _no_key(place, known)
    # Only now is another keyring asked: the one that the key was put into.
    found = store.get(place.user, prefer=fact.backend)
    if found is None:
        usable = store.is_there(fact.backend) is not None
        where = "no longer in the keyring" if usable else "in a keyring that svc may not use now"
        raise KeyStoreError(
            f"The {place.mode} key {fact.fingerprint} of profile {place.profile} is {where} "
            f"({title(fact.backend)}).",
            code="api_key_missing",
            outcome="not_sent",
            hint=f"Add it again: {_add_command(place)}, or set {VARIABLE}",
        )
    return found.secret


def _no_key(place: KeyPlace, facts: "KeyFacts") -> AuthError:
    """Builds the error of a missing key; it names a key for another address or mode (R22)."""
    others = facts.every(profile=place.profile)
    moved = next((each for each in others if each.mode == place.mode), None)
    if moved is not None and moved.origin != place.origin:
        return _build_missing(
            f"The {place.mode} key of profile {place.profile} was added for {moved.origin} and is "
            f"not given to {place.origin}.",
            f"Add one for it: {_add_command(place)} --base-url {place.origin}, or set {VARIABLE}",
        )
    hint = f"Add one: {_add_command(place)}, or set {VARIABLE}"
    if any(each.origin == place.origin and each.mode != place.mode for each in others):
        hint += "; a key of the other mode is stored"
    return _build_missing(
        f"There is no {place.mode} key for {place.origin} (profile {place.profile}).", hint
    )


def _add_command(place: KeyPlace) -> str:
    profile = "" if place.profile == DEFAULT_PROFILE else f" --profile {place.profile}"
    return f"svc keys add{profile}{' --live' if place.mode == 'live' else ''}"


def _build_missing(message: str, hint: str) -> AuthError:
    return AuthError(message, code="api_key_missing", outcome="not_sent", hint=hint)
