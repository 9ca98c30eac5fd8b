"""Which sandbox of this machine is meant, and what is said where it does not run."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc.base_url import BaseUrl
from svc.cli.framework import local_sandbox
from svc.errors import SvcError
from svc.sandbox.process.records import RunRecord

START = "svc sandbox start --detach"


def record(port: int) -> RunRecord:
    return RunRecord(7, port, f"http://127.0.0.1:{port}", "", f"/log-{port}", "")


def told(ask: Callable[..., Any], *given: Any) -> object:
    """What is found, or what is said where nothing is."""
    try:
        return ask(*given)
    except SvcError as error:
        return f"{error.message} | {error.hint}"


@pytest.mark.parametrize(
    ("running", "port", "said"),
    [
        ([], None, f"No sandbox is running. | {START}"),
        ([5000], 5001, f"No sandbox is running on port 5001. | {START}"),
        (
            [5000, 5001],
            None,
            "2 sandboxes are running, on ports 5000, 5001. | Choose one: --port 5000",
        ),
        ([5000], None, record(5000)),
        ([5000, 5001], 5001, record(5001)),
    ],
)
def test_the_one_that_runs_is_meant_and_of_several_one_is_to_be_named(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    running: list[int],
    port: int | None,
    said: object,
) -> None:
    """By its port; its log is the running one's, else the one that was written last."""
    monkeypatch.setattr(local_sandbox, "list_running", lambda _: [record(one) for one in running])
    assert told(local_sandbox.find_running_sandbox, tmp_path, port) == said
    if port is None and running:
        log = Path(said.log) if isinstance(said, RunRecord) else said
        assert told(local_sandbox.log_of, tmp_path, None) == log
        return
    assert told(local_sandbox.log_of, tmp_path, port) == f"No sandbox has run here. | {START}"
    for moment, name in enumerate(("5001", "4999")):
        (tmp_path / f"sandbox-{name}.log").touch()
        os.utime(tmp_path / f"sandbox-{name}.log", (moment, moment))
    last = tmp_path / f"sandbox-{port or 4999}.log"
    assert told(local_sandbox.log_of, tmp_path, port) == last


@pytest.mark.parametrize(
    ("port", "listens", "said"),
    [
        (4242, False, f"No sandbox runs at URL. | Start it: {START}"),
        (5000, False, f"No sandbox runs at URL. | Start it: {START} --port 5000"),
        (
            5000,
            True,
            (
                "No sandbox of yours runs at URL; what answers there gets no key. | Name it to use it "
                f"all the same, --base-url URL, or start yours: {START}"
            ),
        ),
    ],
)
def test_a_key_goes_to_no_program_that_is_not_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, port: int, listens: bool, said: str
) -> None:
    """R106: whatever answers on a port may be anybody's."""
    url = BaseUrl.parse(f"http://127.0.0.1:{port}")
    monkeypatch.setattr(local_sandbox, "listens", lambda *_: listens)
    assert told(local_sandbox.require_running, tmp_path, url) == said.replace("URL", str(url))
    monkeypatch.setattr(local_sandbox, "find_running", lambda *_: record(port))
    assert told(local_sandbox.require_running, tmp_path, url) is None
    other = BaseUrl.parse(f"http://localhost:{port}")
    assert local_sandbox.at(tmp_path, other) is None
