"""On GitHub's runners: what a stranger wrote into an order is no command of the workflow."""

import pytest

from support.orders import CREATE_ORDER
from support.running import Sandbox, Svc
from unit.render.test_workflow import runner_reads

EVIL = "::stop-commands::token"
LINES = f"fine\n{EVIL}\n  ::add-mask::x\n##[add-mask]y"


@pytest.fixture
def order(svc: Svc, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> str:
    """An order with metadata that would stop the runner's masking."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    made = svc.ok(*CREATE_ORDER, "-d", f"metadata[note]={LINES}", "-d", f"metadata[a]={EVIL}")
    return str(made["id"])


def test_nothing_that_is_printed_is_a_command(svc: Svc, order: str) -> None:
    """R107: in every format, with a query, with fields, in tables, and in errors."""
    for argv in (
        ("-o", "human"),
        ("-o", "csv"),
        ("-o", "json"),
        ("-o", "ndjson"),
        ("--query", "metadata.a", "-o", "human"),
        ("--query", "metadata.note", "-o", "human"),
        ("--query", "metadata", "-o", "human"),
        ("--query", "metadata.note", "-o", "csv"),
        ("--query", "metadata.a", "-o", "id"),
    ):
        shown = svc("orders", "retrieve", order, *argv)
        assert runner_reads(shown.out + shown.err) == [], argv
    for argv in (
        ("-o", "human", "--fields", "metadata.a"),
        ("-o", "csv", "--fields", "metadata.a"),
    ):
        assert runner_reads(svc("orders", "list", *argv).out) == [], argv
    refused = svc("orders", "list", "--param", f"{LINES}=x", "-o", "human")
    assert refused.code != 0
    assert runner_reads(refused.out + refused.err) == []
