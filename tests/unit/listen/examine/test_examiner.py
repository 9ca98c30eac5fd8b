"""Each rule of an examination, on handlers in memory that have one fault each, or none.

What is delivered lies in `deliveries.txt`, what is said in `verdicts.txt`; after a change that is
meant, `GOLDEN=write` writes them anew.
"""

import asyncio
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from support.suite.golden import hold_golden
from svc.errors import CheckFailed, UsageError
from svc.listen.examine.examiner import Examiner, RuleVerdict
from svc.listen.examine.rules import RULES
from svc.listen.http.connection import TargetReply
from unit.listen.examine.memory_handler import AWAY, CLOSED, NOW, SECRET, MemoryHandler

NAMES: Final = [rule.name for rule in RULES]


def examine(
    handler: MemoryHandler, *, has_check: bool = True, kind: str = "order.paid"
) -> dict[str, RuleVerdict]:
    """The verdicts on a handler, by the rules' names."""
    numbers = itertools.count(10**40)
    examiner = Examiner(
        handler,
        [SECRET],
        kind,
        handler.print_effects if has_check else None,
        0.5,
        lambda count: str(next(numbers))[-count:],
        lambda: float(NOW),
        lambda _: None,
        handler.sleep,
    )
    verdicts = asyncio.run(examiner.examine())
    assert [each.rule.name for each in verdicts] == NAMES
    return {each.rule.name: each for each in verdicts}


def failed(verdicts: dict[str, RuleVerdict]) -> list[str]:
    return [name for name, each in verdicts.items() if each.status == "failed"]


def test_a_good_handler_passes_every_rule() -> None:
    """But for what cannot be seen from outside, which is advice."""
    handler = MemoryHandler()
    verdicts = examine(handler)
    assert [each.status for each in verdicts.values()] == [*["passed"] * 13, "advice"]
    assert set(handler.rules) == set(NAMES) - {"constant time"}
    assert "compare_digest" in (verdicts["constant time"].fix or "")
    assert len(handler.fulfilled) == 2 + 1 + 5 + 1 + 3 + 1 + 2 + 3


@pytest.mark.parametrize(
    ("fault", "rule", "words"),
    [
        ("no signature", "wrong signature", "Answered 200 to an event without a signature"),
        ("JSON written again", "unusual bytes", "Answered 400 to a valid order.paid with escapes"),
        ("no age", "old signature", "Answered 200 to an event signed 10 minutes ago"),
        ("one v1", "rolled secret", "Answered 400 to a valid order.paid"),
        ("twice", "same event twice", "--check shows the effect of 2 events in place of 1"),
        ("race", "twice at once", "--check shows the effect of 12 events in place of 3"),
        ("forgets what breaks", "killed connection", "the effect of 2 events in place of 1"),
        (
            "crash on an unknown type",
            "unknown type",
            "stopped answering during this rule: connection refused",
        ),
        ("unknown type refused", "unknown type", "Answered 422 to a valid order.examined"),
        ("any type fulfilled", "unknown type", "the effect of 1 event in place of 0"),
        (
            "wrong order",
            "wrong order",
            "leaves another state than the right one: --check shows 1 more of",
        ),
        (
            "early",
            "saved first",
            "before it was saved: right after the answers --check showed 0 of 3 events",
        ),
        ("200 to everything", "wrong signature", 'Answered 200 ({"error": "bad signature"})'),
        ("nothing done", "valid event", "--check prints the same as before"),
    ],
)
def test_a_fault_is_named_by_its_own_rule(fault: str, rule: str, words: str) -> None:
    """And by no other; what says nothing of its own before that is mended is unknown."""
    verdicts = examine(MemoryHandler(fault))
    assert failed(verdicts) == [rule]
    assert words in verdicts[rule].detail
    assert verdicts[rule].fix
    for each in verdicts.values():
        assert each.status in ("failed", "passed", "advice") or each.until == rule


def test_without_a_command_effects_are_unknown_and_no_pass() -> None:
    """Also those of a handler that fulfils everything twice."""
    verdicts = examine(MemoryHandler("twice"), has_check=False)
    unknown = [name for name, each in verdicts.items() if each.status == "unknown"]
    assert unknown == [rule.name for rule in RULES if rule.seen]
    assert verdicts["same event twice"].detail == (
        "Taken with 200 within 3 ms. Without --check it is unknown whether the handler handles an "
        "event once, however often it comes."
    )
    assert failed(verdicts) == []


