"""`svc requests resume`: the recorded request, once more, to where it was sent before (R3, R4)."""

from svc.cli.confirm import confirm_money, confirm_other_key
from svc.cli.journalled import deliver, journal, not_sent
from svc.cli.journalled_account import is_same_account
from svc.cli.journalled_ages import refuse_forgotten
from svc.cli.session import Session
from svc.client.call import Body
from svc.client.journal.entry import Intent, restored
from svc.client.journal.refusals import resume_command, unknown_request
from svc.errors import LocalError, UsageError


def resume_request(session: Session, identifier: str) -> None:
    """Sends a recorded request again and prints what the first answer would have been.

    Raises:
        NotFound: there is no such request.
        Conflict: it is settled, or being sent by another process (promise R69).
        OutcomeUnknown: it is too old (promise R4), or again no definite answer came.
    """
    with journal(session) as intents:
        known = intents.find(identifier)
        if known is None:
            raise unknown_request(identifier)
        _go_where_it_went(session, known)
        if known.is_unresolved:
            refuse_forgotten(session, known)
        out = session.out  # made first: a wrong --query must be refused before anything is sent
        with session.client() as client:
            call, prepared = restored(known.stored, session.base_url)
            if not is_same_account(session, client, intents, known.scope.key_hint):
                confirm_other_key(session, known)
            confirm_money(session, _money(known, call.body or {}), call.body or {})
            try:
                intent = intents.lease(identifier)
            except LocalError as error:
                raise not_sent(error) from error
            sent = deliver(session, client, intents, intent, (call, prepared))
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


def _money(intent: Intent, body: Body) -> str | None:
    """What sending it does, where it moves money."""
    match intent.stored.path.split("/")[2:]:
        case ["orders"] | ["orders", _] | ["landed-cost", "quotes"] | ["webhook_endpoints"]:
            return None
        case ["disputes", _]:
            return None
        case ["orders", order, ("cancel" | "capture") as verb]:
            return f"{verb} order {order}"
        case ["refunds"]:
            return f"refund payment {body.get('payment', '(of the body)')}"
        case ["payouts"]:
            return "send a payout"
        case ["disputes", dispute, "accept"]:
            return f"accept dispute {dispute} as lost"
    return f"POST to {intent.stored.path}"
