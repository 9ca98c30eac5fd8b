"""`svc help webhooks`."""

from typing import Final

from svc import spec
from svc.cli.topics.page import Page, Rows, Shown

_HOURS: Final = spec.WEBHOOK_RETRY_WINDOW_SECONDS // 3600
_EVERY: Final = spec.WEBHOOK_RETRY_INTERVAL // 3600
_DELAYS: Final = ", ".join(f"{delay // 60} min" for delay in spec.WEBHOOK_RETRY_DELAYS)
_TOLERANCE: Final = spec.SIGNATURE_TOLERANCE_SECONDS // 60
_DEADLINE: Final = spec.WEBHOOK_DEADLINE_SECONDS
_A_LINE: Final = 3  # event types in a line
_STARTS: Final = range(0, len(spec.EVENT_TYPES), _A_LINE)
_LAYOUT: Final = f"{spec.SIGNATURE_HEADER}: t=<unix seconds>,v1=<hex>"
_KEYED: Final = (
    "HMAC-SHA256 of <t>.<body> with the whole secret as key, over the bytes as they came"
)

PAGE: Final = Page(
    "Webhooks",
    (
        "Fulfil orders when order.paid arrives, not when the browser comes back.",
        Shown(
            (
                "svc events listen --forward-to http://localhost:3000/webhooks",
                "svc events listen --print-secret",
            )
        ),
        """
        The listener verifies each delivery over its raw bytes, writes it to disk, answers, and
        forwards the same bytes with the original signature. What is not authentic is answered 400
        and goes nowhere. Your own handler should do the same:
        """,
        Rows(
            (
                ("verify", f"{_LAYOUT}. {_KEYED}."),
                ("reject", f"What is older than {_TOLERANCE} minutes."),
                ("answer", f"With 2xx within {_DEADLINE} seconds; do the work afterwards."),
                ("skip", "Event ids that you have processed: the same event may come twice."),
                ("retrieve", "The object, if order matters: events may overtake each other."),
            )
        ),
        f"""
        A failed delivery is repeated after {_DELAYS}, then every {_EVERY} hours, for {_HOURS}
        hours.
        """,
        f"There are {len(spec.EVENT_TYPES)} event types:",
        Shown(tuple(", ".join(spec.EVENT_TYPES[i : i + _A_LINE]) for i in _STARTS)),
        "To find out why a delivery does not verify:",
        Shown(('svc events verify --header "$SIGNATURE" --payload body.json --secret-stdin',)),
        "To see again what came, and to send it again:",
        Shown(("svc events inbox --failed", "svc events replay --failed")),
    ),
)
