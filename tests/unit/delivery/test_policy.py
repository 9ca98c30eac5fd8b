"""The rules of what may be sent, written a second time, against every combination (R112 to R118).

The first writing is the two tables of `svc.delivery.policy` and `svc.delivery.evidence.merge_evidence`. This
one is a person's: questions in the order in which somebody would ask them, with no rule shared.
"""

import itertools
from collections.abc import Iterator
from functools import cache
from unittest.mock import patch

import pytest

from svc.delivery import policy
from svc.delivery.evidence import Evidence, Known, merge_evidence
from svc.delivery.policy import (
    CommandDecision,
    CommandState,
    DuplicateState,
    KeyRelation,
    RowDecision,
    RowState,
    decide_command,
    decide_row,
)


def every_row() -> Iterator[RowState]:
    """All 55,296 states of a row: done or not, young or old, whose, elsewhere, edited, allowed."""
    flags = [(False, True)] * 6
    for known, key_old, effect_old, account, duplicate_state in itertools.product(
        Known, (False, True), (False, True), KeyRelation, DuplicateState
    ):
        for rest in itertools.product(*flags):
            yield RowState(known, key_old, effect_old, account, duplicate_state, *rest)


def row_as_a_person_says(row: RowState) -> RowDecision:
    """What somebody who pays people would want done with a row."""
    if row.known >= Known.KEY_TAKEN:  # something may have come of it
        if row.account != KeyRelation.SAME:
            return RowDecision.STOP_ACCOUNT  # not known stops, and never skips
        return _after_an_effect(row)
    return _before_any_effect(row)


def _after_an_effect(row: RowState) -> RowDecision:
    match row.known:
        case Known.KEY_TAKEN:  # done by another machine with other values, for all that is known
            return RowDecision.STOP_ROW_KEY_TAKEN
        case Known.UNKNOWN:
            return _elsewhere(row) or _with_its_key(row)
        case Known.FAILED:
            return _again(row)
        case Known.CONTRADICTED:
            return RowDecision.STOP_ROW_CONTRADICTED
        case _:
            return _done(row)


def _done(row: RowState) -> RowDecision:
    if row.is_effect_old and not row.may_continue:
        return RowDecision.STOP_OLD
    if row.is_edited:  # the same row by its name, and another payment by what it says now
        return _before_any_effect(row) if row.may_send_edited else RowDecision.STOP_ROW_CHANGED
    if row.duplicate_state == DuplicateState.LATER and not row.may_skip_done:
        # It stood as the row says, and does no more: somebody says which of the two is meant.
        return RowDecision.SEND if row.may_send_edited else RowDecision.STOP_ROW_OVERTAKEN
    return RowDecision.SKIP


def _again(row: RowState) -> RowDecision:
    """Of what has failed, once more: unless somebody has done it since, here or elsewhere."""
    if row.duplicate_state == DuplicateState.BY_HAND and (row.may_skip_done or not row.may_repeat):
        return RowDecision.ADOPT if row.may_skip_done else RowDecision.STOP_ROW_BY_HAND
    if not row.may_retry_failed:
        return RowDecision.STOP_ROW_FAILED  # and others go on, whatever becomes of it elsewhere
    # A row with a name of its own is corrected before it is sent again.
    decision = _before_any_effect(row._replace(is_edited=False))
    return RowDecision.RETRY_FAILED if decision is RowDecision.SEND else decision


def _with_its_key(row: RowState) -> RowDecision:
    if row.duplicate_state == DuplicateState.LATER:  # sent once more, it would undo that
        return RowDecision.STOP_ROW_OVERTAKEN
    if row.is_key_old:
        return RowDecision.STOP_ROW_TOO_OLD
    return RowDecision.STOP_ROW_CHANGED if row.is_edited else RowDecision.SAME_KEY


def _elsewhere(row: RowState) -> RowDecision | None:
    if row.duplicate_state == DuplicateState.RUNNING:
        return RowDecision.STOP_RUNNING
    if row.duplicate_state == DuplicateState.UNRESOLVED:
        return RowDecision.STOP_UNRESOLVED
    if row.duplicate_state == DuplicateState.BY_HAND:
        if row.may_skip_done:
            return RowDecision.ADOPT
        if not row.may_repeat:
            return RowDecision.STOP_ROW_BY_HAND
    return None


def _before_any_effect(row: RowState) -> RowDecision:
    elsewhere = _elsewhere(row)
    if elsewhere is not None:
        return elsewhere
    if _is_in_other_words(row) and not row.may_send_edited:
        by_hand = row.duplicate_state == DuplicateState.BY_HAND_REWORDED
        return RowDecision.STOP_ROW_REWORDED if by_hand else RowDecision.STOP_EDITED
    if row.duplicate_state == DuplicateState.RECENT and not row.may_repeat:
        return RowDecision.STOP_REPEATED
    came_to_nothing = row.known in (Known.NOT_SENT, Known.REFUSED)
    return RowDecision.SAME_KEY if came_to_nothing else RowDecision.SEND


