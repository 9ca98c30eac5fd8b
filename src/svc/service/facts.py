"""Constants of the API: limits, schedules, header names, key prefixes, types of events, countries.

`NOUNS` is the index of nouns: what is known of each before its file is loaded. The first part has
what the specification says, the second what we chose where it is silent, the third country codes.
`cli`, `client`, `listen`, `keys`, the sandbox and the tests read them here, so that a correction
from the real service changes one place.
"""

from typing import Final, Literal, NamedTuple, TypeAlias, get_args

# --- The specification says -----------------------------------------------------------------

API_ROOT: Final = "/v1"


class NounFacts(NamedTuple):
    """What is known of a noun before its file is loaded.

    Attributes:
        prefix: what the ids of its objects begin with.
        summary: its line in `svc --help`; empty for a noun without calls of its own.
        permission: the resource that a restricted key names for the noun; empty where that is the
            name of the noun's file.
    """

    prefix: str
    summary: str = ""
    permission: str = ""


# In the order of the specification, by the name of an object; an `s` behind it is the noun's file.
NOUNS: Final = {
    "order": NounFacts("ord_", "Create, retrieve, update, capture, cancel and list orders."),
    "payment": NounFacts("pay_", "Retrieve and list payments."),
    "payment_method": NounFacts("pm_"),
    "refund": NounFacts("rf_", "Return all or part of a payment."),
    "payout": NounFacts("po_", "Send money to receiving banks."),
    "landed_cost_quote": NounFacts("lcq_", "Quote duties, taxes and fees.", "landed_cost"),
    "webhook_endpoint": NounFacts("we_", "Register webhook endpoints."),  # the prefix is ours
    "event": NounFacts("evt_", "Retrieve events; receive, verify and forward webhooks."),
    "dispute": NounFacts("dp_", "Answer disputes with evidence."),
}

