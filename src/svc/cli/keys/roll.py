"""`svc keys roll`: the page, the new key, the swap, and what is reported."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from svc.api_keys import ApiKey, refuse_plain_http
from svc.base_url import BaseUrl
from svc.cli.framework.app import new_app, verb
from svc.cli.framework.key_check import key_shown, utc
from svc.cli.framework.prompts import may_ask, open_page
from svc.cli.framework.session import Session
from svc.cli.keys.old_key import OldKey
from svc.cli.keys.shared import place_of, tell_of_variable
from svc.errors import KeyStoreError, LocalError, SvcError, UsageError
from svc.keys.facts import KeyFact, Roll
from svc.keys.places import SANDBOX_DATA
from svc.spec import KEY_GRACE_MAX_SECONDS

app = new_app()


@verb(app)
def roll(
    ctx: typer.Context,
    grace: Annotated[
        str | None,
        typer.Option(
            metavar="0..7d", help="How long the old key works on, as chosen in the dashboard."
        ),
    ] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the new key from a pipe.")] = False,
    dashboard: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The dashboard's page, to be opened."),
    ] = None,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Do not ask the service about the keys.")
    ] = False,
) -> None:
    """Put a new key in the place of the stored one.

    Keys are rolled in the dashboard: its page is opened, then the new key is asked for. It must be
    of the same kind, mode and account; only then does it take the old one's place.

    $ svc keys roll
    $ svc keys roll --grace 24h --stdin < new-key.txt
    """
    from svc.cli.keys import new_key, old_key

    session = Session.of(ctx)
    seconds, page = new_key.grace_of(grace), page_of(dashboard)
    refuse_plain_http(session.base_url)
    old = old_key.find(session, place_of(session, session.settings.mode))
    since = session.clock.now()
    before = None if no_check else old_key.look(session, old)
    if old.left_over is None and not stdin:
        show_page(session, old, page)
    new = new_key.take(session, old, stdin=stdin)
    same = works = None
    if before is not None:
        same = new_key.check(session, new, old.place, before)
        works = old_key.still_works(session, old, new)
        if works and grace is None and not stdin and may_ask(session):
            seconds = new_key.ask_grace(session)
    ends = _end(seconds, since, works=works)
    fact = _swap(session, old, new, ends, checked=before is not None)
    report = _RollReport(fact, works=works, same=same, asked=seconds)
    session.out.value(report.shown(), name="profile")
    report.tell(session)


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
    roll = Roll(old.fingerprint, ends, backend, checked=checked)
    try:
        return session.key_facts.rolled(old.place, new, roll)
    except LocalError as error:
        if backend != SANDBOX_DATA:
            error.message = f"The new key is in its place, but not noted. {error.message}"
        raise


@dataclass(frozen=True, slots=True)
class _RollReport:
    """What is said of a roll; `asked` is the grace that was given, in seconds."""

    fact: KeyFact
    works: bool | None
    same: bool | None
    asked: int | None

    def shown(self) -> dict[str, Any]:
        return {**key_shown(self.fact), "old_key_works": self.works, "same_account": self.same}

    def tell(self, session: Session) -> None:
        fact, out = self.fact, session.out
        if self.same is None:
            out.note("That it is of the same account was not checked: no object is known from it.")
        if self.works and fact.old_ends_at is None:
            out.warn(
                f"The old key {fact.old_fingerprint} still works; until when, nobody has said "
                f"(--grace). It ends by {utc(fact.added_at + KEY_GRACE_MAX_SECONDS)} at the latest."
            )
        if self.works is False and self.asked:
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
        tell_of_variable(session)


def page_of(text: str | None) -> str | None:
    """Checks a dashboard's address as every other address (promise R23).

    Raises:
        UsageError: it is not usable, or plain http to another machine.
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
    """Says what to do in the dashboard, and opens its page for a person at a terminal."""
    place = old.place
    out = session.out
    if session.settings.sandbox:
        out.note(f"Roll the key {old.key.fingerprint} of the sandbox in another terminal:")
        out.hint(_sandbox_command(session, old))
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


def _sandbox_command(session: Session, old: OldKey) -> str:
    profile = f" --profile {old.place.profile}"
    live = " --live" if old.place.mode == "live" else ""
    return f"svc sandbox keys roll {_sandbox_id(session, old)} --grace 24h{profile}{live}"


def _sandbox_id(session: Session, old: OldKey) -> str:
    """The id of the key at the sandbox, found by the last characters that its list shows."""
    from svc.cli.framework.control import ask
    from svc.client.resources import controls

    try:
        listed = ask(session, controls.keys()).data["data"]
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
