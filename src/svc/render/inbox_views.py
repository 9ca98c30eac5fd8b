"""What people see of the inbox: what was received, and where it was forwarded."""

from typing import Final

from svc.render.view import Field, Part, View

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
