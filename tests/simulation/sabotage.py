"""Takes one rule out of the program at a time, to see that the histories miss it.

Each is what the program did before it had the rule.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Self
from unittest.mock import patch

from svc.batch import validate, workers
from svc.client import client, refusal, reply
from svc.client.reply import classify
from svc.delivery import planner, policy, send
from svc.delivery.journal import batches, entry, limits, transaction


@contextmanager
def without(rule: str) -> Iterator[None]:
    """Plays without a rule."""
    with _Patches() as patches:
        for where, name, other in {**RULES, **LIMIT_RULES}[rule]:
            patches.put(where, name, other)
        yield


class _Patches:
    def __enter__(self) -> Self:
        self._on: list[Any] = []
        return self

    def __exit__(self, *_: object) -> None:
        for each in reversed(self._on):
            each.stop()

    def put(self, where: Any, name: str, other: Any) -> None:
        one = patch.object(where, name, other)
        one.start()
        self._on.append(one)


def _as_spelled(base_url: str, mode: str, path: str, fields: Any) -> tuple[str, str]:
    """Two spellings are two requests, and so are two names of one address."""
    spelled = repr((base_url, mode, path, list(fields.items())))
    return spelled, spelled


def _looked_at_once(self: batches.BatchTable, batch: Any, likenesses: Any, check: Any) -> None:
    """Others are looked at when the batch is planned, and cannot see that it is about to send."""
    check(self.duplicates(batch, likenesses))


def _any_own_code(refusal: Any) -> bool:
    """Whatever has a type or a code settles what was open."""
    return refusal is not None and (refusal.type is not None or refusal.code is not None)


def _checked_before(sender: Any, asked: Any, call: Any) -> Any:
    """Looks at the limit, and a moment later records what is sent."""
    charge = _real_read_charge(sender, asked, call)
    if charge is not None:
        group = limits.group_of(call.path)
        sender.journal.limits().check(asked.scope, group, [charge])
        sender.clock.sleep(0.01)
    return charge


_real_read_charge = send._read_charge
# Those of `test_money` that a limit has beside the others.
LIMIT_RULES: Final[dict[str, tuple[tuple[Any, str, Any], ...]]] = {
    "a limit is held in the transaction that records": (
        (limits.LimitBook, "refuse_beyond", lambda self, added: None),
        (send, "_read_charge", _checked_before),
    ),
    "what is not known counts": (
        (limits, "_SUMS", limits._SUMS.replace("(age IS NULL OR age < ?)", "(age < ?)")),
    ),
    "time is the machine's uptime": (
        (limits, "_SUMS", limits._SUMS.replace("boot = ?", "boot = ? AND FALSE")),
    ),
}
RULES: Final[dict[str, tuple[tuple[Any, str, Any], ...]]] = {
    "what is the same request is not a matter of spelling": (
        (entry, "likenesses", _as_spelled),
        (validate, "likenesses", _as_spelled),
    ),
    "a list holds what it is about to send": ((batches.BatchTable, "reserve", _looked_at_once),),
    "an answer names the objects that the request names": (
        (reply, "find_other_object", lambda data, call: None),
    ),
    "what was made is on record for one request only": (
        (
            client,
            "classify",
            lambda result, call, now, is_claimed_by_other=None: classify(result, call, now),
        ),
        (workers.Created, "is_claimed_by_other", lambda self, key, made, world: False),
        (transaction.JournalTransaction, "_find_taken", lambda self, ends: frozenset()),
    ),
    "only the service's own refusal settles what was open": ((refusal, "settles", _any_own_code),),
    "what a list has done belongs to an account": (
        (planner._Planner, "_compare", lambda *_: policy.KeyRelation.SAME),
    ),
}
