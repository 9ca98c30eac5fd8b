"""The bench of these proofs would see what it says is not there."""

import pytest

from proof.faults.bench import CANARY, UserMachine
from proof.faults.ledger import CLIENT_SECRET, SIGNING_SECRET
from proof.faults.operations import command


@pytest.mark.parametrize("secret", [CANARY, CLIENT_SECRET, SIGNING_SECRET])
def test_a_secret_in_any_file_would_be_seen(machine: UserMachine, secret: str) -> None:
    """R39, R45: beside what the program has really written."""
    assert machine.run(*command("refund", "mark-1")).code == 0
    assert machine.rows()
    (machine.state / "deep").mkdir()
    (machine.state / "deep" / "note").write_bytes(b"\x00" + secret.encode() + b"\xff")
    with pytest.raises(AssertionError, match="note"):
        machine.assert_no_secret("")


def test_a_key_on_a_stream_would_be_seen(machine: UserMachine) -> None:
    """R39: also in the middle of a line."""
    with pytest.raises(AssertionError):
        machine.assert_no_secret(f"Bearer sk_test_{CANARY}!")


@pytest.mark.parametrize("operation", ["create", "endpoint"])
def test_the_ledger_does_answer_with_the_secrets_that_are_looked_for(
    machine: UserMachine, operation: str
) -> None:
    """R45: they came to the program, which shows them and keeps them nowhere."""
    shown = machine.run(*command(operation, "mark-1"), "-o", "json")
    assert shown.code == 0, shown.err
    assert CLIENT_SECRET in shown.out or SIGNING_SECRET in shown.out
