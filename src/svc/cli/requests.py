"""`svc requests`: lists the POSTs of the journal and settles those of unknown outcome (R3, R4).

The journal is svc's record of every POST. `resume` sends an unresolved request again with its own
idempotency key, `forget` deletes a record; `adopt` and `start-empty` deal with a damaged state
database. `svc timeline` names requests by `status_of` and `operation_of`.
"""

from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

from svc import service
from svc.cli.framework.app import make_word, verb
from svc.cli.framework.control import moments, read_sandbox_clock
from svc.cli.framework.delivering import journal_of, sender_of
from svc.cli.framework.options import argument, flag, option
from svc.cli.framework.prompts import confirm, confirm_in_person, confirm_money, confirm_other_key
from svc.cli.framework.sending import finish, report_answer
from svc.cli.framework.session import Session
from svc.client import find
from svc.client.call import check_id
from svc.client.request import parse_body
from svc.client.retry import KEY_SAFE_SECONDS
from svc.clock import utc
from svc.delivery.journal.entry import OBJECT_FAILED, Intent, restore_call
from svc.delivery.journal.refusals import build_unknown_request, resume_command
from svc.delivery.send import deliver, mark_as_unsent
from svc.errors import UsageError, build_wrong_choice
from svc.money import format_amount
from svc.redaction import redact
from svc.state.files import set_aside_of


def status_of(intent: Intent, *, in_flight: bool) -> str:
    """Returns how a request ended, or `sending`, or `unresolved` if its process was stopped.

    `failed` is one that was carried out, and whose effect has failed.
    """
    if in_flight:
        return "sending"
    if intent.settled is not None and intent.settled.error_code == OBJECT_FAILED:
        return "failed"
    return "unresolved" if intent.state == "open" else intent.state


def operation_of(path: str) -> str:
    """Returns the operation of a path, such as `refunds.create`, or the path if unknown."""
    return find.post(path).operation or path


def text_of(intent: Intent) -> str:
    """Returns the body of a request; what a damaged database has left of one may be no text."""
    return intent.stored.body.decode("utf-8", "replace")


def summary_of(intent: Intent, *, in_flight: bool) -> dict[str, Any]:
    """Returns a request as a row of `svc requests list`."""
    settled = intent.settled
    return {
        "id": intent.id,
        "object": "request",
        "status": status_of(intent, in_flight=in_flight),
        "operation": operation_of(intent.stored.path),
        "created": utc(intent.created_at),
        "path": intent.stored.path,
        "object_id": settled.object_id if settled else None,
        **_money_of(intent),
        "error_code": settled.error_code if settled else None,
        "mode": intent.scope.mode,
        "profile": intent.scope.profile,
        "idempotency_key": intent.stored.idempotency_key,
    }


def _money_of(intent: Intent) -> dict[str, Any]:
    """The amount and currency that were asked for; what was not said, as it was answered."""
    body = parse_body(text_of(intent))
    if isinstance(body, str):
        body = dict(parse_qsl(body))
    asked = body if isinstance(body, dict) else {}
    amount = asked.get("amount")
    if isinstance(amount, str) and amount.isdecimal():
        amount = int(amount)
    moved = (intent.amount, intent.currency) if intent.state == "done" else (None, None)
    return {
        "amount": moved[0] if amount is None else amount,
        "currency": asked.get("currency") or moved[1],
    }


def record_of(intent: Intent, *, in_flight: bool) -> dict[str, Any]:
    """Returns all that the journal holds of a request, as `svc requests show` prints it."""
    settled = intent.settled
    return {
        **summary_of(intent, in_flight=in_flight),
        "method": "POST",
        "base_url": intent.scope.base_url,
        "key_fingerprint": intent.scope.key_fingerprint,
        "api_version": intent.stored.api_version,
        "body": parse_body(redact(text_of(intent))),
        "body_sha256": intent.body_sha256,
        "sendings": intent.sendings,
        "last_sent": utc(intent.last_sent_at),
        "resumable_until": utc(intent.first_sent_at + KEY_SAFE_SECONDS)
        if intent.is_unresolved
        else None,
        "settled": None
        if intent.is_unresolved or intent.settled_at is None
        else utc(intent.settled_at),
        "http_status": settled.status if settled else None,
        "request_id": settled.request_id if settled else None,
        "error_message": settled.error_message if settled else None,
        "batch": intent.batch,
        "row": intent.row,
    }


app = make_word("requests")

