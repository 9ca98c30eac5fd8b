"""Builds the steps of a timeline and its gaps, from objects, requests and events.

A step is something that happened: to an object of the service, a request, a delivery or a forward.
A gap is something that should have happened and is not known to have.

`svc timeline` calls it with what `family`, the journal and the inbox have, and sorts the steps by
time.
"""

from collections import Counter
from collections.abc import Container, Iterator
from typing import Any, Final

from svc import service
from svc.cli.requests import operation_of
from svc.clock import utc
from svc.delivery.journal.entry import Intent
from svc.listen.audit import ON_THE_WAY_SECONDS, derive_events
from svc.listen.commands import PREFIX
from svc.listen.inbox.forgetting import KEEP_SECONDS
from svc.listen.inbox.history import InboxEntry, InboxHistory
from svc.money import format_amount
from svc.service.facts import is_success
from svc.state import Row

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


def sort_key(row: StepRow) -> tuple[str, bool]:
    """Returns the sort key of a step: its time, then other steps before events and forwards."""
    return row["time"] or "", row["source"] in (EVENT, TARGET)


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
    data: StepRow, types: Container[str], came: Container[tuple[str, str]], now: float
) -> Iterator[StepRow]:
    """Yields a gap for each event that an object's state implies and that was not received here.

    An event is only looked for if its type is in `types`, if it should have arrived by `now` (Unix
    seconds), and if it is not older than the inbox's retention. `came` are types and objects of
    those that the inbox has.
    """
    for event in derive_events(data):
        at = event.not_before if event.at is None else event.at
        is_due = now - KEEP_SECONDS <= at <= now - ON_THE_WAY_SECONDS
        if is_due and event.type in types and (event.type, event.object_id) not in came:
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

    def named(row: StepRow) -> str:
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
                "what": f"{'service' if row['source'] == SERVICE else 'here'}: {named(row)}",
            }
            for row in told["steps"]
        ],
        "gaps": [
            {"what": f"{named(row)}. Next: {row['next']}" if row["next"] else named(row)}
            for row in told["gaps"]
        ],
    }


def _amount(data: StepRow, name: str) -> str | None:
    amount, currency = data[name], data["currency"]
    known = isinstance(amount, int) and isinstance(currency, str)
    return format_amount(amount, currency) if known else None
