"""What a second run does with the rows of the first: the rules of `batch.identity` (R16, R4)."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePath
from typing import Any

import pytest

from support.clocks import ManualClock
from svc.base_url import BaseUrl
from svc.batch.journal import BatchJournal
from svc.batch.operations import named
from svc.batch.plan import BatchPlan, plan
from svc.batch.repeats import TypedLine, refuse_repeats
from svc.batch.rows import Bad, BadRow, BatchRow, Read
from svc.batch.validate import Validator
from svc.batch.workers import RowJob
from svc.client.request import prepare
from svc.client.resources import refunds
from svc.delivery.journal.entry import NOBODY_ELSE, NewIntent, Settled
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.leases import Leases
from svc.delivery.journal.lists import Elsewhere, Import, ImportTable, default_name, key_of
from svc.delivery.journal.stored import Scope
from svc.errors import Conflict
from svc.state import Database

BASE = BaseUrl.parse("https://api.example.com")
SCOPE = Scope("default", "test", str(BASE), "sk_test_…ary1")
LIST = Import("/a/refunds.csv", "refunds.create", SCOPE)
HOUR = 3600


def rows(*amounts: int | str) -> list[BatchRow | Bad]:
    """Refunds of one payment by amount; a text is a row that cannot be read."""
    shaper = Validator(named("refunds.create"), SCOPE)
    return [
        shaper.shape(
            Read(
                number,
                number + 1,
                {"amount": amount, "payment": "pay_1"}
                if isinstance(amount, int)
                else BadRow(amount),
            )
        )
        for number, amount in enumerate(amounts, 1)
    ]


class List:
    """A list's requests in a real state database, and what a file would do to it."""

    def __init__(self, state: Database, leases: Leases, clock: ManualClock) -> None:
        self.clock = clock
        self.leases = leases
        self.intents = Journal(lambda: state, leases, clock)
        self.ledger = ImportTable(state, leases, clock)

    def plan(self, *amounts: int | str, what: Import = LIST) -> BatchPlan:
        known = self.intents.list(batch=what.id)
        return plan(what.id, rows(*amounts), known, now=self.clock.now())

    def record(self, todo: BatchPlan, what: Import = LIST) -> list[RowJob]:
        journal = BatchJournal(
            self.intents,
            import_id=what.id,
            scope=SCOPE,
            base_url=BASE,
            encoding="json",
            api_version=None,
        )
        jobs, lines = journal.record(todo.tasks)
        assert lines == []
        return jobs

    def run(self, ends: dict[int, Settled | None], what: Import = LIST) -> list[str]:
        """Sends a row for each amount and lets it end so; gives the keys that were used."""
        jobs = self.record(self.plan(*ends, what=what), what)
        by_amount = dict(zip(ends, jobs, strict=True))
        settled = [
            (by_amount[amount].intent, _of_its_own(end, amount))
            for amount, end in ends.items()
            if end
        ]
        self.intents.settle_many(settled)
        self.leases.close()  # the process has ended
        return [job.intent.stored.idempotency_key for job in jobs]


def _of_its_own(end: Settled, amount: int) -> Settled:
    """No two rows make the same object."""
    return end._replace(object_id=f"rf_{amount}") if end.object_id else end


DONE = Settled("done", 200, "rf_1")
REFUSED = Settled("refused", 400, None, None, "amount_too_large")
LIMITED = Settled("not_sent", 429, None, None, "rate_limit")
UNKNOWN = Settled("unknown")


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[List]:
    clock = ManualClock()
    with (
        Database.open(tmp_path / "state" / "state.db", clock=clock) as state,
        closing(Leases(tmp_path / "state" / "senders")) as leases,
    ):
        yield List(state, leases, clock)


def sent(todo: BatchPlan) -> list[tuple[int, str]]:
    """Amount and key of every row that is to be sent."""
    return [(task.row.amount or 0, task.key) for task in todo.tasks]


def numbers(found: Any) -> list[int]:
    return [one.row.number for one in found]


def test_a_key_is_made_of_list_content_and_ordinal_alone(journal: List) -> None:
    """R16: the same file gives the same keys on any machine; every part of it counts."""
    first, again = journal.plan(100, 200, 100), journal.plan(100, 200, 100)
    assert sent(first) == sent(again)
    keys = [key for _, key in sent(first)]
    assert len(set(keys)) == 3
    assert all(len(key) == 36 and key[14] == "8" for key in keys)
    other = Import("/a/refunds.csv", "refunds.create", SCOPE._replace(mode="live"))
    assert not {key for _, key in sent(journal.plan(100, 200, what=other))} & set(keys)


