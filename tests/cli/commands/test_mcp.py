"""What `svc mcp` refuses before it serves; with an agent's program it is in `process/test_agents.py`."""

import pytest

from support.running import Svc


def test_the_missing_extra_is_named(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what installs it."""
    monkeypatch.setattr("svc.cli.mcp.find_spec", lambda _: None)
    refused = svc("mcp")
    assert (refused.code, refused.error["code"]) == (2, "mcp_extra_missing")
    assert "pip install 'svc-cli[mcp]'" in refused.error["message"]