REQUEST_ID: Final = argument("ID", "The request, rq_...")
_SHOWN = 100


@verb(app, "list")
def list_(
    session: Session,
    unresolved: bool = flag("--unresolved", "Only those whose outcome is not known."),
    object_id: str | None = option(
        "ID", "Only those that made this object, or name it.", "--object"
    ),
    since: str | None = option("TIME", "Recorded since: 2h, 3d, yesterday or 2026-11-21."),
    operation: str | None = option("OPERATION", "Only these, such as refunds.create."),
    limit: int = option(
        "N", "How many at most, the newest.", "--max", "--limit", min=1, default=_SHOWN
    ),
) -> None:
    """List the POSTs in this machine's journal, newest first.

    The journal is svc's own record of every POST, written before it is sent.

    With --unresolved, all whose outcome is not known; they are kept until you settle them. Others
    are forgotten after {request_days} days, but not those with an idempotency key of your own, nor
    the rows of a batch: they are what keeps you from sending them a second time.

    $ svc requests list --unresolved
    $ svc requests list --operation refunds.create --since 2h
    """
    paths = {} if operation is None else find_posted_paths()
    if operation is not None and operation not in paths:
        raise build_wrong_choice("--operation", operation, tuple(paths))
    begin = None
    if since is not None:
        begin = moments(session, local=True).read(since, "--since").begin.timestamp()
    about = None if object_id is None else check_id(object_id, "--object")
    with journal_of(session) as journal:
        most = None if unresolved else limit + 1  # one more tells that there are more
        path = paths.get(operation or "")
        found = journal.list(unresolved=unresolved, limit=most, since=begin, about=about, path=path)
        is_cut = most is not None and len(found) == most
        listed = found[:limit] if is_cut else found
        rows = [summary_of(one, in_flight=journal.is_in_flight(one)) for one in listed]
    session.out.value(rows, kind="request")
    if is_cut:
        session.out.hint(f"Only the newest {limit} are shown; --max shows more.")
    for aside in set_aside_of(session.paths.state_file):
        session.out.warn(
            f"{aside} is a damaged state database that was set aside: requests that it knew are "
            "not in this list. Look at the service for what they did, then remove the file."
        )
    if any(row["status"] in ("unresolved", "unknown") for row in rows):
        session.out.hint("Settle each: svc requests resume ID")


def find_posted_paths() -> dict[str, str]:
    """The path of every operation that sends a POST, with `*` for an id."""
    return {
        f"{noun.word}.{action.verb}": noun.path_of(action)
        for noun in service.nouns()
        for action in noun.actions
        if action.method == "POST"
    }


@verb(app)
def show(session: Session, request_id: str = REQUEST_ID) -> None:
    """Show one request: what was sent, with which key, and how it ended.

    $ svc requests show rq_4kd0v6x8gq2m7w1s9b3t
    """
    with journal_of(session) as journal:
        found = journal.find(request_id)
        if found is None:
            raise build_unknown_request(request_id)
        shown = record_of(found, in_flight=journal.is_in_flight(found))
    known = service.operation(shown["operation"]) if session.format == "human" else None
    if known is not None and isinstance(shown["body"], dict):
        # As what it makes or changes: so its fields are named as they are elsewhere.
        shown["body"] = {"object": known[0].name, **shown["body"]}
    session.out.value(shown)


@verb(app)
def resume(session: Session, request_id: str = REQUEST_ID) -> None:
    """Send an unresolved request again; it is never doubled.

    It has the same key and the same bytes, so the service answers with the original result. After
    {key_hours} hours it is refused, and so is an update if a later one says otherwise.

    $ svc requests resume rq_4kd0v6x8gq2m7w1s9b3t
    """
    with journal_of(session) as journal:
        known = journal.find(request_id)
        if known is None:
            raise build_unknown_request(request_id)
        with mark_as_unsent(known.stored.path, known):
            _go_where_it_went(session, known)
            out, unopened = session.out, session.client()
        with unopened as client:
            with mark_as_unsent(known.stored.path, known):
                call, _ = restore_call(known.stored, session.base_url)
                sender = sender_of(session, client, journal)
                if known.is_unresolved:
                    sender.refuse_expired(known)
                if not sender.accounts.is_own(known.scope.key_fingerprint):
                    confirm_other_key(session, known)
                confirm_money(session, call)
                hint, served = session.key.fingerprint, read_sandbox_clock(session)
                intent = journal.lease(request_id, key_fingerprint=hint, server_time=served)
            sent = deliver(sender, intent)
            report_answer(session, sent.reply)
            finish(session, out, call, sent.reply, sent.unsaved)


