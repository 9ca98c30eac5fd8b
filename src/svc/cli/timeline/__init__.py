"""`svc timeline ID`: everything known about an object: requests, states, events, forwards.

`family` reads what the service says; `entries` turns that and what is kept here into steps.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

from svc.cli.events.inbox import archive_of, endpoints_of
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.delivering import journal_of
from svc.cli.framework.options import argument
from svc.cli.framework.session import Session
from svc.cli.requests import status_of
from svc.cli.timeline import entries
from svc.cli.timeline.family import Family, ids_in, resource_of
from svc.clock import utc
from svc.delivery.journal.entry import Intent
from svc.delivery.journal.refusals import build_unknown_request
from svc.errors import NotFound, SvcError, UsageError
from svc.listen.inbox.history import InboxEntry, InboxHistory
from svc.service.facts import EVENT_TYPES

app = make_app()

_CLOCKS_DIFFER: Final = 60.0  # seconds


@verb(app)
def timeline(
    session: Session,
    identifier: str = argument("ID", "Any id of the service, an event's, or a request's: rq_..."),
) -> None:
    """Tell all that is known about an object and what belongs to it, in the order of time.

    That is what the service says of the order, its payments, refunds and disputes; what this
    machine has sent, received and handed on; and what is missing: outcomes that are not known,
    events that never came, targets that have not taken one. Without the service it tells what is
    kept here.

    $ svc timeline ord_3kPq0aVb7cXd9eYf1gZh2iWj
    $ svc timeline pay_7cXd9eYf1gZh2iWj3kPq0aVb -o json
    """
    archive = archive_of(session, session.state())
    with journal_of(session) as journal:
        start = _start(journal.find(identifier), archive, identifier)
        family, refusal = _ask_service(session, start)
        ids = dict.fromkeys((*start, *(family.objects if family else ())))
        for each in journal.about(list(ids)):  # what they name belongs to it, also offline
            ids.update(dict.fromkeys(_ids_of(each)))
        found = journal.about(list(ids))
        sent = [(each, status_of(each, in_flight=journal.is_in_flight(each))) for each in found]
    received = archive.about(list(ids))
    objects = [] if family is None else list(family.objects.values())
    steps = [entries.step_of_request(*each) for each in sent]
    steps += chain.from_iterable(entries.steps_of_event(archive, each) for each in received)
    steps += chain.from_iterable(map(entries.steps_of_object, objects))
    if not steps and family is not None and identifier in family.absent:
        raise NotFound(f"Neither the service nor this machine knows {identifier}.", param="ID")
    if not steps and refusal is not None:
        raise refusal
    gaps = [gap for each in sent for gap in entries.gaps_of_request(*each)]
    gaps += chain.from_iterable(entries.gaps_of_event(archive, each) for each in received)
    gaps += [] if family is None else _find_gaps(session, family, received)
    reason = None if refusal is None else refusal.message
    told = {
        "object": "timeline",
        "id": identifier,
        "service": "told" if reason is None else "not_told",
        "objects": [_describe(each) for each in objects if each.get("object") != "event"],
        "steps": sorted(steps, key=entries.sort_key),
        "gaps": gaps,
        "cut": family is not None and family.is_cut,
    }
    session.out.value(entries.reduce_for_people(told) if session.format == "human" else told)
    _tell_limits(session, told, reason)


def _tell_limits(session: Session, told: dict[str, Any], reason: str | None) -> None:
    """Says beside the story what it lacks, and where two clocks wrote its times."""
    if reason is not None:
        session.out.warn(f"The service could not be asked, so its part is missing: {reason}")
    if told["cut"]:
        session.out.warn("More objects belong to it than are shown.")
    shown = session.now()
    if abs(shown - session.clock.now()) > _CLOCKS_DIFFER and session.format == "human":
        session.out.note(f"The service's clock shows {utc(shown)}; its times are of that clock.")


def _start(intent: Intent | None, archive: InboxHistory, identifier: str) -> list[str]:
    """The ids of the service that an id is about.

    Raises:
        NotFound: it is a request's, and this machine has none of that id.
        UsageError: it is no id.
    """
    if intent is not None:
        return _ids_of(intent)
    if identifier.startswith("rq_"):
        raise build_unknown_request(identifier)
    received = archive.find(identifier)
    if received is not None:
        return [received.object_id]
    if resource_of(identifier) is None:
        raise UsageError(
            f"{identifier!r} is not an id that svc knows.",
            code="id_invalid",
            param="ID",
            hint="Give an id such as ord_..., pay_..., rf_..., evt_... or rq_...",
        )
    return [identifier]


def _ids_of(intent: Intent) -> list[str]:
    """The ids of what a request has made or changed, and of what it names."""
    made = intent.settled.object_id if intent.settled is not None else None
    body = intent.stored.body.decode("utf-8", "replace")
    return ids_in(f"{made or ''} {intent.stored.path} {body}")


def _ask_service(session: Session, start: list[str]) -> tuple[Family | None, SvcError | None]:
    """Asks what the service says; returns None, or a part of it, where that fails, and why."""
    family = None
    try:
        with session.client() as client:
            family = Family(client)
            family.read(start)
    except SvcError as error:
        return family, error
    return family, None


def _find_gaps(
    session: Session, family: Family, received: Sequence[InboxEntry]
) -> Iterator[entries.StepRow]:
    """Yields what should have come of the service's objects and did not."""
    came = {(entry.type, entry.object_id) for entry in received}
    # Where no endpoint is known, as with a team's log, all types are to come if any of this came.
    types, now = endpoints_of(session).types() or (EVENT_TYPES if received else ()), session.now()
    for data in family.objects.values():
        yield from entries.gaps_of_object(data, types, came, now)
    for identifier in family.absent:
        what = "The service does not know it: another account, or a sandbox that was reset"
        yield {"what": what, "id": identifier, "next": None}


def _describe(each: dict[str, Any]) -> dict[str, Any]:
    """An object of the service, as the story begins with it."""
    return {
        **{name: each.get(name) for name in ("id", "object", "status")},
        "amount": entries.main_amount(each),
        "amount_refunded": each.get("amount_refunded"),
        "currency": each.get("currency"),
    }
