"""Disputes: every transition that is allowed, every one that is refused, and evidence."""

from collections.abc import Callable
from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox, SandboxAnswer
from svc.service.disputes import EVIDENCE

Doc = dict[str, Any]
DAY = 86400

EVIDENCE_KEYS = tuple(field.name for field in EVIDENCE.fields)


def disputed(sandbox: AsgiSandbox, **body: Any) -> Doc:
    answer = sandbox.control("/disputes", {"payment": sandbox.paid()["id"], **body})
    assert answer.status == 200
    opened: Doc = answer.json
    return opened


def dispute_in(sandbox: AsgiSandbox, status: str) -> Doc:
    dispute = disputed(sandbox)
    path = f"/v1/disputes/{dispute['id']}"
    if status != "needs_response":
        sandbox.post(path, {"evidence": {"receipt": "r"}, "submit": True})
    if status in ("won", "lost"):
        sandbox.control(f"/disputes/{dispute['id']}/decide", {"outcome": status})
    return sandbox.again(dispute)


@pytest.mark.parametrize("status", ["needs_response", "under_review", "won", "lost"])
@pytest.mark.parametrize("action", ["draft", "submit", "accept", "decide", "refund", "open"])
def test_dispute_action_in_each_state(sandbox: AsgiSandbox, status: str, action: str) -> None:
    """Answers only while a response is needed, decisions only under review, refunds after a win."""
    dispute = dispute_in(sandbox, status)
    path = f"/v1/disputes/{dispute['id']}"
    before = len(sandbox.events())
    evidence = {"evidence": {"receipt": "new"}}
    calls: dict[str, Callable[[], SandboxAnswer]] = {
        "draft": lambda: sandbox.post(path, evidence),
        "submit": lambda: sandbox.post(path, {**evidence, "submit": True}),
        "accept": lambda: sandbox.post(path + "/accept"),
        "decide": lambda: sandbox.control(f"/disputes/{dispute['id']}/decide", {"outcome": "won"}),
        "refund": lambda: sandbox.post("/v1/refunds", {"payment": dispute["payment"]}),
        "open": lambda: sandbox.control("/disputes", {"payment": dispute["payment"]}),
    }
    answer = calls[action]()
    where = {
        "decide": ["under_review"],
        "refund": ["won"],
        "open": ["won"],
    }.get(action, ["needs_response"])
    refusal = {"refund": "payment_disputed", "open": "payment_not_disputable"}
    if status in where:
        assert answer.status == 200
    else:
        assert answer.status == 400
        assert answer.code == refusal.get(action, "dispute_unexpected_state")
        assert sandbox.again(dispute) == dispute
        assert len(sandbox.events()) == before
        if action not in refusal:
            assert answer.json["current_status"] == status


def test_dispute_debits_the_balance_and_marks_the_payment(sandbox: AsgiSandbox) -> None:
    """Opening takes what is left of the payment; dispute.opened is sent."""
    payment = sandbox.paid()
    sandbox.post("/v1/refunds", {"payment": payment["id"], "amount": 5708})
    sandbox.advance(5)
    before = sandbox.balance("USD")
    dispute = sandbox.control("/disputes", {"payment": payment["id"]}).json
    assert dispute["amount"] == 10000
    assert sandbox.balance("USD") == before - 11000
    assert sandbox.again(payment)["disputed"] is True
    last = sandbox.events()[-1]
    assert (last["type"], last["data"]["object"]) == ("dispute.opened", dispute)


def test_evidence_is_a_draft_until_it_is_submitted(sandbox: AsgiSandbox) -> None:
    """Updates merge key by key, an empty value removes a key, and no event is sent."""
    dispute = disputed(sandbox)
    path = f"/v1/disputes/{dispute['id']}"
    before = len(sandbox.events())
    sandbox.form(path, "evidence[tracking_number]=1&evidence[shipping_carrier]=DHL")
    draft = sandbox.form(path, "evidence[tracking_number]=2&evidence[receipt]=r").json
    assert draft["evidence"] == {"tracking_number": "2", "shipping_carrier": "DHL", "receipt": "r"}
    assert (draft["status"], draft["evidence_status"]) == ("needs_response", "draft")
    assert sandbox.post(path, {"evidence": {"receipt": None}}).json["evidence"].keys() == {
        "tracking_number",
        "shipping_carrier",
    }
    assert sandbox.post(path, {}).json["evidence_status"] == "draft"
    assert sandbox.form(path, "evidence=").json["evidence_status"] == "none"
    assert len(sandbox.events()) == before


def test_submitting_needs_evidence(sandbox: AsgiSandbox) -> None:
    """`submit` true without a value anywhere is refused; an earlier draft is enough."""
    dispute = disputed(sandbox)
    path = f"/v1/disputes/{dispute['id']}"
    for body in ({"submit": True}, {"submit": True, "evidence": {"receipt": ""}}):
        answer = sandbox.post(path, body)
        assert (answer.status, answer.code, answer.param) == (400, "evidence_missing", "evidence")
    sandbox.post(path, {"evidence": {"receipt": "r"}})
    submitted = sandbox.post(path, {"submit": True}).json
    assert submitted["status"] == "under_review"
    assert submitted["evidence_status"] == "submitted"
    assert submitted["evidence_submitted_at"] == "2026-10-01T09:00:00Z"
    last = sandbox.events()[-1]
    assert (last["type"], last["data"]["object"]) == ("dispute.evidence_submitted", submitted)


