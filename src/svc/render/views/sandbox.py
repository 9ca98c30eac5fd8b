"""What people see of the sandbox's own objects: deliveries, keys, faults."""

from typing import Final

from svc.render.views.model import Field, View

_CREATED: Final = Field("created", "Created", "time", rank=1)
_MODE: Final = Field("livemode", "Live mode", "flag")

DELIVERY: Final = View(
    title="Delivery",
    columns=(
        Field("event", "Event ID", "id"),
        Field("status", "Status", "status"),
        Field("attempt", "Try", "number"),
        Field("started_at", "When", "time", instead="scheduled_at"),
        Field("response_code", "Answer", rank=1, instead="error"),
        Field("event_type", "Event", "status", rank=2),
        Field("next_attempt", "Next", "time", rank=3),
        Field("id", "ID", "id", rank=4),
        Field("url", "URL", "id", rank=5),
    ),
    fields=(
        Field("event_type", "Event"),
        Field("event", "Event ID", "id"),
        Field("attempt", "Attempt", "number"),
        Field("endpoint", "Endpoint", "id"),
        Field("url", "URL", "id"),
        Field("scheduled_at", "Scheduled", "time"),
        Field("started_at", "Made", "time"),
        Field("response_code", "Answer"),
        Field("error", "Error"),
        Field("duration_ms", "Took (ms)", "number"),
        Field("next_attempt", "Next attempt", "time"),
    ),
)

REQUEST: Final = View(
    title="Request",
    status=Field("status", "Status", "number"),
    columns=(
        Field("method", "Method", "id", leads=True),
        Field("path", "Path", "id"),
        Field("status", "Status", "number"),
        Field("error_code", "Error", "id"),
        Field("created", "When", "time", rank=1),
        Field("replayed", "Replayed", "flag", rank=3),
        Field("id", "ID", "id", rank=4),
        Field("key", "Key", "id", rank=5),
        Field("idempotency_key", "Idempotency key", "id", rank=5),
    ),
)

KEY: Final = View(
    title="API key",
    columns=(
        Field("id", "ID", "id"),
        Field("type", "Type"),
        Field("key", "Key"),
        Field("expires_at", "Ends", "deadline", rank=1),
        _CREATED,
    ),
    fields=(
        Field("type", "Type"),
        Field("key", "Key"),
        Field("secret", "Secret", "id"),
        Field("expires_at", "Ends", "deadline"),
        _CREATED,
    ),
)

EMAIL: Final = View(
    title="E-mail",
    columns=(
        Field("id", "ID", "id"),
        Field("created", "When", "time"),
        Field("webhook_endpoint", "Endpoint", "id"),
        Field("subject", "Subject", "id"),
    ),
)

BALANCE: Final = View(
    title="Balance",
    columns=(Field("currency", "Currency"), Field("amount", "Balance", "large_money")),
)

FAULT: Final = View(
    title="Fault rule for requests",
    columns=(
        Field("id", "ID", "id"),
        Field("match.method", "Method", "id"),
        Field("match.path", "Path", "id"),
        Field("match.idempotency_key", "Key", "id"),
        Field("phase", "Phase", "id"),
        Field("effect.status", "Status", "number"),
        Field("effect.connection", "Connection", "id"),
        Field("effect.delay_ms", "Delay (ms)", "number"),
        Field("times", "Times", "number"),
        Field("fired", "Fired", "number"),
    ),
    fields=(
        Field("match.method", "Method", "id"),
        Field("match.path", "Path", "id"),
        Field("match.idempotency_key", "Idempotency key", "id"),
        Field("phase", "Phase", "id"),
        Field("effect.status", "Status", "number"),
        Field("effect.retry_after", "Retry after (s)", "number"),
        Field("effect.connection", "Connection", "id"),
        Field("effect.delay_ms", "Delay (ms)", "number"),
        Field("effect.body", "Body"),
        Field("skip", "Skip", "number"),
        Field("times", "Times", "number"),
        Field("fired", "Fired", "number"),
    ),
)

WEBHOOK_FAULT: Final = View(
    title="Fault rule for deliveries",
    columns=(
        Field("id", "ID", "id"),
        Field("match.type", "Events", "id"),
        Field("match.endpoint", "Endpoint", "id"),
        Field("effect", "Effect", "id"),
        Field("delay_ms", "Delay (ms)", "number"),
        Field("times", "Times", "number"),
        Field("fired", "Fired", "number"),
    ),
    fields=(
        Field("match.type", "Events", "id"),
        Field("match.endpoint", "Endpoint", "id"),
        Field("effect", "Effect", "id"),
        Field("count", "Count", "number"),
        Field("delay_ms", "Delay (ms)", "number"),
        Field("skip", "Skip", "number"),
        Field("times", "Times", "number"),
        Field("fired", "Fired", "number"),
    ),
)

_NAMES_OF_SETTINGS: Final = (
    "smart_retries",
    "settlement_currency",
    "country",
    "collect_landed_cost",
    "pinned_version",
    "unknown_parameters",
    "error_envelope",
    "insecure_http",
    "allow_http_webhooks",
    "allow_remote_webhooks",
    "rate_limit",
    "signature_time",
    "webhook_delivery",
)


def _in_words(name: str) -> str:
    return (name[0].upper() + name[1:]).replace("_", " ").replace("http", "HTTP")


SETTINGS: Final = View(
    title="Settings",
    fields=tuple(Field(name, _in_words(name)) for name in _NAMES_OF_SETTINGS),
)

CLOCK: Final = View(
    title="Clock",
    status=Field("mode", "Mode", "status"),
    fields=(
        Field("now", "Now", "time"),
        Field("next_job_at", "Next job", "time"),
        Field("jobs", "Jobs done", "number"),
        Field("events", "Events", "number"),
        Field("deliveries", "Deliveries", "number"),
        Field("broken_jobs", "Broken jobs", "number"),
    ),
)

PROCESS: Final = View(
    title="Sandbox",
    columns=(
        Field("url", "Address", "id"),
        Field("status", "Status", "status"),
        Field("pid", "Process", "number", rank=1),
        Field("started", "Started", "time", rank=1),
        Field("db", "Data", "id", rank=2),
    ),
    fields=(
        Field("url", "Address", "id"),
        Field("pid", "Process", "number"),
        Field("port", "Port", "number"),
        Field("db", "Data", "id"),
        Field("log", "Log", "id"),
        Field("certificate", "Certificate", "id"),
        Field("profile", "Profile", "id"),
        Field("started", "Started", "time"),
        Field("now", "Its time", "time"),
        Field("version", "Version"),
    ),
)

HEALTH: Final = View(
    title="Sandbox",
    fields=(
        Field("now", "Its time", "time"),
        Field("persisted", "Kept on disk", "flag"),
        Field("version", "Version"),
    ),
)

VIEWS: Final = {
    "clock": CLOCK,
    "settings": SETTINGS,
    "sandbox_process": PROCESS,
    "sandbox": HEALTH,
    "delivery": DELIVERY,
    "request": REQUEST,
    "api_key": KEY,
    "email": EMAIL,
    "balance": BALANCE,
    "fault": FAULT,
    "webhook_fault": WEBHOOK_FAULT,
}
