"""What a batch of many rows takes."""

import os
from pathlib import Path

import pytest

from benchmarks.growth.batch import write_rows
from benchmarks.growth.measuring import SVC, environment, run_command


@pytest.mark.slow(seconds=6)
def test_a_check_of_many_rows_stays_small(tmp_path: Path) -> None:
    """Rows lie on the disk: ten times as many take a few bytes of memory each."""
    taken = []
    for size in (2_000, 20_000):
        path = tmp_path / f"{size}.csv"
        write_rows(path, size)
        env = {**environment(tmp_path, 9), "TMPDIR": str(tmp_path), "HOME": os.environ["HOME"]}
        spent = run_command([SVC, "batch", "orders.create", str(path), "--dry-run"], env)
        taken.append(spent.megabytes)
    assert taken[1] - taken[0] < 8