@pytest.mark.parametrize("key", EVIDENCE_KEYS)
def test_every_evidence_key_is_taken(shared: AsgiSandbox, key: str) -> None:
    """All 21 keys, 20000 characters each."""
    dispute = disputed(shared)
    path = f"/v1/disputes/{dispute['id']}"
    assert shared.post(path, {"evidence": {key: "x" * 20000}}).json["evidence"][key]
    long = shared.post(path, {"evidence": {key: "x" * 20001}})
    assert (long.code, long.param) == ("parameter_too_long", f"evidence[{key}]")


def test_evidence_has_limits_and_known_keys(shared: AsgiSandbox) -> None:
    """150000 characters in all after merging; an unknown key is parameter_unknown."""
    dispute = disputed(shared)
    path = f"/v1/disputes/{dispute['id']}"
    for key in EVIDENCE_KEYS[:7]:
        assert shared.post(path, {"evidence": {key: "x" * 20000}}).status == 200
    body = {"evidence": {EVIDENCE_KEYS[7]: "x" * 10001}}
    answer = shared.post(path, body)
    assert (answer.code, answer.param) == ("parameter_too_long", "evidence")
    assert shared.post(path, {"evidence": {EVIDENCE_KEYS[7]: "x" * 10000}}).status == 200
    unknown = shared.post(path, {"evidence": {"photo": "x"}})
    assert (unknown.code, unknown.param) == ("parameter_unknown", "evidence[photo]")


@pytest.mark.parametrize(
    ("text", "outcome"), [("winning_evidence", "won"), ("losing_evidence", "lost")]
)
def test_magic_evidence_decides_after_five_seconds(
    sandbox: AsgiSandbox, text: str, outcome: str
) -> None:
    """The balance gets the amount back only when the dispute is won."""
    dispute = disputed(sandbox)
    before = sandbox.balance("USD")
    body = {"evidence": {"uncategorized_text": text}, "submit": True}
    sandbox.post(f"/v1/disputes/{dispute['id']}", body)
    sandbox.advance(4)
    assert sandbox.again(dispute)["status"] == "under_review"
    sandbox.advance(1)
    closed = sandbox.again(dispute)
    assert closed["status"] == outcome
    assert closed["closed_at"] == "2026-10-01T09:00:05Z"
    assert sandbox.event_types()[-1] == f"dispute.{outcome}"
    assert sandbox.balance("USD") == before + (17279 if outcome == "won" else 0)


def test_other_evidence_waits_for_the_bank(sandbox: AsgiSandbox) -> None:
    """Any other evidence stays under review, past the deadline too, until it is decided."""
    dispute = dispute_in(sandbox, "under_review")
    sandbox.advance(60 * DAY)
    assert sandbox.again(dispute)["status"] == "under_review"
    before = sandbox.balance("USD")
    decided = sandbox.control(f"/disputes/{dispute['id']}/decide", {"outcome": "won"}).json
    assert decided["status"] == "won"
    assert sandbox.balance("USD") == before + 17279


def test_a_missed_deadline_loses(sandbox: AsgiSandbox) -> None:
    """At `evidence_due_by` an unanswered dispute is lost, draft or not."""
    dispute = disputed(sandbox, evidence_due_by="2026-10-03T12:00:00Z", reason="duplicate")
    assert (dispute["evidence_due_by"], dispute["reason"]) == ("2026-10-03T12:00:00Z", "duplicate")
    sandbox.post(f"/v1/disputes/{dispute['id']}", {"evidence": {"receipt": "r"}})
    sandbox.advance(2 * DAY + 3 * 3600 - 1)
    assert sandbox.again(dispute)["status"] == "needs_response"
    sandbox.advance(1)
    lost = sandbox.again(dispute)
    assert (lost["status"], lost["evidence_status"]) == ("lost", "draft")
    assert lost["closed_at"] == "2026-10-03T12:00:00Z"
    assert sandbox.event_types()[-1] == "dispute.lost"


def test_accepting_loses_at_once(sandbox: AsgiSandbox) -> None:
    """Accept is final: lost, one event, no money back, and the deadline does nothing more."""
    dispute = disputed(sandbox)
    before = sandbox.balance("USD")
    lost = sandbox.post(f"/v1/disputes/{dispute['id']}/accept").json
    assert (lost["status"], lost["evidence_status"]) == ("lost", "none")
    sandbox.advance(20 * DAY)
    assert sandbox.event_types().count("dispute.lost") == 1
    assert sandbox.balance("USD") == before


OPEN_ROWS: list[tuple[Doc, int, str, str | None]] = [
    ({"payment": "pay_none"}, 404, "resource_missing", "payment"),
    ({"evidence_due_by": "2026-10-01T09:00:00Z"}, 400, "parameter_invalid_value", "evidence_due_by"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status", "code", "param"), OPEN_ROWS)
def test_opening_a_dispute_is_checked(
    sandbox: AsgiSandbox, body: Doc, status: int, code: str, param: str | None
) -> None:
    """The control's parameters follow the rules of the API's."""
    given = body if "payment" in body else {"payment": sandbox.paid()["id"], **body}
    answer = sandbox.control("/disputes", given)
    assert (answer.status, answer.code, answer.param) == (status, code, param)
    assert answer.json["type"] == "sandbox_error"


def test_nothing_left_is_nothing_to_dispute(sandbox: AsgiSandbox) -> None:
    """A payment that is refunded in full, or was never captured, is not disputable."""
    payment = sandbox.paid()
    sandbox.post("/v1/refunds", {"payment": payment["id"]})
    held = sandbox.paid(capture_method="manual")
    for identity in (payment["id"], held["id"]):
        answer = sandbox.control("/disputes", {"payment": identity})
        assert (answer.status, answer.code) == (400, "payment_not_disputable")
