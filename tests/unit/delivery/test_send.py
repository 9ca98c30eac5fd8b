"""How the error of a sending is told where the request was sent before."""

from types import SimpleNamespace
from typing import Any

import pytest

from svc.delivery.journal.refusals import format_full_command
from svc.delivery.send import adapt_to_journal
from svc.errors import Forbidden, LocalError, Outcome
from unit.delivery.journal.test_refusals import ASKED, DONE


@pytest.mark.parametrize(
    ("state", "sent_before", "outcome", "is_own", "told"),
    [
        ("done", True, "refused", True, "done"),
        ("done", True, "unknown", False, "done"),
        ("done", True, "done", False, None),
        ("unknown", True, "refused", False, "unknown"),
        ("unknown", True, "refused", None, "unknown"),
        ("unknown", True, "refused", True, None),
        ("unknown", False, "refused", False, None),
        ("unknown", True, "unknown", False, None),
    ],
)
def test_what_a_later_sending_meets_settles_no_earlier_one(
    state: Any, *, sent_before: bool, outcome: Outcome, is_own: bool | None, told: str | None
) -> None:
    """R10: a key of another account is refused what the first one may have done."""

    def ask(key: str) -> bool:
        assert key == ASKED.scope.key_fingerprint
        if is_own is None:
            raise LocalError("The state database cannot be used.")
        return is_own

    accounts = SimpleNamespace(is_own=ask)
    sender: Any = SimpleNamespace(accounts=accounts, format_command=format_full_command)
    intent = (DONE if state == "done" else ASKED)._replace(state=state, sent_before=sent_before)
    error = Forbidden("No right.", code="permission_denied", outcome=outcome, status=403)
    found = adapt_to_journal(sender, intent, error)
    assert (found is error) == (told is None)
    assert found.outcome == (told or outcome)
    assert (found.status, "No right." in found.message) == (403, True)
