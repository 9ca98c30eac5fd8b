"""A copy of a file must not be carried out a second time unasked (promises R5, R92, R96)."""

import re
import shlex
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final, NamedTuple

from svc.batch.plan import BatchPlan
from svc.batch.results import RESULTS_ENDING
from svc.batch.rows import BatchRow
from svc.delivery.journal.commands import resume_command, resume_of
from svc.delivery.journal.entry import Account, Intent
from svc.delivery.journal.lists import Elsewhere, Import
from svc.delivery.journal.stored import Scope
from svc.errors import Conflict, LocalError

_DAY_SECONDS: Final = 24 * 3600
_SHOWN: Final = 10
_DATED: Final = r"(.+?)-\d{4}-\d\d-\d\d(?:-\d+)?"


class TypedLine(NamedTuple):
    """The command line of a run, which hints repeat whole.

    Attributes:
        now: when it was typed (unix seconds).
        folder: where its results go.
    """

    words: tuple[str, ...]
    now: float
    folder: PurePath

    def __str__(self) -> str:
        return shlex.join(["svc", *self.words])

    def but(self, *more: str) -> str:
        """The same with more options; of one that is given twice, the last counts."""
        words = list(self.words)
        place = words.index("--") if "--" in words else len(words)
        words[place:place] = more
        return shlex.join(["svc", *words])

    def anew(self, what: Import, *more: str) -> str:
        """The same as another list, which is named after this one and the day.

        Its results need a file of their own: that of one list is not written by another.
        """
        stem = PurePath(what.name).stem
        dated = re.fullmatch(_DATED, stem)
        name = f"{dated[1] if dated else stem}-{_day(self.now)}"
        used = re.fullmatch(rf"{re.escape(name)}(?:-(\d+))?", what.name)
        name = f"{name}-{int(used[1] or 1) + 1}" if used else name
        results = self.folder / f"{name}{RESULTS_ENDING}"
        return self.but("--import", name, *more, "--results", str(results))


def refuse_repeats(
    found: Sequence[Elsewhere],
    what: Import,
    todo: BatchPlan,
    *,
    account: Account,
    doubles: bool,
    again: bool,
    line: TypedLine,
) -> None:
    """Judges what says the same outside a list as its rows that were not carried out before.

    `doubles` says that the operation does the same thing twice when it is sent twice. `again` says
    that rows which another list has carried out are meant once more; it never covers a request
    whose outcome is unknown, or one that another list is about to send.

    Raises:
        Conflict: with both ways on; nothing was sent.
    """
    found = [one for one in found if one.key_hint not in account.other]
    unresolved = [one for one in found if not one.done]
    if unresolved:
        first = next((one for one in unresolved if one.request is None), unresolved[0])
        raise (
            _running(first) if first.request is None else _unresolved(first, what, len(unresolved))
        )
    same = {one.identity for one in found}
    repeated = [row for row in todo.fresh if row.identity in same]
    if repeated and doubles and not again:
        raise _done(what, found, repeated, todo, line)


def refuse_whole(what: Import, whole_at: float | None, line: TypedLine) -> None:
    """Refuses to skip in silence a list that was done long ago: it may be meant once more (R96).

    Raises:
        Conflict: naming `--import` and `--continue`; nothing was sent.
    """
    if whole_at is None or line.now - whole_at <= _DAY_SECONDS:
        return
    raise Conflict(
        f"The list {what.name} was done whole on {_day(whole_at)}. Nothing was sent.",
        code="list_done",
        outcome="not_sent",
        param="--continue",
        hint=f"To send only rows that were added since: {line.but('--continue')}; to do it all "
        f"again as another list: {line.anew(what, '--again')}",
    )


