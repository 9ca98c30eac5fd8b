"""Collects the facts by which a batch is planned, from the journal, results file and service.

`run` calls `collect_facts` before it makes the plan: options and rows in, `BatchFacts` out. They
hold the evidence of each request (what journal, results file and service know of it), and the
duplicates: other requests for the same effect, such as the same refund by a single command.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Final, NamedTuple

from svc.batch.operations import BatchOperation
from svc.batch.past_results import PastResults
from svc.batch.results import Results
from svc.cli.batch.options import BatchOptions
from svc.cli.batch.rows import BatchInput
from svc.cli.framework.control import idempotency_ages_here, sandbox_state
from svc.cli.framework.delivering import accounts_of, read_service_date
from svc.cli.framework.session import Session
from svc.client import find
from svc.client.call import Call
from svc.client.client import Client
from svc.client.operations import failure_of, has_failed
from svc.client.retry import KEY_SAFE_SECONDS
from svc.clock import utc
from svc.delivery.account import is_owner
from svc.delivery.evidence import EFFECTIVE, Evidence, Known
from svc.delivery.gathering import EvidenceList, Gathering
from svc.delivery.journal.batches import BatchName, BatchTable, Duplicate
from svc.delivery.journal.entry import NO_OTHER_KEYS, OBJECT_FAILED, KeyEquivalence
from svc.delivery.journal.journal import Journal
from svc.delivery.likeness import fields_of
from svc.delivery.plan import CLOCKS_DIFFER_SECONDS, BatchFacts, BatchRow, BatchTimes
from svc.delivery.policy import KeyRelation
from svc.errors import Conflict, UsageError
from svc.system.spool import DigestIndex, Digests

_RELATIONS: Final = {True: KeyRelation.SAME, False: KeyRelation.OTHER, None: KeyRelation.NOT_KNOWN}


class BatchTables(NamedTuple):
    """The tables of the state database that a batch uses: the journal of POSTs, and the batches."""

    journal: Journal
    batches: BatchTable


def collect_facts(
    session: Session,
    options: BatchOptions,
    batch_input: BatchInput,
    tables: BatchTables,
    results: Results | None,
    *,
    is_check: bool,
) -> BatchFacts:
    """Collects the facts by which each row is decided.

    With `is_check` (`--dry-run`) no request goes to the API; a sandbox's clock is still read.

    Raises:
        Conflict: the results file is damaged or of an older version, and a row depends on it.
    """
    batch, action = batch_input.batch, batch_input.operation.action
    past = PastResults() if results is None else results.read_past()
    is_known = len(past.lines) > 0 or bool(tables.journal.list(batch=batch.id, limit=1))
    state = sandbox_state(session) if is_known or not is_check else None
    served, world = state or (None, None)
    forgotten = tables.journal.list_forgotten_keys() if past.lines else ()
    is_named = options.row_id is not None
    gathering = Gathering(past.lines, is_named=is_named, world=world, forgotten=forgotten)
    tables.journal.read_batch(batch.id, gathering.add)
    evidence = gathering.finish()
    _refuse_unread(past, gathering, results, session.clock.now())
    evidence, served = _date_by_sandbox(session, evidence, served)
    duplicates = _find_duplicates(batch_input, tables, past, gathering.by_hand)
    moved = _find_moved(batch_input, tables)
    updates = _find_updates(batch_input, tables) if evidence else {}
    others = [*duplicates, *moved, *chain.from_iterable(updates.values())]
    facts = BatchFacts(
        batch,
        evidence,
        duplicates,
        _account_of_check(session, evidence, others) if is_check else NO_OTHER_KEYS,
        "" if is_check else session.key.fingerprint,
        BatchTimes(session.clock.now(), served, None, _find_begun_at(batch, tables, past)),
        options.permissions,
        action.twice,
        world=world,
        moved=moved,
        encoding=action.encoding,
        updates=updates,
    )
    return facts if is_check else _with_service(session, tables, facts, batch_input.operation)


def _find_duplicates(
    batch_input: BatchInput, tables: BatchTables, past: PastResults, by_hand: Sequence[Evidence]
) -> list[Duplicate]:
    """Finds what is like a row outside the batch: in the journal, or told by a results file."""
    batch = batch_input.batch
    found = tables.batches.duplicates(batch, _list_digests(batch_input))
    found += _list_told(batch, None, by_hand, found)
    if past.other is not None:
        known = DigestIndex()
        for row in _list_valid(batch_input):
            known.add(row.alike, row.number)
        other = replace(batch, name=past.other, label="")
        found += _list_told(batch, other, (one for one in past.others if one.alike in known), found)
    return found


def _list_valid(batch_input: BatchInput) -> Iterator[BatchRow]:
    return (row for row in batch_input.rows if isinstance(row, BatchRow))


def _list_digests(batch_input: BatchInput) -> Iterator[str]:
    """Yields what rows are like, once for equal rows; sorted, which is fastest to look for."""
    yield from Digests(row.alike for row in _list_valid(batch_input))


def _find_moved(batch_input: BatchInput, tables: BatchTables) -> list[Duplicate]:
    """Finds what other batches have moved with the effect of a row, where that does harm."""
    if not batch_input.operation.action.twice:
        return []
    moves = ((row.subject, row.amount) for row in _list_valid(batch_input))
    return tables.batches.find_moved(batch_input.batch, moves)


def _find_updates(batch_input: BatchInput, tables: BatchTables) -> dict[str, list[Duplicate]]:
    """Finds what may have given the objects of a batch of updates other values."""
    if not batch_input.operation.name.endswith(".update"):
        return {}
    rows = ((row.path, row.alike) for row in _list_valid(batch_input))
    return tables.batches.find_updates(batch_input.batch, rows)


def _find_begun_at(batch: BatchName, tables: BatchTables, past: PastResults) -> float | None:
    """When a batch with this label was begun, on this machine or according to its results file."""
    told = tables.batches.find_begun_at(batch), past.begun
    return min((at for at in told if at is not None), default=None)


def _list_told(
    batch: BatchName,
    other: BatchName | None,
    lines: Iterable[Evidence],
    known: Sequence[Duplicate],
) -> list[Duplicate]:
    """Duplicates that a results file reports: rows of another batch, or done by single commands."""
    keys = {one.key for one in known}
    return [
        Duplicate(
            line.alike,
            other,
            line.known is not Known.UNKNOWN,
            line.request or line.key,
            line.at,
            line.key_fingerprint,
            batch.scope.profile,
            line.object_id,
            line.world,
            key=line.key,
        )
        for line in lines
        if line.key not in keys and line.known is not Known.FAILED
    ]


def _date_by_sandbox(
    session: Session, evidence: EvidenceList, served: float | None
) -> tuple[EvidenceList, float | None]:
    """Adds when a sandbox first saw unknown requests that are without a time by its clock (R4)."""
    if all(one.server_time is not None for one in evidence.select((Known.UNKNOWN,))):
        return evidence, served
    ages = idempotency_ages_here(session)
    if ages is None:
        return evidence, served

    def date(one: Evidence) -> Evidence:
        if one.server_time is not None:
            return one
        # What the sandbox does not remember was sent before all that it does.
        return one._replace(
            server_time=ages.first_seen.get(one.key, one.at if one.intent else None)
        )

    return EvidenceList(map(date, evidence)), ages.now


def merge_duplicates(facts: BatchFacts, found: Sequence[Duplicate]) -> Sequence[Duplicate]:
    """Merges a later search for duplicates into the facts.

    A likeness, the digest that duplicates share, keeps its earlier duplicates if the later search
    found none.
    """
    seen = {one.likeness for one in found}
    return [*found, *(one for one in facts.duplicates if one.likeness not in seen)]


def _refuse_unread(
    past: PastResults, gathering: Gathering, results: Results | None, now: float
) -> None:
    """Stops the batch if a row depends on lines that cannot be used (promise R116)."""
    path = results.path if results is not None else "the results file"
    if past.is_old and gathering.unrecorded:
        raise Conflict(
            f"{path} holds rows that this machine has no record of, in an older form that does not "
            "say when they were sent. Nothing was sent.",
            code="results_old",
            outcome="not_sent",
            param="--results",
            hint="Take the rows that are done out of the file, and name another file with "
            "--results",
        )
    if past.newest > now + CLOCKS_DIFFER_SECONDS and gathering.unrecorded:
        raise Conflict(
            f"{path} holds rows that this machine has no record of, and says that they were sent "
            f"after now ({utc(past.newest)}), which tells nothing of their age. Nothing was sent.",
            code="results_future",
            outcome="not_sent",
            param="--results",
            hint="See to the clock of this machine; if it is right, take the rows that are done "
            "out of the file, and name another file with --results",
        )
    # Within these hours the row that was cut off is sent again with its own key.
    is_lost = past.is_torn and now - past.newest >= KEY_SAFE_SECONDS
    damaged = past.damaged + is_lost
    if damaged > gathering.untold:
        raise Conflict(
            f"{path} has {damaged} damaged lines, which may be of rows that are done. Nothing "
            "was sent.",
            code="results_damaged",
            outcome="not_sent",
            param="--results",
            hint="Put the lines back as they were; of a row that was not done, take its line out",
        )


def _account_of_check(
    session: Session, evidence: EvidenceList, duplicates: Sequence[Duplicate]
) -> KeyEquivalence:
    """The key equivalence of a check, which reads no API key.

    Keys of the batch's own rows count as the account's, keys of other profiles as another one's.
    """
    mine = frozenset(filter(None, (one.key_fingerprint for one in evidence.list_sources())))
    profile = session.scope().profile
    other = frozenset(one.key_fingerprint for one in duplicates if one.profile != profile)
    return KeyEquivalence(mine, other - mine)


def _with_service(
    session: Session, tables: BatchTables, facts: BatchFacts, operation: BatchOperation
) -> BatchFacts:
    """Adds the facts that need the service: whose API keys were used, and the service's time."""
    if facts.permissions.may_retry_failed:
        facts = facts._replace(evidence=_with_present_status(session, tables, facts, operation))
    evidence = facts.evidence
    hints = {one.key_fingerprint for one in evidence.list_sources(EFFECTIVE)} - {""}
    others = chain(facts.duplicates, facts.moved, *facts.updates.values())
    hints |= {one.key_fingerprint for one in others}
    hints -= {facts.own_key}
    unknown = evidence.select((Known.UNKNOWN,), is_recorded=True)
    # Of those the age of the key is known by the service's clock (R4).
    dated = any(one.intent and one.intent.dated_at is not None for one in unknown)
    settled = [known for known in Known if known is not Known.UNKNOWN]
    told = evidence.select(settled, is_recorded=False)
    ids = (str(one.object_id) for one in told if one.object_id)
    unseen = [*islice(ids, 1)]
    if not (hints or dated or unseen):
        return facts
    with session.client() as client:
        account = accounts_of(session, client, tables.journal).compare(hints)
        relation = _RELATIONS[is_owner(client, filter(_is_readable, chain(unseen, ids)))]
        now = read_service_date(client) if dated else None
    return facts._replace(account=account, unseen=relation, times=facts.times._replace(dated=now))


