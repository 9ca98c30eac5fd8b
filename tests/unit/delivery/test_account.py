"""Whose objects a key reads, and what that says of its account (promise R118)."""

from types import SimpleNamespace
from typing import Any

import pytest

from svc.client.call import Call
from svc.delivery.account import KeyMatcher, is_owner
from svc.delivery.journal.entry import KeyEquivalence
from svc.errors import Forbidden, NotFound

OWN, MISSING, HIDDEN, LOST = "ord_own", "ord_missing", "ord_hidden", "ord_lost"


class ObjectServer:
    """Answers by the id at the end of a path."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def send(self, call: Call, **_: Any) -> Any:
        identifier = call.path.rpartition("/")[2]
        self.asked.append(identifier)
        if identifier == HIDDEN:
            raise Forbidden("hidden")
        if identifier != OWN:
            raise NotFound("?", code="resource_missing" if identifier == MISSING else None)
        return SimpleNamespace(data={"id": identifier})


@pytest.mark.parametrize(
    ("identifiers", "owner"),
    [
        ((), None),
        ((OWN,), True),
        ((HIDDEN, OWN, LOST), True),
        ((MISSING, MISSING), False),
        ((MISSING, HIDDEN), None),
        ((HIDDEN, LOST), None),
    ],
)
def test_an_account_is_known_by_the_objects_that_its_key_reads(
    identifiers: tuple[str, ...], *, owner: bool | None
) -> None:
    """One that is read is proof; of another account only if all are missing."""
    assert is_owner(ObjectServer(), identifiers) is owner  # type: ignore[arg-type]


def test_other_keys_are_of_the_account_whose_objects_they_have_made() -> None:
    """R91: one that a roll links to the key in use is asked for nothing; of the rest nothing is guessed."""
    made = {"ours": [OWN], "theirs": [MISSING], "restricted": [HIDDEN, OWN], "unused": []}
    service = ObjectServer()
    journal: Any = SimpleNamespace(list_made_with=lambda one, _: made[one])
    scope: Any = SimpleNamespace(key_fingerprint="in use")
    rolls = [{"older", "old"}, {"old", "in use"}]
    matcher = KeyMatcher(journal, service, scope, lambda: rolls)  # type: ignore[arg-type]
    found = matcher.compare(["in use", "older", "ours", "theirs", "unused"])
    linked = frozenset({"in use", "old", "older"})
    assert found == KeyEquivalence(linked | {"ours"}, frozenset({"theirs"}))
    assert sorted(service.asked) == [MISSING, OWN]
    assert matcher.is_own("restricted")
    assert not matcher.is_own("unused")


def test_answers_that_contradict_each_other_prove_nothing() -> None:
    """A results file put together from two accounts is of neither: its rows stop the batch."""
    assert is_owner(ObjectServer(), (OWN, MISSING)) is None  # type: ignore[arg-type]


def test_three_objects_are_read_at_most() -> None:
    """However many a results file names."""
    service = ObjectServer()
    assert is_owner(service, [OWN] * 9) is True  # type: ignore[arg-type]
    assert service.asked == [OWN] * 3
