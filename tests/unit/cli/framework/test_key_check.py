"""What an answer says of a key."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from svc.cli.framework.key_check import try_key
from svc.errors import Forbidden


@pytest.mark.parametrize(
    ("code", "is_known"), [("permission_denied", True), ("account_closed", False), (None, False)]
)
def test_a_key_without_the_right_is_known_and_one_that_is_refused_is_not(
    code: str | None, is_known: bool
) -> None:
    """A restricted key may lack the right to list orders; every other 403 is told."""

    def send(_: object) -> None:
        raise Forbidden("No.", code=code, status=403)

    session: Any = SimpleNamespace(client=lambda **_: nullcontext(SimpleNamespace(send=send)))
    if is_known:
        assert try_key(session, "sk_test_x", "test") is None
    else:
        with pytest.raises(Forbidden):
            try_key(session, "sk_test_x", "test")
