"""An older svc on what a newer one has written."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from support.ring_file import FakeRing
from support.running import Sandbox, Svc

CREATE = (
    *("orders", "create", "--amount", "100", "--currency", "EUR", "--country", "DE"),
    *("--item", "name=Jacket,quantity=1,unit_amount=100"),
)


def test_an_older_svc_reads_and_sends_nothing(
    svc: Svc, sandbox: Sandbox, isolated: Path, fake_ring: FakeRing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2: it says what it cannot see, and offers no folder that knows of no request."""
    monkeypatch.delenv("SVC_API_KEY", raising=False)
    svc.ok("keys", "add", "--stdin", stdin="sk_test_sandbox")  # is looked up in that database
    order = svc.ok(*CREATE)["id"]
    with closing(sqlite3.connect(isolated / "state" / "state.db")) as raw:
        raw.execute("PRAGMA user_version = 999")
    assert [one["id"] for one in svc.ok("orders", "list")["data"]] == [order]
    refused = svc(*CREATE, "-o", "human")
    assert refused.code == 10
    said = " ".join(refused.err.split())
    assert "written by a newer svc" in said
    assert "svc requests list --unresolved" in said
    assert "SVC_STATE_DIR" not in said
    assert [one["id"] for one in svc.ok("orders", "list")["data"]] == [order]
