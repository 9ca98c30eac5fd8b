"""Views of what is kept on this machine: the inbox and the journal."""

from typing import Final

from svc.render.views.model import Field, Part, View

_TYPE: Final = Field("type", "Event", "status")
_STATE: Final = Field("state", "State", "status")
_RECEIVED: Final = Field("received_at", "Received", "time", rank=1)
_ERROR: Final = Field("error", "Error")

KEPT_DELIVERY: Final = View(
    title="Delivery",
    status=_STATE,
    columns=(
        Field("id", "ID", "id"),
        _TYPE,
        _STATE,
        _RECEIVED,
        Field("status", "Answer", "number", rank=2),
        Field("error", "Error", rank=3),
        Field("target", "Target", "id", rank=4),
    ),
    fields=(
        _TYPE,
        Field("object_id", "Object", "id"),
        _RECEIVED,
        Field("verified", "Verified", "flag"),
        Field("copies", "More copies", "number"),
        Field("target", "Target", "id"),
        Field("status", "Answer", "number"),
        _ERROR,
        Field("attempts", "Attempts", "number"),
    ),
    parts=(
        Part(
            "forwards",
            "Forwards",
            columns=(
                Field("started_at", "When", "time"),
                Field("status", "Answer", "number"),
                Field("url", "To", "id"),
                Field("milliseconds", "Took (ms)", "number"),
                Field("attempt", "Try", "number"),
                Field("replay", "Replay", "flag"),
                _ERROR,
                Field("reply", "Reply"),
            ),
        ),
        Part("headers", "Headers"),
        Part("payload", "Payload", nested=True),
    ),
)

VIEWS: Final = {"kept_delivery": KEPT_DELIVERY}


_OPERATION: Final = Field("operation", "Operation", "id")
_REQUEST_ERROR: Final = Field("error_code", "Error", "id", rank=3)

SENT_REQUEST: Final = View(
    title="Request",
    columns=(
        Field("id", "ID", "id"),
        Field("status", "Status", "status"),
        _OPERATION,
        Field("created", "When", "time", rank=1),
        Field("object_id", "Object", "id", rank=2),
        _REQUEST_ERROR,
    ),
    fields=(
        _OPERATION,
        Field("object_id", "Object", "id"),
        _REQUEST_ERROR,
        Field("error_message", "Said"),
        Field("http_status", "Answer", "number"),
        Field("request_id", "Request ID", "id"),
        Field("created", "Written down", "time"),
        Field("last_sent", "Last sent", "time"),
        Field("sendings", "Sendings", "number"),
        Field("resumable_until", "Resume until", "deadline"),
        Field("settled", "Settled", "time"),
        Field("idempotency_key", "Idempotency key", "id"),
        Field("method", "Method", "id"),
        Field("path", "Path", "id"),
        Field("base_url", "Origin", "id"),
        Field("profile", "Profile", "id"),
        Field("mode", "Mode", "id"),
        Field("key_fingerprint", "Key", "id"),
        Field("api_version", "API version", "id"),
        Field("batch", "Batch", "id"),
        Field("row", "Row", "number"),
        Field("body_sha256", "Body SHA-256", "id"),
    ),
    parts=(Part("body", "Body"),),
)
