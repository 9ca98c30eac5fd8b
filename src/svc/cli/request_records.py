"""A recorded request as programs and people see it; nothing in it is secret."""

import json
from typing import Any

from svc.client import raw
from svc.client.journal.entry import Intent, moment
from svc.client.retry import KEY_SAFE_SECONDS
from svc.redaction import redact


def status_of(intent: Intent, *, in_flight: bool) -> str:
    """One word: how it ended, or `sending`, or `unresolved` where its process was stopped."""
    if in_flight:
        return "sending"
    return "unresolved" if intent.state == "open" else intent.state


def operation_of(path: str) -> str:
    """What a path does, in the words that `svc batch` uses; a path that is not known, as it is."""
    return raw.post(path).operation or path


def summary_of(intent: Intent, *, in_flight: bool) -> dict[str, Any]:
    """A line of the list."""
    settled = intent.settled
    return {
        "id": intent.id,
        "object": "request",
        "status": status_of(intent, in_flight=in_flight),
        "operation": operation_of(intent.stored.path),
        "created": moment(intent.created_at),
        "path": intent.stored.path,
        "object_id": settled.object_id if settled else None,
        "error_code": settled.error_code if settled else None,
        "mode": intent.scope.mode,
        "profile": intent.scope.profile,
        "idempotency_key": intent.stored.idempotency_key,
    }


def record_of(intent: Intent, *, in_flight: bool) -> dict[str, Any]:
    """All that is known of one."""
    settled = intent.settled
    return {
        **summary_of(intent, in_flight=in_flight),
        "method": "POST",
        "base_url": intent.scope.base_url,
        "key_fingerprint": intent.scope.key_hint,
        "api_version": intent.stored.api_version,
        "body": _readable(intent.stored.body),
        "body_sha256": intent.body_sha256,
        "sendings": intent.sendings,
        "last_sent": moment(intent.last_sent_at),
        "resumable_until": _until(intent),
        "settled": moment(intent.settled_at) if intent.settled_at is not None else None,
        "http_status": settled.status if settled else None,
        "request_id": settled.request_id if settled else None,
        "error_message": settled.error_message if settled else None,
        "batch": intent.batch,
        "row": intent.row,
    }


def _until(intent: Intent) -> str | None:
    if not intent.is_unresolved:
        return None
    return moment(intent.first_sent_at + KEY_SAFE_SECONDS)


def _readable(body: bytes) -> Any:
    """A JSON body as JSON, a form as its text, none as null."""
    text = redact(body.decode("utf-8", "replace"))
    if not text.startswith("{"):
        return text or None
    try:
        return json.loads(text)
    except ValueError:
        return text
