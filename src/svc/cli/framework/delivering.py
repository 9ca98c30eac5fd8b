"""Builds what `svc.delivery` works with (journal, limits, key comparison) from a command's session.

`sending` calls `send_recorded` for a single POST, the listener's `endpoint` for a registration.
`svc requests` opens the journal and builds a `Sender` here, `svc batch` the limits and the key
comparison, `svc state` the limits. `doctor`, `whoami`, `timeline` and `keys roll` open the journal
to read it.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any, Final

from svc.cli.framework.control import read_sandbox_clock, refuse_expired_key
from svc.cli.framework.session import Session
from svc.client.call import Call
from svc.client.client import Client
from svc.client.operations import build_list
from svc.client.reply import Reply
from svc.client.retry import KEY_SAFE_SECONDS
from svc.config.limits import MoneyLimit
from svc.delivery.account import KeyMatcher
from svc.delivery.journal.entry import Intent, Scope, settle_by_reply
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.limits import LimitRules
from svc.delivery.journal.refusals import KEY_SPENT, KEY_TOO_OLD
from svc.delivery.journal.sender_locks import SenderLocks
from svc.delivery.send import Sender, Sent, send_new
from svc.errors import LocalError, SvcError
from svc.system import uptime

_DATE_SECONDS: Final = 10.0


@contextmanager
def journal_of(session: Session) -> Iterator[Journal]:
    """Yields the journal of POSTs; the state database is opened when it is first needed."""
    with closing(SenderLocks(session.paths.state_dir / "senders")) as sender_locks:
        rules = limit_rules(session)
        yield Journal(
            session.state,
            sender_locks,
            session.clock,
            format_command=session.format_command,
            rules=rules,
        )


def limit_rules(session: Session) -> LimitRules:
    """Returns the configured money limits; none apply after a confirmed `--over-limit`."""

    def limits_for(scope: Scope, group: str) -> "Sequence[MoneyLimit]":
        if session.is_over_limit or not group:
            return ()
        return session.config.limits_for(scope.profile, scope.mode, group)

    return LimitRules(limits_for, uptime.read_uptime)


def accounts_of(session: Session, client: Client, journal: Journal) -> KeyMatcher:
    """Returns what tells whether another API key is of the same account as the command's key."""

    def rolls() -> Iterator[set[str]]:
        here = (session.base_url.origin, session.settings.mode)
        for fact in session.key_facts.every():
            if fact.old_fingerprint is not None and (fact.origin, fact.mode) == here:
                yield {fact.fingerprint, fact.old_fingerprint}

    scope = session.scope(session.key.fingerprint)
    return KeyMatcher(journal, client, scope, rolls)


def read_service_date(client: Client) -> float | None:
    """Asks for one order and reads its answer's `Date` (Unix seconds); None without an answer."""
    try:
        return client.send(build_list("order", {"limit": 1}), within=_DATE_SECONDS).server_time
    except SvcError as error:
        return error.server_time


def _refuse_expired(session: Session, intent: Intent) -> None:
    """Raises where the service may have forgotten a request's key, by either clock (promise R4)."""
    refuse_expired_key(session, intent, session.format_command)
    if intent.dated_at is None or not (intent.is_unresolved or intent.state == "done"):
        return
    with session.client() as client:
        now = read_service_date(client)
    if now is not None and now - intent.dated_at >= KEY_SAFE_SECONDS:
        refusal = KEY_SPENT if intent.state == "done" else KEY_TOO_OLD
        raise refusal.about(intent, session.format_command)


def sender_of(session: Session, client: Client, journal: Journal) -> Sender:
    """Builds the `Sender` with which `svc.delivery.send` sends this command's POST."""

    def note_done(data: Any) -> None:
        session.done = None
        session.note_done(data)

    return Sender(
        journal,
        client,
        session.scope(session.key.fingerprint),
        session.base_url,
        accounts_of(session, client, journal),
        partial(read_sandbox_clock, session),
        partial(_refuse_expired, session),
        session.format_command,
        session.clock,
        session.out.warn,
        session.out.note if session.format == "human" else lambda _: None,
        note_done,
    )


def send_recorded(
    session: Session,
    client: Client,
    call: Call,
    *,
    idempotency_key: str | None = None,
    new_request: bool = False,
    requested_at: float | None = None,
) -> Sent:
    """Records a POST of this command, sends it and keeps how it ended; raises as `send_new`.

    `requested_at`, in Unix seconds, is when the request was decided on, by default the beginning
    of the command; a command that runs for long, such as a listener, passes its own.
    """
    with journal_of(session) as journal:
        return send_new(
            sender_of(session, client, journal),
            call,
            idempotency_key=idempotency_key,
            new_request=new_request,
            requested_at=session.began_at if requested_at is None else requested_at,
        )


def record_failure(session: Session, ended: Reply) -> None:
    """Records that what a POST of this command has made failed later (promise R117).

    Without this record the same command is refused as done a moment ago.
    """
    scope = session.scope(session.key.fingerprint)
    with suppress(LocalError), journal_of(session) as journal:  # the failure itself is told
        sent = journal.by_key(ended.idempotency_key or "", scope)
        if sent is not None:
            journal.settle(sent, settle_by_reply(ended))
