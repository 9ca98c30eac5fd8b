"""The log of requests and the fault rules, in memory: forgotten with every reset and restart.

`app` makes one `RunMemory`. `requests` writes a `LoggedRequest` for each exchange of the API and
applies the rules; `svc sandbox requests`, `lint` and `fault` read and change them by `control`.
Neither is in the store: they belong to a run of a user's tests and not to the account, a restart is
the way out of rules that make the sandbox unusable, and no request costs a further write.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

from svc.sandbox.faults.api import Faults
from svc.sandbox.faults.webhooks import WebhookFaults
from svc.sandbox.store.documents import Doc, compact

KEPT: Final = 1000  # requests; memory stays flat
PARAMS_MAX: Final = 8192  # bytes of a body that is still shown
_SECRET: Final = frozenset({"number", "cvc", "iban", "account_number", "client_secret", "secret"})
_DEPTH: Final = 6


@dataclass(slots=True)
class LoggedRequest:
    """One exchange; filled in while it runs. `params` are masked when they are shown."""

    id: str
    created: str
    method: str
    path: str
    idempotency_key: str | None
    key: str | None = None
    mode: str | None = None
    params: Any = None
    status: int = 0
    code: str | None = None
    replayed: bool = False
    version: str | None = None  # that it asked for
    lost: bool = False  # a fault rule or chaos took its answer

    def build_view(self) -> Doc:
        return {
            "id": self.id,
            "object": "request",
            "method": self.method,
            "path": self.path,
            "params": mask(self.params),
            "key": self.key,
            "idempotency_key": self.idempotency_key,
            "status": self.status,
            "error_code": self.code,
            "replayed": self.replayed,
            "created": self.created,
            "livemode": None if self.mode is None else self.mode == "live",
        }


class RequestLog:
    """The latest requests, newest first; older ones are forgotten.

    `leaked` has the paths outside the API, those of the checkout, that were called with another
    key than a publishable one: a secret key was in a browser.
    """

    def __init__(self) -> None:
        self.clear()

    def begin(self) -> Callable[[LoggedRequest], None]:
        """Returns the function that adds a request to the log at its end; called at its beginning.

        A request that a fault rule holds until after a reset is not in the new log.
        """
        return self._entries.appendleft

    def clear(self) -> None:
        self._entries: deque[LoggedRequest] = deque(maxlen=KEPT)
        self.leaked: deque[str] = deque(maxlen=KEPT)

    def search(self, wanted: Mapping[str, Any]) -> list[LoggedRequest]:
        """The entries that fit, newest first.

        `wanted` may have `method`, `path` (a pattern), `status`, `body` (a text in the parameters),
        `since` and `until` (both ends included); an entry fits if all of them fit.
        """
        return [entry for entry in self._entries if _fits(entry, wanted)]

    def page(self, limit: int, wanted: Mapping[str, Any]) -> Doc:
        """A list object with at most `limit` of the entries that fit (see `search`)."""
        found = self.search(wanted)
        shown = [entry.build_view() for entry in found[:limit]]
        return {"object": "list", "data": shown, "has_more": len(found) > limit}


def _fits(entry: LoggedRequest, wanted: Mapping[str, Any]) -> bool:
    return (
        wanted.get("method", entry.method) == entry.method
        and fnmatchcase(entry.path, wanted.get("path", "*"))
        and wanted.get("status", entry.status) == entry.status
        and wanted.get("since", entry.created) <= entry.created <= wanted.get("until", "9999")
        and wanted.get("body", "") in _text(entry.params)
    )


def _text(params: Any) -> str:
    """The parameters as a search reads them: what is masked is not found."""
    return "" if params is None else compact(mask(params)).decode()


def mask(value: Any, depth: int = _DEPTH) -> Any:
    """The parameters without account numbers, card numbers and secrets."""
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        return {
            name: _hide(entry) if name in _SECRET else mask(entry, depth - 1)
            for name, entry in value.items()
        }
    if isinstance(value, list):
        return [mask(entry, depth - 1) for entry in value]
    return value


def _hide(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    return f"…{text[-4:]}" if len(text) > len("1234") else "…"


@dataclass(frozen=True, slots=True)
class RunMemory:
    """The fault rules and the log of requests."""

    faults: Faults = field(default_factory=Faults)
    webhook_faults: WebhookFaults = field(default_factory=WebhookFaults)
    log: RequestLog = field(default_factory=RequestLog)

    def forget(self) -> None:
        self.faults.remove()
        self.webhook_faults.remove()
        self.log.clear()