def refuse_other_account(what: Import, begun: Sequence[Intent], now: str, line: TypedLine) -> None:
    """Refuses to skip what the key of another account, for all that is known, has done (R95).

    Raises:
        Conflict: nothing was sent.
    """
    if not begun:
        return
    open_one = next((intent for intent in begun if intent.is_unresolved), None)
    way = f"{resume_command(open_one)} --yes" if open_one else "use a key of the first account"
    raise Conflict(
        f"Rows of the list {what.name} were sent with the key {begun[0].scope.key_hint}; this is "
        f"{now}, and nothing shows that both are of one account. Nothing was sent, and no row was "
        "skipped.",
        code="other_account",
        outcome="not_sent",
        request=open_one.id if open_one else None,
        hint=f"If both are: {way}; for another account, as another list: {line.anew(what)}",
    )


def other_lists_results(results: PurePath, what: Import, wrote: Import, line: str) -> LocalError:
    """The file of results is that of the same rows for another profile, mode or base URL (R65).

    `line` goes on with that list.
    """
    return LocalError(
        f"{results} holds the results of this list for {_apart(wrote.scope, what.scope)}; for "
        f"{_apart(what.scope, wrote.scope)} it is another list. Nothing was sent.",
        code="results_exist",
        param="--results",
        hint=f"To go on with that list: {line}; for another one, name another file with --results",
    )


def _apart(scope: Scope, other: Scope) -> str:
    """What tells one scope from another, such as `the profile shop at https://api.example.com`."""
    words = [
        f"the profile {scope.profile}" if scope.profile != other.profile else "",
        f"{scope.mode} mode" if scope.mode != other.mode else "",
        scope.base_url if scope.base_url != other.base_url else "",
    ]
    return ", ".join(filter(None, words))


def _running(one: Elsewhere) -> Conflict:
    return Conflict(
        f"A row says the same as one of the list {one.name}, which another process is running "
        "now. Nothing was sent.",
        code="rows_in_flight",
        outcome="not_sent",
        hint="Wait until that list has ended; then run this again",
    )


def _unresolved(one: Elsewhere, what: Import, count: int) -> Conflict:
    rows = "A row says" if count == 1 else f"{count} rows say"
    where = "a single command" if one.name is None else f"the list {one.name}"
    return Conflict(
        f"{rows} the same as a request of {where} whose outcome is not known. Nothing was sent.",
        code="request_unresolved",
        outcome="not_sent",
        request=one.request,
        hint=f"Settle it first: {resume_of(str(one.request), what.scope.mode)}",
    )


def _done(
    what: Import,
    found: Sequence[Elsewhere],
    repeated: Sequence[BatchRow],
    todo: BatchPlan,
    line: TypedLine,
) -> Conflict:
    names = Counter(str(one.name) for one in found)
    name = names.most_common(1)[0][0]
    last = max(one.settled_at or 0.0 for one in found)
    rows = len(repeated)
    # Under the other name the rows that this list, or a third one, has done would be the repeated
    # ones: each name would send to the other.
    way = (
        f"Take {_lines(repeated)} out of the file"
        if todo.is_begun or len(names) > 1
        else f"If it is the same list, done rows are skipped: {line.but('--import', name)}"
    )
    return Conflict(
        f"{_of(rows, len(todo.fresh))} new in {what.name} {'was' if rows == 1 else 'were'} carried "
        f"out before, in the list {name} ({_day(last)}). Nothing was sent.",
        code="rows_repeated",
        outcome="not_sent",
        hint=f"{way}; if all are meant once more: {line.but('--again')}",
    )


def _lines(rows: Sequence[BatchRow]) -> str:
    """Where rows begin in the file, such as `the lines 4-6, 9`."""
    runs: list[list[int]] = []
    for at in (row.line for row in rows):
        if runs and at == runs[-1][-1] + 1:
            runs[-1][1:] = [at]
        else:
            runs.append([at])
    told = ", ".join("-".join(map(str, run)) for run in runs[:_SHOWN])
    more = f" and {len(runs) - _SHOWN} more places" if len(runs) > _SHOWN else ""
    return f"the line{'' if len(rows) == 1 else 's'} {told}{more}"


def _of(rows: int, fresh: int) -> str:
    return "The one row that is" if fresh == 1 else f"{rows} of {fresh} rows that are"


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(moment))
