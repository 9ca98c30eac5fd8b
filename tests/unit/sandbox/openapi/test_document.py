"""The OpenAPI document: it is served to everybody, it is whole, and it is made from the tables.

What it says of each operation lies in `operations.txt`; after a change that is meant, `GOLDEN=write`
writes it anew.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from support.launching import launched
from support.running import api, ask
from support.suite.golden import hold_golden
from svc.sandbox.openapi.document import BY_STATUS, KEY_REUSED, OPERATIONS, document, refusals_of
from svc.sandbox.parameters.schema import SHARED
from svc.service.errors import CODES, codes_of

SANDBOX = Path(__file__).parents[4] / "src" / "svc" / "sandbox"
DOCUMENT = document(OPERATIONS)
PATH = "/_sandbox/openapi.json"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A sandbox process."""
    with launched(tmp_path_factory.mktemp("state")) as record:
        yield record.port


def test_document_is_served_without_a_key(port: int) -> None:
    """Neither a key nor the controls' header is asked for, and it is the document."""
    status, body = ask(port, "GET", PATH, key=None)
    assert (status, json.loads(body)) == (200, DOCUMENT)


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
def test_document_takes_no_other_method(port: int, method: str) -> None:
    """The document cannot be changed; the error has the shape of the controls' errors."""
    body = api(port, method, PATH, key=None)
    assert (body["code"], body["type"]) == ("method_not_allowed", "sandbox_error")


def test_document_is_for_this_machine_only(port: int) -> None:
    """R89: a Host that is no loopback name gets nothing, as everywhere."""
    assert api(port, "GET", PATH, key=None, Host="evil.example")["code"] == "host_not_allowed"


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
    assert words_of(described) <= KEYWORDS  # what a validator does not know it takes for a remark
    formats = re.findall(r'"format": "([^"]*)"', json.dumps(described))
    assert {*formats} <= {"date", "date-time", "uri"}


KEYWORDS = set(
    "$ref additionalProperties allOf anyOf const default description discriminator enum examples "
    "exclusiveMaximum exclusiveMinimum format items maxItems maxLength maxProperties maximum "
    "minItems minLength minProperties minimum not oneOf pattern prefixItems properties "
    "propertyNames readOnly required title type uniqueItems writeOnly".split()
)


def words_of(schema: Any) -> set[str]:
    """The keywords of a schema and of those in it."""
    if isinstance(schema, list):
        return set().union(*map(words_of, schema))
    if not isinstance(schema, dict):
        return set()
    named = {key: schema[key] for key in ("properties", "$defs") if key in schema}
    inside = [value for group in named.values() for value in group.values()]
    plain = [
        schema[key]
        for key in schema
        if key not in {*named, "discriminator", "enum", "const", "default", "examples"}
    ]
    return set(schema) | words_of(inside) | words_of(plain)


def test_what_many_schemas_share_says_what_it_is() -> None:
    """Who generates a client reads it there."""
    assert all(schema["description"].endswith(".") for schema in SHARED.values())
    named = [DOCUMENT["components"]["schemas"][name] for name in SHARED]
    assert named == [*SHARED.values()]


def test_what_is_answered_once_stands_in_the_answer_to_the_making_alone() -> None:
    """A client that is made of the document would look for a secret where there is none, or not."""
    schemas = DOCUMENT["components"]["schemas"]
    for name, field in (("Order", "client_secret"), ("WebhookEndpoint", "secret")):
        assert field in schemas[f"New{name}"]["properties"]
        assert field not in schemas[name]["properties"]


def test_an_amount_that_was_given_is_answered_as_a_number() -> None:
    """Between the same bounds; one that the service has reckoned may be larger."""
    amounts = DOCUMENT["components"]["schemas"]["Order"]["properties"]
    assert amounts["amount"]["type"] == amounts["amount_total"]["type"] == "integer"
    assert ("maximum" in amounts["amount"], "maximum" in amounts["amount_total"]) == (True, False)
    assert amounts["amount"]["minimum"] == 1
    assert re.fullmatch(amounts["created"]["pattern"], "2026-10-01T09:00:00Z")


@pytest.mark.parametrize("operation", [operation for operation in OPERATIONS if operation.example])
def test_every_example_fits_its_schema(operation: Any) -> None:
    """What the document shows as a body is one."""
    path = DOCUMENT["paths"][operation.path.replace(":id", "{id}")]
    content = path[operation.method.lower()]["requestBody"]["content"]["application/json"]
    schema = {**content["schema"], "components": DOCUMENT["components"]}
    assert jsonschema_rs.is_valid(schema, content["example"])
    # It is carried out as it stands: an id would be one of nobody's objects.
    assert not re.search(r'"(ord|pay|rf|po|dp|pm|we|lcq)_', json.dumps(content["example"]))


def test_strict_schemas_refuse_what_they_do_not_know() -> None:
    """A field too many or too few in an answer is a violation: drift cannot pass unseen."""
    schema = {**DOCUMENT["components"]["schemas"]["Refund"], "components": DOCUMENT["components"]}
    refund = {
        "id": "rf_" + "a" * 24,
        "object": "refund",
        "payment": "pay_" + "a" * 24,
        "order": "ord_" + "a" * 24,
        "amount": 1,
        "currency": "EUR",
        "reason": None,
        "status": "pending",
        "failure_reason": None,
        "metadata": {},
        "created": "2026-10-01T09:00:00Z",
        "livemode": False,
    }
    assert jsonschema_rs.is_valid(schema, refund)
    assert not jsonschema_rs.is_valid(schema, {**refund, "colour": "red"})
    for name in refund:
        rest = {key: value for key, value in refund.items() if key != name}
        assert not jsonschema_rs.is_valid(schema, rest), name


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
    told += [f"{one.id} refuses {' '.join(sorted(refusals_of(one)))}" for one in OPERATIONS]
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
