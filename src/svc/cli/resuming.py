"""`svc requests resume`: the recorded request, once more, to where it was sent before (R3, R4)."""

from svc.cli.account import account_of
from svc.cli.confirm import confirm_money, confirm_other_key
from svc.cli.journalled import deliver, journal_of, not_sent
from svc.cli.service_clock import refuse_forgotten, served_now
from svc.cli.session import Session
from svc.client.call import Call
from svc.client.client import Client
from svc.client.journal.entry import Intent, restored
from svc.client.journal.journal import Journal
from svc.client.journal.refusals import resume_command, unknown_request
from svc.errors import LocalError, UsageError

# Operations that move no money.
_HARMLESS = (
    "orders.create",
    "orders.update",
    "landed-cost-quotes.create",
    "webhook-endpoints.create",
    "disputes.update",
)


def resume_request(session: Session, identifier: str) -> None:
    """Sends a recorded request again and prints what the first answer would have been.

    Raises:
        NotFound: there is no such request.
        Conflict: it is settled, or being sent by another process (promise R69).
        OutcomeUnknown: it is too old (promise R4), or again no definite answer came.
    """
    with journal_of(session) as journal:
        known = journal.find(identifier)
        if known is None:
            raise unknown_request(identifier)
        _go_where_it_went(session, known)
        if known.is_unresolved:
            refuse_forgotten(session, known, session.say)
        out = session.out  # made first: a wrong --query must be refused before anything is sent
        with session.client() as client:
            call, _ = restored(known.stored, session.base_url)
            if not _is_own(session, client, journal, known):
                confirm_other_key(session, known)
            confirm_money(session, _money(call), call.body or {})
            try:
                served = served_now(session)
                intent = journal.lease(
                    identifier, key_hint=session.key.fingerprint, served_at=served
                )
            except LocalError as error:
                raise not_sent(error) from error
            sent = deliver(session, client, journal, intent)
            out.one(sent.reply.text, sent.reply.data)
        if sent.unsaved is not None:
            raise sent.unsaved


def _go_where_it_went(session: Session, intent: Intent) -> None:
    """Takes address and profile from the record; the mode must be said again (promise R19).

    Raises:
        UsageError: the command line names another address or mode.
    """
    asked = session.given.everywhere
    asked.profile = asked.profile or intent.scope.profile
    elsewhere = asked.base_url
    asked.base_url = intent.scope.base_url
    if elsewhere is not None and elsewhere.rstrip("/") != intent.scope.base_url:
        raise UsageError(
            f"The request {intent.id} went to {intent.scope.base_url}, not to {elsewhere}.",
            param="--base-url",
            hint="Leave --base-url out",
        )
    if session.settings.mode != intent.scope.mode:
        raise UsageError(
            f"The request {intent.id} is of {intent.scope.mode} mode.",
            code="mode_mismatch",
            param="--live",
            hint=resume_command(intent) if intent.is_live else "Leave --live out",
        )


def _is_own(session: Session, client: Client, journal: Journal, intent: Intent) -> bool:
    hint = intent.scope.key_hint
    if hint == session.key.fingerprint:
        return True
    return hint in account_of(session, client, journal, (hint,)).same


def _money(call: Call) -> str | None:
    """What sending it does, where it moves money."""
    if call.operation in _HARMLESS:
        return None
    about = dict(call.names)
    match call.operation:
        case "orders.cancel" | "orders.capture":
            return f"{call.operation.partition('.')[2]} order {about['order']}"
        case "refunds.create":
            return f"refund payment {about.get('payment', '(of the body)')}"
        case "payouts.create":
            return "send a payout"
        case "disputes.accept":
            return f"accept dispute {about['dispute']} as lost"
    return f"POST to {call.path}"
