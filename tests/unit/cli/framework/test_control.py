"""What a sandbox's controls say of its clock and of keys, and what an answer says of a key."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from support.clocks import ManualClock
from svc.cli.framework import control as controls
from svc.cli.framework import delivering
from svc.cli.framework.control import IdempotencyAges, clock_of, idempotency_ages, state_of
from svc.cli.framework.key_check import try_key
from svc.errors import Forbidden, UsageError

NOW = "2026-11-21T12:00:00.5Z"


def control(health: dict[str, object], *logged: tuple[str, str]) -> Any:
    """A client of controls that answer so; of the requests the newest comes first."""
    rows = [{"idempotency_key": key, "created": created} for key, created in logged]
    answer = SimpleNamespace(data={"data": rows})
    return SimpleNamespace(health=lambda: SimpleNamespace(data=health), send=lambda _: answer)


def test_the_clock_and_the_state_of_a_sandbox_are_read() -> None:
    """An old one tells no state."""
    assert clock_of(control({"now": NOW})) == 1795262400.5
    assert state_of(control({"now": NOW, "world": "w1"})) == (1795262400.5, "w1")
    assert state_of(control({"now": NOW, "world": 7})) == (1795262400.5, None)


@pytest.mark.parametrize("now", ["soon", "\x1b[2J"])
def test_what_tells_no_time_is_no_sandbox(now: object) -> None:
    """The refusal shows what it said."""
    with pytest.raises(UsageError, match="The sandbox's answer holds no time") as refused:
        clock_of(control({"now": now}))
    assert refused.value.code == "not_a_sandbox"
    assert "\x1b" not in refused.value.message


def test_a_key_is_as_old_as_its_first_arrival() -> None:
    """By the journal's note of the sandbox's time, else its log, else this machine's clock."""
    later, first = "2026-11-21T11:59:00Z", "2026-11-21T11:00:00Z"
    ages = idempotency_ages(control({"now": NOW}, ("k", later), ("k", first)))
    assert ages == IdempotencyAges(1795262400.5, {"k": 1795258800.0})

    def age(server_time: float | None, key: str) -> float:
        stored = SimpleNamespace(idempotency_key=key)
        entry: Any = SimpleNamespace(
            server_time=server_time, stored=stored, first_sent_at=1795262300.5
        )
        return ages.age(entry)

    assert [age(1795262390.5, "k"), age(None, "k"), age(None, "other")] == [10, 3600.5, 100]


def test_a_rolled_key_is_of_the_account_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of this address and mode alone."""
    facts = [
        SimpleNamespace(fingerprint=f"new{n}", old_fingerprint=old, origin=origin, mode=mode)
        for n, (old, origin, mode) in enumerate(
            [("old", "o", "test"), (None, "o", "test"), ("old", "p", "test"), ("old", "o", "live")]
        )
    ]
    session: Any = SimpleNamespace(
        base_url=SimpleNamespace(origin="o"),
        settings=SimpleNamespace(mode="test"),
        key_facts=SimpleNamespace(every=lambda: facts),
        scope=lambda _: None,
        key=SimpleNamespace(fingerprint="f"),
    )
    found: list[set[str]] = []
    monkeypatch.setattr(delivering, "KeyMatcher", lambda *given: found.extend(given[-1]()))
    nothing: Any = None
    delivering.accounts_of(session, nothing, nothing)
    assert found == [{"new0", "old"}]


def test_a_sandboxs_clock_is_asked_again_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """And never again once none has answered."""
    clock, answers = ManualClock(), [100.0, 200.0, None, 300.0]
    monkeypatch.setattr(controls, "is_sandbox", lambda _: True)
    monkeypatch.setattr(controls, "_ask_sandbox", lambda *_: answers.pop(0))
    session: Any = SimpleNamespace(clock=clock)
    served, said = controls.ServedClock(session), []
    for seconds in (0.0, 0.5, 0.5, 0.75, 0.25, 5.0):
        clock.advance(seconds)
        said.append(served.now())
    assert said == [100.0, 100.0, 200.0, 200.0, None, None]
    monkeypatch.setattr(controls, "is_sandbox", lambda _: False)
    assert controls.ServedClock(session).now() is None
    assert answers == [300.0]


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
