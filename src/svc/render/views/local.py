"""The views of objects of this machine, such as those of the inbox and the journal.

`human.columns` looks them up by the kind of object, for `svc requests`, `events inbox`, `events
audit`, `timeline`, `whoami`, `keys list`, `profiles` and `config`.
"""

from typing import Final

from svc.render.views.model import Part, View, ViewField, view

_TYPE: Final = ViewField("type", "Event", "status")
_STATE: Final = ViewField("state", "State", "status")
_RECEIVED: Final = ViewField("received_at", "Received", "time", rank=1)
_ERROR: Final = ViewField("error", "Error")


_PROFILE: Final = ViewField("profile", "Profile", "id")
_ORIGIN: Final = ViewField("origin", "Origin", "id")
_MODE: Final = ViewField("mode", "Mode", "id")


_STORED: Final = (
    _PROFILE,
    _MODE,
    ViewField("fingerprint", "Key", "id"),
    ViewField("kind", "Kind"),
    ViewField("added", "Added", "time", rank=1),
    _ORIGIN,
    ViewField("keyring", "Keyring", rank=2),
    ViewField("checked", "Checked", "time", rank=3),
    ViewField("rolled", "Rolled", "time", rank=3),
    ViewField("old_key", "Old key", "id", rank=3),
    ViewField("old_key_ends", "Old key ends", "deadline", rank=3, served=True),
    ViewField("old_key_works", "Old key works", "flag", rank=4),
    ViewField("same_account", "Same account", "flag", rank=4),
    ViewField("removed", "Removed", "flag", rank=4),
)

_OF_PROFILE: Final = (
    ViewField("name", "Name", "id"),
    ViewField("active", "Active", "flag"),
    ViewField("base_url", "Base URL", "id"),
    ViewField("sandbox", "Sandbox", "flag", rank=1),
    ViewField("auth", "Auth", rank=2),
    ViewField("api_version", "API version", rank=3),
    ViewField("proxy", "Proxy", "id", rank=3),
    ViewField("ca_bundle", "CA bundle", "id", rank=4),
    ViewField("key_command", "Key command", "id", rank=4),
    ViewField("removed", "Removed", "flag", rank=4),
)

