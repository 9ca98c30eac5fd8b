"""`svc timeline ID`: everything known about an object: requests, states, events, forwards.

`family` reads what the service says; `entries` turns that and what is kept here into steps.
"""

from collections.abc import Collection
from typing import Any, Final

from svc.cli.events.inbox import archive_of, endpoints_of
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.delivering import journal_of
from svc.cli.framework.options import argument
from svc.cli.framework.session import Session
from svc.cli.requests import operation_of, status_of
from svc.cli.timeline import entries
from svc.cli.timeline.family import Family, ids_in, resource_of
from svc.clock import utc
from svc.delivery.journal.entry import Intent
from svc.delivery.journal.refusals import build_unknown_request
from svc.errors import NotFound, SvcError, UsageError
from svc.listen.inbox.history import InboxHistory
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
    story = _Collected(session, archive, list(ids))
    story.add_requests(sent)
    story.add_events()
    if family is not None:
        story.add_family(family)
    if not story.steps and family is not None and identifier in family.absent:
        raise NotFound(f"Neither the service nor this machine knows {identifier}.", param="ID")
    if not story.steps and refusal is not None:
        raise refusal
    reason = None if refusal is None else refusal.message
    told = story.as_data(identifier, family, reason)
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


class _Collected:
    """The steps and the gaps of one timeline, as they are collected."""

    def __init__(self, session: Session, archive: InboxHistory, ids: list[str]) -> None:
        self._session = session
        self._archive = archive
        self._received = archive.about(ids)
        self.steps: list[dict[str, Any]] = []
        self.gaps: list[dict[str, Any]] = []

    def add_requests(self, sent: list[tuple[Intent, str]]) -> None:
        """Adds what the journal has."""
        for intent, status in sent:
            operation = operation_of(intent.stored.path)
            self.steps.append(entries.step_of_request(intent, status, operation))
            self.gaps.extend(entries.gaps_of_request(intent, status, operation))

    def add_events(self) -> None:
        """Adds what the inbox has."""
        for entry in self._received:
            self.steps.extend(entries.steps_of_event(self._archive, entry))
            self.gaps.extend(entries.gaps_of_event(self._archive, entry))

    def add_family(self, family: Family) -> None:
        """Adds what the service says, and what should have come and did not."""
        came = {(entry.type, entry.object_id) for entry in self._received}
        types, now = self._find_types(), self._session.now()
        for data in family.objects.values():
            self.steps.extend(entries.steps_of_object(data))
            self.gaps.extend(entries.gaps_of_object(data, types, lambda *pair: pair in came, now))
        for identifier in family.absent:
            what = "The service does not know it: another account, or a sandbox that was reset"
            self.gaps.append({"what": what, "id": identifier, "next": None})

    def _find_types(self) -> Collection[str]:
        """The types of events that are to come here.

        Where no endpoint is known, as with a team's log, all are where any of this story came.
        """
        return endpoints_of(self._session).types() or (EVENT_TYPES if self._received else ())

    def as_data(self, identifier: str, family: Family | None, reason: str | None) -> dict[str, Any]:
        """The whole story, as `-o json` shows it."""
        objects = [] if family is None else list(family.objects.values())
        return {
            "object": "timeline",
            "id": identifier,
            "service": "told" if reason is None else "not_told",
            "objects": [
                {
                    **{name: each.get(name) for name in ("id", "object", "status")},
                    "amount": entries.main_amount(each),
                    "amount_refunded": each.get("amount_refunded"),
                    "currency": each.get("currency"),
                }
                for each in objects
                if each.get("object") != "event"
            ],
            "steps": sorted(self.steps, key=entries.sort_key),
            "gaps": self.gaps,
            "cut": family is not None and family.is_cut,
        }
