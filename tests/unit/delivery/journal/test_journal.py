"""The journal of POSTs: how a request ends there, and what is read of it afterwards (promises R2-R5)."""

import pytest

from support.calls import orders
from svc.delivery.journal.entry import KeyEquivalence, settle_by_error
from svc.delivery.journal.journal import Journal
from svc.errors import ApiError, OutcomeUnknown
from unit.delivery.journal.asking import DONE, SCOPE, Open, asked, end, is_busy


def test_settle_frees_the_lease_and_keeps_the_end(opened: Open) -> None:
    """What became of it is there for the next process."""
    one, two = opened(), opened()
    first = one.record(asked())
    one.settle(first, DONE)
    assert not is_busy(two, first)
    kept = two.find(first.id)
    assert kept is not None
    assert (kept.state, kept.settled) == ("done", DONE)
    assert two.list(unresolved=True) == []


def test_error_text_is_kept_without_secrets(intents: Journal) -> None:
    """R45: what the service or the network said may have held a key."""
    first = intents.record(asked())
    error = OutcomeUnknown("it said sk_test_canarycanary", outcome="unknown")
    intents.settle(first, settle_by_error(error))
    kept = intents.find(first.id)
    assert kept is not None
    assert kept.settled is not None
    assert "canarycanary" not in (kept.settled.error_message or "")


def test_keys_of_the_same_request_are_told(intents: Journal) -> None:
    """R91: those that are not known to be of the account; who asks looks whose they are."""
    end(intents, intents.record(asked()))
    other = asked(key="key-2", scope=SCOPE._replace(key_fingerprint="sk_test_…wxyz"))
    assert intents.list_other_keys(other) == {SCOPE.key_fingerprint}
    rolled = other._replace(account=KeyEquivalence(same=frozenset((SCOPE.key_fingerprint,))))
    assert (
        intents.list_other_keys(rolled)
        == intents.list_other_keys(asked(key="key-3"))
        == frozenset()
    )
    assert (
        intents.list_other_keys(asked(orders.create({"amount": 1}), scope=other.scope))
        == frozenset()
    )


def test_what_one_request_has_made_no_other_has_made(intents: Journal) -> None:
    """R93: in one state of a sandbox; after a reset the same ids are given again."""
    first, second = intents.record_many([asked(), asked(key="key-2")])
    intents.settle(first, DONE._replace(world="w_1"))
    assert intents.is_claimed_by_other(second, "rf_1", "w_1")
    assert not intents.is_claimed_by_other(second, "rf_1", "w_2")
    assert not intents.is_claimed_by_other(second, "rf_2", "w_1")
    assert not intents.is_claimed_by_other(first, "rf_1", "w_1")


def test_list_is_newest_first(intents: Journal) -> None:
    """And a limit takes the newest."""
    made = [intents.record(asked(orders.create({"amount": n}), f"k{n}")).id for n in range(3)]
    assert [kept.id for kept in intents.list()] == made[::-1]
    assert [kept.id for kept in intents.list(limit=1)] == made[-1:]


@pytest.mark.parametrize("mode", ["test", "live"])
def test_request_knows_whether_it_moves_money(mode: str, intents: Journal) -> None:
    """The command that sends it again names the mode."""
    kept = intents.record(asked(scope=SCOPE._replace(mode=mode)))
    assert kept.is_live is (mode == "live")


def test_by_key_finds_the_request_of_its_scope(intents: Journal) -> None:
    """A key means something only within profile, mode and address."""
    first = intents.record(asked())
    found = intents.by_key("key-1", SCOPE)
    assert found is not None
    assert found.id == first.id
    assert intents.by_key("key-1", SCOPE._replace(mode="live")) is None


def test_objects_of_a_key_are_the_latest_that_it_made(intents: Journal) -> None:
    """What one key has made shows whether another is of its account; ten are enough."""
    for number in range(12):
        end(intents, intents.record(asked(key=f"k-{number}")), "done", object_id=f"rf_{number}")
    end(intents, intents.record(asked(key="refused")), "refused", object_id="rf_no")
    other = SCOPE._replace(key_fingerprint="sk_test_…else")
    end(intents, intents.record(asked(key="else", scope=other)), "done", object_id="rf_else")
    latest = tuple(f"rf_{number}" for number in range(11, 1, -1))
    assert intents.list_made_with(SCOPE.key_fingerprint, SCOPE) == latest
    assert intents.list_made_with(other.key_fingerprint, SCOPE) == ("rf_else",)
    assert intents.list_made_with("sk_test_…none", SCOPE) == ()
    assert intents.list_made_with(SCOPE.key_fingerprint, SCOPE._replace(mode="live")) == ()


@pytest.mark.parametrize(
    ("code", "kept"), [("amount_too_large", "amount_too_large"), (None, "api_error")]
)
def test_end_keeps_the_services_code_or_else_the_kind(code: str | None, kept: str) -> None:
    """Something is always there to go by, for people and for what follows from a code."""
    error = ApiError("No.", code=code, status=400, request_id="req_1", outcome="refused")
    ended = settle_by_error(error)
    assert (ended.error_code, ended.outcome, ended.status) == (kept, "refused", 400)
    assert (ended.request_id, ended.object_id) == ("req_1", None)
    assert settle_by_error(ApiError("No.", outcome=None)).outcome == "unknown"
