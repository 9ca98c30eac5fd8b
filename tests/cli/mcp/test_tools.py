"""What `svc mcp` refuses before it serves; what it serves is in `test_server.py`."""

import re

import pytest

from support.running import Svc
from svc.cli.commands.tree import tree
from svc.cli.mcp.tools import OPERATIONS, serve


def test_the_missing_extra_is_named(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what installs it."""
    monkeypatch.setattr("svc.cli.mcp.find_spec", lambda _: None)
    refused = svc("mcp")
    assert (refused.code, refused.error["code"]) == (2, "mcp_extra_missing")
    assert "pip install 'svc-cli[mcp]'" in refused.error["message"]


def test_the_help_page_names_each_operation_that_can_be_allowed(svc: Svc) -> None:
    """And those alone."""
    page = svc("help", "agents").out
    named = set(re.findall(r"\b[a-z-]+\.(?:create|update|cancel|capture|accept)\b", page))
    assert named == set(OPERATIONS)


def test_no_tool_offers_to_read_a_file() -> None:
    """As the options of the commands do."""
    tools = serve(tree(), OPERATIONS)
    assert "KEY is the name of an entry" in str(tools["disputes_update"].schema())
    assert [name for name, tool in tools.items() if "@FILE" in str(tool.schema())] == []
