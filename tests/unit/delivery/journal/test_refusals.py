"""Why a request is not sent, or not sent again: each refusal, and the command to go on with.

It lies in `refusals.txt`; after a change that is meant, `GOLDEN=write` writes it anew.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.suite.golden import hold_golden
from svc.client.retry import CLOCK_STEP_SECONDS, KEY_SAFE_SECONDS
from svc.delivery.journal import refusals
from svc.delivery.journal.entry import Intent, Scope, Settled, Stored
from svc.delivery.journal.refusals import SendRefusal, format_full_command
from svc.errors import Forbidden, Outcome, SvcError

AT = 1_790_863_402.0
SCOPE = Scope("default", "test", "https://api.example.com", "sk_test_…1234")


def request(path: str = "/v1/refunds", body: bytes = b'{"payment": "pay_1"}') -> Intent:
    return Intent(
        seq=1,
        id="rq_1",
        scope=SCOPE,
        stored=Stored(path, "json", body, "key-1", None),
        body_sha256="",
        digest="",
        likeness="a",
        created_at=AT - 60,
        first_sent_at=AT,
        last_sent_at=AT + 5,
        sendings=1,
        state="unknown",
        batch=None,
        row=None,
        lease=None,
        key_given=False,
        server_time=None,
    )


ASKED = request()
DONE = ASKED._replace(settled=Settled("done", 201, "rf_1", "req_1"), settled_at=AT + 9)
LIVE = DONE._replace(scope=SCOPE._replace(mode="live"))
# What a refusal names besides the request itself; one that names more is a mistake.
WORDS: Any = dict.fromkeys("at ended now other own_key why".split(), "WORDS")


def each_error() -> Iterator[SvcError]:
    for name, row in vars(refusals).items():
        if isinstance(row, SendRefusal):
            yield row.about(ASKED, likeness="b", **WORDS)
            yield row.about(LIVE, answer=LIVE.settled, **WORDS)
            assert name.isupper()
    old = AT + KEY_SAFE_SECONDS
    for now, served in ((old, None), (old - 1, old), (AT - CLOCK_STEP_SECONDS - 1, None)):
        yield refusals.build_not_again(ASKED, now, format_full_command, served)
        yield refusals.build_duplicate_error(ASKED, "b", now)
    yield refusals.build_duplicate_error(ASKED, "a", AT - CLOCK_STEP_SECONDS)
    outcomes: tuple[Outcome, ...] = ("done", "failed", "refused", "not_sent")
    for outcome in outcomes:
        settled = DONE._replace(settled=Settled(outcome, 201, "rf_1"))
        yield refusals.build_already_settled(settled, format_full_command)
    yield refusals.build_not_ours(ASKED, Settled("done", 201, "rf_1", "req_1"))
    yield refusals.build_unknown_request("x" * 50)
    yield refusals.build_duplicate_in_batch_error("/v1/refunds", "october")
    no = Forbidden("No right.", code="permission_denied", status=403, request_id="req_1")
    yield refusals.build_refused_to_other_key(ASKED, no)


def each_line() -> Iterator[str]:
    for error in each_error():
        facts = (error.code, error.outcome, error.request, error.idempotency_key, error.status)
        more = (error.request_id, error.retryable, int(error.exit_code))
        yield f"{facts} {more}\n  {error.message}\n    {error.hint}"
    for path in ("orders", "orders/ord_1/cancel", "refunds", "payouts", "disputes/dp_1", "others"):
        yield refusals.suggest_lookup(request(f"/v1/{path}"), format_full_command)
    for body in (b"[", b"{}", b'{"payment": "a b"}', b'{"payment": 1}'):
        yield refusals.suggest_lookup(request(body=body), format_full_command)
    for one, likeness in ((ASKED, "a"), (DONE, "b")):
        yield refusals.note_recent(one, likeness)
    yield str(refusals.settle_claimed_by_other(Settled("done", 201, "rf_1")))


def test_each_refusal_is_told_as_agreed() -> None:
    told = "".join(f"{line}\n" for line in each_line())
    hold_golden(Path(__file__).with_name("refusals.txt"), told)
