"""Webhook endpoints: registering them, their secrets, their health, the dashboard's actions."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from svc.sandbox.clock import SECOND, text_of
from svc.sandbox.parameters import schema
from svc.sandbox.parameters.kinds import STRING, EventType, Text, string
from svc.sandbox.parameters.problems import Problem, invalid
from svc.sandbox.parameters.tables import (
    Codes,
    ListOf,
    Parameter,
    ParameterKind,
    Params,
    SandboxSettings,
)
from svc.sandbox.resources import operation
from svc.sandbox.store import deliveries, jobs
from svc.sandbox.store.documents import Doc, KnownDoc, public
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import EVENT_TYPES, ID_PREFIXES, SECRET_PREFIX, VERSIONS
from svc.system.loopback import is_loopback

KIND = "webhook_endpoint"
ENABLED_MAX = 16
SECRET_LENGTH = 32
FAILING_SECONDS = 5 * 24 * 3600  # all failed for so long: disabled

# Private fields of an endpoint, beside those that a GET shows:
# _secret, _old_secret, _old_secret_until (microseconds): signing
# _failing_since (microseconds): the first failure after the last success
# _warned: the e-mail about an exhausted event was written since then

_NAMES_MAX: Final = 1000  # entries of the list; repeated names are merged

_NEVER_IN_URLS: Final = frozenset(' "<>\\^`{|}')
_URL: Final = "^[Hh][Tt][Tt][Pp][Ss]?://"
_URL_MAX: Final = 2000


@dataclass(frozen=True, slots=True)
class Url(ParameterKind):
    """The address of a webhook receiver: https, or http to this machine where that is allowed."""

    def check(self, value: Any, name: str, settings: SandboxSettings) -> str:
        url = string(value, name)
        if not _is_receiver(url, allow_http=bool(settings["allow_http_webhooks"])):
            http = " or http://localhost" if settings["allow_http_webhooks"] else ""
            message = f"{name} must be an https:// address{http}, without a user name."
            raise invalid("url_invalid", name, message)
        return url

    def codes(self) -> Codes:
        return STRING | {"url_invalid"}

    def schema(self, empty: schema.Schema) -> schema.Schema:  # noqa: ARG002
        return {"type": "string", "format": "uri", "maxLength": _URL_MAX, "pattern": _URL}


def _is_receiver(url: str, *, allow_http: bool) -> bool:
    if len(url) > _URL_MAX or not url.isascii() or not url.isprintable():
        return False
    if not _NEVER_IN_URLS.isdisjoint(url):
        return False
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or "@" in parts.netloc:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and allow_http and is_loopback(host))


CREATE: Final = (
    Parameter("url", Url(), required=True),
    Parameter("events", ListOf(EventType(), _NAMES_MAX), required=True),
    Parameter("description", Text(200)),
)
ANSWER: Final = schema.resource(
    KIND,
    {
        "url": schema.TEXT,
        "events": {
            "type": "array",
            "items": schema.words(EVENT_TYPES),
            "minItems": 1,
            "uniqueItems": True,
        },
        "secret": {"type": "string", "pattern": f"^{SECRET_PREFIX}[0-9A-Za-z]{{32}}$"},
        "status": schema.words(("enabled", "disabled")),
        "description": schema.nullable(schema.TEXT),
        "api_version": schema.words(VERSIONS),
    },
)


def create(tx: Transaction, params: Params) -> Doc:
    """Registers an endpoint for the event types named; a type named twice counts once."""
    _refuse_more(tx)
    return new_endpoint(
        tx,
        url=params["url"],
        events=list(dict.fromkeys(params["events"])),
        description=params.get("description"),
    )


def _refuse_more(tx: Transaction) -> None:
    if len(tx.find(KIND, status="enabled")) >= ENABLED_MAX:
        message = f"At most {ENABLED_MAX} endpoints can be enabled in a mode."
        raise Problem(400, "webhook_endpoint_limit", message)


def created_view(endpoint: Doc) -> Doc:
    """The answer to a registration, the only one that shows the signing secret."""
    shown: Doc = {}
    for name, value in public(endpoint).items():
        shown[name] = value
        if name == "events":
            shown["secret"] = endpoint["_secret"]
    return shown


def new_endpoint(tx: Transaction, *, url: str, events: list[str], description: str | None) -> Doc:
    """Stores an endpoint; the caller shows `_secret` once, as `secret`."""
    identity = tx.new_id(ID_PREFIXES[KIND])
    fields = {
        "url": url,
        "events": events,
        "status": "enabled",
        "description": description,
        "api_version": tx.settings["pinned_version"] or VERSIONS[-1],
        "_secret": tx.new_secret(SECRET_PREFIX, SECRET_LENGTH),
        "_old_secret": None,
        "_old_secret_until": None,
        "_failing_since": None,
        "_warned": False,
    }
    doc = tx.new(KIND, fields, identity)
    tx.add(doc)
    return doc


def signing_secrets(endpoint: KnownDoc, now: int) -> list[str]:
    """The secrets that sign at a moment (microseconds): the new one first."""
    secrets = [endpoint["_secret"]]
    until = endpoint["_old_secret_until"]
    if until is not None and now < until:
        secrets.append(endpoint["_old_secret"])
    return secrets


def roll_secret(tx: Transaction, endpoint: Doc, grace: int) -> str:
    """Gives a new secret; the one before signs along for `grace` seconds."""
    endpoint["_old_secret"] = endpoint["_secret"] if grace else None
    endpoint["_old_secret_until"] = tx.now_micros + grace * SECOND if grace else None
    endpoint["_secret"] = tx.new_secret(SECRET_PREFIX, SECRET_LENGTH)
    tx.save(endpoint)
    secret: str = endpoint["_secret"]
    return secret


def enable(tx: Transaction, endpoint: Doc) -> None:
    """Takes events again, with a clean record; what was dropped stays dropped."""
    if endpoint["status"] != "enabled":
        _refuse_more(tx)
    endpoint["status"] = "enabled"
    _recovered(tx, endpoint)


def disable(tx: Transaction, endpoint: Doc) -> None:
    """Takes no more events and gives up what is pending."""
    endpoint["status"] = "disabled"
    deliveries.drop(tx.store, endpoint["id"])
    _recovered(tx, endpoint)


def delete(tx: Transaction, endpoint: Doc) -> None:
    """Removes the endpoint and gives up what is pending; its log stays."""
    deliveries.drop(tx.store, endpoint["id"])
    tx.cancel_jobs(jobs.DISABLE, endpoint["id"])
    tx.remove(KIND, endpoint["id"])


def note_success(tx: Transaction, endpoint: KnownDoc) -> None:
    """A delivery arrived: the endpoint is in health again."""
    if endpoint["_failing_since"] is not None:
        _recovered(tx, tx.stored(KIND, endpoint["id"]))


def note_failure(tx: Transaction, endpoint: Doc) -> None:
    """A delivery failed: at the first failure the five days begin to run."""
    if endpoint["_failing_since"] is None and endpoint["status"] == "enabled":
        now = tx.now_micros
        endpoint["_failing_since"] = now
        tx.save(endpoint)
        end = now + FAILING_SECONDS * SECOND
        identity = endpoint["id"]
        jobs.add(tx.store, tx.mode, end, jobs.DISABLE, identity, {}, lane=identity)


def note_exhausted(tx: Transaction, endpoint: Doc, event: str) -> None:
    """All attempts of an event failed: the first time since a success an e-mail is written."""
    if not endpoint["_warned"] and endpoint["status"] == "enabled":
        endpoint["_warned"] = True
        tx.save(endpoint)
        _mail(
            tx,
            endpoint,
            "webhook_failing",
            f"Your webhook endpoint {endpoint['url']} is failing",
            f"All attempts to deliver event {event} failed for three days. "
            "The endpoint is disabled when every attempt fails for five days.",
        )


def disable_failing(tx: Transaction, identity: str) -> None:
    """Five days without a success have passed: disabled, with an e-mail (assumptions: Delivery)."""
    endpoint = tx.get(KIND, identity)
    if endpoint is None or endpoint["_failing_since"] is None:
        return
    since = text_of(endpoint["_failing_since"])
    disable(tx, endpoint)
    _mail(
        tx,
        endpoint,
        "webhook_disabled",
        f"Your webhook endpoint {endpoint['url']} was disabled",
        f"Every attempt since {since} failed. Events are no longer sent to it; "
        "enable it again in the dashboard.",
    )


def is_local(url: str) -> bool:
    """Says whether a receiver is on this machine, by its name alone (promise R89)."""
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False


def _recovered(tx: Transaction, endpoint: Doc) -> None:
    endpoint["_failing_since"] = None
    endpoint["_warned"] = False
    tx.save(endpoint)
    tx.cancel_jobs(jobs.DISABLE, endpoint["id"])


def _mail(tx: Transaction, endpoint: Doc, kind: str, subject: str, body: str) -> None:
    identity = tx.ids.derived("eml_", kind, endpoint["id"], tx.now_micros)
    about = {"type": kind, "webhook_endpoint": endpoint["id"]}
    tx.add(tx.new("email", {**about, "subject": subject, "body": body}, identity))


OPERATIONS: Final = (
    operation.NounOperations(
        "/v1/webhook_endpoints", "webhook_endpoints", KIND, "NewWebhookEndpoint"
    ).create(
        "createWebhookEndpoint",
        "Register an endpoint",
        create,
        CREATE,
        example={"url": "https://shop.example/webhooks", "events": ["order.paid"]},
        view=created_view,
        refuses=("webhook_endpoint_limit",),
    ),
)
