"""What people see of the journal: what was sent, and what became of it (promises A)."""

from typing import Final

from svc.render.view import Field, Part, View

_OPERATION: Final = Field("operation", "Operation", "id")
_ERROR: Final = Field("error_code", "Error", "id", rank=3)

SENT_REQUEST: Final = View(
    title="Request",
    columns=(
        Field("id", "ID", "id"),
        Field("status", "Status", "status"),
        _OPERATION,
        Field("created", "When", "time", rank=1),
        Field("object_id", "Object", "id", rank=2),
        _ERROR,
    ),
    fields=(
        _OPERATION,
        Field("object_id", "Object", "id"),
        _ERROR,
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
