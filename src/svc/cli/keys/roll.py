"""`svc keys roll`: replaces the stored key by a new one of the same account, in steps.

It opens the dashboard, where a person rolls the key, reads the new key, asks the service whether it
is of the same account, swaps it in the keyring and prints both keys' state. The evidence of one
account are ids of objects that the old key can read: an object is listed with it before the new key
is given, or ids are taken from the journal; the new key must read the same object.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal

from svc import api_keys
from svc.api_keys import ApiKey, refuse_plain_http
from svc.base_url import BaseUrl
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.delivering import journal_of
from svc.cli.framework.inputs.times import seconds_of
from svc.cli.framework.key_check import check_new_key, key_shown, try_key, warn_of_variable
from svc.cli.framework.options import flag, option
from svc.cli.framework.prompts import ask_line, may_ask, open_page, read_secret
from svc.cli.framework.session import Session
from svc.delivery.account import is_owner, list_witnesses
from svc.delivery.journal.entry import Scope
from svc.errors import AuthError, KeyStoreError, LocalError, SvcError, Unauthorized, UsageError
from svc.keys.age import DAY_SECONDS
from svc.keys.facts import KeyFact
from svc.keys.places import SANDBOX_DATA, KeyPlace
from svc.keys.resolve import VARIABLE
from svc.service.facts import KEY_GRACE_MAX_SECONDS, SANDBOX_KEYS


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


def find_old(session: Session, place: KeyPlace) -> OldKey:
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


app = make_app()


@verb(app)
def roll(
    session: Session,
    grace: str | None = option(
        "0..7d", "How long the old key works on, as chosen in the dashboard."
    ),
    stdin: bool = flag("--stdin", "Read the new key from a pipe."),
    dashboard: str | None = option("URL", "The dashboard's page, to be opened."),
    no_check: bool = flag("--no-check", "Do not ask the service about the keys."),
) -> None:
    """Put a new key in the place of the stored one.

    Keys are rolled in the dashboard: its page is opened, then the new key is asked for. It must be
    of the same kind, mode and account; only then does it take the old one's place.

    $ svc keys roll
    $ svc keys roll --grace 24h --stdin < new-key.txt
    """
    seconds, page = grace_of(grace), page_of(dashboard)
    refuse_plain_http(session.base_url)
    old = find_old(session, session.key_place())
    known = None if no_check else observe(session, old)
    since = session.now()
    if old.left_over is None and not stdin:
        show_page(session, old, page)
    new = take(session, old, stdin=stdin)
    same = works = None
    if known is not None:
        check_new_key(session, new.secret, new.mode, new.fingerprint)
        same = is_same_account(session, new.secret, old.place, known)
        works = check_still_works(session, old, new)
        if works and grace is None and not stdin and may_ask(session):
            seconds = ask_grace(session)
    ends = _end(seconds, since, works=works)
    fact = _swap(session, old, new, ends, checked=known is not None)
    _report(session, fact, works=works, same=same, asked=seconds)


def _end(seconds: int | None, since: float, *, works: bool | None) -> float | None:
    """When the old key stops working, as far as it is known; what was seen wins."""
    if works is False:
        return since
    if works and not seconds:
        return None
    return None if seconds is None else since + seconds


def _swap(session: Session, old: Any, new: ApiKey, ends: float | None, *, checked: bool) -> KeyFact:
    """Stores the new key, then notes it; of a sandbox's, test data, the notes hold it at need.

    Of two rolls at once, the one that comes second is refused.
    """
    try:
        backend = session.key_store().put(old.place.user, new.secret, instead_of=old.key.secret)
    except KeyStoreError:
        if not session.settings.sandbox:
            raise
        backend = SANDBOX_DATA
    try:
        return session.key_facts.note_roll(
            old.place, new, backend, checked=checked, old=old.fingerprint, old_ends_at=ends
        )
    except LocalError as error:
        if backend != SANDBOX_DATA:
            error.message = f"The new key is in its place, but not noted. {error.message}"
        raise


def _report(
    session: Session, fact: KeyFact, *, works: bool | None, same: bool | None, asked: int | None
) -> None:
    """Prints what was rolled and what of it must be known; `asked` is the grace, in seconds."""
    out = session.out
    out.value({**key_shown(fact), "old_key_works": works, "same_account": same}, name="profile")
    if same is None:
        out.note("That it is of the same account was not checked: no object is known from it.")
    if works and fact.old_ends_at is None:
        out.warn(
            f"The old key {fact.old_fingerprint} still works; --grace was not given. It ends "
            f"{KEY_GRACE_MAX_SECONDS // DAY_SECONDS} days after it was rolled at the latest."
        )
    if works is False and asked:
        out.warn(
            f"The old key {fact.old_fingerprint} works no more, although --grace gives it "
            "more time."
        )
    if session.settings.sandbox:
        out.hint("A reset sandbox knows its public key again; to use it: svc keys remove")
    if fact.backend == SANDBOX_DATA:
        out.note(
            "There is no usable keyring; the sandbox's key, which is test data, is kept in the "
            "state database."
        )
    warn_of_variable(session)


def page_of(text: str | None) -> str | None:
    """Checks and returns the dashboard's address, as every other address (promise R23).

    Raises:
        UsageError: the address is invalid, or plain http to another machine.
    """
    if text is None:
        return None
    try:
        address = BaseUrl.parse(text)
    except UsageError as error:
        error.param = "--dashboard"
        raise
    if address.scheme != "https" and not address.is_loopback:
        raise UsageError("--dashboard must begin with https://.", param="--dashboard")
    return str(address)


def show_page(session: Session, old: OldKey, page: str | None) -> None:
    """Prints what to do in the dashboard, and opens its page for a person at a terminal."""
    place = old.place
    out = session.out
    if session.settings.sandbox:
        what = f"Roll the key {old.key.fingerprint} of the sandbox in another terminal"
        options = f"--grace 24h --profile {place.profile}{' --live' * (place.mode == 'live')}"
        out.note(f"{what}: svc sandbox keys roll {_sandbox_id(session, old)} {options}")
        return
    out.note(
        f"Roll the {place.mode} key {old.key.fingerprint} (profile {place.profile}) in the "
        f"dashboard of {place.origin}, with Roll key; copy the new key that it shows once."
    )
    if page is None:
        out.hint("With --dashboard URL, svc opens the page itself.")
        return
    out.note(f"The dashboard: {page}")
    if session.streams.person_reads and session.streams.person_answers:
        open_page(session, page)


def _sandbox_id(session: Session, old: OldKey) -> str:
    """The id of the key at the sandbox, found by the last characters that its list shows."""
    from svc.cli.framework.control import ask
    from svc.client.sandbox import control_call

    try:
        listed = ask(session, control_call("GET", "keys")).data["data"]
    except SvcError:
        return "KEY_ID"
    secret = old.key.secret
    found = [
        each["id"]
        for each in listed
        if each["expires_at"] is None
        and each["type"] == old.key.kind
        and each["key"].endswith(secret[-4:])
    ]
    return str(found[0]) if len(found) == 1 else "KEY_ID"


def take(session: Session, old: OldKey, *, stdin: bool) -> ApiKey:
    """Reads the new key from a pipe or the terminal, or takes that of an interrupted roll.

    Raises:
        UsageError: the input is no key, or there is no terminal.
        AuthError: the new key is the old one, or of another mode or kind.
    """
    if old.left_over is not None and not stdin:
        session.out.note(
            "An earlier roll was interrupted. It continues now, with the key that was given then."
        )
        text = old.left_over
    else:
        place = old.place
        prompt = f"New {place.mode} key for {place.origin} (profile {place.profile}): "
        text = read_secret(session, prompt, stdin=stdin, command="svc keys roll")
    key = api_keys.parse(text, "The input")
    _refuse_unlike(key, old)
    api_keys.refuse_live_key_here(key, "This", session.base_url)
    return key


def grace_of(text: str | None) -> int | None:
    """Parses how long the old key still works, as seconds; None where it was not given.

    Raises:
        UsageError: the text is not a duration, or longer than the service allows (spec: Limits).
    """
    if text is None:
        return None
    seconds = seconds_of(text, "--grace")
    if seconds > KEY_GRACE_MAX_SECONDS:
        raise UsageError("--grace must be at most 7d.", param="--grace")
    return seconds


def ask_grace(session: Session) -> int | None:
    """Asks a person which grace period was chosen in the dashboard; returns seconds or None."""
    question = "The old key still works. For how long, as chosen (such as 24h; at most 7d): "
    while True:
        answer = ask_line(session, question)
        try:
            return grace_of(answer or None)
        except UsageError as error:
            session.out.note(error.message)


def _refuse_unlike(key: ApiKey, old: OldKey) -> None:
    was_noted = old.fingerprint == old.key.fingerprint  # as keyring and state database agree
    if key.secret == old.key.secret and was_noted:
        raise _refusal(
            f"This is the key that is stored already ({key.fingerprint}).",
            "key_not_new",
            "Roll it in the dashboard first, and give the key that is shown there",
        )
    if key.mode != old.key.mode:
        raise _build_unlike(key, old.key, "mode", "")
    if key.kind != old.key.kind:
        raise _build_unlike(key, old.key, "kind", "; to store another kind: svc keys add")


def _build_unlike(key: ApiKey, old: ApiKey, what: Literal["mode", "kind"], more: str) -> AuthError:
    new, wanted = getattr(key, what), getattr(old, what)
    return _refusal(
        f"This is a {new} key ({key.fingerprint}); the one that is rolled "
        f"({old.fingerprint}) is a {wanted} key.",
        f"{what}_mismatch",
        f"Give the new {wanted} key{more}",
    )


def _refusal(message: str, code: str, hint: str) -> AuthError:
    return AuthError(f"Nothing was stored. {message}", code=code, outcome="not_sent", hint=hint)
