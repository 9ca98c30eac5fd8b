"""Drawn histories of listeners break no rule; each mend that is taken out is noticed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest

from simulation.listener import judged
from svc.listen.forward import pump
from svc.listen.forward.dispatcher import Dispatcher
from svc.listen.forward.health import TargetHealth
from svc.listen.forward.pump import Pump
from svc.listen.inbox import commit, ledger, runs, sqlite
from svc.listen.inbox.commit import InboxWriter
from svc.listen.inbox.ledger import ForwardLedger
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.listener import Pipeline


def test_histories_break_no_rule() -> None:
    """R50, R124: whatever happens, nothing is lost, out of turn, or doubled without saying so."""
    assert judged(0, 50) == []


@pytest.mark.parametrize("seed", [34267, 49157, 168477, 170341, 179786, 9035004])
def test_rare_histories_break_no_rule(seed: int) -> None:
    """A request arrives where its target has crashed and its listener was killed; two close at once.

    In the last one another program closes events while the listener counts what is pending.
    """
    assert judged(seed, seed + 1) == []


@pytest.mark.slow(seconds=7)
def test_many_histories_break_no_rule() -> None:
    """R50: 350 more of them."""
    assert judged(50, 400) == []


@contextmanager
def each_lane_puts_back_its_own() -> Iterator[None]:
    """The cursor goes to what answered last, and not to the oldest of what was put back."""
    away = Pump._handle_away

    def putting(self: Any, item: Any, *how: Any) -> None:
        away(self, item, *how)
        self._cursor = item.seq - 1

    with patch.object(Pump, "_handle_away", putting):
        yield


@contextmanager
def pages_cross_what_was_forgotten() -> Iterator[None]:
    forget, away = Pump._forget, Pump._handle_away

    def forgetting(self: Any, *back: Any) -> None:
        turn = self._turn
        forget(self, *back)
        self._turn = turn

    def put_back(self: Any, *what: Any) -> None:
        turn = self._turn
        away(self, *what)
        self._turn = turn

    with patch.object(Pump, "_forget", forgetting), patch.object(Pump, "_handle_away", put_back):
        yield


@contextmanager
def pages_cross_what_came_back_from_a_lane() -> Iterator[None]:
    away = Pump._handle_away

    def quietly(self: Any, *what: Any) -> None:
        away(self, *what)
        self._turn -= 1

    with patch.object(Pump, "_handle_away", quietly):
        yield


@contextmanager
def offers_are_accepted_during_a_read() -> Iterator[None]:
    offer = Pump.offer

    def accepting(self: Any, item: Any) -> None:
        behind, self._behind = self._behind, 0
        offer(self, item)
        self._behind += behind

    with patch.object(Pump, "offer", accepting):
        yield


@contextmanager
def late_pages_are_not_followed_up() -> Iterator[None]:
    offer = Pump.offer

    def forgetful(self: Any, item: Any) -> None:
        behind = self._behind
        offer(self, item)
        self._behind = behind or self._behind

    with patch.object(Pump, "offer", forgetful):
        yield


@contextmanager
def lanes_are_read_again() -> Iterator[None]:
    def all_of_it(self: Any, page: Any) -> list[Any]:
        return [(self._loop.time(), one) for one in page]

    with patch.object(Pump, "_select_fresh", all_of_it):
        yield


@contextmanager
def what_has_left_the_lanes_is_read_again() -> Iterator[None]:
    fresh = Pump._select_fresh

    def of_lanes(self: Any, page: Any) -> Any:
        self._gone.clear()
        return fresh(self, page)

    with patch.object(Pump, "_select_fresh", of_lanes):
        yield


@contextmanager
def what_is_put_off_during_a_read_is_forgotten() -> Iterator[None]:
    soon = Pump._look_soon

    def only_alone(self: Any, at: float) -> None:
        if self._reading is None:
            soon(self, at)

    with patch.object(Pump, "_look_soon", only_alone):
        yield


@contextmanager
def nothing_is_looked_at_again() -> Iterator[None]:
    with patch.object(pump, "_FRESH_SECONDS", 1e9):
        yield


@contextmanager
def turns_that_are_free_are_not_told() -> Iterator[None]:
    results = Dispatcher._results

    def deaf(self: Any, ended: Any, freed: Any) -> None:
        del freed
        results(self, ended, ())

    with patch.object(Dispatcher, "_results", deaf):
        yield


@contextmanager
def nothing_is_born_waiting() -> Iterator[None]:
    with patch.object(ledger, "_FIRST_OF_OBJECT", "SELECT 0 AS event WHERE ? = ? AND 1 = 2"):
        yield


@contextmanager
def cuts_are_not_stored() -> Iterator[None]:
    tried = Dispatcher._note_tried

    def untold(self: Any, target: Any, item: Any, one: Any) -> None:
        if one.verdict != "cut":
            tried(self, target, item, one)

    with patch.object(Dispatcher, "_note_tried", untold):
        yield


@contextmanager
def kills_leave_no_mark() -> Iterator[None]:
    begin = runs.begin_run

    def clean(tx: Any, row: Any, **how: Any) -> bool | None:
        return begin(tx, {**row, "running": 0}, **how)

    with patch.object(ledger, "begin_run", clean):
        yield


@contextmanager
def kills_mark_what_waited() -> Iterator[None]:
    with patch.object(ledger, "NOT_CUT", -2):
        yield


@contextmanager
def turns_of_a_killed_run_leave_no_mark() -> Iterator[None]:
    with patch.object(runs, "_IS_NOT_CUT", "SELECT 1 WHERE ? IS NULL"):
        yield


@contextmanager
def pending_is_counted_before_the_end() -> Iterator[None]:
    close = Pipeline.close

    async def early(self: Any, grace: float) -> int:
        pending: int = await self.dispatcher.pending()
        await close(self, grace)
        return pending

    with patch.object(Pipeline, "close", early):
        yield


@contextmanager
def ids_alone_tell() -> Iterator[None]:
    known = SqliteInbox._find_known

    def by_id(self: Any, tx: Any, ids: Any) -> Any:
        found = known(self, tx, ids)
        return {(event_id, b""): what for (event_id, _), what in found.items()}

    def identity(event: Any) -> Any:
        return event.delivery.facts.id, b""

    with (
        patch.object(SqliteInbox, "_find_known", by_id),
        patch.object(sqlite, "_identity", identity),
    ):
        yield


@contextmanager
def ids_wait_to_be_listed_unseen() -> Iterator[None]:
    with patch("svc.listen.inbox.event_ids.EventIds.list_unlisted", lambda *_: []):
        yield


@contextmanager
def restarts_begin_the_schedule() -> Iterator[None]:
    begin = SqliteInbox.begin

    def anew(self: Any, targets: Any, *, ordered: bool, anew: bool) -> None:
        del anew
        begin(self, targets, ordered=ordered, anew=True)

    with patch.object(SqliteInbox, "begin", anew):
        yield


@contextmanager
def what_was_taken_elsewhere_fails() -> Iterator[None]:
    always = ledger._NOT_DONE.replace(" AND state < 4", "")
    with patch.object(ledger, "_NOT_DONE", always):
        yield


@contextmanager
def what_could_not_be_noted_is_read_again() -> Iterator[None]:
    failed = InboxWriter._handle_failure

    def careless(self: Any, error: Any, batch: Any) -> None:
        failed(self, error, batch)
        self._is_unstored = False

    with patch.object(InboxWriter, "_handle_failure", careless):
        yield


@contextmanager
def a_full_disk_is_tried_without_a_pause() -> Iterator[None]:
    with patch.object(commit, "_AGAIN_SECONDS", 0.0):
        yield


@contextmanager
def unfit_targets_are_not_left_alone() -> Iterator[None]:
    with patch.object(TargetHealth, "is_unfit", False):
        yield


@contextmanager
def what_is_read_is_not_noted_as_under_way() -> Iterator[None]:
    with patch.object(ForwardLedger, "_let_run", lambda *_: None):
        yield


@contextmanager
def results_of_a_failed_commit_are_dropped() -> Iterator[None]:
    with patch.object(InboxWriter, "_handle_failure", lambda *_: None):
        yield


SABOTAGES = [
    pytest.param(what_could_not_be_noted_is_read_again, 2647, id="unstored-is-read"),
    pytest.param(
        a_full_disk_is_tried_without_a_pause,
        606,
        id="full-disk-without-a-pause",
        marks=pytest.mark.slow(seconds=15, rare=True),
    ),
    pytest.param(unfit_targets_are_not_left_alone, 3123, id="unfit-is-not-left-alone"),
    pytest.param(what_is_read_is_not_noted_as_under_way, 23, id="under-way-without-a-mark"),
    pytest.param(results_of_a_failed_commit_are_dropped, 0, id="dropped-results"),
    pytest.param(
        pages_cross_what_came_back_from_a_lane, 5984, id="pages-cross-what-came-back-from-a-lane"
    ),
    pytest.param(each_lane_puts_back_its_own, 202, id="each-lane-puts-back-its-own"),
    pytest.param(pages_cross_what_was_forgotten, 2493, id="pages-cross-what-was-forgotten"),
    pytest.param(offers_are_accepted_during_a_read, 5, id="offers-are-accepted-during-a-read"),
    pytest.param(late_pages_are_not_followed_up, 336, id="late-pages-are-not-followed-up"),
    pytest.param(lanes_are_read_again, 0, id="lanes-are-read-again"),
    pytest.param(
        what_has_left_the_lanes_is_read_again, 112, id="what-has-left-the-lanes-is-read-again"
    ),
    pytest.param(
        what_is_put_off_during_a_read_is_forgotten,
        0,
        id="what-is-put-off-during-a-read-is-forgotten",
    ),
    pytest.param(nothing_is_looked_at_again, 643, id="nothing-is-looked-at-again"),
    pytest.param(turns_that_are_free_are_not_told, 0, id="turns-that-are-free-are-not-told"),
    pytest.param(nothing_is_born_waiting, 0, id="nothing-is-born-waiting"),
    pytest.param(cuts_are_not_stored, 7, id="cuts-are-not-stored"),
    pytest.param(kills_leave_no_mark, 2, id="kills-leave-no-mark"),
    pytest.param(kills_mark_what_waited, 0, id="kills-mark-what-waited"),
    pytest.param(turns_of_a_killed_run_leave_no_mark, 76, id="turns-of-a-killed-run"),
    pytest.param(pending_is_counted_before_the_end, 23, id="pending-before-the-end"),
    pytest.param(ids_alone_tell, 17, id="ids-alone-tell"),
    pytest.param(ids_wait_to_be_listed_unseen, 2, id="ids-wait-to-be-listed-unseen"),
    pytest.param(restarts_begin_the_schedule, 1, id="restarts-begin-the-schedule"),
    pytest.param(what_was_taken_elsewhere_fails, 18, id="what-was-taken-elsewhere-fails"),
]


@pytest.mark.parametrize(("sabotage", "seed"), SABOTAGES)
def test_a_mend_that_is_taken_out_is_found(sabotage: Callable[[], Any], seed: int) -> None:
    """One kept history for each mend: clean with it, and not without."""
    assert judged(seed, seed + 1) == []
    with sabotage():
        assert judged(seed, seed + 1) != []
