"""A copy of a file must not be carried out a second time unasked (promise R5, for lists)."""

import time
from collections import Counter
from collections.abc import Sequence

from svc.batch.identity import Import
from svc.batch.ledger import Elsewhere, Ledger
from svc.batch.rows import Row
from svc.errors import Conflict


def refuse_repeats(ledger: Ledger, what: Import, fresh: Sequence[Row], *, again: bool) -> None:
    """Looks for rows that were sent before outside this list, for operations that would double.

    `again` says that rows which another list has carried out are meant once more; it never covers
    a request whose outcome is unknown.

    Raises:
        Conflict: with both ways on; nothing was sent.
    """
    if not fresh:
        return
    hashes = dict.fromkeys(row.body_sha256 for row in fresh)
    found = ledger.elsewhere(what, fresh[0].path, list(hashes))
    unresolved = [one for one in found if not one.done]
    if unresolved:
        raise _unresolved(unresolved[0], len(unresolved))
    if found and not again:
        same = {one.body_sha256 for one in found}
        rows = sum(row.body_sha256 in same for row in fresh)
        raise _done(what, found, rows, len(fresh))


def _unresolved(one: Elsewhere, count: int) -> Conflict:
    rows = "A row says" if count == 1 else f"{count} rows say"
    where = "a single command" if one.name is None else f"the list {one.name}"
    return Conflict(
        f"{rows} the same as a request of {where} whose outcome is not known. Nothing was sent.",
        code="request_unresolved",
        outcome="not_sent",
        request=one.request,
        hint=f"Settle it first: svc requests resume {one.request}",
    )


def _done(what: Import, found: Sequence[Elsewhere], rows: int, fresh: int) -> Conflict:
    name = Counter(str(one.name) for one in found).most_common(1)[0][0]
    last = max(one.settled_at or 0.0 for one in found)
    when = time.strftime("%Y-%m-%d", time.gmtime(last))
    return Conflict(
        f"{rows} of {fresh} rows that are new in {what.name} were carried out before, in the list "
        f"{name} ({when}). Nothing was sent.",
        code="rows_repeated",
        outcome="not_sent",
        hint=f"If it is the same list, add --import '{name}': done rows are skipped. If all are "
        "meant once more, add --again",
    )