def _with_present_status(
    session: Session, tables: BatchTables, facts: BatchFacts, operation: BatchOperation
) -> EvidenceList:
    """Reads the present status of done and failed rows: both may change days later (R117).

    What has changed is written to the journal, so that no other row counts a failed request as its
    effect, and no run sends again what has succeeded since.
    """
    found = EvidenceList()
    with session.client() as client:
        for one in facts.evidence:
            known, status = _read_present(client, one, operation)
            intent, is_new = one.intent, known is not one.known
            if is_new and intent is not None and intent.settled is not None:
                code = OBJECT_FAILED if known is Known.FAILED else None
                settled = intent.settled._replace(error_code=code, object_status=status)
                tables.journal.settle(intent, settled)
                intent = intent._replace(settled=settled)
            if is_new and known is Known.DONE and session.format == "human":
                session.out.note(f"{one.object_id} had failed, and is {status} since: it is done")
            found.append(one._replace(known=known, intent=intent))
    return found


def _read_present(
    client: Client, one: Evidence, operation: BatchOperation
) -> tuple[Known, str | None]:
    """The outcome of a request by what its object is now, and the status of that."""
    call = _find_call(one, operation) if one.known is Known.FAILED else None
    is_open = one.known is Known.DONE or call is not None
    if not is_open or one.object_id is None or not _is_readable(one.object_id):
        return one.known, None
    data = client.send(find.retrieve(one.object_id)).data
    status = data.get("status")
    is_failed = has_failed(data) if call is None else failure_of(call, data) is not None
    return Known.FAILED if is_failed else Known.DONE, status if isinstance(status, str) else None


def _find_call(one: Evidence, operation: BatchOperation) -> Call | None:
    """The call of a request; None where a results file alone has one that changes an object."""
    if one.intent is not None:
        kept = one.intent.stored
        return find.post(kept.path, fields_of(kept.encoding, kept.body), encoding=kept.encoding)
    return None if operation.id_prefix else operation.call("", {})


def _is_readable(identifier: str) -> bool:
    try:
        return not find.retrieve(identifier).assumed
    except UsageError:
        return False
