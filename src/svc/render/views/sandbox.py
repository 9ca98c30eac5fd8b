"""What people see of the sandbox's own objects: deliveries, keys, faults."""

from typing import Final

from svc.render.views.model import Field, View, view

_CREATED: Final = Field("created", "Created", "time", rank=1)
_MODE: Final = Field("livemode", "Live mode", "flag")

DELIVERY: Final = view(
    "Delivery",
    "event status attempt started_at response_code:1 event_type:2 next_attempt:3 id:4 url:5",
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
    also=(
        Field("attempt", "Try", "number"),
        Field("started_at", "When", "time", instead="scheduled_at"),
        Field("response_code", "Answer", instead="error"),
        Field("event_type", "Event", "status"),
        Field("next_attempt", "Next", "time"),
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

KEY: Final = view(
    "API key",
    "id type key expires_at:1 created:1",
    Field("type", "Type"),
    Field("key", "Key"),
    Field("secret", "Secret", "id"),
    Field("expires_at", "Ends", "deadline"),
    _CREATED,
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

_FIRED: Final = Field("fired", "Fired", "number")  # in a list, where a blank would ask why
FAULT: Final = view(
    "Fault rule for requests",
    "id match.method match.path match.idempotency_key phase effect.status effect.connection "
    "effect.delay_ms times fired",
    Field("match.method", "Method", "id"),
    Field("match.path", "Path", "id"),
    Field("match.idempotency_key", "Idempotency key", "id"),
    Field("phase", "Phase", "id"),
    Field("effect.status", "Status", "number"),
    Field("effect.retry_after", "Retry after (s)", "number"),
    Field("effect.connection", "Connection", "id"),
    Field("effect.delay_ms", "Delay (ms)", "number"),
    Field("effect.body", "Body"),
    Field("skip", "Skip", "counter"),
    Field("times", "Times", "number"),
    Field("fired", "Fired", "counter"),
    also=(Field("match.idempotency_key", "Key", "id"), _FIRED),
)

WEBHOOK_FAULT: Final = view(
    "Fault rule for deliveries",
    "id match.type match.endpoint effect delay_ms times fired",
    Field("match.type", "Events", "id"),
    Field("match.endpoint", "Endpoint", "id"),
    Field("effect", "Effect", "id"),
    Field("count", "Count", "number"),
    Field("delay_ms", "Delay (ms)", "number"),
    Field("skip", "Skip", "counter"),
    Field("times", "Times", "number"),
    Field("fired", "Fired", "counter"),
    also=(_FIRED,),
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
        Field("jobs", "Jobs done", "counter"),
        Field("events", "Events", "counter"),
        Field("deliveries", "Deliveries", "counter"),
        Field("broken_jobs", "Broken jobs", "counter"),
    ),
)

PROCESS: Final = view(
    "Sandbox",
    "url status pid:1 started:1 db:2",
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
