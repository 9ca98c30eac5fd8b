"""The evidence of a batch on the disk: it is what was put in, and is found by likeness and key."""

import hashlib
import tracemalloc
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.suite.drawing import examples
from svc.delivery.evidence import Evidence, Known, build_intent_evidence, read_outcome
from svc.delivery.gathering import (
    EvidenceList,
    EvidenceSource,
    Gathering,
    Selection,
)
from svc.delivery.journal.entry import Intent, Scope, Settled, Stored
from svc.system import spool
from unit.delivery.rows import collect_evidence

SCOPE = Scope("default", "test", "https://api.example.com", "sk_test_…7890")
LIKENESSES = [f"{number:032x}" for number in range(3)]


def intent(number: int, path: str = "/v1/refunds", state: str = "done") -> Intent:
    """A request of the journal."""
    settled = None if state == "open" else Settled("done", 200, f"rf_{number}", proved=True)
    stored = Stored(path, "json", b'{"payment":"pay_1"}', f"key-{number}", None)
    return Intent(
        *(number, f"rq_{number}", SCOPE, stored, "sha", "digest", LIKENESSES[number % 3]),
        *(10.0, 20.5, 30.0, 1, state, "imp_1", number, None, False, None),  # type: ignore[arg-type]
        settled=settled,
    )


def line(number: int, outcome: str = "done", key: str | None = None) -> Evidence:
    """A line of a results file."""
    known, alike = read_outcome(outcome, None), LIKENESSES[number % 3]
    return Evidence(known, "", key or f"key-{number}", 15.0, None, f"rf_{number}", alike=alike)


def test_an_entry_comes_back_as_it_was() -> None:
    """Of a request that was carried out only the body goes, where that tells no subject."""
    refund, open_one = intent(1), intent(2, "/v1/orders", "open")
    found = [
        build_intent_evidence(refund, LIKENESSES[1]),
        build_intent_evidence(open_one, LIKENESSES[2]),
        line(3)._replace(row=10**30, likeness=LIKENESSES[0]),
    ]
    order = build_intent_evidence(intent(4, "/v1/orders"), LIKENESSES[1])
    kept = EvidenceList([*found, order])
    assert list(kept[:3]) == found
    stored = kept[3].intent.stored if kept[3].intent else None
    assert stored == Stored("/v1/orders", "json", b"", "key-4", None)
    assert kept[3]._replace(intent=None) == order._replace(intent=None)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(Known)[1:]),
            st.sampled_from(LIKENESSES),
            st.sampled_from(["a", "b", "c", "d"]),
            st.sampled_from([1.0, 5.0]),
            st.sampled_from([None, 2.0, 9.0]),
            st.sampled_from(["", "sk_1"]),
        ),
        max_size=40,
    )
)
@settings(max_examples=examples(2))
def test_an_entry_is_found_as_a_walk_over_all_would_find_it(drawn: Sequence[tuple]) -> None:  # type: ignore[type-arg]
    """By likeness, by key, by outcome and by what its source has; and so is the newest."""
    given_list = [
        Evidence(known, likeness, key, at, served, key_fingerprint=hint)
        for known, likeness, key, at, served, hint in drawn
    ]
    kept, numbers = EvidenceList(given_list), range(len(given_list))
    assert list(kept) == given_list
    for likeness in LIKENESSES:
        assert kept.find_like(likeness) == [n for n in numbers if drawn[n][1] == likeness]
    for number in numbers:
        same = [other for other in numbers if drawn[other][2] == drawn[number][2]]
        assert kept.find_key(drawn[number][2]) == list(kept.find_equal(number)) == same
        assert kept.get_known(number) is drawn[number][0]
    some = (Known.DONE, Known.UNKNOWN)
    chosen = [one for one in given_list if one.known in some]
    assert list(kept.select(some)) == chosen
    assert list(kept.select(some, is_recorded=True)) == []
    hints = dict.fromkeys(one.key_fingerprint for one in given_list)
    expected = [h for h in hints if any(one.key_fingerprint == h for one in chosen)]
    assert kept.list_sources(some) == [EvidenceSource(False, hint) for hint in expected]
    ages = [
        max(10 - one.at, 20 - one.server_time) if one.server_time else 10 - one.at for one in chosen
    ]
    assert kept.find_newest_age(some, 10.0, 20.0) == min(ages, default=None)


def test_lines_and_requests_are_joined_by_their_keys() -> None:
    """R116: of one key the last line counts; what neither side knows of the other is counted."""
    lines = [line(1), line(2, "unknown", key="x"), line(2), line(2, "unknown"), line(5, key="gone")]
    gathering = Gathering(lines, is_named=False, world=None, forgotten={"gone"})
    for number in (1, 2, 4):
        gathering.add(intent(number))
    found = gathering.finish()
    assert [(one.key, one.known.name, one.at) for one in found] == [
        ("key-1", "DONE", 15.0),
        ("key-2", "DONE", 15.0),
        ("key-4", "DONE", 20.5),
        ("x", "UNKNOWN", 15.0),
    ]
    assert (gathering.unrecorded, gathering.untold) == (1, 1)


@pytest.mark.slow(seconds=6)
def test_a_request_takes_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A done row of a batch took 2.6 KB: a million of them did not fit beside anything else."""
    monkeypatch.setattr(spool, "_MEMORY_MAX", 0)
    kept, taken = EvidenceList(), []
    tracemalloc.start()
    try:
        for size in (2_000, 6_000):
            for number in range(len(kept), size):
                likeness = hashlib.sha256(b"%d" % number).hexdigest()[:32]
                kept.append(build_intent_evidence(intent(number), likeness))
            taken.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert (taken[1] - taken[0]) / 4_000 < 250  # with the buckets of the index, which stay as many


def test_keys_that_differ_in_case_alone_are_two() -> None:
    """A person's key may be 32 hexadecimal digits, as a digest is."""
    lines = [line(1, key="ab" * 16), line(2, key="AB" * 16)]
    found = collect_evidence((), lines, is_named=False, world=None)
    assert [one.key for one in found] == ["ab" * 16, "AB" * 16]
    assert found.find_key("AB" * 16) == [1]
    assert list(found.find_equal(0)) == [0]


def test_a_selection_reads_its_entries_alone() -> None:
    kept = EvidenceList(line(number) for number in range(50))
    chosen = Selection(kept.__getitem__)
    for number in (3, 40, 7):
        chosen.add(number)
    assert [one.key for one in chosen] == ["key-3", "key-40", "key-7"]
    assert (len(chosen), chosen[1].key) == (3, "key-40")
    with pytest.raises(IndexError):
        chosen[3]
