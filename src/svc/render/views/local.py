"""Views of what is kept on this machine: the inbox and the journal."""

from typing import Final

from svc.render.views.model import Field, Part, View, view

_TYPE: Final = Field("type", "Event", "status")
_STATE: Final = Field("state", "State", "status")
_RECEIVED: Final = Field("received_at", "Received", "time", rank=1)
_ERROR: Final = Field("error", "Error")

KEPT_DELIVERY: Final = view(
    "Delivery",
    "id type state received_at:1 status:2 error:3 target:4",
    _TYPE,
    Field("object_id", "Object", "id"),
    _RECEIVED,
    Field("verified", "Verified", "flag"),
    Field("copies", "More copies", "number"),
    Field("target", "Target", "id"),
    Field("status", "Answer", "number"),
    _ERROR,
    Field("attempts", "Attempts", "number"),
    also=(_STATE,),
    status=_STATE,
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

_PROFILE: Final = Field("profile", "Profile", "id")
_ORIGIN: Final = Field("origin", "Origin", "id")
_MODE: Final = Field("mode", "Mode", "id")

WHOAMI: Final = View(
    title="Account in use",
    fields=(
        _PROFILE,
        _ORIGIN,
        _MODE,
        Field("sandbox", "Sandbox", "flag"),
        Field("key", "Key", "id"),
        Field("key_kind", "Kind of key"),
        Field("key_source", "Comes from"),
        Field("key_added", "Added", "time"),
        Field("key_age_days", "Age (days)", "number"),
        Field("reachable", "Reachable", "flag"),
        Field("key_accepted", "Key accepted", "flag"),
        Field("service_time", "Its time", "time"),
    ),
)

_STORED: Final = (
    _PROFILE,
    _MODE,
    Field("fingerprint", "Key", "id"),
    Field("kind", "Kind"),
    Field("added", "Added", "time", rank=1),
    _ORIGIN,
    Field("keyring", "Keyring", rank=2),
    Field("checked", "Checked", "time", rank=3),
    Field("rolled", "Rolled", "time", rank=3),
    Field("old_key", "Old key", "id", rank=3),
    Field("old_key_ends", "Old key ends", "deadline", rank=3),
    Field("old_key_works", "Old key works", "flag", rank=4),
    Field("same_account", "Same account", "flag", rank=4),
    Field("removed", "Removed", "flag", rank=4),
)
STORED_KEY: Final = View(title="Key", columns=_STORED, fields=_STORED)

_OF_PROFILE: Final = (
    Field("name", "Name", "id"),
    Field("active", "Active", "flag"),
    Field("base_url", "Base URL", "id"),
    Field("sandbox", "Sandbox", "flag", rank=1),
    Field("auth", "Auth", rank=2),
    Field("api_version", "API version", rank=3),
    Field("proxy", "Proxy", "id", rank=3),
    Field("ca_bundle", "CA bundle", "id", rank=4),
    Field("removed", "Removed", "flag", rank=4),
)
NAMED_PROFILE: Final = View(title="Profile", columns=_OF_PROFILE, fields=_OF_PROFILE)

# The names of its settings are those that `svc config set` takes.
CONFIGURATION: Final = View(title="Configuration")

VIEWS: Final = {
    "kept_delivery": KEPT_DELIVERY,
    "whoami": WHOAMI,
    "key": STORED_KEY,
    "profile": NAMED_PROFILE,
    "config": CONFIGURATION,
}


_OPERATION: Final = Field("operation", "Operation", "id")
_REQUEST_ERROR: Final = Field("error_code", "Error", "id", rank=3)

SENT_REQUEST: Final = view(
    "Request",
    "id status operation created:1 object_id:2 error_code:3",
    _OPERATION,
    Field("object_id", "Object", "id"),
    _REQUEST_ERROR,
    Field("error_message", "Message"),
    Field("http_status", "Answer", "number"),
    Field("request_id", "Request id", "id"),
    Field("created", "Recorded", "time"),
    Field("last_sent", "Last sent", "time"),
    Field("sendings", "Times sent", "number"),
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
    Field("body_sha256", "Body SHA-256", "digest"),
    also=(Field("created", "When", "time"),),
    parts=(Part("body", "Body", nested=True),),
)
