"""What a list is called for which nobody gives a name: other lists must not share its keys."""

import os
from io import BytesIO
from pathlib import Path

import pytest

from svc.delivery.journal.batches import default_name, next_again_label


def test_two_files_are_two_lists_however_they_are_reached(tmp_path: Path) -> None:
    """R16: by the place where the file really lies; a link and a detour lead to the same list."""
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    link = tmp_path / "link.csv"
    link.symlink_to(one)
    assert default_name(str(one), BytesIO(b"")) == str(one.resolve())
    assert default_name(str(one), BytesIO(b"")) != default_name(str(other), BytesIO(b""))
    assert default_name(str(link), BytesIO(b"")) == default_name(str(one), BytesIO(b""))
    assert default_name(f"{tmp_path}/./one.csv", BytesIO(b"other rows")) == default_name(
        str(one), BytesIO(b"")
    )


def test_a_name_of_any_bytes_is_a_name(tmp_path: Path) -> None:
    """What is no UTF-8 is written out, and told from what looks like it."""
    file = tmp_path / os.fsdecode(b"a-\xff")
    assert default_name(str(file), BytesIO(b"")) == f"{tmp_path.resolve()}/a-\\xff"


TODAY = 1_790_863_402.0  # 2026-10-01


@pytest.mark.parametrize(
    ("labels", "label"),
    [
        ([], "again-2026-10-01"),
        ([("", 1.0), ("october", None)], "again-2026-10-01"),
        ([("again-2026-09-30", 1.0)], "again-2026-10-01"),
        ([("again-2026-09-30", None)], "again-2026-09-30"),
        ([("again-2026-10-01", 1.0)], "again-2026-10-01-2"),
        ([("again-2026-10-01", 1.0), ("again-2026-10-01-2", 2.0)], "again-2026-10-01-3"),
        ([("again-2026-10-01", 1.0), ("again-2026-10-01-2", None)], "again-2026-10-01-2"),
        ([("again-2026-09-30", None), ("again-2026-10-01", 1.0)], "again-2026-10-01-2"),
        ([("again-2026-10-01", 1.0), ("october", None)], "again-2026-10-01-2"),
        (
            [("again-2026-10-01", 1.0), ("again-2026-10-01-9", 1.0), ("", 1.0)],
            "again-2026-10-01-10",
        ),
    ],
)
def test_again_goes_on_where_it_was_stopped(
    labels: list[tuple[str, float | None]], label: str
) -> None:
    """R115: only what was done to its end is begun anew."""
    assert next_again_label(labels, TODAY) == label


def test_what_is_piped_in_is_known_by_its_bytes() -> None:
    """R16: the same rows again are the same list."""
    assert (
        default_name("-", BytesIO(b"rows"))
        == default_name("-", BytesIO(b"rows"))
        != default_name("-", BytesIO(b"row"))
    )
