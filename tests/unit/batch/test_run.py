"""One run: what is recorded before it is sent, what stops it, and what it leaves behind."""

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any
from unittest.mock import patch

import pytest

from support.suite.patience import patient
from svc.batch import run as run_module
from svc.batch.results import ResultLine, Results
from svc.client.client import Client
from svc.client.exchange import Failure, RawReply, Trouble, WireRequest
from svc.clock import SystemClock
from svc.delivery.journal.entry import NewIntent
from svc.delivery.likeness import about_of
from svc.errors import AuthError, LocalError, ReplyContradiction, Unauthorized
from svc.state.database import GONE
from svc.system.signals import Stopped
from unit.batch.floor import Floor
from unit.delivery.rows import one_row

UNREACHED = Failure(Trouble.NO_CONNECTION, sent=False)
LOST = Failure(Trouble.CLOSED, sent=True)
TIMEOUT = Failure(Trouble.TIMEOUT, sent=True)


def test_every_row_is_done_once_under_its_own_key(floor: Floor) -> None:
    """R16: as many objects as rows, whatever number of workers; a second run sends nothing."""
    run = floor.run(list(range(1, 101)), size=8)
    assert len(floor.service.made) == 100
    assert floor.outcomes == ["done"] * 100
    assert floor.states == ["done"] * 100
    assert len(set(floor.service.keys)) == 100
    by_key = {line["idempotency_key"]: line["id"] for line in floor.results}
    assert by_key == floor.service.made
    assert {line["about"] for line in floor.results} == {about_of(one_row(1).subject)}
    assert (run.totals.done, run.totals.money.amounts["EUR"]) == (100, 5050)
    first = floor.path.read_bytes()

    run = floor.run(list(range(1, 101)), size=8)
    assert len(floor.service.requests) == 100
    assert (run.totals.done, run.totals.skipped) == (0, 100)
    assert floor.path.read_bytes() == first


def test_a_row_is_on_disk_before_its_first_byte(floor: Floor) -> None:
    """R2: whenever a request arrives, the journal holds its key and its body."""
    seen: list[tuple[str, bytes]] = []

    def look(request: WireRequest, nth: int) -> None:
        key = dict(request.headers)["Idempotency-Key"]
        sql = "SELECT state, body FROM requests WHERE idempotency_key = ?"
        (row,) = floor.state.rows(sql, (key,))
        seen.append((row["state"], row["body"]))
        assert row["body"] == request.body

    floor.service.answer = look
    floor.run(list(range(1, 41)))
    assert [state for state, _ in seen] == ["open"] * 40


