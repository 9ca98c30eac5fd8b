"""Requests that the OpenAPI document allows, and requests that it forbids (promise R88)."""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.launching import launch_options
from support.running import run_to_end
from svc.clock import SystemClock
from svc.sandbox.openapi.document import OPERATIONS
from svc.sandbox.process import launch
from svc.sandbox.process.records import RunRecord

HERE = Path(__file__).parent
LONG = os.environ.get("SVC_TEST_LONG") == "1"
TIMES, EXAMPLES = (25, "100") if LONG else (1, "15")  # of the slow run


@pytest.fixture
def server(tmp_path: Path, quick_sandboxes: None) -> Iterator[RunRecord]:
    """A sandbox process with one object of each kind in it."""
    options = launch_options(tmp_path / "state", seed=7, fixture="demo")
    record = launch.start(options, os.environ, SystemClock())
    yield record
    launch.stop(options.folder, record, SystemClock())


def examined(server: RunRecord, folder: Path, seed: int, *options: str) -> Counter[str]:
    """Runs schemathesis with every check it has; returns how often each answer was seen."""
    counts = folder / f"counts-{seed}.json"
    env = {
        **os.environ,
        "PYTHONPATH": f"{HERE}{os.pathsep}{HERE.parents[1]}",
        "PROOF_SANDBOX": server.url,
        "PROOF_COUNTS": str(counts),
    }
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file"]
    command += [str(HERE / "schemathesis.toml"), "run", f"{server.url}/_sandbox/openapi.json"]
    command += ["--checks", "all", "--max-failures", "1", "--seed", str(seed), *options]
    done = run_to_end(command, env=env, cwd=folder, timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr
    return Counter(json.loads(counts.read_text(encoding="utf-8")))


def labels(*methods: str) -> list[str]:
    """The operations of some methods as the document writes them."""
    wanted = [operation for operation in OPERATIONS if operation.method in methods]
    return [f"{each.method} {each.path.replace(':id', '{id}')}" for each in wanted]


@pytest.mark.limit(600)  # one process, which has a core for itself on a quiet machine alone
@pytest.mark.parametrize(
    ("phases", "requests", "done"),
    [
        # What is just inside and just outside of each limit; each with a key.
        pytest.param(
            "coverage", 250, ["GET", "POST"], marks=pytest.mark.slow(seconds=20, rare=True)
        ),
        pytest.param("examples,fuzzing", 80, ["GET", "POST"], marks=pytest.mark.slow(seconds=7)),
        # One call after the other, on what the one before has made.
        pytest.param("stateful", 20, [], marks=pytest.mark.slow(seconds=6)),
    ],
)
def test_schemathesis_finds_nothing_in_many_requests(
    server: RunRecord, tmp_path: Path, phases: str, requests: int, done: list[str]
) -> None:
    """R88: no server error, no answer outside its schema, no ignored key; in 25 times as many requests with SVC_TEST_LONG=1."""
    seen: Counter[str] = Counter()
    seed = 0
    while seen.total() < TIMES * requests:
        seed += 1
        seen += examined(server, tmp_path, seed, "--phases", phases, "-n", EXAMPLES)
    assert [label for label in labels(*done) if not seen[f"{label} 200"]] == []
    assert [label for label in seen if label[-3:] >= "500"] == []
    if phases != "coverage":  # requests without a key were among the refused
        assert any(label.endswith(" 401") for label in seen)
    print(f"\n{seen.total()} requests, 0 failures")
