"""The views of the sandbox's own objects: deliveries, keys, faults, emails and others.

`human.columns` looks them up for what `svc sandbox ...` prints.
"""

from typing import Final

from svc.render.views.model import View, ViewField, view

_CREATED: Final = ViewField("created", "Created", "time", rank=1)
_FIRED: Final = ViewField("fired", "Fired", "number")  # in a list, where a blank would ask why

VIEWS: Final = {
    "clock": View(
        title="Clock",
        status=ViewField("mode", "Mode", "status"),
        fields=(
            ViewField("now", "Now", "time"),
            ViewField("next_job_at", "Next job", "time"),
            ViewField("jobs", "Jobs done", "counter"),
            ViewField("events", "Events", "counter"),
            ViewField("deliveries", "Deliveries", "counter"),
            ViewField("broken_jobs", "Broken jobs", "counter"),
        ),
    ),
    # The names of the settings are those that `svc sandbox settings` takes.
    "settings": View(title="Settings"),
    "sandbox_process": view(
        "Sandbox",
        "url status pid:1 started:1 db:2",
        ViewField("url", "Address", "id"),
        ViewField("pid", "Process", "number"),
        ViewField("port", "Port", "number"),
        ViewField("db", "Data", "id"),
        ViewField("log", "Log", "id"),
        ViewField("certificate", "Certificate", "id"),
        ViewField("profile", "Profile", "id"),
        ViewField("started", "Started", "time"),
        ViewField("now", "Sandbox time", "time"),
        ViewField("version", "Version"),
    ),
    "sandbox": View(
        title="Sandbox",
        fields=(
            ViewField("now", "Sandbox time", "time"),
            ViewField("persisted", "Kept on disk", "flag"),
            ViewField("version", "Version"),
            ViewField("world", "State id", "id"),  # another one after a reset
        ),
    ),
    "delivery": view(
        "Delivery",
        "event status attempt started_at response_code:1 event_type:2 next_attempt:3 id:4 url:5",
        ViewField("event_type", "Event"),
        ViewField("event", "Event ID", "id"),
        ViewField("attempt", "Attempt", "number"),
        ViewField("endpoint", "Endpoint", "id"),
        ViewField("url", "URL", "id"),
        ViewField("scheduled_at", "Scheduled", "time"),
        ViewField("started_at", "Made", "time"),
        ViewField("response_code", "Answer"),
        ViewField("error", "Error"),
        ViewField("duration_ms", "Took (ms)", "number"),
        ViewField("next_attempt", "Next attempt", "time"),
        also=(
            ViewField("attempt", "Try", "number"),
            ViewField("started_at", "When", "time", fallback="scheduled_at"),
            ViewField("response_code", "Answer", fallback="error"),
            ViewField("event_type", "Event", "status"),
            ViewField("next_attempt", "Next", "time"),
        ),
    ),
    "request": View(
        title="Request",
        status=ViewField("status", "Status", "number"),
        columns=(
            ViewField("method", "Method", "id", leads=True),
            ViewField("path", "Path", "id"),
            ViewField("status", "Status", "number"),
            ViewField("error_code", "Error", "id"),
            ViewField("created", "When", "time", rank=1),
            ViewField("replayed", "Replayed", "flag", rank=3),
            ViewField("id", "ID", "id", rank=4),
            ViewField("key", "Key", "id", rank=5),
            ViewField("idempotency_key", "Idempotency key", "id", rank=5),
        ),
    ),
    "api_key": view(
        "API key",
        "id type key expires_at:1 created:1",
        ViewField("type", "Type"),
        ViewField("key", "Key"),
        ViewField("secret", "Secret", "id"),
        ViewField("expires_at", "Ends", "deadline"),
        _CREATED,
    ),
    "email": View(
        title="E-mail",
        columns=(
            ViewField("id", "ID", "id"),
            ViewField("created", "When", "time"),
            ViewField("webhook_endpoint", "Endpoint", "id"),
            ViewField("subject", "Subject", "id"),
        ),
    ),
    "balance": View(
        title="Balance",
        columns=(ViewField("currency", "Currency"), ViewField("amount", "Balance", "money")),
    ),
    "fault": view(
        "Fault rule for requests",
        "id match.method match.path match.idempotency_key phase effect.status effect.connection "
        "effect.delay_ms times fired",
        ViewField("match.method", "Method", "id"),
        ViewField("match.path", "Path", "id"),
        ViewField("match.idempotency_key", "Idempotency key", "id"),
        ViewField("phase", "Phase", "id"),
        ViewField("effect.status", "Status", "number"),
        ViewField("effect.retry_after", "Retry after (s)", "number"),
        ViewField("effect.connection", "Connection", "id"),
        ViewField("effect.delay_ms", "Delay (ms)", "number"),
        ViewField("effect.body", "Body"),
        ViewField("skip", "Skip", "counter"),
        ViewField("times", "Times", "number"),
        ViewField("fired", "Fired", "counter"),
        also=(ViewField("match.idempotency_key", "Key", "id"), _FIRED),
    ),
    "webhook_fault": view(
        "Fault rule for deliveries",
        "id match.type match.endpoint effect delay_ms times fired",
        ViewField("match.type", "Events", "id"),
        ViewField("match.endpoint", "Endpoint", "id"),
        ViewField("effect", "Effect", "id"),
        ViewField("count", "Count", "number"),
        ViewField("delay_ms", "Delay (ms)", "number"),
        ViewField("skip", "Skip", "counter"),
        ViewField("times", "Times", "number"),
        ViewField("fired", "Fired", "counter"),
        also=(_FIRED,),
    ),
}
