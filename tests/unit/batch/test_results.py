"""The results file: whole lines, one a row, never over something else (promises R16, R65, R66)."""

import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from svc.batch.results import ResultLine, Results
from svc.delivery.evidence import Evidence, Known
from svc.delivery.hints import TypedLine
from svc.delivery.journal.batches import BatchName
from svc.delivery.journal.entry import Scope
from svc.errors import LocalError

SCOPE = Scope("default", "test", "https://api.example.com")
OURS = BatchName("ours", "refunds.create", SCOPE)
OTHER = BatchName("other", "refunds.create", SCOPE)


def line(row: int, outcome: str = "done", **more: Any) -> ResultLine:
    return ResultLine(row, row + 1, outcome, **more)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in path.read_text().splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "r.ndjson"


def test_a_finished_file_has_every_row_once_in_order(path: Path) -> None:
    """R16: whatever order rows end in."""
    with Results(path, OURS) as results:
        results.check(force=False)
        results.begin([line(2, id="rf_2"), line(5, "invalid", error={"code": "x"})])
        results.add([line(4), line(1)])
        results.add([])
        results.add([line(3, "unknown", idempotency_key="k", request="rq_1")])
        assert [one["row"] for one in read(path)] == [2, 5, 4, 1, 3]
        results.finish()
    found = read(path)
    assert [one["row"] for one in found] == [1, 2, 3, 4, 5]
    assert found[2] == {
        "import": OURS.id,
        "run": "",
        "row": 3,
        "line": 4,
        "outcome": "unknown",
        "id": None,
        "status": None,
        "failure_reason": None,
        "replayed": False,
        "created": None,
        "error": None,
        "idempotency_key": "k",
        "request": "rq_1",
        "likeness": None,
        "row_id": None,
        "first_sent": None,
        "world": None,
        "key_fingerprint": None,
        "about": None,
        "amount": None,
        "warnings": [],
    }
    assert [one["id"] for one in found] == [None, "rf_2", None, None, None]


def test_a_later_run_reads_every_fact_of_a_line(path: Path) -> None:
    """R116: by them it knows a row again, whatever has become of the journal."""
    told = {"idempotency_key": "k", "request": "rq_1", "likeness": "l", "row_id": "r", "id": "rf_1"}
    told |= {"world": "w", "key_fingerprint": "f", "about": "a"}
    with Results(path, OURS) as results:
        results.begin([line(3, "unknown", first_sent="2026-10-01T09:00:00Z", **told)])
        results.finish()
    with Results(path, OURS) as results:
        [found] = results.read_past().lines
    assert found == Evidence(
        *(Known.UNKNOWN, "", "k", 1790845200.0, None, "rf_1", "rq_1", "w", "f", "l", 3, "r", "a")
    )


def test_a_reader_never_sees_half_a_line(path: Path) -> None:
    """R66: at every moment the file is as it was, or ends with a whole line."""
    with Results(path, OURS) as results:
        results.begin([])
        for row in range(50):
            results.add([line(row)])
            text = path.read_text()
            assert text.endswith("\n")
            assert len(text.splitlines()) == row + 1


def test_a_killed_run_leaves_what_had_ended(path: Path) -> None:
    """The next one puts a whole file in its place, and no temporary file is left."""
    killed = Results(path, OURS)
    killed.begin([])
    killed.add([line(1)])
    left = path.parent / f".{OURS.id}.0000.part"
    left.write_text("half")
    os.utime(left, (0, 0))
    for file in killed._opened:
        file.close()  # the process has ended
    with Results(path, OURS) as results:
        results.check(force=False)
        results.read_past()
        results.begin([line(1, id="rf_1")])
        results.finish()
    assert [one["id"] for one in read(path)] == ["rf_1"]
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_two_machines_that_begin_one_batch_at_once_leave_whole_files(path: Path) -> None:
    """R66, R116: on a shared folder; each puts its own file in place, and the last one stays."""
    with Results(path, OURS) as here, Results(path, OURS) as there:

        def lines() -> Iterator[ResultLine]:  # while these are written the other one begins
            here.begin([])
            yield line(3)

        there.begin(lines())
        for results in (there, here):
            results.add([line(1), line(2), line(3)])
        for results in (there, here):
            results.finish()
        assert (here.failure, there.failure) == (None, None)
    assert [one["row"] for one in read(path)] == [1, 2, 3]


def test_a_file_that_vanishes_is_there_again_at_the_end(path: Path) -> None:
    """Somebody deletes it in the middle of a run; without its folder it is exit 10."""
    with Results(path, OURS) as results:
        results.begin([line(1)])
        path.unlink()
        results.add([line(2)])
        results.finish()
    assert [one["row"] for one in read(path)] == [1, 2]
    with Results(path, OURS) as results:
        results.read_past()
        results.begin([line(1)])
        shutil.rmtree(path.parent)
        results.finish()
    assert results.failure is not None
    assert "no such file or directory. It holds 1 results" in results.failure.message


