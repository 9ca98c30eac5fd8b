"""`svc timeline ID`: everything known about an object: requests, states, events, forwards.

A `Family` is what the service says of the object and those linked with it. A step is something that
happened: to an object of the service, a request, a delivery or a forward. A gap is something that
should have happened and is not known to have.
"""

import re
from collections import Counter, deque
from collections.abc import Container, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from svc import service
from svc.cli.events.inbox import archive_of, endpoints_of
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.delivering import journal_of
from svc.cli.framework.options import argument
from svc.cli.framework.session import Session
from svc.cli.requests import operation_of, status_of, text_of
from svc.client import find
from svc.client.client import Client
from svc.client.operations import build_list, retrieval
from svc.client.pages import pages
from svc.clock import utc
from svc.delivery.journal.entry import Intent
from svc.delivery.journal.refusals import build_unknown_request
from svc.errors import NotFound, SvcError, UsageError
from svc.listen.audit import ON_THE_WAY_SECONDS, derive_events
from svc.listen.commands import PREFIX
from svc.listen.inbox.forgetting import KEEP_SECONDS
from svc.listen.inbox.history import InboxEntry, InboxHistory
from svc.money import format_amount
from svc.service.facts import EVENT_TYPES, ID_PREFIXES, is_success
from svc.service.model import Resource
from svc.state import Row

_MOST: Final = 200  # objects of one family that are read
_PREFIXES: Final = "|".join(map(re.escape, ID_PREFIXES.values()))
_ID: Final = re.compile(rf"\b(?:{_PREFIXES})[0-9A-Za-z]+")


def ids_in(text: str) -> list[str]:
    """Finds the ids of the service in a text, such as a path or a body, in their order."""
    return list(dict.fromkeys(_ID.findall(text)))


