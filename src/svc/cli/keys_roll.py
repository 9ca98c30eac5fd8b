"""`svc keys roll`: from the dashboard to the new key in its place (promise R36)."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from svc.cli.app import verb
from svc.cli.key_app import app, place_of, tell_of_variable
from svc.cli.key_input import may_ask
from svc.cli.key_view import key_shown, utc
from svc.cli.naming import show_named
from svc.cli.session import Session
from svc.errors import KeyStoreError, LocalError
from svc.keys.facts import KeyFact, Roll
from svc.keys.kinds import ApiKey
from svc.keys.names import SANDBOX_DATA
from svc.keys.resolve import refuse_plain_http
from svc.spec import KEY_GRACE_MAX_SECONDS


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
    from svc.cli import keys_roll_new, keys_roll_old, keys_roll_witness
    from svc.cli.keys_roll_page import page_of, show_page

    session = Session.of(ctx)
    _ = session.out  # made first: a wrong --query must be refused before anything is changed
    seconds, page = keys_roll_new.grace_of(grace), page_of(dashboard)
    refuse_plain_http(session.base_url)
    old = keys_roll_old.find(session, place_of(session, session.settings.mode))
    since = session.clock.now()
    before = None if no_check else keys_roll_witness.look(session, old)
    if old.left_over is None and not stdin:
        show_page(session, old, page)
    new = keys_roll_new.take(session, old, stdin=stdin)
    same = works = None
    if before is not None:
        same = keys_roll_new.check(session, new, old.place, before)
        works = keys_roll_witness.still_works(session, old, new)
        if works and grace is None and not stdin and may_ask(session):
            seconds = keys_roll_new.ask_grace(session)
    ends = _end(seconds, since, works=works)
    fact = _swap(session, old, new, ends, checked=before is not None)
    report = _Report(fact, works=works, same=same, asked=seconds)
    show_named(session, session.out, report.shown(), "profile")
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
class _Report:
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