def test_rows_share_transactions(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    """One fsync serves the intents of many rows, one transaction many ends."""
    groups: dict[str, list[int]] = {"record_many": [], "settle_many": []}
    for name, sizes in groups.items():
        real = getattr(floor.intents, name)

        def counted(items: Any, real: Any = real, sizes: list[int] = sizes) -> Any:
            sizes.append(len(items))
            return real(items)

        monkeypatch.setattr(floor.intents, name, counted)
    floor.service.answer = lambda request, nth: time.sleep(0.005)
    floor.run(list(range(1, 321)), size=16)
    assert sum(groups["record_many"]) == sum(groups["settle_many"]) == 320
    assert len(groups["record_many"]) <= 320 / 16
    assert len(groups["settle_many"]) <= 320 / 4


def test_bad_and_refused_rows_do_not_stop_the_others(floor: Floor) -> None:
    """Each has its line with the reason, and goes again when it is corrected."""
    floor.service.answer = lambda request, nth: 400 if b'"amount":3,' in request.body else None
    run = floor.run([1, 2, 3, "x", 5])
    assert floor.outcomes == ["done", "done", "refused", "invalid", "done"]
    assert floor.results[2]["error"]["code"] == "code_400"
    assert "is not a number" in floor.results[3]["error"]["message"]
    assert run.stopped_by is None
    assert run.totals.not_done == 2

    floor.run([1, 2, 30, 4, 5])
    assert floor.outcomes == ["done"] * 5
    assert len(floor.service.made) == 5
    assert len(floor.service.requests) == 6


def test_a_lost_answer_is_asked_for_again_with_the_same_key(floor: Floor) -> None:
    """Every tenth row is committed, then dropped; nothing is done twice."""

    def drop_some(request: WireRequest, nth: int) -> Failure | None:
        if nth % 10 == 5:
            floor.service.commit(request)
            return LOST
        return None

    floor.service.answer = drop_some
    floor.run(list(range(1, 201)), size=8)
    assert floor.outcomes == ["done"] * 200
    assert len(floor.service.made) == 200
    assert len(floor.service.requests) == 222


def test_a_list_begun_again_at_once_waits_for_what_the_service_is_still_at(floor: "Floor") -> None:
    """Ctrl-C, and the same command: each row's first request still runs there (R6, R17)."""
    refusal = {"type": "idempotency_error", "code": "idempotency_key_in_use", "message": "Runs."}
    running = RawReply(409, (), json.dumps({"error": refusal}).encode())

    def first_runs(request: WireRequest, nth: int) -> RawReply | None:
        key = dict(request.headers)["Idempotency-Key"]
        return running if floor.service.keys.count(key) <= 2 else None

    floor.service.answer = first_runs
    floor.run(list(range(1, 13)), size=8)
    assert floor.outcomes == ["done"] * 12
    assert len(floor.service.requests) == 12 * 3


# --- what stops a run ---------------------------------------------------------------------------


def test_a_rolled_key_stops_the_run_and_the_rows_keep_their_keys(floor: Floor) -> None:
    """401 in the middle; under the new key the same rows go with the same keys."""
    floor.service.answer = lambda request, nth: 401 if nth > 30 else None
    run = floor.run(list(range(1, 101)), size=4)
    assert isinstance(run.stopped_by, Unauthorized)
    assert len(floor.service.requests) <= 30 + 4
    assert (run.totals.done, run.totals.counts["not_sent"]) == (30, 70)
    assert "unknown" not in floor.outcomes
    assert set(floor.states) == {"done", "not_sent"}
    keys = {line["row"]: line["idempotency_key"] for line in floor.results}

    floor.service.answer = lambda request, nth: None
    floor.run(list(range(1, 101)), size=4)
    assert floor.outcomes == ["done"] * 100
    assert len(floor.service.made) == 100
    assert {line["row"]: line["idempotency_key"] for line in floor.results} == keys


def test_a_401_after_a_lost_answer_leaves_the_row_unknown(floor: Floor) -> None:
    """R10: the refusal of the key says nothing of the attempt before it."""
    floor.service.answer = lambda request, nth: LOST if nth == 1 else 401
    run = floor.run([1, 2, 3], size=1)
    assert isinstance(run.stopped_by, Unauthorized)
    assert floor.outcomes == ["unknown", "not_sent", "not_sent"]
    assert floor.states[0] == "unknown"


def test_a_permission_that_is_missing_stops_the_run(floor: Floor) -> None:
    """403: every row would fare the same."""
    floor.service.answer = lambda request, nth: 403
    floor.run(list(range(1, 101)), size=2)
    assert len(floor.service.requests) <= 2
    assert floor.outcomes == ["not_sent"] * 100


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(UNREACHED, "not_sent"), (LOST, "unknown"), (TIMEOUT, "unknown"), (503, "unknown")],
)
def test_a_dead_service_is_given_up_soon(floor: Floor, answer: Any, outcome: str) -> None:
    """R17: one and a half requests a row at most, then the run stops."""
    floor.service.answer = lambda request, nth: answer
    run = floor.run(list(range(1, 161)), size=8)
    assert len(floor.service.requests) <= 160 * 1.5
    assert run.stopped_by is not None
    assert set(floor.outcomes) == {outcome, "not_sent"}
    assert len(floor.outcomes) == 160
    begun = floor.outcomes.count("unknown")
    assert begun <= 100
    floor.service.answer = lambda request, nth: None
    floor.run(list(range(1, 161)), size=8)
    assert floor.outcomes == ["done"] * 160
    assert len(floor.service.made) == 160