class Family:
    """Reads one object and those that are linked with it from the service.

    Attributes:
        objects: by id, in the order in which they were found.
        absent: ids that the service does not know.
        is_cut: whether there are more objects than the 200 that are read.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self.objects: dict[str, dict[str, Any]] = {}
        self.absent: list[str] = []
        self.is_cut = False

    def read(self, identifiers: list[str]) -> None:
        """Reads these objects and those that are linked with them, each once.

        Raises:
            SvcError: the service does not answer; the objects read before stay in `objects`.
        """
        waiting = deque(identifiers)
        while waiting:
            identifier = waiting.popleft()
            if identifier in self.objects or identifier in self.absent:
                continue
            if len(self.objects) >= _MOST:
                self.is_cut = True
                return
            waiting.extend(self._list_linked(identifier))

    def _list_linked(self, identifier: str) -> Iterator[str]:
        """Reads one object; yields the ids that it names, and those of objects that name it."""
        noun = find.resource_of(identifier)
        if noun is None:
            return
        try:
            data = self._client.send(retrieval(noun.name, identifier)).data
        except NotFound:
            self.absent.append(identifier)
            return
        self.objects[identifier] = data
        yield from _list_named_ids(noun, data)
        for other in service.nouns():
            for field in other.list_given("list"):
                if field.kind.type == "identifier" and field.kind.of == noun.name:
                    call = build_list(other.name, ((field.name, identifier),))
                    for page in pages(self._client, call, max_items=_MOST):
                        yield from (item.data["id"] for item in page.items)


def _list_named_ids(noun: Resource, data: dict[str, Any]) -> Iterator[str]:
    if noun.name == "event":
        yield str(data["data"]["object"]["id"])
    for field in noun.fields:
        if field.kind.type == "identifier" and field.name != "id" and data.get(field.name):
            yield str(data[field.name])


StepRow = dict[str, Any]
# The source of a step: the service, or one of three tables of this machine.
SERVICE: Final = "service"
REQUEST: Final = "request"
EVENT: Final = "event"
TARGET: Final = "target"


def step(
    time: float | None, source: str, what: str, identifier: str | None, **more: Any
) -> StepRow:
    """Builds one line of a timeline; `time` is in Unix seconds."""
    at = None if time is None else utc(time)
    return {"time": at, "source": source, "what": what, "id": identifier, **more}


# The service's times are in whole seconds; within one, what leads to what.
_CAUSES: Final = ("created", "payment", "order", "refund", "payout", "dispute")


def sort_key(row: StepRow) -> tuple[str, int, int]:
    """Returns the sort key of a step: its time, then its place among the causes of one second.

    A request comes before what the service did, which comes before events and forwards.
    """
    place = (REQUEST, SERVICE, EVENT, TARGET).index(row["source"])
    about, _, fact = str(row["what"]).partition(".")
    noun = about if fact else "created"
    rank = _CAUSES.index(noun) if row["source"] == SERVICE else 0
    return row["time"] or "", min(place, 2), rank


def steps_of_object(data: StepRow) -> Iterator[StepRow]:
    """Yields the steps of an object that its fields date, such as `captured_at`."""
    shown = [each for each in derive_events(data) if each.at is not None]
    if not any(each.at == each.not_before for each in shown) and data.get("created"):
        created = {"time": data["created"], "source": SERVICE, "id": data["id"]}
        yield {**created, "what": f"{data['object']} created"}
    for each in shown:
        yield step(each.at, SERVICE, each.type, each.object_id)


def step_of_request(intent: Intent, status: str) -> StepRow:
    """Builds the step of a POST from the journal: when it was sent, and its outcome."""
    settled = intent.settled
    told = status.replace("_", " ")
    if intent.sendings > 1:
        told += f", sent {intent.sendings} times"
    if settled is not None and settled.error_code:
        told += f", {settled.error_code}"
    found = settled.object_id if settled is not None else None
    what = f"{operation_of(intent.stored.path)}: {told}"
    return step(intent.created_at, REQUEST, what, found or intent.id, request=intent.id)


def steps_of_event(archive: InboxHistory, entry: InboxEntry) -> Iterator[StepRow]:
    """Yields the arrival of an event and each attempt to forward it to a target."""
    about = {"event": entry.id}
    yield step(entry.received_at, EVENT, f"{entry.type} received", entry.object_id, **about)
    for row in archive.forwards(entry):
        word = "replayed" if row["replay"] else "forwarded"
        taken = "" if is_success(row["status"]) else ", not taken"
        address = str(row["url"]).removeprefix("http://")
        what = f"{entry.type} {word} to {address}: {_answer(row)}{taken}"
        yield step(row["started_at"], TARGET, what, entry.object_id, **about)


def _answer(row: Row) -> str:
    if row["status"] is None or (row["error"] and row["url"].startswith(PREFIX)):
        return str(row["error"])
    return "exit code 0" if row["url"].startswith(PREFIX) else str(row["status"])


def gaps_of_request(intent: Intent, status: str) -> Iterator[StepRow]:
    """Yields a gap if the outcome of a request is not known."""
    if status in ("unresolved", "unknown"):
        what = f"The outcome of {operation_of(intent.stored.path)} is not known"
        yield {"what": what, "id": intent.id, "next": f"svc requests resume {intent.id}"}


def gaps_of_event(archive: InboxHistory, entry: InboxEntry) -> Iterator[StepRow]:
    """Yields a gap for each target that has not accepted an event."""
    for target in archive.at_targets(entry.seq):
        if target.is_open or target.state == "failed":
            ended = "failed" if target.state == "failed" else "waits"
            reason = target.error or (str(target.status) if target.status else "")
            address = target.url.removeprefix("http://")
            what = f"{entry.type} {ended} for {address}" + (f": {reason}" if reason else "")
            yield {"what": what, "id": entry.id, "next": f"svc events replay {entry.id}"}


def gaps_of_object(
    data: StepRow,
    types: Container[str],
    came: Container[tuple[str, str]],
    now: float,
    awaited: list[str],
) -> Iterator[StepRow]:
    """Yields a gap for each event that an object's state implies and that was not received here.

    An event is only looked for if its type is in `types`, and if it is not older than the inbox's
    retention. `came` are types and objects of those that the inbox has. What was sent less than a
    minute before `now` (Unix seconds) may be on its way: it is no gap, and is added to `awaited`.
    """
    for event in derive_events(data):
        at = event.not_before if event.at is None else event.at
        if event.type not in types or (event.type, event.object_id) in came:
            continue
        if at > now - ON_THE_WAY_SECONDS:
            awaited.append(event.type)
        elif at >= now - KEEP_SECONDS:
            what, look = f"{event.type} was not received", f"svc get {event.object_id}"
            yield {"what": what, "id": event.object_id, "next": look}


def main_amount(data: StepRow) -> object:
    """The amount that a list shows for an object, such as an order's total."""
    noun = service.noun(str(data.get("object")))
    for field in noun.fields if noun is not None else ():
        if field.kind.type == "amount" and field.column is not None and field.column[1] == 0:
            value = data.get(field.name)
            return data.get(field.fallback) if value is None else value
    return None