def test_a_list_is_known_by_its_file_or_its_name() -> None:
    """Not by its contents, which change between two runs; what is piped in has no other name."""
    assert default_name("/a/../b/x.csv", b"1") == default_name("/b/x.csv", b"2")
    assert default_name("-", b"1") != default_name("-", b"2")
    assert default_name("-", b"1") == default_name("-", b"1")
    ids = {
        Import(name, operation, scope).id
        for name in ("a", "b")
        for operation in ("refunds.create", "payouts.create")
        for scope in (SCOPE, SCOPE._replace(profile="shop"), SCOPE._replace(base_url="x"))
    }
    assert len(ids) == 12
    assert Import("a", "refunds.create", SCOPE._replace(key_hint="new")).id in ids
    assert all(one.startswith("imp_") and len(one) == 24 for one in ids)
    assert key_of("imp_1", "x", 0) != key_of("imp_1", "x", 1)


def test_done_rows_are_skipped_wherever_they_stand(journal: List) -> None:
    """Rows added, inserted, taken out or in another order: nothing is done twice."""
    journal.run({100: DONE, 200: DONE, 300: DONE})
    todo = journal.plan(50, 300, 100, 400)
    assert [amount for amount, _ in sent(todo)] == [50, 400]
    assert numbers(todo.done) == [2, 3]


def test_a_corrected_row_is_a_new_request(journal: List) -> None:
    """R12: a row that was refused or unreadable is closed; its correction has a key of its own."""
    (done, refused) = journal.run({100: DONE, 200: REFUSED})
    todo = journal.plan(100, 201, 300)
    assert numbers(todo.done) == [1]
    assert [amount for amount, _ in sent(todo)] == [201, 300]
    assert not {key for _, key in sent(todo)} & {done, refused}


def test_a_refused_row_that_is_run_again_unchanged_gets_a_new_key(journal: List) -> None:
    """R12: the service may keep a refusal under its key; the cause may have gone by now."""
    (refused,) = journal.run({100: REFUSED})
    (again,) = journal.run({100: REFUSED})
    ((_, third),) = sent(journal.plan(100))
    assert len({refused, again, third}) == 3


@pytest.mark.parametrize("end", [None, UNKNOWN, LIMITED, Settled("not_sent", 401)])
def test_a_row_whose_end_is_open_keeps_its_key(journal: List, end: Settled | None) -> None:
    """R11, R16: unknown, interrupted, turned away and unsent rows go under their own key."""
    (key,) = journal.run({100: end})
    assert sent(journal.plan(100)) == [(100, key)]
    assert journal.run({100: DONE}) == [key]
    assert numbers(journal.plan(100).done) == [1]


def test_a_key_that_the_service_knows_otherwise_is_never_exchanged(journal: List) -> None:
    """A second key for the same row could do it twice."""
    (key,) = journal.run({100: Settled("refused", 400, None, None, "idempotency_key_reused")})
    assert sent(journal.plan(100)) == [(100, key)]


def test_equal_rows_are_as_many_requests(journal: List) -> None:
    """Two equal rows are two refunds; a third one added later is one more."""
    jobs = journal.record(journal.plan(100, 100))
    assert len({job.intent.stored.idempotency_key for job in jobs}) == 2
    ends = [(job.intent, _of_its_own(DONE, job.row)) for job in jobs]
    journal.intents.settle_many(ends)
    todo = journal.plan(100, 100, 100)
    assert (len(todo.done), len(todo.tasks)) == (2, 1)


def test_of_equal_rows_the_one_that_was_done_counts_first(journal: List) -> None:
    """One of two was refused and is taken out of the file: the other one is done, not sent."""
    first, second = journal.record(journal.plan(100, 100))
    journal.intents.settle_many([(first.intent, REFUSED), (second.intent, DONE)])
    todo = journal.plan(100)
    assert (len(todo.done), len(todo.tasks)) == (1, 0)


def test_an_unknown_row_that_left_the_file_stops_everything(journal: List) -> None:
    """A corrected row next to one that may have been carried out would be both."""
    journal.run({100: DONE, 200: UNKNOWN})
    with pytest.raises(Conflict) as caught:
        journal.plan(100, 201)
    error = caught.value
    assert (error.exit_code, error.code, error.outcome) == (6, "rows_unresolved", "not_sent")
    assert "svc requests resume rq_" in (error.hint or "")
    journal.intents.forget(error.request or "")
    assert [amount for amount, _ in sent(journal.plan(100, 201))] == [201]


