"""On GitHub's runners: what a stranger wrote into an order is no command of the workflow."""

import json
from pathlib import Path

import pytest

from support.running import Sandbox, Svc
from unit.render.test_workflow import runner_reads

EVIL = "::stop-commands::token"
LINES = f"fine\n{EVIL}\n  ::add-mask::x\n##[add-mask]y"
CREATE = (
    *("orders", "create", "--amount", "12900", "--currency", "EUR", "--country", "DE"),
    *("--item", "name=J,hs_code=6203.39,quantity=1,unit_amount=12900"),
)


@pytest.fixture
def order(svc: Svc, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> str:
    """An order with metadata that would stop the runner's masking."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    made = svc.ok(*CREATE, "-d", f"metadata[note]={LINES}", "-d", f"metadata[a]={EVIL}")
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


def test_json_and_csv_say_the_same_as_elsewhere(svc: Svc, order: str) -> None:
    """What a program reads has lost nothing."""
    assert svc.ok("orders", "retrieve", order)["metadata"] == {"note": LINES, "a": EVIL}
    elsewhere = svc("orders", "retrieve", order, env={"GITHUB_ACTIONS": ""})
    assert json.loads(elsewhere.out)["metadata"]["a"] == EVIL


def test_annotations_of_our_own_are_commands(svc: Svc, order: str, isolated: Path) -> None:
    """`keys remind --format github` means what it prints."""
    old = {"SVC_API_KEY": "sk_test_sandbox"}
    argv = ("keys", "remind", "--format", "github", "--created", "2020-01-01")
    marks = svc(*argv, env=old).out.splitlines()
    assert marks
    assert all(line.startswith("::") for line in marks)
