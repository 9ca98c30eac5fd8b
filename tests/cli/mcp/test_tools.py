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


def test_what_reads_is_a_tool_without_being_allowed() -> None:
    """Each list and each object of the API, and what is known on this machine."""
    tools = serve(tree(), ())
    ours = "get timeline whoami requests_list requests_show events_inbox events_inbox_show"
    own = {*ours.split(), "events_audit"}
    assert own < set(tools)
    of_api = {name for name in tools if name not in own}
    assert of_api == {
        *("orders_list", "payments_list", "refunds_list", "payouts_list", "disputes_list"),
        *("orders_retrieve", "payments_retrieve", "refunds_retrieve", "payouts_retrieve"),
        *("disputes_retrieve", "landed_cost_quotes_retrieve", "events_retrieve"),
    }
    assert set(serve(tree(), ("orders.create",))) == {*tools, "orders_create", "requests_resume"}
    assert all(tool.reads and not tool.moves_money({}) for tool in tools.values())


def test_what_an_agent_may_not_do_is_no_argument() -> None:
    """Going beyond a limit, more than fits into an answer, forms of CSV, an address of a log."""
    tools = serve(tree(), OPERATIONS)
    named = {name for tool in tools.values() for name in tool.schema()["properties"]}
    assert not named & {"over_limit", "all", "raw_csv", "decimals", "from"}
    assert {"query", "limit", "max", "status", "created_gte", "where", "text"} <= named
    schemas = [tool.schema() for tool in tools.values()]
    assert all((it["type"], it["additionalProperties"]) == ("object", False) for it in schemas)
    limit = tools["orders_list"].schema()["properties"]["limit"]
    assert limit["type"] == "integer"
    create = tools["orders_create"].schema()
    assert create["required"] == ["amount", "currency", "country", "item"]
    item = create["properties"]["item"]
    assert (item["type"], item["items"]["type"]) == ("array", "string")
    most = tools["events_inbox"].schema()["properties"]["max"]
    assert (most["type"], most["minimum"], "maximum" in most) == ("integer", 1, False)
    wait = tools["refunds_retrieve"].schema()["properties"]["wait"]
    assert wait["type"] == "boolean"


def test_an_argument_is_written_as_one_option_or_behind_them_all() -> None:
    """What begins with dashes is a value; in an expression @ is no file."""
    tools = serve(tree(), OPERATIONS)
    line = tools["events_inbox"].build_command_line
    assert line({"where": "@.a", "text": "@b", "query": "@", "max": 3, "failed": False}) == [
        *("events", "inbox", "--where=@.a", "--text=@b", "--query=@", "--max=3", "--")
    ]
    retrieve = tools["refunds_retrieve"].build_command_line
    assert retrieve({"refund_id": "--help", "wait": True}) == [
        *("refunds", "retrieve", "--wait", "--", "--help")
    ]
    money = tools["disputes_update"].moves_money
    assert (money({"submit": True}), money({"submit": False})) == (True, False)


def test_no_tool_offers_to_read_a_file() -> None:
    """As the options of the commands do."""
    tools = serve(tree(), OPERATIONS)
    assert "KEY is the name of an entry" in str(tools["disputes_update"].schema())
    assert [name for name, tool in tools.items() if "@FILE" in str(tool.schema())] == []