USUAL: Final = (
    *(TargetReply(1.0, status) for status in (302, 401, 404, 405)),
    TargetReply(1.0, 500, b"KeyError\n at \x1bx" + b"y" * 60),
    TargetReply(9.0, trouble="timeout", error="no answer in time"),
    TargetReply(1.0, trouble="unreadable", error="no HTTP"),
    CLOSED,
    TargetReply(2000.0, 200),
    TargetReply(2000.1, 200),
    TargetReply(1.0, 200, b'{"error": "no such order"}'),
    TargetReply(1.0, 200, b'{"errors": [1]}'),
    TargetReply(1.0, 200, b'{"error": null, "other": 1}'),
)


def test_each_answer_to_a_valid_event_is_judged_as_agreed() -> None:
    """One rule has failed and all else waits for it, or it is advice and everything else is seen."""
    told = []
    for usual in USUAL:
        verdicts = examine(MemoryHandler(usual=usual))
        first = verdicts["valid event"]
        told.append(json.dumps(first.as_data(), indent=1, ensure_ascii=False))
        is_taken = usual.status == 200
        assert failed(verdicts) == ([] if is_taken else ["valid event"])
        untils = {each.until for each in verdicts.values()}
        assert untils == ({None} if is_taken else {None, "valid event"})
    hold_golden(Path(__file__).with_name("verdicts.txt"), "\n".join(told) + "\n")


def test_deliveries_are_made_as_agreed() -> None:
    """In the order of the rules, and twice more where nothing was taken, as the service does it."""
    told = []
    for handler in (MemoryHandler(), MemoryHandler(usual=TargetReply(1.0, 503))):
        examine(handler)
        told += [f"{one.decode()}\n----\n" for one in handler.sent]
    hold_golden(Path(__file__).with_name("deliveries.txt"), "".join(told).replace("\r\n", "\n"))


def test_a_refusal_that_looks_like_a_crash_is_advice() -> None:
    verdicts = examine(MemoryHandler("500 in place of 400"))
    assert verdicts["wrong signature"].status == "advice"
    assert "Answer 400" in (verdicts["wrong signature"].fix or "")


def test_where_nothing_answers_nothing_is_examined() -> None:
    handler = MemoryHandler()
    handler.is_away = True
    with pytest.raises(CheckFailed, match="cannot be reached: connection refused") as refused:
        examine(handler)
    assert refused.value.code == "handler_unreachable"
    assert len(handler.rules) == 1


def test_the_order_of_what_is_not_shown_is_unknown() -> None:
    """A command that counts fulfilled orders alone says nothing of payments."""
    handler = MemoryHandler("wrong order")

    async def count() -> str:
        return str(len(handler.fulfilled))

    handler.print_effects = count  # type: ignore[method-assign]
    order = examine(handler)["wrong order"]
    assert order.status == "unknown"
    assert "no other event than order.paid" in order.detail


@pytest.mark.parametrize("change", [lambda n: n * n, lambda n: f"{n} of {n * n}"])
def test_a_command_that_tells_no_effect_is_refused(change: Callable[[int], object]) -> None:
    """Two equal events must change alike what it prints: it is not the handler that is wrong."""
    handler = MemoryHandler()

    async def print_oddly() -> str:
        return str(change(len(handler.fulfilled)))

    handler.print_effects = print_oddly  # type: ignore[method-assign]
    with pytest.raises(UsageError, match="change what it prints in different ways") as refused:
        examine(handler)
    assert refused.value.code == "check_command_failed"


def test_a_command_that_asks_a_handler_that_is_gone_is_no_mistake() -> None:
    """What it cannot tell any more is the handler's end, not an error of the command line."""
    handler = MemoryHandler()
    show = handler.print_effects

    async def ask() -> str:
        if "unknown type" in handler.rules:
            handler.is_away = True
            raise UsageError("exit code 7", code="check_command_failed")
        return await show()

    handler.print_effects = ask  # type: ignore[method-assign]
    assert "stopped answering during this rule" in examine(handler)["unknown type"].detail
    assert AWAY.error == "connection refused"
