"""The OpenAPI document: it is served to everybody, it is whole, and it is made from the tables.

What it says of each operation lies in `operations.txt`; after a change that is meant, `GOLDEN=write`
writes it anew.
"""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from support.sandbox_calls import AsgiSandbox
from support.suite.golden import hold_golden
from svc.sandbox.openapi.document import BY_STATUS, KEY_REUSED, OPERATIONS, document, refusals_of
from svc.service.errors import CODES, codes_of

SANDBOX = Path(__file__).parents[4] / "src" / "svc" / "sandbox"
DOCUMENT = document(OPERATIONS)
PATH = "/_sandbox/openapi.json"


def test_document_is_served_without_a_key(shared: AsgiSandbox) -> None:
    """Neither a key nor the controls' header is asked for, and it is the document."""
    answer = shared.call("GET", PATH, key=None)
    assert (answer.status, answer.json) == (200, DOCUMENT)


def test_document_is_for_this_machine_only(shared: AsgiSandbox) -> None:
    """R89: a Host that is no loopback name gets nothing, as everywhere."""
    answer = shared.call("GET", PATH, key=None, headers={"host": "evil.example"})
    assert answer.code == "host_not_allowed"


def test_every_reference_leads_somewhere() -> None:
    """Each `$ref` and each link names something that the document has."""
    text = json.dumps(DOCUMENT)
    for place in set(re.findall(r'"\$ref": "#/([^"]+)"', text)):
        here: Any = DOCUMENT
        for step in place.split("/"):
            here = here[step]
    ids = set(re.findall(r'"operationId": "(\w+)"', text))
    assert ids == {operation.id for operation in OPERATIONS}


@pytest.mark.parametrize("name", sorted(DOCUMENT["components"]["schemas"]))
def test_every_schema_is_a_schema(name: str) -> None:
    """Each schema of the document is valid JSON Schema of the dialect of OpenAPI 3.1."""
    described = DOCUMENT["components"]["schemas"][name]
    jsonschema_rs.meta.validate({**described, "components": DOCUMENT["components"]})


def outline(value: Any) -> Any:
    """A part of the document without its texts and schemas; what is optional ends with "?"."""
    if isinstance(value, list):
        return [outline(one) for one in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("schema", value).get("$ref")
    if reference:
        return reference.rpartition("/")[2]
    if {*value} <= {"schema", "required", "description"}:
        return "" if value.get("required") else "?"
    if "in" in value:
        marks = {*value} - {"name", "in", "schema", "description"}
        return " ".join((value["in"], value["name"], *sorted(marks)))
    texts = ("summary", "description", "schema", "example")
    return {name: "..." if name in texts else outline(one) for name, one in value.items()}


def test_document_says_of_each_operation_what_is_agreed() -> None:
    """Its parameters, headers, answers and links, and how bodies are written: for generators."""
    whole = document(OPERATIONS)
    components = whole["components"]
    parts: dict[str, Any] = {
        **{
            f"{path} {verb}": one for path, of in whole["paths"].items() for verb, one in of.items()
        },
        **whole["webhooks"],
        **{name: components[name] for name in ("responses", "securitySchemes")},
        **{name: whole[name] for name in ("openapi", "info", "servers", "security")},
    }
    told = [f"{name} {json.dumps(outline(part))}" for name, part in parts.items()]
    told += [f"{name} {json.dumps(one)}" for name, one in components["schemas"].items()]
    told += [
        f"{one.id} needs {one.permission}:{one.level}, refuses {' '.join(sorted(refusals_of(one)))}"
        for one in OPERATIONS
    ]
    for name in [name for name in parts if name.endswith(" post")]:
        body = parts[name]["requestBody"]["content"]["application/json"]["schema"]
        told.append(f"{name} takes {json.dumps(body)}")
    hold_golden(Path(__file__).with_name("operations.txt"), "\n".join(told) + "\n")


# The modules that refuse something on behalf of `/v1`, and what they refuse before it is reached.
API = (
    "api/idempotency api/requests http/auth http/exchange parameters/bodies parameters/kinds "
    "parameters/problems parameters/tables resources/disputes resources/operation "
    "resources/orders resources/payments resources/payouts resources/landed_cost_quotes resources/refunds "
    "resources/webhook_endpoints"
).split()
BEFORE = {"host_not_allowed", "page_not_allowed", "sandbox_header_required"}


def raised_codes() -> dict[str, int]:
    """Every error code that is spelled out where the API's modules raise it, with its status."""
    found: dict[str, int] = {}
    for name in API:
        text = (SANDBOX / f"{name}.py").read_text(encoding="utf-8")
        raised = re.findall(r"(?:Problem\(\s*(\d+),|invalid\()\s*\"([a-z_]+)\"", text)
        found |= {code: int(status or 400) for status, code in raised if code not in BEFORE}
    return found


def test_catalogue_has_every_code_that_is_raised() -> None:
    """No code of the API is missing from the document's error answers; each has its status."""
    listed = {code for status in BY_STATUS for code in codes_of(status)} | {KEY_REUSED}
    for operation in OPERATIONS:
        listed |= refusals_of(operation)
    raised = raised_codes()
    assert len(raised) > 30
    assert set(raised) <= listed
    assert {code: CODES[code].status for code in raised} == raised