def test_the_file_is_the_users_own(path: Path) -> None:
    """R66: 0600, whatever the umask."""
    with Results(path, OURS) as results:
        results.begin([])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text", ["precious", '{"import": "imp_other", "row": 1}\n', "[1]\n", "\x00"]
)
def test_something_else_is_not_overwritten(path: Path, text: str) -> None:
    """R65: an existing file needs --force; nothing was sent and nothing is changed."""
    path.write_text(text)
    with (
        Results(path, OURS) as results,
        pytest.raises(LocalError, match="holds something else") as caught,
    ):
        results.check(force=False)
    assert caught.value.exit_code == 10
    assert path.read_text() == text
    with Results(path, OURS) as results:
        results.check(force=True)
        results.begin([])
    assert path.read_text() == ""


def test_what_a_spreadsheet_has_saved_as_csv_is_damaged_and_no_other_file(path: Path) -> None:
    """R116: to overwrite it, or to name another file, would send its done rows again elsewhere."""
    path.write_text(f"import,run,row,outcome\n{OURS.id},,1,done\n{OURS.id},,2,done\n")
    with Results(path, OURS) as results:
        results.check(force=False)
        assert results.read_past().damaged == 3


def test_whose_results_they_are_says_how_to_go_on(path: Path) -> None:
    """R116: those of another batch can be read; those of test mode say nothing of live mode."""
    with Results(path, OTHER) as results:
        results.begin([line(1, key_fingerprint="sk_test_…1234")])
        results.finish()
    live = replace(OURS, scope=SCOPE._replace(mode="live"))
    words = ("batch", "refunds.create", "r.csv", "--run", "may", "--again", "--force", "--edited")
    go_on = "svc batch refunds.create r.csv"
    own = path.with_name("r.ndjson.live.results.ndjson")
    for batch, known, hint in (
        (OURS, words, f"skipped: {go_on} --edited --import {OTHER.id} --results {path}; if not"),
        (live, words[:3], f"name another file: {go_on} --results {own}"),
    ):
        typed = TypedLine(known, 0.0, path.parent)
        with Results(path, batch, typed) as results, pytest.raises(LocalError) as told:
            results.check(force=False)
        assert (told.value.code, told.value.param) == ("results_exist", "--results")
        assert hint in str(told.value.hint)


def test_what_another_list_has_put_there_meanwhile_is_not_overwritten(path: Path) -> None:
    """Two lists of one name at once: the second finds out before it sends anything."""
    with Results(path, OURS) as results, Results(path, OTHER) as other:
        results.check(force=False)
        other.check(force=False)
        other.begin([line(1)])
        other.finish()
        with pytest.raises(LocalError, match="holds the results of another batch"):
            results.begin([])
    assert [one["import"] for one in read(path)] == [OTHER.id]


def test_a_run_whose_file_was_taken_says_so_and_takes_nothing(path: Path) -> None:
    """The first has no result yet when the second puts its file there."""
    with Results(path, OURS) as results, Results(path, OTHER) as other:
        results.begin([])
        other.check(force=False)
        other.begin([])
        results.add([line(1)])
        results.finish()
        assert results.failure is not None
        assert results.failure.code == "results_not_written"
        assert "holds the results of another run" in results.failure.message
        other.add([line(1), line(2)])
        other.finish()
    assert other.failure is None
    assert [one["import"] for one in read(path)] == [OTHER.id] * 2
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_an_empty_file_and_our_own_are_continued(path: Path) -> None:
    """What a run was killed in the middle of."""
    path.touch()
    Results(path, OURS).check(force=False)
    path.write_text(json.dumps({"import": OURS.id}) + "\n")
    Results(path, OURS).check(force=False)


def test_links_are_refused(tmp_path: Path) -> None:
    """R65: neither the file nor its folder may be a symbolic link, with --force neither."""
    target = tmp_path / "target"
    target.write_text("precious")
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(LocalError, match="not a regular file"):
        Results(tmp_path / "link", OURS).check(force=True)
    (tmp_path / "real").mkdir()
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    with pytest.raises(LocalError, match="not a folder of its own"):
        Results(tmp_path / "folder" / "r", OURS).check(force=True)
    assert target.read_text() == "precious"


def test_a_folder_that_is_missing_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    """Exit 10."""
    with pytest.raises(LocalError, match=r"The folder .*/none of the results file is missing"):
        Results(tmp_path / "none" / "r", OURS).check(force=False)