def test_what_is_too_old_to_be_sent_is_not_asked_to_be(journal: List) -> None:
    """R4: neither the old file nor `resume` would settle it; one that they would is shown first."""
    journal.run({100: UNKNOWN})
    journal.clock.advance(23 * HOUR)
    with pytest.raises(Conflict) as caught:
        journal.plan(101)
    hint = caught.value.hint or ""
    assert "Run the file" not in hint
    assert "resume" not in hint
    assert f"svc requests forget {caught.value.request}" in hint
    assert "svc payments retrieve pay_1" in hint

    (later,) = journal.record(journal.plan(100, 200))
    journal.leases.close()  # the process has ended
    with pytest.raises(Conflict) as caught:
        journal.plan(101)
    assert caught.value.request == later.intent.id
    assert f"svc requests resume {caught.value.request}" in (caught.value.hint or "")


def test_a_forgotten_row_has_its_old_key(journal: List) -> None:
    """Within 24 hours the service itself then keeps it from being done twice."""
    (key,) = journal.run({100: UNKNOWN})
    journal.intents.forget(journal.intents.list()[0].id)
    assert sent(journal.plan(100)) == [(100, key)]


@pytest.mark.parametrize("hours", [23, -1])
def test_an_unknown_row_is_not_sent_after_23_hours(journal: List, hours: int) -> None:
    """R4: nor with a clock that runs behind; it is reported with where to look."""
    journal.run({100: UNKNOWN, 200: DONE})
    journal.clock.advance(hours * HOUR)
    todo = journal.plan(100, 200, 300)
    assert numbers(todo.stale) == [1]
    assert [amount for amount, _ in sent(todo)] == [300]
    assert "svc payments retrieve pay_1" in (todo.stale[0].error.hint or "")


def test_rows_that_were_never_carried_out_may_be_old(journal: List) -> None:
    """R4 is about rows that may have been: this one starts its 24 hours anew."""
    journal.run({100: Settled("not_sent")})
    journal.clock.advance(100 * HOUR)
    assert len(journal.plan(100).tasks) == 1


def test_bad_rows_are_neither_sent_nor_in_the_way(journal: List) -> None:
    """The others go on."""
    todo = journal.plan(100, "no JSON", 200)
    assert [bad.number for bad in todo.bad] == [2]
    assert (len(todo.tasks), todo.rows) == (2, 3)


# --- other lists --------------------------------------------------------------------------------

COPY = Import("/a/refunds-copy.csv", "refunds.create", SCOPE)
TYPED = TypedLine(
    ("batch", "refunds.create", "a copy.csv", "--live"), 1_700_000_000.0, PurePath("out")
)


def check_repeats(journal: List, *amounts: int, again: bool = False) -> None:
    todo = journal.plan(*amounts, what=COPY)
    found = journal.ledger.elsewhere(COPY, [row.identity for row in todo.fresh])
    refuse_repeats(found, COPY, todo, account=NOBODY_ELSE, doubles=True, again=again, line=TYPED)


def test_a_copy_of_a_list_is_not_run_a_second_time_unasked(journal: List) -> None:
    """Equal rows in another file stop the batch, with both ways on."""
    journal.ledger.begin(LIST)
    journal.run({100: DONE, 200: DONE, 300: REFUSED})
    with pytest.raises(Conflict) as caught:
        check_repeats(journal, 100, 200, 301)
    error = caught.value
    assert (error.exit_code, error.code) == (6, "rows_repeated")
    assert "2 of 3 rows" in error.message
    line = "svc batch refunds.create 'a copy.csv' --live"
    assert f": {line} --import /a/refunds.csv; " in (error.hint or "")
    assert str(error.hint).endswith(f": {line} --again")
    for fresh, words in (
        ((100, 301), "1 of 2 rows that are new in /a/refunds-copy.csv was"),
        ((100,), "The one row that is new in /a/refunds-copy.csv was"),
    ):
        with pytest.raises(Conflict, match=words):
            check_repeats(journal, *fresh)
    check_repeats(journal, 100, 200, 301, again=True)
    check_repeats(journal, 300, 301)


