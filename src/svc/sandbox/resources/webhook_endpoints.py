"""Webhook endpoints in the sandbox: registered, enabled, disabled, and their secrets.

`api` registers them for `/v1/webhook_endpoints`; `webhooks` notes successes and failures; `svc
sandbox endpoints` acts as the dashboard.
"""

from typing import Final
from urllib.parse import urlsplit

from svc.sandbox.clock import SECOND, text_of
from svc.sandbox.parameters.described import build_stored
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.parameters.tables import Params
from svc.sandbox.resources import operation
from svc.sandbox.store import deliveries, jobs
from svc.sandbox.store.documents import Doc, KnownDoc
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import ID_PREFIXES, NEWEST_VERSION, SECRET_PREFIX
from svc.service.webhook_endpoints import RESOURCE
from svc.system.hosts import is_loopback

KIND: Final = RESOURCE.name
ENABLED_MAX = 16
SECRET_LENGTH = 32
FAILING_SECONDS = 5 * 24 * 3600  # all failed for so long: disabled

# Private fields of an endpoint, beside those that a GET shows:
# _secret, _old_secret, _old_secret_until (microseconds): signing
# _failing_since (microseconds): the first failure after the last success
# _warned: the e-mail about an exhausted event was written since then


def create(tx: Transaction, params: Params) -> Doc:
    """Registers an endpoint for the event types named; a type named twice counts once.

    The caller shows `_secret` once, as `secret`.
    """
    _refuse_more(tx)
    identity = tx.new_id(ID_PREFIXES[KIND])
    fields = build_stored(
        RESOURCE,
        {**params, "events": list(dict.fromkeys(params["events"]))},
        status="enabled",
        api_version=tx.settings["pinned_version"] or NEWEST_VERSION,
        _secret=tx.ids.new(SECRET_PREFIX, SECRET_LENGTH),
        _old_secret=None,
        _old_secret_until=None,
        _failing_since=None,
        _warned=False,
    )
    doc = tx.new(KIND, fields, identity)
    tx.add(doc)
    return doc


def _refuse_more(tx: Transaction) -> None:
    if len(tx.find(KIND, status="enabled")) >= ENABLED_MAX:
        message = f"At most {ENABLED_MAX} endpoints can be enabled in a mode."
        raise Problem(400, "webhook_endpoint_limit", message)


def list_signing_secrets(endpoint: KnownDoc, now: int) -> list[str]:
    """The secrets that sign at a moment (microseconds): the new one first."""
    secrets = [endpoint["_secret"]]
    until = endpoint["_old_secret_until"]
    if until is not None and now < until:
        secrets.append(endpoint["_old_secret"])
    return secrets


def roll_secret(tx: Transaction, endpoint: Doc, grace: int) -> str:
    """Returns a new secret; the one before signs along for `grace` seconds."""
    endpoint["_old_secret"] = endpoint["_secret"] if grace else None
    endpoint["_old_secret_until"] = tx.now_micros + grace * SECOND if grace else None
    endpoint["_secret"] = tx.ids.new(SECRET_PREFIX, SECRET_LENGTH)
    tx.save(endpoint)
    secret: str = endpoint["_secret"]
    return secret


def enable(tx: Transaction, endpoint: Doc) -> None:
    """Enables an endpoint and clears its record of failures; dropped events stay dropped."""
    if endpoint["status"] != "enabled":
        _refuse_more(tx)
    endpoint["status"] = "enabled"
    _note_recovery(tx, endpoint)


def disable(tx: Transaction, endpoint: Doc) -> None:
    """Disables an endpoint and drops its pending attempts."""
    endpoint["status"] = "disabled"
    deliveries.drop(tx.store, endpoint["id"])
    _note_recovery(tx, endpoint)


def delete(tx: Transaction, endpoint: Doc) -> None:
    """Removes an endpoint and drops its pending attempts; its log stays."""
    deliveries.drop(tx.store, endpoint["id"])
    tx.cancel_jobs(jobs.DISABLE, endpoint["id"])
    tx.remove(KIND, endpoint["id"])


def note_success(tx: Transaction, endpoint: KnownDoc) -> None:
    """A delivery arrived: the endpoint is in health again."""
    if endpoint["_failing_since"] is not None:
        _note_recovery(tx, tx.stored(KIND, endpoint["id"]))


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
    """Returns whether a receiver is on this machine, by its name alone (promise R89)."""
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False


def _note_recovery(tx: Transaction, endpoint: Doc) -> None:
    endpoint["_failing_since"] = None
    endpoint["_warned"] = False
    tx.save(endpoint)
    tx.cancel_jobs(jobs.DISABLE, endpoint["id"])


def _mail(tx: Transaction, endpoint: Doc, kind: str, subject: str, body: str) -> None:
    identity = tx.ids.derive("eml_", kind, endpoint["id"], tx.now_micros)
    about = {"type": kind, "webhook_endpoint": endpoint["id"]}
    tx.add(tx.new("email", {**about, "subject": subject, "body": body}, identity))


OPERATIONS: Final = operation.operations(RESOURCE, create=create)