def _is_in_other_words(row: RowState) -> bool:
    reworded = (DuplicateState.REWORDED, DuplicateState.BY_HAND_REWORDED)
    return row.is_edited or row.duplicate_state in reworded


@cache
def judged_rows() -> tuple[tuple[RowState, RowDecision], ...]:
    """Every state with what a person would want."""
    return tuple((row, row_as_a_person_says(row)) for row in every_row())


def test_every_state_of_a_row_has_the_decision_that_a_person_wants() -> None:
    for row, wanted in judged_rows():
        assert decide_row(row) is wanted, row
    assert len(judged_rows()) == 8 * 2 * 2 * 3 * 9 * 2**6


def test_nothing_is_sent_where_it_may_have_been_done() -> None:
    """R115: whatever somebody allows, a new key is never made for what may have had an effect."""
    sends = (RowDecision.SEND, RowDecision.RETRY_FAILED)
    for row, _ in judged_rows():
        decision = decide_row(row)
        if row.known in (Known.KEY_TAKEN, Known.UNKNOWN, Known.CONTRADICTED, Known.DONE):
            is_other = row.is_edited or row.duplicate_state is DuplicateState.LATER
            is_said = row.known is Known.DONE and is_other and row.may_send_edited
            assert decision not in sends or is_said, row
        if row.duplicate_state in (DuplicateState.UNRESOLVED, DuplicateState.RUNNING):
            assert decision not in sends, row
        if decision is RowDecision.SKIP:
            assert (row.known, row.account) == (Known.DONE, KeyRelation.SAME), row


def every_command() -> Iterator[CommandState]:
    """All states of a single command."""
    flags = [(False, True)] * (len(CommandState._fields) - 1)
    for known in Known:
        for rest in itertools.product(*flags):
            yield CommandState(known, *rest)


def command_as_a_person_says(one: CommandState) -> CommandDecision:
    """What somebody who types a command once more would want."""
    if one.known == Known.UNKNOWN:
        return CommandDecision.STOP_UNRESOLVED
    is_done = one.known in (Known.DONE, Known.CONTRADICTED)
    if is_done and one.is_meanwhile:
        return CommandDecision.STOP_MEANWHILE
    if one.has_own_key:
        return CommandDecision.SEND
    if one.known in (Known.NOT_SENT, Known.REFUSED):
        return CommandDecision.SAME_KEY if one.is_exact else CommandDecision.SEND
    if is_done and one.is_recent and one.doubles:
        return CommandDecision.STOP_RECENT if one.is_live else CommandDecision.NOTE
    return CommandDecision.SEND


def test_every_state_of_a_command_has_the_decision_that_a_person_wants() -> None:
    for one in every_command():
        assert decide_command(one) == command_as_a_person_says(one), one


def evidence(known: Known, at: float) -> Evidence:
    return Evidence(known, "alike", "key", at, object_id=f"rf_{known}")


@pytest.mark.parametrize("journal", Known)
@pytest.mark.parametrize("results", [None, *Known])
def test_evidence_is_joined_as_it_is_said(journal: Known, results: Known | None) -> None:
    """R116: done anywhere is done; unknown anywhere, and done nowhere, is unknown."""
    ours = evidence(journal, 20.0)
    theirs = None if results is None else evidence(results, 10.0)
    found = merge_evidence(ours, theirs)
    said = {one for one in (journal, results) if one is not None}
    for wanted in [one for one in reversed(Known) if one > Known.NOT_SENT]:
        if wanted in said:
            assert found.known is wanted
            break
    assert (found.known is Known.NOT_SENT) == (said <= {Known.NOT_SENT, Known.NOTHING}
                                              and Known.NOT_SENT in said)  # fmt: skip
    assert found.at == min(at for one, at in ((journal, 20.0), (results, 10.0)) if one is not None)


@pytest.mark.parametrize("number", range(len(policy._ROWS) - 1))
def test_each_row_of_the_table_is_missed(number: int) -> None:
    """Taken out, each rule lets some state through that the second writing judges otherwise."""
    rules = tuple(rule for at, rule in enumerate(policy._ROWS) if at != number)
    with patch.object(policy, "_ROWS", rules):
        assert any(decide_row(row) is not wanted for row, wanted in judged_rows())


@pytest.mark.parametrize("number", range(len(policy._COMMANDS) - 1))
def test_each_row_of_the_table_of_commands_is_missed(number: int) -> None:
    rules = tuple(rule for at, rule in enumerate(policy._COMMANDS) if at != number)
    with patch.object(policy, "_COMMANDS", rules):
        assert any(decide_command(one) != command_as_a_person_says(one) for one in every_command())
