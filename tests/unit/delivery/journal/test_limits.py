"""What a limit leaves, by the requests of the journal."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.calls import payouts, refunds
from support.clocks import ManualClock
from svc.config.limits import parse_limits
from svc.delivery.journal import journal
from svc.delivery.journal.entry import Charge, Intent, Scope, settle_by_error
from svc.delivery.journal.journal import KEPT_SECONDS, Journal
from svc.delivery.journal.limits import LimitReachedError, LimitRules, read_stated_charge
from svc.delivery.journal.sender_locks import SenderLocks
from svc.errors import RateLimited
from svc.state import Database
from svc.system.uptime import Uptime
from unit.delivery.journal.asking import HOUR, OTHERS, SCOPE, asked, end

DAY = 24 * HOUR
PAYEE = {"iban": "DE89370400440532013000", "account_holder_name": "M", "country": "DE"}


class LimitedJournal:
    """A journal whose limits and uptime the test sets."""

    def __init__(self, path: Path) -> None:
        self.path, self.clock = path, ManualClock()
        self.opened = ExitStack()
        self.limits = "500 EUR/day"
        self.boot: str | None = "first"
        self._up = ManualClock(0.0)
        self._number = 0

    def open(self) -> Journal:
        sender_locks = self.opened.enter_context(closing(SenderLocks(self.path.parent / "senders")))
        rules = LimitRules(
            lambda _, group: (parse_limits(self.limits) or ()) if group else (), self.up
        )
        state = self.opened.enter_context(Database.open(self.path, clock=self.clock))
        return Journal(lambda: state, sender_locks, self.clock, rules=rules)

    def up(self) -> Uptime | None:
        return Uptime(self.boot, self._up.now()) if self.boot else None

    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self._up.advance(seconds)

    def pay(
        self, euros: int, currency: str = "EUR", scope: Scope = SCOPE, key: str = "", **more: Any
    ) -> Intent:
        self._number += 1
        body = {"amount": euros * 100, "currency": currency, "destination": PAYEE}
        new = asked(payouts.create(body), key or f"key-{os.getpid()}-{self._number}", scope, **more)
        return self.journal.record(new)

    def paid(self, euros: int, **more: Any) -> Intent:
        made = self.pay(euros, **more)
        end(self.journal, made, "done", object_id=f"po_{made.seq}")
        return made

    def refused(self, euros: int, **more: Any) -> LimitReachedError:
        before = self.journal.list()
        with pytest.raises(LimitReachedError) as caught:
            self.pay(euros, **more)
        assert self.journal.list() == before
        assert (caught.value.code, caught.value.exit_code) == ("limit_reached", 2)
        return caught.value

    journal: Journal


@pytest.fixture
def limited(path: Path) -> Iterator[LimitedJournal]:
    found = LimitedJournal(path)
    with found.opened:
        found.journal = found.open()
        yield found


def test_what_was_done_counts_for_a_day_from_then(limited: LimitedJournal) -> None:
    """Not for a calendar day; what is left, and when more is, is told."""
    journal = limited.open()
    paths = ("/v1/payouts", "/v1/refunds", "/v1/orders/ord_1/capture", "/v1/disputes/dp_1/accept")
    assert all(journal.is_limited(SCOPE, path) for path in paths)
    assert not any(journal.is_limited(SCOPE, path) for path in ("/v1/orders", "/v1/disputes/dp_1"))
    limited.paid(300)
    limited.wait(10 * HOUR)
    limited.paid(150)
    error = limited.refused(60)
    assert "50.00 EUR is left, and this is 60.00 EUR" in error.message
    assert error.retry_after == 14 * HOUR
    limited.wait(14 * HOUR - 1)
    limited.refused(60)
    limited.wait(1)
    limited.paid(350)
    assert limited.refused(1).retry_after == 10 * HOUR
    assert "more than the limit" in limited.refused(501).message


def test_more_is_left_when_what_is_beyond_the_limit_has_its_time_too(
    limited: LimitedJournal,
) -> None:
    """As where a limit was lowered: with the first of three something else goes, and none is left."""
    for _ in range(3):
        limited.paid(100)
        limited.wait(HOUR)
    limited.limits = "150 EUR/day"
    [usage] = limited.journal.limits().usages(SCOPE, "payouts")
    book = limited.journal.limits()
    assert (usage.left, book.wait_for(SCOPE, "payouts", usage, 1)) == (0, DAY - 2 * HOUR)
    assert limited.refused(60).retry_after == DAY - HOUR


def test_an_unknown_outcome_counts_until_it_is_settled(limited: LimitedJournal) -> None:
    """However old it is, and whatever it was kept as; from its settlement on it has a day."""
    open_, unknown = limited.pay(200), limited.pay(200)
    end(limited.journal, unknown)
    limited.wait(40 * DAY)
    assert "svc requests list --unresolved" in str(limited.refused(101).hint)
    end(limited.journal, open_, "refused")
    limited.paid(300)
    end(limited.journal, unknown, "done", object_id="po_x")
    limited.wait(DAY - 1)
    limited.refused(1)
    limited.wait(1)
    limited.pay(500)


@pytest.mark.parametrize("end_of", ["refused", "not_sent", "failed"])
def test_what_is_known_to_have_failed_does_not_count(limited: LimitedJournal, end_of: str) -> None:
    made = limited.pay(500)
    more = {"error_code": "object_failed"} if end_of == "failed" else {}
    end(limited.journal, made, "done" if more else end_of, **more)
    limited.pay(500)


def test_a_request_counts_once_however_often_its_key_is_sent(limited: LimitedJournal) -> None:
    made = limited.pay(500, key="mine")
    end(limited.journal, made)
    for _ in range(3):
        limited.journal.release(limited.journal.lease(made.id))
        limited.journal.release(limited.pay(500, key="mine"))
    limited.refused(1)


def test_what_was_not_carried_out_counts_anew_when_it_is_sent_again(
    limited: LimitedJournal,
) -> None:
    """A request that was too much at once keeps its key, and was not done."""
    first = limited.pay(300)
    busy = RateLimited("busy", status=429, outcome="refused")
    limited.journal.settle(first, settle_by_error(busy))
    limited.pay(250)
    with pytest.raises(LimitReachedError):
        limited.journal.lease(first.id)
    kept = limited.journal.find(first.id)
    assert kept is not None
    assert kept.state == "refused"


@pytest.mark.parametrize(
    ("boot", "moved"),
    [
        pytest.param("first", 40 * DAY, id="ahead, the machine still running"),
        pytest.param("first", -40 * DAY, id="back"),
        pytest.param("second", -40 * DAY, id="back, started anew"),
        pytest.param(None, -40 * DAY, id="back, where the system does not name its starts"),
    ],
)
def test_a_clock_that_is_moved_opens_nothing(
    limited: LimitedJournal, boot: str | None, moved: float
) -> None:
    limited.paid(400)
    limited.boot = boot
    limited.clock.advance(moved)
    limited.refused(101)
    limited.wait(HOUR)
    limited.refused(101)


def test_a_clock_that_is_moved_there_and_back_closes_nothing_for_long(
    limited: LimitedJournal,
) -> None:
    limited.clock.advance(400 * DAY)
    limited.paid(400)
    limited.clock.advance(-400 * DAY)
    limited.refused(101)
    limited.wait(DAY)
    limited.pay(500)


def test_a_clock_put_ahead_has_nothing_forgotten_that_counts(
    limited: LimitedJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "EVERY", 1)
    made = limited.paid(400)
    limited.clock.advance(KEPT_SECONDS + 1)
    limited.paid(1)
    assert limited.journal.find(made.id) is not None
    limited.wait(KEPT_SECONDS + 1)
    limited.paid(1)
    assert limited.journal.find(made.id) is None


def test_what_a_person_forgets_still_counts(limited: LimitedJournal) -> None:
    made = limited.pay(400)
    end(limited.journal, made)
    limited.journal.forget(made.id)
    limited.refused(101)
    limited.wait(DAY)
    limited.pay(500)


def test_a_key_that_was_used_elsewhere_too_forgets_nothing_else(limited: LimitedJournal) -> None:
    """Each request that is forgotten counts, whatever key it had, and by whom it was refused."""
    made = limited.pay(400, key="mine")
    end(limited.journal, made, "done", object_id="po_1")
    limited.journal.forget(made.id)
    limited.limits, no = "", limited.limits
    for ended, scope in (("refused", SCOPE), ("done", OTHERS)):
        again = limited.pay(1, key="mine", scope=scope)
        end(limited.journal, again, ended, object_id="po_2" if ended == "done" else None)
        limited.clock.advance(1)
        limited.journal.forget(again.id)
    limited.limits = no
    limited.refused(101)
    limited.pay(100)


def test_a_row_that_was_corrected_counts_as_what_it_is_now(limited: LimitedJournal) -> None:
    def row(euros: int) -> Intent:
        body = {"amount": euros * 100, "currency": "EUR", "destination": PAYEE}
        new = asked(payouts.create(body), "row-1", batch="b", row=1)
        return limited.journal.record_many([new])[0]

    end(limited.journal, row(1), "refused", status=429)
    with pytest.raises(LimitReachedError, match=r"this is 501\.00 EUR"):
        row(501)
    end(limited.journal, row(499))  # nobody knows how it ended
    limited.refused(2)


def test_what_was_not_sent_before_the_limit_counts_as_what_is_read_now(
    limited: LimitedJournal,
) -> None:
    limited.limits, no = "", limited.limits
    refund = asked(refunds.create({"payment": "pay_1"}))
    end(limited.journal, limited.journal.record(refund), "not_sent")
    limited.limits = no
    with pytest.raises(LimitReachedError, match=r"this is 501\.00 EUR"):
        limited.journal.record(refund._replace(charge=Charge(50100, "EUR")))
    limited.journal.record(refund._replace(charge=Charge(49900, "EUR")))
    with pytest.raises(LimitReachedError, match=r"1\.00 EUR is left"):
        limited.journal.record(
            asked(refunds.create({"payment": "p"}), "k")._replace(charge=Charge(200, "EUR"))
        )


def test_each_currency_window_mode_and_account_counts_by_itself(limited: LimitedJournal) -> None:
    limited.limits = "500 EUR/day, 200 EUR/hour, 9 USD/day"
    limited.paid(200)
    limited.paid(9, currency="USD")
    assert limited.refused(1).retry_after == HOUR
    assert "names EUR and USD alone" in limited.refused(1, currency="GBP").message
    limited.paid(200, scope=SCOPE._replace(mode="live"))
    limited.paid(200, scope=OTHERS)
    limited.paid(200, scope=SCOPE._replace(base_url="https://other.example.com"))
    # Another profile with the same key, or the same with another key, is no other account.
    limited.refused(1, scope=SCOPE._replace(profile="other"))
    limited.refused(1, scope=SCOPE._replace(key_fingerprint="sk_test_…new1"))


@pytest.mark.parametrize("amount", [-500, 12.5, True, None, "-5", "٣", 10**30])
def test_an_amount_that_is_none_is_not_sent(limited: LimitedJournal, amount: object) -> None:
    """One below 0 would make room."""
    body = {"amount": amount, "currency": "EUR", "destination": PAYEE}
    with pytest.raises(LimitReachedError, match="cannot be told"):
        limited.journal.record(asked(payouts.create(body)))


def test_what_was_recorded_without_a_limit_counts(limited: LimitedJournal) -> None:
    """A refund does not say its currency: it counts in each, and without an amount as too much."""
    limited.limits = "9 EUR/day, 9 USD/day"
    no, limited.limits = limited.limits, ""
    refund = limited.journal.record(asked(refunds.create({"payment": "pay_1", "amount": 600})))
    limited.limits = no
    new = asked(refunds.create({"payment": "pay_2", "amount": 301}), "key-2")
    for currency in ("EUR", "USD"):
        with pytest.raises(LimitReachedError, match=f"3.00 {currency} is left"):
            limited.journal.record(new._replace(charge=Charge(301, currency)))
    end(limited.journal, refund, "done", object_id="rf_1", amount=600, currency="EUR")
    limited.journal.record(new._replace(charge=Charge(301, "USD")))
    limited.limits = ""
    whole = limited.journal.record(asked(refunds.create({"payment": "pay_3"}), "key-3"))
    limited.limits = no
    with pytest.raises(LimitReachedError, match=f"what the request {whole.id} has moved is not"):
        limited.journal.record(
            asked(refunds.create({"payment": "pay_4"}), "k")._replace(charge=Charge(1, "EUR"))
        )


def test_requests_of_one_transaction_count_together(limited: LimitedJournal) -> None:
    body = {"amount": 20000, "currency": "EUR", "destination": PAYEE}
    three = [asked(payouts.create({**body, "reference": str(n)}), f"r{n}") for n in range(3)]
    with pytest.raises(LimitReachedError):
        limited.journal.record_many(three)
    assert limited.journal.list() == []
    assert len(limited.journal.record_many(three[:2])) == 2


@pytest.mark.slow(seconds=4)
def test_a_hundred_processes_at_once_do_not_pass_a_limit_together(limited: LimitedJournal) -> None:
    """Real ones, each with a connection of its own: 500 of 700 euros go through, to the cent."""

    def one() -> int:
        limited.journal = limited.open()
        with suppress(LimitReachedError):
            limited.pay(7)
            return 0
        return 2

    limited.journal.list()
    codes = run_in_processes(100, one)
    assert sorted(codes) == [0] * 71 + [2] * 29
    assert sum(intent.amount or 0 for intent in limited.journal.list()) == 497_00


def run_in_processes(count: int, work: Callable[[], int]) -> list[int]:
    """Exit codes of forks of this process, which all begin when the last one is there."""
    read, write = os.pipe()
    children = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            os.close(write)
            os.read(read, 1)  # until nobody holds the other end
            code = 70
            with suppress(BaseException):
                code = work()
            os._exit(code)
        children.append(child)
    os.close(write)
    os.close(read)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@pytest.mark.parametrize(
    ("path", "encoding", "body", "charge"),
    [
        ("/v1/payouts", "json", b'{"amount":5,"currency":"EUR"}', Charge(5, "EUR")),
        ("/v1/payouts", "form", b"amount=5&currency=EUR", Charge(5, "EUR")),
        ("/v1/refunds", "json", b'{"amount":5,"currency":"EUR"}', Charge(5)),
        ("/v1/disputes/dp_1/accept", "json", b'{"amount":5}', Charge()),
        ("/v1/payouts", "json", b'{"amount":-5}', Charge()),
        ("/v1/payouts", "json", b'{"amount":true,"currency":5}', Charge()),
        ("/v1/payouts", "json", b'{"amount":', Charge()),
        ("/v1/payouts", "form", b"amount=\xff", Charge()),
        ("/v1/payouts", "json", b"[]", Charge()),
        ("/v1/nothing", "json", b'{"amount":5}', Charge()),
    ],
)
def test_what_a_request_says_that_it_moves(
    path: str, encoding: str, body: bytes, charge: Charge
) -> None:
    """Of its own bytes; what cannot be read or trusted is unknown, and never nothing."""
    kept: Any = SimpleNamespace(path=path, encoding=encoding, body=body)
    assert read_stated_charge(kept) == charge