Mode: TypeAlias = Literal["test", "live"]
Auth: TypeAlias = Literal["bearer", "basic"]
KeyKind: TypeAlias = Literal["secret", "publishable", "restricted"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
# What requests move is limited by these, see `Action.limit`.
LIMIT_GROUPS: Final = ("refunds", "payouts", "captures", "disputes")
AUTHS: Final[tuple[Auth, ...]] = get_args(Auth)
KEY_KINDS: Final[tuple[KeyKind, ...]] = get_args(KeyKind)
KEY_PREFIXES: Final[dict[str, tuple[KeyKind, Mode]]] = {
    f"{kind[0]}k_{mode}_": (kind, mode) for kind in KEY_KINDS for mode in MODES
}
# How the base64 of a key begins, as Basic authentication has it, up to where the prefix ends.
KEY_PREFIXES_IN_BASE64: Final = {
    "c2tfdGVzdF": "sk_test_",
    "c2tfbGl2ZV": "sk_live_",
    "cGtfdGVzdF": "pk_test_",
    "cGtfbGl2ZV": "pk_live_",
    "cmtfdGVzdF": "rk_test_",
    "cmtfbGl2ZV": "rk_live_",
}
KEY_PREFIX_LENGTH: Final = len("sk_test_")  # of all of them

SIGNATURE_HEADER: Final = "Svc-Signature"
VERSION_HEADER: Final = "Svc-Version"
IDEMPOTENCY_HEADER: Final = "Idempotency-Key"
SECRET_PREFIX: Final = "whsec_"  # noqa: S105  a prefix

LIMIT_DEFAULT: Final = 25
LIMIT_MAX: Final = 100
IDEMPOTENCY_RETENTION_SECONDS: Final = 24 * 3600
SIGNATURE_TOLERANCE_SECONDS: Final = 300
WEBHOOK_DEADLINE_SECONDS: Final = 10
WEBHOOK_RETRY_WINDOW_SECONDS: Final = 3 * 24 * 3600
WEBHOOK_RETRY_DELAYS: Final = (60, 600, 3600)
WEBHOOK_RETRY_INTERVAL: Final = 6 * 3600
KEY_GRACE_MAX_SECONDS: Final = 7 * 24 * 3600

BankDecision: TypeAlias = Literal["won", "lost"]


def is_success(status: int | None) -> bool:
    """True for a 2xx answer: the request was taken."""
    return status is not None and 200 <= status < 300  # noqa: PLR2004  what 2xx means


# --- We chose (the specification does not show it) --------------------------------------------

ID_PREFIXES: Final = {**{name: noun.prefix for name, noun in NOUNS.items()}, "request": "req_"}
# The ids of the examples in `--help`, in the order in which the demo draws them: an example that is
# typed as it stands finds what it is about.
DEMO_IDS: Final[dict[str, tuple[str, ...]]] = {
    ID_PREFIXES["order"]: (
        "3kPq0aVb7cXd9eYf1gZh2iWj",
        "7cXd9eYf1gZh2iWj3kPq0aVb",
        "9eYf1gZh2iWj3kPq0aVb7cXd",  # authorised
    ),
    ID_PREFIXES["payment"]: ("7cXd9eYf1gZh2iWj3kPq0aVb",),
    ID_PREFIXES["refund"]: ("9eYf1gZh2iWj3kPq0aVb7cXd",),
    ID_PREFIXES["payout"]: ("1gZh2iWj3kPq0aVb7cXd9eYf", "2iWj3kPq0aVb7cXd9eYf1gZh"),
    ID_PREFIXES["dispute"]: (
        "Zh2iWj3kPq0aVb7cXd9eYf1g",
        "9eYf1gZh2iWj3kPq0aVb7cXd",  # under review
    ),
    ID_PREFIXES["landed_cost_quote"]: ("2iWj3kPq0aVb7cXd9eYf1gZh",),
    ID_PREFIXES["event"]: ("3kPq0aVb7cXd9eYf1gZh2iWj",),
    ID_PREFIXES["webhook_endpoint"]: ("3kPq0aVb7cXd9eYf1gZh2iWj",),
}

REPLAYED_HEADER: Final = "Idempotent-Replayed"
REQUEST_ID_HEADER: Final = "Request-Id"
EVENT_ID_HEADER: Final = "Svc-Event-Id"
DELIVERY_ID_HEADER: Final = "Svc-Delivery-Id"
ATTEMPT_HEADER: Final = "Svc-Delivery-Attempt"

VERSIONS: Final = ("2026-03-01", "2026-09-01")
NEWEST_VERSION: Final = VERSIONS[-1]
IDEMPOTENCY_KEY_MAX: Final = 255
WEBHOOK_SECRET_GRACE_MAX_SECONDS: Final = 24 * 3600
AMOUNT_MAX: Final = 999_999_999_999
REQUEST_BODY_MAX: Final = 1024 * 1024
SIGNATURE_HEADER_MAX: Final = 4096
SIGNATURES_MAX: Final = 16
WEBHOOK_BODY_MAX: Final = 1024 * 1024

EVENT_TYPES: Final = (
    "order.paid",
    "order.cancelled",
    "payment.authorized",
    "payment.captured",
    "payment.failed",
    "payment.processing",
    "payment.cancelled",
    "refund.created",
    "refund.succeeded",
    "refund.failed",
    "dispute.opened",
    "dispute.evidence_submitted",
    "dispute.won",
    "dispute.lost",
    "payout.created",
    "payout.sent",
    "payout.paid",
    "payout.failed",
)

RESTRICTED_RESOURCES: Final = tuple(
    noun.permission or f"{name}s" for name, noun in NOUNS.items() if noun.summary
)

# The sandbox's keys are public constants, short on purpose so that secret scanners ignore them.
SANDBOX_KEYS: Final = {
    "secret_test": "sk_test_sandbox",
    "publishable_test": "pk_test_sandbox",
    "secret_live": "sk_live_sandbox",
    "publishable_live": "pk_live_sandbox",
    "restricted_test": "rk_test_readonly",
}
SANDBOX_ROOT: Final = "/_sandbox"
# svc's own headers to targets: how often a target may have had the event before, and the first
# signature of an event that was signed anew.
REDELIVERED_HEADER: Final = "Svc-Redelivered"
ORIGINAL_SIGNATURE_HEADER: Final = "Svc-Original-Signature"
SANDBOX_HEADER: Final = "Svc-Sandbox"
SANDBOX_WORLD_HEADER: Final = "Svc-Sandbox-World"
SANDBOX_TIME_HEADER: Final = "Svc-Sandbox-Time"
SANDBOX_PORT: Final = 4242
SANDBOX_STATE: Final = "sandbox_state"  # the `object` of an export
SANDBOX_STATE_MAX: Final = 1024**3  # bytes of a state that is read whole, as from a pipe
SANDBOX_EXPORT_MAX: Final = 16 * 1024**3  # bytes of one that is read in pieces: ten million orders
INSPECTOR_PORT: Final = 4244

# --- ISO 3166-1 alpha-2 -----------------------------------------------------------------------

COUNTRIES: Final = frozenset(
    (
        "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ "
        "BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM "
        "DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS "
        "GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN "
        "KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ "
        "MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM "
        "PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV "
        "SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI "
        "VN VU WF WS YE YT ZA ZM ZW"
    ).split()
)

EU_COUNTRIES: Final = frozenset(
    "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split()
)