@verb(app)
def adopt(
    session: Session,
    file: str = argument("FILE", "A state database, such as one that was set aside."),
) -> None:
    """Take over what can be read of another state database.

    For one that was damaged and set aside, and for a backup. What is known already stays as it is.
    Where a limit is set and there is no state database, a person at a terminal is asked.

    $ svc requests adopt ~/.local/state/svc/state.db.corrupt-1
    """
    from svc.state.salvage import adopt as adopt_state

    source = Path(file)
    if not source.is_file():
        raise UsageError(f"There is no file {file}.", param="FILE")
    _confirm_lost_count(session, "requests adopt")
    rows, damaged = adopt_state(session.paths.state_file, source, session.clock)
    with journal_of(session) as journal:
        unresolved = len(journal.list(unresolved=True))
    session.out.value(
        {
            "object": "adoption",
            "file": file,
            "requests": rows.get("requests", 0),
            "events": rows.get("inbox", 0),
            "unresolved": unresolved,
            "damaged": damaged,
        }
    )
    if damaged:
        session.out.warn(
            "Not all of it could be read: look at recent orders, refunds and payouts for requests "
            "that are missing here."
        )
    if unresolved:
        session.out.hint("svc requests list --unresolved")


@verb(app, "start-empty")
def start_empty(session: Session) -> None:
    """Begin without the state database that was damaged and set aside.

    What is recorded in it is not known any more: look at recent orders, refunds and payouts first.
    Where a limit is set a person at a terminal is asked, since the limit begins anew.

    $ svc requests start-empty
    """
    from svc.state.salvage import begin_empty

    _confirm_lost_count(session, "requests start-empty")
    aside = begin_empty(session.paths.state_file, session.clock)
    session.out.value(
        {
            "object": "state",
            "file": str(session.paths.state_file),
            "set_aside": [str(one) for one in aside],
        }
    )


def _confirm_lost_count(session: Session, command: str) -> None:
    """Asks a person where limits no longer know what was moved: a machine is not to begin anew."""
    if session.config.limit_names() and not session.paths.has_state:
        confirm_in_person(session, command, "What counted in the limits may not be known any more.")


@verb(app)
def forget(session: Session, request_id: str = REQUEST_ID) -> None:
    """Delete a request from the journal, once its outcome is known to you.

    One whose outcome is not known is asked about: once it is forgotten, the same command sends it a
    second time. The next run of a batch sends a forgotten row again: if it was carried out, take it
    out of the file.

    $ svc requests forget rq_4kd0v6x8gq2m7w1s9b3t
    """
    with journal_of(session) as journal:
        known = journal.find(request_id)
        if known is not None and known.is_unresolved and not journal.is_in_flight(known):
            _confirm_forgetting(session, known)
        gone = journal.forget(request_id)
    session.out.value(record_of(gone, in_flight=False))
    if gone.is_unresolved:
        session.out.note("Forgotten. Whether it was carried out is not known to this machine.")
    if gone.batch is not None:
        session.out.warn(
            f"This was row {gone.row} of a batch, whose next run sends it again. If it was carried "
            "out, take the row out of the file first."
        )


def _confirm_forgetting(session: Session, unresolved: Intent) -> None:
    """Asks before the record is deleted that keeps a request from being sent a second time."""
    money = _money_of(unresolved)
    amount, currency = money["amount"], money["currency"]
    moved = f", {format_amount(amount, currency)}" if isinstance(amount, int) and currency else ""
    what = f"{operation_of(unresolved.stored.path)}{moved}, {unresolved.scope.mode} mode"
    confirm(
        session,
        f"The request {unresolved.id} may have been carried out: {what}.",
        "Once it is forgotten, the same command sends it a second time.",
        f"To learn its outcome: {resume_command(unresolved)}",
        otherwise="Nothing was forgotten.",
    )


def _go_where_it_went(session: Session, intent: Intent) -> None:
    """Takes address and profile from the record; the mode must be said again (promise R19).

    Raises:
        UsageError: the command line names another address or mode.
    """
    asked = session.given.everywhere
    asked.profile = asked.profile or intent.scope.profile
    elsewhere = asked.base_url
    asked.base_url = intent.scope.base_url
    session.read_settings_anew()
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
