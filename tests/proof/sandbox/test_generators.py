"""Clients that others generate of the OpenAPI document: nothing is lost, and they work (R88)."""

import json
import shutil
from pathlib import Path

import pytest

from support.launching import launched
from support.running import run_to_end
from svc.sandbox.openapi.document import OPERATIONS, document
from svc.service.facts import EVENT_TYPES

DOCUMENT = document(OPERATIONS)
# Run by the Python that has what a generated client needs.
CLIENT = """
import json, sys
import httpx
from generated import AuthenticatedClient
from generated.api.orders import create_order, cancel_order
from generated.api.webhook_endpoints_and_events import create_webhook_endpoint, retrieve_event
from generated.models import *
url, example = sys.argv[1], json.loads(sys.argv[2])
client = AuthenticatedClient(base_url=url, token="sk_test_sandbox")
made = create_order.sync(client=client, body=CreateOrderJsonBody.from_dict(example))
cancelled = cancel_order.sync(made.id, client=client, body=CancelOrderJsonBody(None))
headers = {"Svc-Sandbox": "1", "Authorization": "Bearer sk_test_sandbox"}
told = httpx.post(url + "/_sandbox/events/trigger", headers=headers, json={"type": "order.paid"})
event = retrieve_event.sync(told.json()["event"]["id"], client=client)
refused = create_webhook_endpoint.sync(
    client=client, body=CreateWebhookEndpointJsonBody.from_dict({"url": "no", "events": ["order.paid"]})
)
names = [type(each).__name__ for each in (made, cancelled, event, event.data.object_, refused)]
print(json.dumps([*names, cancelled.status, event.data.object_.id[:4], refused.code]))
"""
TYPESCRIPT = """
import type { components, operations, webhooks } from "./api";

type Event = components["schemas"]["Event"];
type Body<O extends keyof operations> = operations[O] extends { requestBody?: infer B }
  ? NonNullable<B> extends { content: { "application/json": infer J } } ? J : never
  : never;
export const paid = (event: Event): number =>
  event.type === "order.paid" ? event.data.object.amount : 0;
export const taken = (
  event: webhooks["refund.failed"]["post"]["requestBody"]["content"]["application/json"],
): string => event.data.object.payment;
export const cleared: Body<"updateOrder"> = { settlement_currency: null };
export const refund: Body<"createRefund"> = { payment: "pay_x", reason: "duplicate" };
// @ts-expect-error  a word that the API has not
export const wrong: Body<"createRefund"> = { payment: "pay_x", reason: "bored" };
"""


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run(folder: Path, *words: str) -> str:
    done = run_to_end(words, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def written(folder: Path) -> str:
    (folder / "api.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    return "api.json"


@pytest.mark.slow(seconds=15)
def test_a_generated_python_client_has_it_all_and_works(tmp_path: Path) -> None:
    """Every operation with its bodies, every object and event; against a sandbox."""
    generator = tool("openapi-python-client")
    # Without the linter that tidies what was generated, which is none of our affair.
    (tmp_path / "config.yml").write_text("post_hooks: []\n", encoding="utf-8")
    options = ("--meta", "none", "--output-path", "generated", "--fail-on-warning")
    said = run(
        *(tmp_path, generator, "generate", "--path", written(tmp_path), "--config", "config.yml"),
        *options,
    )
    assert "warning" not in said.lower(), said
    made = {path.stem: path.read_text() for path in (tmp_path / "generated/api").rglob("*_*.py")}
    bodies = {
        described["operationId"]: set(described["requestBody"]["content"])
        for methods in DOCUMENT["paths"].values()
        for described in methods.values()
        if "requestBody" in described
    }
    assert len(made) - list(made).count("__init__") == len(OPERATIONS)
    posts = [text for text in made.values() if '"method": "post"' in text]
    assert len(posts) == len(bodies)
    assert [text for text in posts if "JsonBody" not in text or "DataBody" not in text] == []
    models = (tmp_path / "generated/models/__init__.py").read_text()
    named = DOCUMENT["components"]["schemas"]
    objects = [name for name, schema in named.items() if schema.get("type") == "object"]
    assert len(objects) > len(EVENT_TYPES)
    assert [name for name in objects if f'"{name}",' not in models] == []
    example = json.dumps(next(each.example for each in OPERATIONS if each.id == "createOrder"))
    (tmp_path / "client.py").write_text(CLIENT, encoding="utf-8")
    with launched(tmp_path / "state") as record:
        python = str(Path(generator).resolve().parent / "python")
        answered = json.loads(run(tmp_path, python, "client.py", record.url, example))
    assert answered[:3] == ["NewOrder", "Order", "OrderPaidEvent"]
    assert answered[3:] == [
        "Order",
        "CreateWebhookEndpointResponse400Type0",
        "cancelled",
        "ord_",
        "url_invalid",
    ]


@pytest.mark.slow(seconds=15)
def test_generated_types_for_typescript_have_it_all(tmp_path: Path) -> None:
    """Every schema, every event as a webhook, and types that TypeScript itself takes."""
    generator, compiler = tool("openapi-typescript"), tool("tsc")
    run(tmp_path, generator, written(tmp_path), "-o", "api.d.ts")
    types = (tmp_path / "api.d.ts").read_text(encoding="utf-8")
    assert [
        name for name in DOCUMENT["components"]["schemas"] if f"        {name}: " not in types
    ] == []
    assert [kind for kind in EVENT_TYPES if f'    "{kind}": {{\n' not in types] == []
    assert ": unknown" not in types.replace("[name: string]: unknown", "")
    (tmp_path / "check.ts").write_text(TYPESCRIPT, encoding="utf-8")
    run(tmp_path, compiler, "--noEmit", "--strict", "--target", "es2022", "check.ts")
