"""`svc keys roll`: replaces the stored key by a new one of the same account, in steps.

It opens the dashboard, where a person rolls the key, reads the new key, asks the service whether it
is of the same account (`old_key`), swaps it in the keyring and prints both keys' state.
"""

from typing import Any, Literal

from svc import api_keys
from svc.api_keys import ApiKey, refuse_plain_http
from svc.base_url import BaseUrl
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.inputs.times import seconds_of
from svc.cli.framework.key_check import check_new_key, key_shown, warn_of_variable
from svc.cli.framework.options import flag, option
from svc.cli.framework.prompts import ask_line, may_ask, open_page, read_secret
from svc.cli.framework.session import Session
from svc.cli.keys import old_key
from svc.cli.keys.old_key import OldKey
from svc.errors import AuthError, KeyStoreError, LocalError, SvcError, UsageError
from svc.keys.age import DAY_SECONDS
from svc.keys.facts import KeyFact
from svc.keys.places import SANDBOX_DATA
from svc.service.facts import KEY_GRACE_MAX_SECONDS

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
    old = old_key.find(session, session.key_place())
    known = None if no_check else old_key.observe(session, old)
    since = session.now()
    if old.left_over is None and not stdin:
        show_page(session, old, page)
    new = take(session, old, stdin=stdin)
    same = works = None
    if known is not None:
        check_new_key(session, new.secret, new.mode, new.fingerprint)
        same = old_key.is_same_account(session, new.secret, old.place, known)
        works = old_key.check_still_works(session, old, new)
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
