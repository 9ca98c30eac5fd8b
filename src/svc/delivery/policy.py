"""Two decision tables: may a request be sent now, and with which key (promises R112, R115).

The first matching rule of a table decides. The functions are pure: they read no clock, no file and
not the service. `tests/proof` compares every combination with a second version of the rules.

`send` asks `decide_command` for single commands, `planner` asks `decide_row` for each row of a
batch.
"""

from collections.abc import Callable
from enum import Enum
from typing import Final, NamedTuple

from svc.delivery.evidence import EFFECTIVE, Known


class KeyRelation(Enum):
    """Whether the API key of an earlier request is known to be of the account in use."""

    SAME = "same"
    OTHER = "other"
    NOT_KNOWN = "not known"


class DuplicateState(Enum):
    """What is known of a duplicate of a row in another batch or label, or of a single command."""

    NONE = "none"
    OLD = "done in another batch or label more than seven days ago"
    RECENT = "done in another batch or label within seven days"
    REWORDED = "done, or not known to be, in another batch within seven days, in other words"
    BY_HAND = "done by a single command"
    BY_HAND_REWORDED = "done, or not known to be, by a single command in other words"
    UNRESOLVED = "its outcome is not known"
    LATER = "a later request has, or may have, given the object other values"
    RUNNING = "another batch is about to send it"


class RowState(NamedTuple):
    """The state by which a row of a batch is decided.

    Attributes:
        is_key_old: whether the service may have forgotten the row's key.
        is_effect_old: whether the newest effect of the batch with this label is 12 hours old.
        account: whether the API key of the row's earlier sending is of the account in use.
        is_edited: whether the row seems to be an edited version of a done row; for a row with its
            own id, whether it was sent with other parameters.
        may_continue: whether `--continue` was given; the other options likewise.
    """

    known: Known
    is_key_old: bool
    is_effect_old: bool
    account: KeyRelation
    duplicate_state: DuplicateState
    is_edited: bool
    may_continue: bool
    may_skip_done: bool
    may_retry_failed: bool
    may_send_edited: bool
    may_repeat: bool


class RowDecision(Enum):
    """The decision about a row; those of `BATCH_STOPS` stop the whole batch."""

    SEND = "send with a new key"
    SAME_KEY = "send with its own key"
    RETRY_FAILED = "retrieve what failed, then send with the next key"
    SKIP = "it is done"
    ADOPT = "a single command has done it, which counts as this row"
    STOP_ROW_TOO_OLD = "its outcome is unknown and its key is too old"
    STOP_ROW_FAILED = "what it made has failed"
    STOP_ROW_CONTRADICTED = "its answer said something else"
    STOP_ROW_CHANGED = "it was, or may have been, done with other parameters"
    STOP_ROW_OVERTAKEN = "a later request has, or may have, given its object other values"
    STOP_ROW_KEY_TAKEN = "the service knows its key with other parameters"
    STOP_ROW_BY_HAND = "a single command has done it"
    STOP_ROW_REWORDED = "a single command has, or may have, done it in other words"
    STOP_ACCOUNT = "the account is not shown to be the same"
    STOP_OLD = "the batch was done 12 hours ago or more"
    STOP_UNRESOLVED = "a like request has no known outcome"
    STOP_RUNNING = "another batch is about to send it"
    STOP_REPEATED = "another batch or label has done it"
    STOP_EDITED = "it seems to be a done row that was changed"


ROW_STOPS: Final = frozenset(one for one in RowDecision if one.name.startswith("STOP_ROW"))
BATCH_STOPS: Final = (
    RowDecision.STOP_ACCOUNT,
    RowDecision.STOP_RUNNING,
    RowDecision.STOP_UNRESOLVED,
    RowDecision.STOP_OLD,
    RowDecision.STOP_REPEATED,
    RowDecision.STOP_EDITED,
)