def test_a_full_disk_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was there stays whole, and no temporary file is left."""
    path.write_text(json.dumps({"import": OURS.id, "row": 1}) + "\n")

    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with Results(path, OURS) as results:
        results.read_past()
        with pytest.raises(LocalError, match="no space left"):
            results.begin([line(1), line(2)])
    assert len(read(path)) == 1
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("moment", ["add", "finish"])
def test_what_could_not_be_written_is_told_once_by_the_name_of_the_file(
    path: Path, moment: str
) -> None:
    """R70: closing it fails once more, and would take the reason and the summary away."""
    many = [line(row) for row in range(1, 21)]
    with Results(path, OURS) as results:
        results.begin([])
        if moment == "finish":
            results.add(many)
        with _full_from(100):
            results.add(many)
            results.finish()
            results.__exit__(None, None, None)
    assert results.failure is not None
    assert f"{path} cannot be written" in results.failure.message
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_disk_that_is_full_from_the_start_is_told_by_the_name_of_the_file(path: Path) -> None:
    """R70: not as some file that some reading or writing failed of."""
    with (
        _full_from(100),
        pytest.raises(LocalError, match=r"r\.ndjson cannot be written"),
        Results(path, OURS) as results,
    ):
        results.begin([line(row) for row in range(1, 21)])
    assert list(path.parent.iterdir()) == []


@contextmanager
def _full_from(size: int) -> Iterator[None]:
    """No file may become longer (bytes), which the system refuses as it does on a full disk."""
    resource = pytest.importorskip("resource", reason="Windows has no such limit")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_hostile_text_cannot_act_on_a_terminal(path: Path) -> None:
    """R61: the service's words are escaped, and come back whole."""
    words = "\x1b]52;c;x\x07 \u202e"
    with Results(path, OURS) as results:
        results.begin([line(1, "refused", error={"message": words})])
    assert path.read_text().isascii()
    assert "\x1b" not in path.read_text()
    assert read(path)[0]["error"]["message"] == words


def test_a_later_run_reads_what_an_earlier_one_has_left(path: Path) -> None:
    """R116: with key, time and likeness; a torn last line and other batches say nothing."""
    sent = {"likeness": "abc", "first_sent": "2026-11-23T10:00:00Z", "key_fingerprint": "sk_1"}
    with Results(path, OURS) as results:
        done = line(1, id="rf_1", idempotency_key="k1", request="rq_1", **sent)
        unknown = line(2, "unknown", idempotency_key="k2", row_id="INV-7", world="w", **sent)
        results.begin([done, unknown, line(3, "refused", idempotency_key="k3", **sent)])
        results.finish()
    with path.open("a") as file:
        file.write('{"import": "imp_other", "outcome": "done", "idempotency_key": "k4"}\n{"imp')
    past = Results(path, OURS).read_past()
    at = 1795428000.0
    assert tuple(past.lines) == (
        Evidence(Known.DONE, "", "k1", at, None, "rf_1", "rq_1", None, "sk_1", "abc", 1),
        Evidence(Known.UNKNOWN, "", "k2", at, None, None, None, "w", "sk_1", "abc", 2, "INV-7"),
    )
    assert not past.is_old


def test_which_lines_are_this_batchs_own(path: Path) -> None:
    """R116: what no run has written is damaged, unless it says that it is of another batch."""
    ours, other = {"import": OURS.id}, {"import": OTHER.id}
    done = {"outcome": "done", "idempotency_key": "k", "first_sent": "2026-10-01T09:00:00Z"}
    late = {"first_sent": "2026-10-02T09:00:00Z"}
    lines: list[Any] = [
        *([1], "text", 7, {"row": 1}, {"import": 7}),  # three damaged
        *({**one, **done, "outcome": "gone"} for one in (ours, other)),  # the first of each
        *({**one, **done, "error": {"code": 7}} for one in (ours, other)),
        *({**one, **done, "idempotency_key": None} for one in (ours, other)),
        {**ours, **done, "row": "x", "likeness": "l"},
        {**other, **done, "row": 4},
        *({**ours, **late, "outcome": one} for one in ("not_sent", "refused", "invalid")),
        {**ours, **done, "outcome": "not_sent", "error": {"code": "done_by_hand"}, "likeness": "l"},
        {**ours, "outcome": "not_sent", "error": {"code": "done_by_hand"}},
    ]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    with Results(path, OURS) as results:
        past = results.read_past()
    assert (past.damaged, past.is_torn, past.is_old) == (6, False, False)
    assert [(one.known, one.row) for one in past.lines] == [
        (Known.DONE, None),
        (Known.NOTHING, None),
    ]
    assert [one.row for one in past.others] == [4]
    assert (past.other, past.begun, past.newest) == (OTHER.id, 1790845200.0, 1790845200.0)


def test_lines_of_an_older_form_are_told_apart(path: Path) -> None:
    """R116: they do not say when a row was sent, so that they may decide nothing."""
    old = {"import": OURS.old_id, "row": 1, "line": 2, "outcome": "done", "idempotency_key": "k"}
    path.write_text(json.dumps(old) + "\n")
    with Results(path, OURS) as results:
        results.check(force=False)
        assert results.read_past().is_old
    assert not Results(path, OTHER).read_past().lines


def test_a_file_that_has_not_been_read_is_not_replaced(path: Path) -> None:
    """R116: another machine has written the shared file since: what it says must be read first."""
    with Results(path, OURS) as results:
        results.check(force=False)
        results.read_past()
        with Results(path, OURS) as elsewhere:
            elsewhere.read_past()
            elsewhere.begin([line(1, id="rf_1")])
            elsewhere.finish()
        with pytest.raises(LocalError, match="changed since it was read") as caught:
            results.begin([line(1)])
    assert (caught.value.code, caught.value.exit_code) == ("results_changed", 10)
    assert caught.value.param == "--results"
    assert [one["id"] for one in read(path)] == ["rf_1"]
