"""Waiting until something settles."""

import json
from typing import Any

import pytest

from support.calls import payouts, refunds
from svc.client.exchange import Failure, RawReply, Trouble
from svc.client.polling import find_settling, wait
from svc.errors import CheckFailed
from unit.client.bench import Bench


def state(status: str, name: str = "refund", prefix: str = "rf_1") -> RawReply:
    body = {"id": prefix, "object": name, "status": status}
    return RawReply(200, (), json.dumps(body).encode())


def run(made: Bench, seconds: float = 30.0) -> tuple[Any, list[tuple[str, bool]]]:
    seen: list[tuple[str, bool]] = []
    first = made.client.send(refunds.create({"payment": "pay_1"}))
    last = wait(
        made.client,
        first,
        find_settling("refund"),
        seconds=seconds,
        on_status=lambda status, known: seen.append((status, known)),
    )
    return last, seen


def test_a_refund_is_read_until_it_is_final(bench: type[Bench]) -> None:
    """Known and unknown states are told once each, the final one ends it."""
    made = bench(state("pending"), state("pending"), state("novel"), state("succeeded"))
    last, seen = run(made)
    assert last.data["status"] == "succeeded"
    assert seen == [("pending", True), ("novel", False), ("succeeded", True)]
    assert made.clock.slept == [0.5, 0.75, 1.125]


def test_pauses_grow_to_five_seconds(bench: type[Bench]) -> None:
    """A payout that takes a day is not asked for every second."""
    made = bench(*[state("pending")] * 12, state("failed"))
    last, _ = run(made, 600.0)
    assert last.data["status"] == "failed"
    assert max(made.clock.slept) == 5.0


def test_something_final_at_once_is_not_read_again(bench: type[Bench]) -> None:
    """Some services settle a refund in the answer itself."""
    made = bench(state("succeeded"))
    run(made)
    assert made.attempts == 1


def test_the_time_limit_is_a_check_that_failed(bench: type[Bench]) -> None:
    """Exit 11 at `--max-time`, and the refund was made all the same."""
    made = bench(state("pending"))
    with pytest.raises(CheckFailed) as caught:
        run(made, 10.0)
    assert (int(caught.value.exit_code), caught.value.outcome) == (11, "done")
    assert "rf_1" in caught.value.message
    assert "'pending'" in caught.value.message
    assert made.clock.monotonic() == pytest.approx(10.0)


def test_a_passing_fault_does_not_end_the_wait(bench: type[Bench]) -> None:
    """The refund is made; a service that is away for a moment changes nothing."""
    lost = Failure(Trouble.NO_CONNECTION, sent=False)
    made = bench(state("pending"), *[lost] * 4, RawReply(503, (), b""), state("succeeded"))
    last, _ = run(made, 60.0)
    assert last.data["status"] == "succeeded"


def test_a_refusal_while_waiting_is_not_taken_for_a_failed_refund(bench: type[Bench]) -> None:
    """R10: a key that was rolled meanwhile does not make a refund look refused."""
    made = bench(state("pending"), RawReply(401, (), b'{"message":"Expired."}'))
    with pytest.raises(CheckFailed) as caught:
        run(made)
    assert caught.value.outcome == "done"
    told = "The refund rf_1 was 'pending', and cannot be read any more: Expired."
    assert caught.value.message == told
    assert caught.value.hint == "svc whoami"  # time alone would change nothing


def test_an_id_that_cannot_be_read_again_does_not_undo_the_refund(bench: type[Bench]) -> None:
    """R10: once it was made, nothing on this side ends as a usage error with nothing sent."""
    made = bench(state("pending"))
    first = made.client.send(refunds.create({"payment": "pay_1"}))
    odd = first._replace(data={**first.data, "id": "rf_1/../x y"})
    with pytest.raises(CheckFailed) as caught:
        wait(made.client, odd, find_settling("refund"), seconds=30)
    assert caught.value.outcome == "done"


def test_a_payout_has_states_of_its_own(bench: type[Bench]) -> None:
    """Created and sent pass, paid is final."""
    made = bench(*(state(status, "payout", "po_1") for status in ("created", "sent", "paid")))
    first = made.client.send(payouts.create({"amount": 1}))
    assert wait(made.client, first, find_settling("payout"), seconds=30).data["status"] == "paid"
