"""A mistyped word is answered with the one that was meant."""

import pytest

from running import Sandbox, Svc

CASES = {
    "order list": "'orders'",
    "orders creat": "'create'",
    "orders create --amout 3": "--amount",
    "orders list --statsu paid": "--status",
    "whoam": "'whoami'",
    "sandbox trigger order.payed": "'order.paid'",
    "events list --forward-to 3000": "'listen'",
    "help moeny": "'money'",
    "config set ouput json": "output",
}


@pytest.mark.parametrize("line", CASES)
def test_a_mistyped_word_is_answered_with_the_nearest(
    svc: Svc, sandbox: Sandbox, line: str
) -> None:
    """Commands, options, event types, topics and settings alike; exit 2, nothing is done."""
    result = svc(*line.split())
    assert (result.code, result.out) == (2, "")
    assert CASES[line] in result.err


def test_nonsense_is_not_guessed_at(svc: Svc) -> None:
    """A far-fetched guess would be worse than none."""
    result = svc("help", "qqqqq")
    assert result.code == 2
    assert "Did you mean" not in result.err