def test_a_service_that_never_answers_is_given_up_too(floor: Floor) -> None:
    """R17: each row waits out its deadline in one attempt, which costs no retry."""

    def impatient() -> Client:
        return floor.connect(deadline_seconds=0.1)

    floor.service.answer = lambda request, nth: TIMEOUT
    run = floor.run(list(range(1, 201)), size=4, connect=impatient)
    assert run.stopped_by is not None
    assert 20 <= len(floor.service.requests) <= 24
    assert set(floor.outcomes) == {"unknown", "not_sent"}


def test_rows_without_an_answer_between_others_do_not_stop_the_run(floor: Floor) -> None:
    """A refusal is an answer as good as any."""

    def answer(request: WireRequest, nth: int) -> Any:
        return 400 if nth % 10 == 0 else TIMEOUT

    floor.service.answer = answer
    floor.run(list(range(1, 101)), size=1, connect=lambda: floor.connect(deadline_seconds=0.1))
    assert len(floor.service.requests) == 100
    assert Counter(floor.outcomes) == {"unknown": 90, "refused": 10}


def test_an_answer_that_contradicts_its_request_stops_the_run(floor: Floor) -> None:
    """R15, R93: a live object in test mode may be anybody's: unknown, nothing more is sent."""

    def live(request: WireRequest, nth: int) -> RawReply | None:
        if nth != 3:
            return None
        return floor.service._made(request, livemode=True)

    floor.service.answer = live
    run = floor.run(list(range(1, 101)), size=1)
    assert isinstance(run.stopped_by, ReplyContradiction)
    assert floor.outcomes[:4] == ["done", "done", "unknown", "not_sent"]
    assert floor.results[2]["error"]["code"] == "reply_contradiction"
    assert "rf_3" in floor.results[2]["error"]["message"]
    assert len(floor.service.requests) == 3
    floor.service.answer = lambda request, nth: None
    assert floor.run(list(range(1, 101)), size=1).totals.not_done == 0
    assert floor.service.keys[2] == floor.service.keys[3]
    assert len(floor.service.made) == 100


def test_a_client_that_cannot_be_made_stops_the_run(floor: Floor) -> None:
    """A key of the other mode, a certificate file that is missing: nothing was sent."""

    def refuse() -> Any:
        raise AuthError("no key", outcome="not_sent")

    run = floor.run(list(range(1, 21)), connect=refuse)
    assert isinstance(run.stopped_by, AuthError)
    assert floor.outcomes == ["not_sent"] * 20
    assert set(floor.states) == {"not_sent"}


def test_a_bug_in_a_worker_is_no_end_of_a_row(floor: Floor) -> None:
    """R79: it is raised for the report; the row stays unresolved."""

    def fail(request: WireRequest, nth: int) -> None:
        raise ZeroDivisionError

    floor.service.answer = fail
    with pytest.raises(ZeroDivisionError):
        floor.run([1, 2, 3], size=1)
    assert floor.outcomes == ["unknown", "not_sent", "not_sent"]
    assert floor.states[0] == "open"


# --- order --------------------------------------------------------------------------------------


def test_strict_order_sends_one_at_a_time_in_the_order_of_the_file(floor: Floor) -> None:
    """`--strict-order`: the next row goes when the one before it has ended; refusals are ends."""
    floor.service.answer = lambda request, nth: 400 if nth == 5 else None
    floor.run(list(range(1, 31)), size=1, in_order=True)
    assert floor.service.most_at_once == 1
    amounts = [
        int(request.body.split(b'"amount":')[1].split(b",")[0])
        for request in floor.service.requests
    ]
    assert amounts == list(range(1, 31))


