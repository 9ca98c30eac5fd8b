"""Records in a file without a name, and digests in little memory."""

from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.errors import LocalError
from svc.system import spool
from svc.system.spool import DigestIndex, Digests, Spool


class SpooledRecord(NamedTuple):
    number: int
    text: str | None
    body: bytes


def record(number: int) -> SpooledRecord:
    return SpooledRecord(number, None if number % 3 else f"\ud800{number}", b"\0" * (number % 50))


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 1000])
@pytest.mark.parametrize("most", [0, 10**6])
def test_what_was_added_is_read_in_any_order(
    count: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In memory or in a file, in turn or by places, while more is added."""
    monkeypatch.setattr(spool, "_MEMORY_MAX", most)
    kept = Spool(SpooledRecord._make)
    for number in range(count):
        kept.append(record(number))
        if number % 100 == 0:
            assert kept[number // 2] == record(number // 2)
    assert len(kept) == count
    assert list(kept) == list(map(record, range(count))) == list(kept)
    assert kept[3:9:2] == [*map(record, range(count))][3:9:2]
    assert [kept[place] for place in range(count - 1, -1, -7)] == [
        record(place) for place in range(count - 1, -1, -7)
    ]


def test_what_a_folder_had_no_room_for_ends_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is closed although the error is still looked at; the interpreter would report it else."""

    def full(data: memoryview) -> None:  # as the error's traceback holds it
        raise OSError(28, f"no room for {len(data)} bytes")

    monkeypatch.setattr(spool, "_MEMORY_MAX", 0)
    monkeypatch.setattr(spool, "_file_without_name", full)
    kept = Spool(SpooledRecord._make, 1)
    with pytest.raises(LocalError) as refused:
        kept.append(record(0))
    kept.__del__()
    assert refused.value.code == "temporary_full"


def test_a_folder_without_room_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the way out; what was read of the rows by then is not sent."""
    monkeypatch.setattr(spool, "_MEMORY_MAX", 0)
    kept = Spool(SpooledRecord._make)
    for number in range(255):
        kept.append(record(number))
    with Path("/dev/full").open("w+b", buffering=0) as full:
        monkeypatch.setattr(spool, "_file_without_name", lambda data: full)
        with pytest.raises(LocalError, match="folder for temporary files") as refused:
            kept.append(record(255))
    assert refused.value.code == "temporary_full"


@given(st.lists(st.sampled_from(["0" * 32, "ab" * 16, "ff" * 16, "a1" * 16, "no digest", ""])))
def test_digests_tell_which_stand_there_twice_and_come_in_order(texts: list[str]) -> None:
    """Whatever is no digest counts as well."""
    found = Digests(texts)
    assert {one for one in set(texts) if found.repeats(one)} == {
        one for one in texts if texts.count(one) > 1
    }
    assert len(list(found)) == len(set(texts))
    digests = [one for one in texts if len(one) == 32]
    assert list(Digests(digests)) == sorted(set(digests))


@given(st.lists(st.sampled_from(["0" * 32, "00" * 15 + "01", "f" * 32, "", "a text", "0" * 31])))
def test_an_index_has_each_number_under_its_digest(digests: list[str]) -> None:
    """Whatever was added, also texts that are no digests; what was not added has none."""
    index = DigestIndex()
    for number, digest in enumerate(digests):
        index.add(digest, number)
    for digest in {*digests, "another"}:
        found = [n for n, one in enumerate(digests) if one == digest]
        assert index.find(digest) == found
        assert (digest in index) is bool(found)
        assert index.find_last(digest) == (found[-1] if found else None)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("count", [3, 2000])
def test_an_index_has_numbers_that_are_not_their_places(first: int, count: int) -> None:
    """The numbers of a selection leave some out: from the first one on, or later."""
    numbers = [*range(first, count), count + 7, 2**32 - 1, 3]
    index = DigestIndex()
    for number in numbers:
        index.add(f"digest {number % count}", number)
    for wanted in {number % count for number in numbers}:
        assert index.find(f"digest {wanted}") == [n for n in numbers if n % count == wanted]


def test_a_digest_that_lies_across_two_entries_is_not_found() -> None:
    """The end of one entry and the begin of the next may look like a digest by chance."""
    index = DigestIndex()
    index.add("00" * 16, 0)
    index.add("00" * 16, 1)
    assert index.find("00" * 16) == [0, 1]
    assert index.find("00" * 15 + "01") == []