_RowRule = tuple[Callable[[RowState], bool], RowDecision]
_ROWS: Final[tuple[_RowRule, ...]] = (
    # What may have had an effect.
    (
        lambda row: row.known in EFFECTIVE and row.account is not KeyRelation.SAME,
        RowDecision.STOP_ACCOUNT,
    ),
    (lambda row: row.known is Known.KEY_TAKEN, RowDecision.STOP_ROW_KEY_TAKEN),
    (lambda row: row.known is Known.CONTRADICTED, RowDecision.STOP_ROW_CONTRADICTED),
    (
        lambda row: row.known is Known.DONE and row.is_effect_old and not row.may_continue,
        RowDecision.STOP_OLD,
    ),
    (
        lambda row: row.known is Known.DONE and row.is_edited and not row.may_send_edited,
        RowDecision.STOP_ROW_CHANGED,
    ),
    (
        lambda row: (
            row.duplicate_state is DuplicateState.LATER
            and (
                row.known is Known.UNKNOWN
                or (row.known is Known.DONE and not (row.may_skip_done or row.may_send_edited))
            )
        ),
        RowDecision.STOP_ROW_OVERTAKEN,
    ),
    (
        lambda row: (
            row.known is Known.DONE
            and not row.is_edited
            and (row.duplicate_state is not DuplicateState.LATER or row.may_skip_done)
        ),
        RowDecision.SKIP,
    ),
    # May a like request have been carried out? An unknown row has such a duplicate only if the
    # journal did not know of the row, so that no single command was stopped by it; of a failed row
    # those are its duplicates that came after it.
    (
        lambda row: row.duplicate_state is DuplicateState.BY_HAND and row.may_skip_done,
        RowDecision.ADOPT,
    ),
    (
        lambda row: row.duplicate_state is DuplicateState.BY_HAND and not row.may_repeat,
        RowDecision.STOP_ROW_BY_HAND,
    ),
    (
        lambda row: row.known is Known.FAILED and not row.may_retry_failed,
        RowDecision.STOP_ROW_FAILED,
    ),
    (lambda row: row.duplicate_state is DuplicateState.RUNNING, RowDecision.STOP_RUNNING),
    (lambda row: row.duplicate_state is DuplicateState.UNRESOLVED, RowDecision.STOP_UNRESOLVED),
    (lambda row: row.known is Known.UNKNOWN and row.is_key_old, RowDecision.STOP_ROW_TOO_OLD),
    (lambda row: row.known is Known.UNKNOWN and row.is_edited, RowDecision.STOP_ROW_CHANGED),
    (lambda row: row.known is Known.UNKNOWN, RowDecision.SAME_KEY),
    # What was not carried out.
    (
        lambda row: (
            row.duplicate_state is DuplicateState.BY_HAND_REWORDED and not row.may_send_edited
        ),
        RowDecision.STOP_ROW_REWORDED,
    ),
    (
        lambda row: (
            (
                (row.is_edited and row.known is not Known.FAILED)
                or row.duplicate_state is DuplicateState.REWORDED
            )
            and not row.may_send_edited
        ),
        RowDecision.STOP_EDITED,
    ),
    (
        lambda row: row.duplicate_state is DuplicateState.RECENT and not row.may_repeat,
        RowDecision.STOP_REPEATED,
    ),
    (lambda row: row.known is Known.FAILED, RowDecision.RETRY_FAILED),
    (lambda row: row.known in (Known.NOT_SENT, Known.REFUSED), RowDecision.SAME_KEY),
    (lambda _: True, RowDecision.SEND),
)


def decide_row(row: RowState) -> RowDecision:
    """Decides about a row of a batch."""
    return next(decision for matches, decision in _ROWS if matches(row))


class CommandState(NamedTuple):
    """The state by which a single command is decided.

    Attributes:
        known: the outcome of an unresolved duplicate, else of the newest one that has not failed.
        is_meanwhile: whether the duplicate was done after a person had asked for this request.
        is_recent: whether the duplicate was done less than ten minutes ago.
        is_exact: whether the duplicate, of no batch, has the same bytes and account, no proved
            outcome, and a key of svc that is young enough.
        doubles: whether the operation has its effect again if it is sent twice.
        is_live: whether the mode is live.
        has_own_key: whether the user gave an idempotency key.
    """

    known: Known
    is_meanwhile: bool
    is_recent: bool
    is_exact: bool
    doubles: bool
    is_live: bool
    has_own_key: bool


class CommandDecision(Enum):
    """The decision about a single command."""

    SEND = "send with a new key"
    SAME_KEY = "send the earlier request with its own key"
    NOTE = "send, and say that the same was done a moment ago"
    STOP_UNRESOLVED = "a like request has no known outcome"
    STOP_MEANWHILE = "the same was done since a person asked"
    STOP_RECENT = "the same was done a moment ago"


_CommandRule = tuple[Callable[[CommandState], bool], CommandDecision]
_COMMANDS: Final[tuple[_CommandRule, ...]] = (
    (lambda one: one.known is Known.UNKNOWN, CommandDecision.STOP_UNRESOLVED),
    (
        lambda one: one.known in (Known.DONE, Known.CONTRADICTED) and one.is_meanwhile,
        CommandDecision.STOP_MEANWHILE,
    ),
    (lambda one: one.has_own_key, CommandDecision.SEND),
    (
        lambda one: one.known in (Known.NOT_SENT, Known.REFUSED) and one.is_exact,
        CommandDecision.SAME_KEY,
    ),
    (
        lambda one: (
            one.known in (Known.DONE, Known.CONTRADICTED)
            and one.is_recent
            and one.doubles
            and one.is_live
        ),
        CommandDecision.STOP_RECENT,
    ),
    (
        lambda one: one.known in (Known.DONE, Known.CONTRADICTED) and one.is_recent and one.doubles,
        CommandDecision.NOTE,
    ),
    (lambda _: True, CommandDecision.SEND),
)


def decide_command(one: CommandState) -> CommandDecision:
    """Decides about a single command."""
    return next(decision for matches, decision in _COMMANDS if matches(one))
