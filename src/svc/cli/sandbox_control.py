"""Calls to a sandbox's controls: only on this machine, and only where a sandbox answers.

Nothing here is journalled or retried: the controls are the dashboard and the shopper of a service
that lives in one file, no part of the API.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, Self
from urllib.parse import urlencode

from svc.cli.session import Session
from svc.client import refusals
from svc.client.deadline import Deadline
from svc.client.exchange import Failure, Headers, RawReply, WireRequest
from svc.client.wire.sockets import SocketWire
from svc.errors import (
    ApiError,
    Conflict,
    Forbidden,
    NetworkError,
    NotFound,
    OutcomeUnknown,
    ServerError,
    Unauthorized,
    UsageError,
)
from svc.spec import SANDBOX_HEADER, SANDBOX_ROOT

_CONNECT_SECONDS: Final = 2.0
_FORM: Final = "application/x-www-form-urlencoded"
_ERRORS: Final[dict[int, type[ApiError]]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
}
_SERVER_ERROR: Final = 500


class Control:
    """The controls of the sandbox that the settings point at; used as a context manager.

    Every answer is `(text, data)`: the body as it was sent, and the same parsed.
    """

    def __init__(self, session: Session) -> None:
        self._base_url = session.base_url
        settings = session.settings
        self._mode = settings.mode
        self._deadline = Deadline(session.clock, settings.max_time)
        if not self._base_url.is_loopback:
            raise _no_sandbox(f"{self._base_url} is not on this machine")
        self._wire = SocketWire(self._base_url, clock=session.clock, ca_bundle=settings.ca_bundle)

    def __enter__(self) -> Self:
        try:
            self._prove()
        except BaseException:
            self._wire.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._wire.close()

    def get(self, path: str, query: Mapping[str, str] | None = None) -> tuple[str, Any]:
        """Reads a control, such as `/deliveries`, in the mode of the settings."""
        pairs = urlencode({**(query or {}), **self._mode_field()})
        return self._call("GET", f"{path}?{pairs}" if pairs else path)

    def post(
        self, path: str, fields: Mapping[str, str] | None = None, key: str | None = None
    ) -> tuple[str, Any]:
        """Uses a control with form fields; a key says the mode itself, else the settings do."""
        mode = {} if key is not None else self._mode_field()
        body = urlencode({**(fields or {}), **mode}).encode()
        headers = [("Content-Type", _FORM), ("Content-Length", str(len(body)))]
        if key is not None:
            headers.append(("Authorization", f"Bearer {key}"))
        return self._call("POST", path, tuple(headers), body)

    def _mode_field(self) -> dict[str, str]:
        return {"mode": "live"} if self._mode == "live" else {}

    def _prove(self) -> None:
        """Makes sure that a sandbox answers (contract J.11)."""
        reply = self._exchange("GET", "/health")
        try:
            health = json.loads(reply.body)
        except ValueError:
            health = None
        if not isinstance(health, dict) or health.get("object") != "sandbox":
            raise _no_sandbox(f"What answers at {self._base_url} is no sandbox")

    def _call(
        self, method: str, path: str, headers: Headers = (), body: bytes = b""
    ) -> tuple[str, Any]:
        reply = self._exchange(method, path, headers, body)
        text = reply.body.decode("utf-8", "replace")
        try:
            data = json.loads(text)
        except ValueError:
            data = None
        if reply.status >= 400 or not isinstance(data, dict):  # noqa: PLR2004  HTTP's errors
            raise _error(reply, data)
        return text, data

    def _exchange(
        self, method: str, path: str, headers: Headers = (), body: bytes = b""
    ) -> RawReply:
        target = f"{self._base_url.prefix}{SANDBOX_ROOT}{path}"
        every = (("Host", self._base_url.host_header), (SANDBOX_HEADER, "1"), *headers)
        result = self._wire.exchange(
            WireRequest(method, target, every, body),
            deadline=self._deadline,
            connect_seconds=_CONNECT_SECONDS,
        )
        if isinstance(result, Failure):
            raise self._unanswered(method, result)
        return result

    def _unanswered(self, method: str, failure: Failure) -> NetworkError | OutcomeUnknown:
        words = f"The sandbox at {self._base_url} gave no answer: {failure.trouble.value}."
        if failure.sent and method != "GET":
            return OutcomeUnknown(
                f"{words} It may have done it.", outcome="unknown", hint="svc sandbox logs"
            )
        return NetworkError(
            f"No sandbox answers at {self._base_url}: {failure.trouble.value}.",
            outcome="not_sent",
            hint="svc sandbox start --detach starts one; svc sandbox status shows which run",
        )


def _no_sandbox(why: str) -> UsageError:
    return UsageError(
        f"{why}; svc sandbox commands work on a sandbox only.",
        code="not_a_sandbox",
        hint="Choose one with --profile sandbox or --base-url http://127.0.0.1:4242",
    )


def _error(reply: RawReply, data: Any) -> ApiError:
    refusal = refusals.read(reply)
    kind = _ERRORS.get(reply.status, ApiError)
    return (ServerError if reply.status >= _SERVER_ERROR else kind)(
        refusal.message + _decline_code(data),
        code=refusal.code,
        type=refusal.type,
        param=refusal.param,
        status=reply.status,
        request_id=refusal.request_id,
        outcome="refused",
        hint=_declined(data),
    )


def _decline_code(data: Any) -> str:
    """The bank's own word for a declined card (contract F.2), for people and programs alike."""
    code = data.get("decline_code") if isinstance(data, dict) else None
    return f" ({code})" if isinstance(code, str) else ""


def _declined(data: Any) -> str | None:
    """Where to look after a declined card: the failed payment is kept."""
    payment = data.get("payment") if isinstance(data, dict) else None
    identity = payment.get("id") if isinstance(payment, dict) else None
    return f"svc payments retrieve {identity}" if identity else None