def test_no_list_sends_to_another_that_sends_back(journal: List) -> None:
    """Where both have done rows of the file, neither name skips them all: the rows are named."""
    line = "svc batch refunds.create 'a copy.csv' --live"
    journal.ledger.begin(LIST)
    journal.run({100: DONE, 200: DONE, 300: DONE})
    journal.ledger.begin(COPY)
    journal.run({400: DONE}, what=COPY)
    with pytest.raises(Conflict, match="3 of 4 rows that are new") as caught:
        check_repeats(journal, 400, 100, 200, 401, 300)
    assert caught.value.hint == (
        f"Take the lines 3-4, 6 out of the file; if all are meant once more: {line} --again"
    )
    third = Import("/a/third.csv", "refunds.create", SCOPE)
    journal.ledger.begin(third)
    journal.run({500: DONE}, what=third)
    with pytest.raises(Conflict) as caught:
        check_repeats(journal, 300, 500, 501)
    assert "Take the lines 2-3 out of the file" in (caught.value.hint or "")
    journal.run({600: UNKNOWN}, what=COPY)
    with pytest.raises(Conflict) as caught:
        check_repeats(journal, 600, 100)
    assert "Take the line 3 out of the file" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("/a/refunds.csv", "refunds-2023-11-14"),
        ("refunds-2023-10-14", "refunds-2023-11-14"),
        ("refunds-2023-11-14", "refunds-2023-11-14-2"),
        ("refunds-2023-11-14-2", "refunds-2023-11-14-3"),
        ("2023-11", "2023-11-2023-11-14"),
    ],
)
def test_another_list_has_a_name_that_this_one_has_not(name: str, other: str) -> None:
    """What is suggested can be typed as it stands, day after day."""
    what = Import(name, "refunds.create", SCOPE)
    results = f"--results out/{other}.results.ndjson"
    assert TYPED.anew(what).endswith(f" --live --import {other} {results}")
    behind = TYPED._replace(words=("batch", "refunds.create", "--", "-odd.csv"))
    assert behind.but("--again") == "svc batch refunds.create --again -- -odd.csv"


def test_rows_of_the_list_itself_are_no_repetition(journal: List) -> None:
    """What this list has sent before is not looked for elsewhere."""
    journal.ledger.begin(LIST)
    journal.run({100: DONE})
    check_repeats(journal, 100, again=True)
    journal.run({100: DONE}, what=COPY)
    check_repeats(journal, 100)


def test_an_unresolved_equal_request_elsewhere_always_stops(journal: List) -> None:
    """R5: not even --again gives a second key to what may have been carried out."""
    journal.run({100: UNKNOWN})
    with pytest.raises(Conflict, match="whose outcome is not known") as caught:
        check_repeats(journal, 100, again=True)
    assert caught.value.code == "request_unresolved"


def test_an_unresolved_single_command_stops_an_equal_row(journal: List) -> None:
    """R5: `svc refunds create` was interrupted; the file says the same."""
    call = refunds.create({"amount": 100, "payment": "pay_1"})
    prepared = prepare(call, BASE, new_key=lambda: "key-1")
    journal.intents.record(NewIntent(call, prepared, SCOPE))
    with pytest.raises(Conflict, match="request of a single command"):
        check_repeats(journal, 100)


def test_advice_for_a_live_list_says_live(journal: List) -> None:
    """`svc requests resume` takes place and profile from the record; the mode is said again."""
    live = SCOPE._replace(mode="live")
    single = Elsewhere("same", None, False, "rq_1", None, SCOPE.key_hint, "default")
    what = Import("/a/refunds.csv", "refunds.create", live)
    with pytest.raises(Conflict) as caught:
        refuse_repeats(
            [single], what, BatchPlan(), account=NOBODY_ELSE, doubles=True, again=False, line=TYPED
        )
    assert "svc requests resume rq_1 --live" in (caught.value.hint or "")
    journal.run({100: UNKNOWN})
    (intent,) = journal.intents.list()
    with pytest.raises(Conflict) as caught:
        plan(what.id, [], [intent._replace(scope=live)], now=journal.clock.now())
    assert f"svc requests resume {intent.id} --live;" in (caught.value.hint or "")


def test_one_process_at_a_time_runs_a_list(journal: List, tmp_path: Path) -> None:
    """R69: two runs would send the same keys at once; a dead one is in nobody's way."""
    path = tmp_path / "state" / "state.db"
    with (
        Database.open(path, clock=journal.clock) as state,
        closing(Leases(tmp_path / "state" / "senders")) as leases,
    ):
        other = ImportTable(state, leases, journal.clock)
        journal.ledger.begin(LIST)
        with pytest.raises(Conflict, match="Another process is running this list") as caught:
            other.begin(LIST)
        assert caught.value.exit_code == 6
        other.begin(COPY)
        journal.leases.close()
        other.begin(LIST)
        other.end(LIST)
        journal.ledger.begin(LIST)