def test_strict_order_stops_at_a_row_whose_end_is_not_known(floor: Floor) -> None:
    """Sent again later, it would come after those behind it."""
    floor.service.answer = lambda request, nth: LOST if nth >= 3 else None
    run = floor.run(list(range(1, 31)), size=1, in_order=True)
    assert run.stopped_by is not None
    assert floor.outcomes[:4] == ["done", "done", "unknown", "not_sent"]


def test_workers_send_at_the_same_time(floor: Floor) -> None:
    """`--concurrency`: as many as asked for, and no more."""
    gate = threading.Barrier(6, timeout=60)

    def wait(request: WireRequest, nth: int) -> None:
        if nth <= 6:
            gate.wait()

    floor.service.answer = wait
    floor.run(list(range(1, 61)), size=6)
    assert floor.service.most_at_once == 6


# --- disks and signals --------------------------------------------------------------------------


def test_without_a_journal_nothing_is_sent(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    """R2, R70: exit 10, and every row's line says that it was not sent."""

    def full(_: Any) -> Any:
        raise LocalError("the disk is full")

    monkeypatch.setattr(floor.intents, "record_many", full)
    with pytest.raises(LocalError, match="the disk is full"):
        floor.run([1, 2, 3])
    assert floor.service.requests == []
    assert floor.outcomes == ["not_sent"] * 3


def test_when_ends_cannot_be_kept_the_results_still_have_them(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R70: exit 10 with the ids in the results file; the next run asks for the same ones."""

    def full(_: Any) -> Any:
        raise LocalError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(floor.intents, "settle_many", full)
        with pytest.raises(LocalError):
            floor.run(list(range(1, 101)), size=2)
    done = [line for line in floor.results if line["outcome"] == "done"]
    assert done
    assert {line["id"] for line in done} <= set(floor.service.made.values())
    assert len(floor.service.requests) <= 8
    floor.run(list(range(1, 101)), size=2)
    assert floor.outcomes == ["done"] * 100
    assert len(floor.service.made) == 100


def test_when_results_cannot_be_written_the_journal_still_has_them(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 10; the next run writes every line."""

    def full(self: Any, lines: Any) -> None:
        raise LocalError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Results, "add", full)
        with pytest.raises(LocalError):
            floor.run(list(range(1, 101)), size=2)
    assert floor.states.count("done") == len(floor.service.made) > 0
    floor.run(list(range(1, 101)), size=2)
    assert floor.outcomes == ["done"] * 100
    assert len(floor.service.made) == 100


def test_answers_that_come_after_the_journal_went_are_told(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R102: its end is met with the first answer; the others arrive a moment later, and count."""
    all_sent, gone = threading.Event(), threading.Event()

    def lost(_: Any) -> Any:
        gone.set()
        raise LocalError("it was deleted", code=GONE)

    def answer(request: WireRequest, nth: int) -> None:
        if nth == 4:
            all_sent.set()
        if nth > 1:
            gone.wait(60)
            time.sleep(0.01 * nth)
        else:
            all_sent.wait(60)

    floor.service.answer = answer
    monkeypatch.setattr(floor.intents, "settle_many", lost)
    with pytest.raises(LocalError, match="it was deleted"):
        floor.run(list(range(1, 9)), size=4)
    assert floor.outcomes.count("done") == len(floor.service.made) >= 4
    assert {line["request"] for line in floor.results} == {None}


def test_a_row_that_hangs_while_the_journal_goes_is_told_without_its_id(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R102: `svc requests resume` could find nothing by it."""
    hang = threading.Event()
    real, groups = floor.intents.record_many, iter(range(2))

    def record_many(asked: Any) -> Any:
        if next(groups) > 0:
            raise LocalError("it was deleted", code=GONE)
        return real(asked)

    def answer(request: WireRequest, nth: int) -> None:
        if b'"amount":1,' in request.body:
            hang.wait(60)

    floor.service.answer = answer
    monkeypatch.setattr(floor.intents, "record_many", record_many)
    with pytest.raises(LocalError, match="it was deleted"):
        floor.run(list(range(1, 201)), size=4)
    hang.set()
    first = floor.results[0]
    assert (first["row"], first["outcome"], first["request"]) == (1, "unknown", None)


def test_a_signal_leaves_a_line_for_every_row_and_nothing_lost(floor: Floor) -> None:
    """R78: what has ended is kept, what hangs is unknown, the rest not sent; in under a second."""
    hang = threading.Event()
    stopped: list[float] = []

    def answer(request: WireRequest, nth: int) -> None:
        if nth > 20:
            hang.wait(60)

    def stop(totals: Any) -> None:
        if totals.done == 20 and floor.service.at_once == 4:
            floor.watch.told = lambda totals: None
            stopped.append(time.monotonic())
            raise Stopped(2)

    floor.service.answer = answer
    floor.watch.told = stop
    with pytest.raises(Stopped), patch.object(floor.intents, "shorten_timeout") as shortened:
        floor.run(list(range(1, 101)), size=4)
    shortened.assert_called_once_with(0.1)
    assert time.monotonic() - stopped[0] < patient(1.0)
    hang.set()
    assert floor.watch.cleared
    counts = Counter(floor.outcomes)
    assert counts == {"done": 20, "unknown": 4, "not_sent": 76}
    assert floor.states.count("open") == 4

    floor.service.answer = lambda request, nth: None
    floor.run(list(range(1, 101)), size=4)
    assert floor.outcomes == ["done"] * len(floor.service.made) == ["done"] * 100


def test_a_signal_has_no_further_row_begun(floor: Floor) -> None:
    """R78: not even of those that are recorded already and wait for a worker."""
    begun: list[int] = []

    def stop(totals: Any) -> None:
        if totals.done and not begun:
            begun.append(len(floor.service.requests))
            raise Stopped(2)

    floor.service.answer = lambda request, nth: time.sleep(0.02)
    floor.watch.told = stop
    with pytest.raises(Stopped):
        floor.run(list(range(1, 101)), size=2)
    assert len(floor.service.requests) <= begun[0] + 2
    assert floor.outcomes.count("done") == len(floor.service.made) == floor.states.count("done")


def test_an_unresolved_row_goes_again_byte_for_byte(floor: Floor) -> None:
    """R1, R3: body, key and version are those of the first sending."""
    floor.service.answer = lambda request, nth: LOST
    floor.api_version = "2026-03-01"
    floor.run([1])
    floor.service.answer = lambda request, nth: None
    floor.api_version = "2026-09-01"
    floor.run([1])
    assert len(set(floor.service.requests)) == 1
    assert floor.outcomes == ["done"]


def test_a_row_that_was_open_before_and_is_not_reached_is_still_unknown(floor: Floor) -> None:
    """R3, R10: what an earlier run left unresolved is not called unsent by one that stops early."""
    floor.service.answer = lambda request, nth: LOST if b'"amount":9,' in request.body else None
    floor.run([1, 9], size=1)
    (open_row,) = floor.intents.list(batch=floor.batch.id, unresolved=True)
    floor.quota.exhausted = False
    floor.service.answer = lambda request, nth: 401
    run = floor.run([2, 3, 9], size=1, in_order=True)
    assert isinstance(run.stopped_by, Unauthorized)
    assert floor.outcomes == ["not_sent", "not_sent", "unknown"]
    keys = [line["idempotency_key"] for line in floor.results]
    assert keys[2] == open_row.stored.idempotency_key
    assert [line["request"] for line in floor.results[1:]] == [None, open_row.id]
    assert run.totals.counts["unknown"] == 1


def test_a_row_that_another_process_is_sending_is_left_to_it(floor: Floor) -> None:
    """R69: never two requests in flight with one key; the other rows go on."""
    floor.service.answer = lambda request, nth: LOST if b'"amount":2,' in request.body else None
    floor.run([1, 2])
    (unknown,) = floor.intents.list(batch=floor.batch.id, unresolved=True)
    floor.intents.record_many([NewIntent(unknown.stored, floor.batch.scope)])
    sent = len(floor.service.requests)
    floor.run([1, 2, 3])
    assert len(floor.service.requests) == sent + 1
    assert floor.outcomes == ["done", "unknown", "done"]
    assert floor.results[1]["error"]["code"] == "request_in_flight"


def test_rows_in_other_hands_do_not_end_the_run(floor: Floor) -> None:
    """A whole group of them is followed by the rows behind it."""
    floor.service.answer = lambda request, nth: LOST
    floor.run(list(range(1, 9)), size=2)
    floor.quota.exhausted = False
    unresolved = floor.intents.list(batch=floor.batch.id, unresolved=True)
    assert unresolved
    for intent in unresolved:
        floor.intents.record_many([NewIntent(intent.stored, floor.batch.scope)])
    floor.service.answer = lambda request, nth: None
    floor.run(list(range(1, 41)), size=1)
    assert Counter(floor.outcomes) == {"unknown": len(unresolved), "done": 40 - len(unresolved)}


def test_a_row_that_is_too_old_is_reported_with_where_to_look(floor: Floor) -> None:
    """R4: its line says what to do; the others go on."""
    floor.service.answer = lambda request, nth: LOST if b'"amount":1,' in request.body else None
    floor.run([1, 2])
    with floor.state.write() as tx:
        tx.execute("UPDATE requests SET first_sent_at = first_sent_at - 82800")
    sent = len(floor.service.requests)
    run = floor.run([1, 2, 3])
    assert len(floor.service.requests) == sent + 1
    assert floor.outcomes == ["unknown", "done", "done"]
    error = floor.results[0]["error"]
    assert error["code"] == "idempotency_key_too_old"
    assert error["message"].endswith("take the row out of the file before that")
    assert "svc payments retrieve pay_1" in error["message"]
    assert run.stopped_by is None


# --- what a signal or a full disk leaves --------------------------------------------------------


class InterruptingClock(SystemClock):
    """A clock during whose third moment of gathering Ctrl-C is pressed."""

    def __init__(self) -> None:
        self.gathered = 0

    def sleep(self, seconds: float) -> None:
        super().sleep(min(seconds, 0.01))
        if seconds == run_module._GATHER_SECONDS:
            self.gathered += 1
            if self.gathered == 3:
                raise KeyboardInterrupt


def test_answers_that_have_come_survive_ctrl_c(floor: Floor) -> None:
    """Every row that the service has carried out and answered is done, here and in the file."""
    floor.clock = InterruptingClock()
    floor.service.answer = lambda request, nth: time.sleep(0.003)
    with pytest.raises(KeyboardInterrupt):
        floor.run(list(range(1, 101)), size=4)
    done = floor.outcomes.count("done")
    assert done == len(floor.service.made) == floor.states.count("done")
    assert len(floor.outcomes) == 100


def test_a_full_disk_under_the_results_leaves_no_row_unsettled(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every answer is in the journal, the file holds whole lines, and the error says how far."""
    write = Results._write

    def full(self: Results, lines: Iterable[ResultLine]) -> None:
        assert self._lines is not None
        if self._lines.count >= 8:
            self._lines.file.seek(self._lines.end)
            self._lines.file.write(b'{"torn')
            self._lines.file.flush()
            raise OSError(28, os.strerror(28))
        write(self, lines)

    monkeypatch.setattr(Results, "_write", full)
    with pytest.raises(LocalError) as caught:
        floor.run(list(range(1, 101)), size=4)
    held = len(floor.results)
    assert 8 <= held < 100
    assert f"no space left on device. It holds {held} results" in caught.value.message
    assert "run the same command again" in (caught.value.hint or "")
    assert set(floor.states) == {"done"}
    assert len(floor.states) == len(floor.service.made) == floor.last.totals.done
    monkeypatch.undo()
    assert floor.run(list(range(1, 101))).totals.not_done == 0
    assert len(floor.service.made) == 100