VIEWS: Final = {
    "kept_delivery": view(
        "Delivery",
        "id type state received_at:1 status:2 error:3 target:4",
        _TYPE,
        ViewField("object_id", "Object", "id"),
        _RECEIVED,
        ViewField("verified", "Verified", "flag"),
        ViewField("copies", "More copies", "number"),
        ViewField("target", "Target", "id"),
        ViewField("status", "Answer", "number"),
        _ERROR,
        ViewField("attempts", "Attempts", "number"),
        also=(_STATE,),
        status=_STATE,
        parts=(
            Part(
                "targets",
                "Targets",
                columns=(
                    ViewField("url", "To", "id"),
                    _STATE,
                    ViewField("status", "Answer", "number"),
                    ViewField("attempts", "Attempts", "number"),
                    ViewField("next_at", "Next try", "time"),
                    _ERROR,
                ),
            ),
            Part(
                "forwards",
                "Forwards",
                columns=(
                    ViewField("started_at", "When", "time"),
                    ViewField("status", "Answer", "number"),
                    ViewField("url", "To", "id"),
                    ViewField("milliseconds", "Took (ms)", "number"),
                    ViewField("attempt", "Try", "number"),
                    ViewField("replay", "Replay", "flag"),
                    _ERROR,
                    ViewField("reply", "Reply"),
                ),
            ),
            Part("headers", "Headers"),
            Part("payload", "Payload", nested=True),
        ),
    ),
    "missed_event": view(
        "Event that never came",
        "type object_id sent_at:1 retried_until:2",
        _TYPE,
        ViewField("object_id", "Object", "id"),
        ViewField("sent_at", "Sent", "time", rank=1),
        ViewField("sent_after", "Sent after", "time", rank=3),
        ViewField("retried_until", "Tried until", "time", rank=2),
    ),
    "timeline": View(
        title="Timeline",
        fields=(),
        parts=(
            Part(
                "objects",
                "What the service says now",
                columns=(
                    ViewField("id", "Object", "id"),
                    ViewField("status", "Status", "status"),
                    ViewField("amount", "Amount", "counter"),
                    ViewField("amount_refunded", "Refunded", "counter"),
                ),
            ),
            Part(
                "steps",
                "Steps",
                columns=(
                    ViewField("time", "When", "second"),
                    ViewField("what", "What"),
                ),
            ),
            Part(
                "gaps",
                "Missing",
                columns=(ViewField("what", "What"),),
            ),
        ),
    ),
    "state": View(
        title="State",
        fields=(
            ViewField("file", "File", "id"),
            ViewField("bytes", "Bytes", "number"),
            ViewField("free_bytes", "Free bytes", "number"),
            ViewField("log_bytes", "Log bytes", "number"),
        ),
        parts=(
            Part(
                "kinds",
                "What it holds",
                columns=(
                    ViewField("name", "What", "id"),
                    ViewField("rows", "Rows", "number"),
                    ViewField("bytes", "Bytes", "number"),
                ),
            ),
        ),
    ),
    "whoami": View(
        title="Account in use",
        fields=(
            _PROFILE,
            _ORIGIN,
            _MODE,
            ViewField("sandbox", "Sandbox", "flag"),
            ViewField("key", "Key", "id"),
            ViewField("key_kind", "Kind of key"),
            ViewField("key_source", "Comes from"),
            ViewField("key_added", "Added", "time"),
            ViewField("key_age_days", "Age (days)", "number"),
            ViewField("proxy", "Proxy", "id"),
            ViewField("reachable", "Reachable", "flag"),
            ViewField("key_accepted", "Key accepted", "flag"),
            ViewField("service_time", "Service time", "time"),
            ViewField("limits", "Limits"),
        ),
    ),
    "key": View(title="Key", columns=_STORED, fields=_STORED),
    "profile": View(title="Profile", columns=_OF_PROFILE, fields=_OF_PROFILE),
    # The names of its settings are those that `svc config set` takes.
    "config": View(title="Configuration"),
}

_OPERATION: Final = ViewField("operation", "Operation", "id")
_REQUEST_ERROR: Final = ViewField("error_code", "Error", "id", rank=3)

SENT_REQUEST: Final = view(
    "Request",
    "id status operation amount:2 created:1 object_id:3 error_code:4",
    _OPERATION,
    ViewField("object_id", "Object", "id"),
    ViewField("amount", "Amount", "money"),
    _REQUEST_ERROR,
    ViewField("error_message", "Message"),
    ViewField("http_status", "Answer", "number"),
    ViewField("request_id", "Request id", "id"),
    ViewField("created", "Recorded", "time"),
    ViewField("last_sent", "Last sent", "time"),
    ViewField("sendings", "Times sent", "number"),
    ViewField("resumable_until", "Resume until", "deadline"),
    ViewField("settled", "Settled", "time"),
    ViewField("idempotency_key", "Idempotency key", "id"),
    ViewField("method", "Method", "id"),
    ViewField("path", "Path", "id"),
    ViewField("base_url", "Origin", "id"),
    ViewField("profile", "Profile", "id"),
    ViewField("mode", "Mode", "id"),
    ViewField("key_fingerprint", "Key", "id"),
    ViewField("api_version", "API version", "id"),
    ViewField("batch", "Batch", "id"),
    ViewField("row", "Row", "number"),
    ViewField("body_sha256", "Body SHA-256", "digest"),
    also=(ViewField("created", "When", "time"),),
    parts=(Part("body", "Body", nested=True),),
)


def is_local(data: dict[str, object]) -> bool:
    """Whether svc created an object and dated it by this machine's clock."""
    kind = data.get("object")
    return kind in VIEWS or (kind == "request" and "operation" in data)
