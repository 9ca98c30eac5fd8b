"""Finds and stores signing secrets of webhooks: from SVC_WEBHOOK_SECRET, a pipe, or the keyring.

Secrets of a sandbox are public test data and lie in the state database, those of a real service in
the keyring, in one item for each endpoint. `sign` and `examine` call `signing_secrets`, `verify`
and `from_log` `load_secrets`; `options` reads those that a person gave, `endpoint` stores those of
new endpoints, and `replay` and the inspector look them up in `StoredSecrets`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from svc.api_keys import SIGNING_VARIABLE, parse_signing_secret
from svc.cli.framework.prompts import read_secret
from svc.cli.framework.session import Session
from svc.errors import KeyStoreError, UsageError
from svc.keys.places import KeyPlace
from svc.keys.store import SigningSecrets
from svc.listen.endpoints import EndpointTable, RegisteredEndpoint, every_endpoint
from svc.listen.verify.diagnosis import KnownSecret
from svc.state import Database

SECRETS_MAX: Final = 2  # while one is being replaced (promise R48)
_OF_LOG: Final = "log_"
_NAMED_MAX: Final = 4  # endpoints in one error
_MOST_READ: Final = 4  # some keyrings ask for each item


def from_environment(env: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the one or two secrets in SVC_WEBHOOK_SECRET; none where it is not set.

    Raises:
        UsageError: a part is no signing secret, or there are more than two; an empty variable is
            refused too, because whatever should have set it did not (promise R48).
    """
    text = env.get(SIGNING_VARIABLE)
    return () if text is None else _check(text.split(","), SIGNING_VARIABLE)


def read_given(session: Session, *, piped: bool) -> tuple[str, ...]:
    """Returns the secrets in SVC_WEBHOOK_SECRET, or, `piped`, the one or two on standard input.

    Raises:
        UsageError: they are no signing secrets, or there are more than two.
    """
    if not piped:
        return from_environment(session.env)
    lines = read_secret(session, "Signing secret: ", stdin=True).split("\n")
    return _check(lines, "Standard input")


def _check(parts: Sequence[str], source: str) -> tuple[str, ...]:
    if len(parts) > SECRETS_MAX:
        raise UsageError(f"{source} holds more than two signing secrets.", code="secret_invalid")
    return tuple(parse_signing_secret(part, source) for part in parts)


def place_of(session: Session) -> KeyPlace:
    """Returns the origin, profile and mode in use, which stored secrets are bound to."""
    settings = session.settings
    return KeyPlace(session.base_url.origin, settings.profile, settings.mode)


class StoredSecrets:
    """The signing secrets of the endpoints registered for one origin, profile and mode."""

    def __init__(self, session: Session, state: Database) -> None:
        self._session = session
        self._place = place_of(session)
        self._table = EndpointTable(state, *self._place[:3])

    def get(self, endpoint_id: str) -> str | None:
        """Returns the secret of an endpoint; None where none can be had without asking a person."""
        known = self._table.list_called(endpoint_id)
        if known and known[0].secret is not None:
            return known[0].secret
        try:
            return self._keyring.get(endpoint_id) or None
        except KeyStoreError:
            return None  # then another endpoint is registered, and why is said there

    def keep(self, endpoint_id: str, secret: str) -> None:
        """Puts the secret of an endpoint into the keyring; raises KeyStoreError."""
        self._keyring.put(endpoint_id, secret)

    @property
    def _keyring(self) -> SigningSecrets:
        return SigningSecrets(self._session.key_store(), self._place)


def load_secrets(session: Session, *, of_logs: bool = True) -> list[str]:
    """Returns the stored secrets of the origin, profile and mode in use, without a request.

    Secrets of another origin prove nothing here: a sandbox's are public. `of_logs` includes svc's
    own secrets, with which this machine signs events of a team's log.
    """
    if not session.paths.has_state or session.settings.address is None:
        return []
    state = session.state()
    ours = [
        one
        for one in _select_ours(session, every_endpoint(state))
        if of_logs or not one.id.startswith(_OF_LOG)
    ]
    found = [one.secret for one in ours if one.secret is not None]
    stored = StoredSecrets(session, state)
    unread = [one.id for one in ours if one.secret is None]
    return found + [secret for name in unread if (secret := stored.get(name))]


def _select_ours(
    session: Session, registered: Sequence[RegisteredEndpoint]
) -> list[RegisteredEndpoint]:
    """Returns the endpoints of the origin, profile and mode in use; none without an address."""
    settings = session.settings
    origin = None if settings.address is None else settings.address.origin
    ours = (origin, settings.profile, settings.mode)
    return [one for one in registered if (one.origin, one.profile, one.mode) == ours]


def signing_secrets(
    session: Session, endpoint: str | None, *, piped: bool, piping: str = "--secret-stdin < SECRET"
) -> tuple[str, ...]:
    """Returns the secrets that were given, or the stored secret of `endpoint` or of the only one.

    `piping` shows in the error how a secret is piped in.

    Raises:
        UsageError: there is no secret, or several endpoints could be meant.
    """
    given = read_given(session, piped=piped)
    if given:
        return given
    if endpoint is not None:
        found = StoredSecrets(session, session.state()).get(endpoint)
        known = [] if found is None else [found]
    else:
        known = list(dict.fromkeys(load_secrets(session)))
    if len(known) == 1:
        return (known[0],)
    raise UsageError(
        "Several endpoints are known; each has a secret of its own."
        if known
        else "There is no signing secret to sign with.",
        code="secret_missing",
        param="--endpoint" if known else None,
        hint=f"{_name_endpoints(session)}, or set {SIGNING_VARIABLE}"
        if known
        else f"Set {SIGNING_VARIABLE}, or pipe it in: {piping}",
    )


def _name_endpoints(session: Session) -> str:
    """How to name one of the endpoints that are known here, each with what it gets."""
    ours = _select_ours(session, every_endpoint(session.state()))
    found = {
        one.id: one.events[0] if len(one.events) == 1 else f"{len(one.events)} event types"
        for one in ours
        if not one.id.startswith(_OF_LOG)
    }
    shown = [f"--endpoint {name} ({gets})" for name, gets in found.items()][:_NAMED_MAX]
    return f"Name one: {' or '.join(shown)}"


def endpoint_of_log(name: str) -> str:
    """Returns the id under which svc's own secret for events of a log is stored."""
    return f"{_OF_LOG}{name}"


def find_known_elsewhere(session: Session, own: str | None) -> tuple[KnownSecret, ...]:
    """Returns the secrets of all endpoints but `own` that can be had without asking a person.

    They explain a signature that does not match. Of those in the keyring at most four of the
    origin, profile and mode in use are read (promise R38). No request is sent.
    """
    if not session.paths.has_state:
        return ()
    others = [one for one in every_endpoint(session.state()) if one.id != own]
    found = [KnownSecret(_name(one), one.secret) for one in others if one.secret is not None]
    return (*found, *_from_keyring(session, others))


def _from_keyring(
    session: Session, registered: Sequence[RegisteredEndpoint]
) -> Iterator[KnownSecret]:
    unread = [one for one in _select_ours(session, registered) if one.secret is None]
    for one in unread[:_MOST_READ]:
        secret = StoredSecrets(session, session.state()).get(one.id)
        if secret is None:
            break  # a keyring that hangs is not asked again
        yield KnownSecret(_name(one), secret)


def _name(one: RegisteredEndpoint) -> str:
    return f"the endpoint {one.id} (profile {one.profile}, {one.mode} mode, {one.origin})"