def reduce_for_people(told: StepRow) -> StepRow:
    """Reduces a timeline to the columns of human output.

    Ids are named only where the timeline has two objects of one kind.
    """
    kinds = Counter(each["object"] for each in told["objects"])
    several = {each["id"] for each in told["objects"] if kinds[each["object"]] > 1}

    def name_step(row: StepRow) -> str:
        return f"{row['what']} ({row['id']})" if row["id"] in several else str(row["what"])

    return {
        "object": told["object"],
        "id": told["id"],
        "objects": [
            {
                "id": one["id"],
                "status": one["status"],
                "amount": _amount(one, "amount"),
                "amount_refunded": _amount(one, "amount_refunded")
                if one["amount_refunded"]
                else None,
            }
            for one in told["objects"]
        ],
        "steps": [
            {
                "time": row["time"],
                "what": f"{'service' if row['source'] == SERVICE else 'here'}: {name_step(row)}",
            }
            for row in told["steps"]
        ],
        "gaps": [{"what": name_step(row)} for row in told["gaps"]],
    }


def _amount(data: StepRow, name: str) -> str | None:
    amount, currency = data[name], data["currency"]
    known = isinstance(amount, int) and isinstance(currency, str)
    return format_amount(amount, currency) if known else None


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
    steps = [step_of_request(*each) for each in sent]
    steps += chain.from_iterable(steps_of_event(archive, each) for each in received)
    steps += chain.from_iterable(map(steps_of_object, objects))
    if not steps and family is not None and identifier in family.absent:
        raise NotFound(f"Neither the service nor this machine knows {identifier}.", param="ID")
    if not steps and refusal is not None:
        raise refusal
    gaps = [gap for each in sent for gap in gaps_of_request(*each)]
    gaps += chain.from_iterable(gaps_of_event(archive, each) for each in received)
    awaited: list[str] = []
    gaps += [] if family is None else _find_gaps(session, family, received, awaited)
    told = {
        "object": "timeline",
        "id": identifier,
        "service": "told" if refusal is None else "not_told",
        "objects": [_describe(each) for each in objects if each.get("object") != "event"],
        "steps": sorted(steps, key=sort_key),
        "gaps": gaps,
        "awaited": awaited,
        "cut": family is not None and family.is_cut,
    }
    session.out.value(reduce_for_people(told) if session.format == "human" else told)
    _tell_more(session, told, refusal)


def _tell_more(session: Session, told: dict[str, Any], refusal: SvcError | None) -> None:
    """Says beside the story what to do next, what it lacks, and where two clocks wrote its times.

    Each command is in one piece, to be typed; programs find it with its gap.
    """
    if session.format == "human":
        for command in dict.fromkeys(gap["next"] for gap in told["gaps"] if gap["next"]):
            session.out.hint(f"Next: {command}")
    if told["awaited"]:
        names = ", ".join(told["awaited"])
        session.out.note(f"Sent a moment ago, and perhaps on the way: {names}.")
    if refusal is not None:
        session.out.warn(
            f"The service could not be asked, so its part is missing: {refusal.message}"
        )
    if told["cut"]:
        session.out.warn("More objects belong to it than are shown.")
    shown = session.now()
    if abs(shown - session.clock.now()) > _CLOCKS_DIFFER and session.format == "human":
        session.out.note(f"The service's clock shows {utc(shown)}; its times are of that clock.")


def _start(intent: Intent | None, archive: InboxHistory, identifier: str) -> list[str]:
    """The ids of the service that an id is about.

    Raises:
        NotFound: the id is of a request, and this machine has none of it.
        UsageError: the text is no id.
    """
    if intent is not None:
        return _ids_of(intent)
    if identifier.startswith("rq_"):
        raise build_unknown_request(identifier)
    received = archive.find(identifier)
    if received is not None:
        return [received.object_id]
    if find.resource_of(identifier) is None:
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
    return ids_in(f"{made or ''} {intent.stored.path} {text_of(intent)}")


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
    session: Session, family: Family, received: Sequence[InboxEntry], awaited: list[str]
) -> Iterator[StepRow]:
    """Yields what should have come of the service's objects and did not; see `gaps_of_object`."""
    came = {(entry.type, entry.object_id) for entry in received}
    # Where no endpoint is known, as with a team's log, all types are to come if any of this came.
    types, now = endpoints_of(session).types() or (EVENT_TYPES if received else ()), session.now()
    for data in family.objects.values():
        yield from gaps_of_object(data, types, came, now, awaited)
    for identifier in family.absent:
        what = "The service does not know it: another account, or a sandbox that was reset"
        yield {"what": what, "id": identifier, "next": None}


def _describe(each: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: each.get(name) for name in ("id", "object", "status")},
        "amount": main_amount(each),
        "amount_refunded": each.get("amount_refunded"),
        "currency": each.get("currency"),
    }
