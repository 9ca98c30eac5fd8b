"""`svc batch` on what can be read once only: a pipe, a process substitution, no input at all."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

from support.running import Sandbox, Svc


def test_rows_from_a_pipe_are_refused_where_the_results_have_no_place(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """A process substitution is read once: what happened is said, and that nothing was sent."""
    pipe, rows = tmp_path / "pipe", tmp_path / "rows.csv"
    os.mkfifo(pipe)
    refused = svc("batch", "refunds.create", str(pipe))
    assert (refused.code, refused.error["code"]) == (2, "results_nameless")
    assert "cannot be read twice" in refused.error["message"]
    assert "Nothing was sent." in refused.error["message"]
    rows.write_text("payment,amount\npay_1,5\n")
    away = tmp_path / "away" / "r.ndjson"
    missing = svc("batch", "refunds.create", str(rows), "--results", str(away))
    assert (missing.code, missing.error["code"]) == (10, "results_not_written")
    assert "Nothing was sent." in missing.error["message"]
    assert sandbox.control("GET", "/requests")["data"] == []


def test_a_closed_standard_input_is_no_empty_file(sandbox: Sandbox, tmp_path: Path) -> None:
    """A job without standard input has sent no row, and says so."""
    words = shlex.join([sys.executable, "-m", "svc", "batch", "refunds.create", "-"])
    line = f"{words} --results {shlex.quote(str(tmp_path / 'r.ndjson'))} <&-"
    env = {**os.environ, "SVC_BASE_URL": sandbox.url, "SVC_API_KEY": "sk_test_sandbox"}
    done = subprocess.run(["sh", "-c", line], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "Standard input is closed. Nothing was sent." in done.stderr


def test_rows_that_find_no_room_were_not_sent(sandbox: Sandbox, tmp_path: Path) -> None:
    """A disk that is full where rows are kept is told with what it means for the money."""
    note = "x" * 1000
    row = json.dumps({"payment": "pay_1", "amount": 5, "metadata": {"note": note}})
    (tmp_path / "rows.ndjson").write_text(f"{row}\n" * 5000)
    words = shlex.join([sys.executable, "-m", "svc", "batch", "refunds.create", "-", "-o", "json"])
    line = f"ulimit -f 4096; cat rows.ndjson | {words} --results r.ndjson --yes"
    env = {**os.environ, "SVC_BASE_URL": sandbox.url, "SVC_API_KEY": "sk_test_sandbox"}
    done = subprocess.run(
        ["sh", "-c", line], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 10, done.stderr
    error = json.loads(done.stderr)["error"]
    assert "Nothing was sent. Free some space there" in error["message"]
    assert error["outcome"] == "not_sent"
    assert sandbox.control("GET", "/requests")["data"] == []
